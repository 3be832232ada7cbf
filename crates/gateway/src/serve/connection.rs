use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

use super::Door;
use super::line::{Begun, Ending, Line};
use super::visit::answer;

/// The least that hyper may keep of a connection in memory, each way.
const LEAST_BUFFER: usize = 64 << 10;

/// Serves a connection to its end; once the gateway stops, only what is on its way, and one request of those who come later.
pub(super) async fn run(door: Arc<Door>, stream: TcpStream, _place: OwnedSemaphorePermit, begun: Begun) {
    // Without it small pieces of a stream would be held back; with a broken connection the first read tells.
    let _ = stream.set_nodelay(true);
    let loaded = door.gateway.configuration();
    let limits = &loaded.settings.gateway.limits;
    let head = usize::try_from(limits.head.0).unwrap_or(usize::MAX);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.head_wait.0)
        .keep_alive(begun == Begun::InTime)
        .max_header_size(head)
        .max_buf_size(head.max(LEAST_BUFFER));
    let ending = Arc::new(Ending { begun, ..Ending::default() });
    let line = Line::new(stream, limits.body_wait.0, Arc::clone(&ending));
    drop(loaded);
    let service = service_fn(|request| answer(Arc::clone(&door), Arc::clone(&ending), request));
    let mut connection = pin!(http.serve_connection(TokioIo::new(line), service));
    match begun {
        Begun::InTime => {}
        Begun::Late => return drop(connection.await),
    }
    tokio::select! {
        // What went wrong with a connection, its client knows best.
        _ended = connection.as_mut() => return,
        () = door.stop.cancelled() => {}
    }
    ending.leaving.store(true, Ordering::Relaxed);
    connection.as_mut().graceful_shutdown();
    let _ended = connection.await;
}
