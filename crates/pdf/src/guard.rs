//! A thread with a stack of its own, on which a file may do what it likes.

use std::any::Any;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

use crate::PdfError;

/// Deep enough for the deepest nesting that the parser lets through, also without optimizations.
const STACK: usize = 64 << 20;

/// The way out of a page that asks for too much; the parser asks nobody whether it should go on.
struct Stop(&'static str);

/// Runs the work; a panic in it is an error.
pub(crate) fn guarded<T: Send>(
    page: Option<usize>,
    work: impl FnOnce() -> Result<T, PdfError> + Send,
) -> Result<T, PdfError> {
    scope(|scope| {
        let thread = Builder::new().name("pdf".to_owned()).stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| PdfError::NoThread(error.to_string()))?;
        thread.join().unwrap_or_else(|payload| Err(told(page, payload.as_ref())))
    })
}

/// Leaves the work: there is too much of this.
pub(crate) fn stop(what: &'static str) -> ! {
    // No panic, so that nothing is printed.
    resume_unwind(Box::new(Stop(what)))
}

fn told(page: Option<usize>, payload: &(dyn Any + Send)) -> PdfError {
    match (payload.downcast_ref::<Stop>(), page) {
        (Some(Stop(what)), page) => PdfError::TooMuch { page, what },
        (None, Some(page)) => PdfError::DamagedPage { page, what: "nothing sensible comes of reading it" },
        (None, None) => PdfError::Damaged,
    }
}
