use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client may take to read the last answer of a connection before it is closed on it.
const LINGER: Duration = Duration::from_secs(2);

/// A connection to a client that must go on taking what it is sent.
///
/// A client that takes nothing for too long has its connection ended, and with it whatever makes its answer. At the end of a
/// connection what the client still sends is read and thrown away for a while: with bytes unread the system would reset the
/// connection, and the client might never see the answer that says why.
pub(super) struct Line<S> {
    stream: S,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    closing: Option<Pin<Box<Sleep>>>,
    ending: Arc<Ending>,
}

/// What is known of a connection's end.
#[derive(Default)]
pub(super) struct Ending {
    /// A request was answered before it was read to its end.
    pub(super) unread: AtomicBool,
    /// The gateway stops, and waits for no client that has nothing to say.
    pub(super) leaving: AtomicBool,
    /// When it began.
    pub(super) begun: Begun,
}

/// When a connection began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Begun {
    /// While the gateway takes requests.
    #[default]
    InTime,
    /// While it only brings to their end those that it has: it answers one request, for no model.
    Late,
}

impl<S> Line<S> {
    /// A connection whose client may take nothing for so long.
    pub(super) fn new(stream: S, patience: Duration, ending: Arc<Ending>) -> Self {
        Self { stream, patience, stalled: None, closing: None, ending }
    }

    /// What came of a write: nothing came of it for too long is an error.
    fn judge(&mut self, written: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not take its answer")))
    }

    fn lingers(&self) -> bool {
        self.ending.unread.load(Ordering::Relaxed) || !self.ending.leaving.load(Ordering::Relaxed)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Line<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.judge(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.judge(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.closing.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            if !self.lingers() {
                return Poll::Ready(Ok(()));
            }
        }
        let this = &mut *self;
        let closing = this.closing.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        let mut thrown_away = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut thrown_away);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                // The client is gone too, in one way or the other.
                Poll::Ready(Ok(()) | Err(_)) => return Poll::Ready(Ok(())),
                Poll::Pending => return closing.as_mut().poll(cx).map(Ok),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_left() {
        let (near, mut far) = duplex(16);
        let mut line = Line::new(near, Duration::from_secs(60), Arc::default());
        line.write_all(&[0; 16]).await.unwrap();
        let mut taken = [0; 8];
        let begun = tokio::time::Instant::now();
        let (written, ()) = tokio::join!(line.write_all(&[1; 12]), async {
            // Whoever takes a little in time is waited for again.
            sleep(Duration::from_secs(59)).await;
            far.read_exact(&mut taken).await.unwrap();
        });
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), 59 + 60);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_a_client_that_still_sends() {
        let (near, mut far) = duplex(16);
        let mut line = Line::new(near, Duration::from_secs(60), Arc::default());
        let begun = tokio::time::Instant::now();
        let (closed, ()) = tokio::join!(line.shutdown(), async {
            far.write_all(&[0; 1000]).await.unwrap();
            assert_eq!(far.read(&mut [0; 1]).await.unwrap(), 0, "it was told of the end");
        });
        closed.unwrap();
        assert_eq!(begun.elapsed().as_secs(), LINGER.as_secs(), "it never hung up");
    }

    #[tokio::test(start_paused = true)]
    async fn a_gateway_that_stops_waits_only_for_what_is_unread() {
        for unread in [false, true] {
            let (near, _far) = duplex(16);
            let ending =
                Arc::new(Ending { unread: unread.into(), leaving: true.into(), ..Ending::default() });
            let begun = tokio::time::Instant::now();
            Line::new(near, Duration::from_secs(60), ending).shutdown().await.unwrap();
            assert_eq!(begun.elapsed() >= LINGER, unread);
        }
    }
}
