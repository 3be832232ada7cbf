use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What lasts as long as a session and belongs to one tool or a few: background shells, notes, lists. One value of each type.
#[derive(Default)]
pub struct Services {
    kept: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Services {
    /// The session's value of this type, made when first asked for.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let any = Arc::clone(kept.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())));
        drop(kept);
        // The key is the value's own type, so the value always has it.
        any.downcast().unwrap_or_default()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}
