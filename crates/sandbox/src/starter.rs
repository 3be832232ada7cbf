//! The thread that starts programs which must not outlive this one: the system takes the end of the thread that started a program for
//! the end of its parent, and threads of a runtime come and go.

use std::io;
use std::sync::{OnceLock, mpsc};

type Work = Box<dyn FnOnce() + Send>;

/// Does something on that thread. It must be short: whoever calls waits.
///
/// # Errors
/// There is no such thread.
pub(crate) fn on_starter<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    static STARTER: OnceLock<Option<mpsc::Sender<Work>>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, receiver) = mpsc::channel::<Work>();
        // The sender is never dropped, so that it ends with the program.
        let begun = std::thread::Builder::new()
            .name("starter".to_owned())
            .spawn(move || receiver.into_iter().for_each(|work| work()));
        begun.is_ok().then_some(sender)
    });
    let gone = || io::Error::other("the thread that starts programs is not there");
    let (done, result) = mpsc::sync_channel(1);
    let work: Work = Box::new(move || {
        // Whoever asked waits for it.
        let _ = done.send(work());
    });
    starter.as_ref().ok_or_else(gone)?.send(work).map_err(|_| gone())?;
    result.recv().map_err(|_| gone())
}
