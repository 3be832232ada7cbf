use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use crate::BoxFuture;

/// What a future gives, or what it said when it panicked.
///
/// What it shared is as it left it: a lock that it held is poisoned, and whoever takes it next sees that.
pub(super) async fn caught<T>(mut run: BoxFuture<'static, T>) -> Result<T, String> {
    let ended = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(words(panic.as_ref()))),
    });
    let ended = ended.await;
    // What is left of it may panic once more.
    match (catch_unwind(AssertUnwindSafe(|| drop(run))), ended) {
        (Ok(()), ended) => ended,
        (Err(panic), Ok(_)) => Err(words(panic.as_ref())),
        (Err(_), Err(first)) => Err(first),
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", said.unwrap_or("without a word"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn end(order: &'static str) -> Result<u8, String> {
        caught(Box::pin(async move {
            tokio::task::yield_now().await;
            assert_ne!(order, "panic", "on the way");
            7
        }))
        .await
    }

    #[tokio::test]
    async fn a_panic_is_a_result() {
        assert_eq!(end("go").await, Ok(7));
        let said = end("panic").await.unwrap_err();
        assert!(said.starts_with("it panicked: ") && said.contains("on the way"), "{said}");
    }
}
