use std::sync::{Arc, Mutex, PoisonError};

use rail_permit::Policy;

/// What the user allows now. Clones are the same: what is allowed in one place is allowed in all that share it.
#[derive(Clone, Debug)]
pub struct Allowed(Arc<Mutex<Arc<Policy>>>);

impl Allowed {
    /// What is allowed at this moment.
    pub fn now(&self) -> Arc<Policy> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes what is allowed.
    pub fn change(&self, change: impl FnOnce(&mut Policy)) {
        change(Arc::make_mut(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

impl From<Policy> for Allowed {
    fn from(policy: Policy) -> Self {
        Self(Arc::new(Mutex::new(Arc::new(policy))))
    }
}
