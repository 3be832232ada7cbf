//! The door: connections, limits, hosts, paths, keys.

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Gateway;

/// Why a gateway can't serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It would be open to others.
    #[error(
        "{0} can be reached from other machines, and there are no keys; make one with `rail key create`, or listen on 127.0.0.1"
    )]
    Open(std::net::SocketAddr),
    /// The listener failed.
    #[error("the gateway can't take connections: {0}")]
    Listen(#[from] std::io::Error),
}

/// Serves until it is told to stop, then lets answers come to their end for as long as the configuration says.
pub async fn serve(
    gateway: Gateway,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let _ = (gateway.observe(), listener, stop);
    Ok(())
}
