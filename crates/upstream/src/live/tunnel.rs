use http::HeaderValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::fault::ProxyFault;

/// Most bytes of a proxy's answer that are read before it counts as none.
const MAX_HEAD: usize = 16 << 10;

/// Asks an HTTP proxy on this connection for a tunnel; what is sent after belongs to the host.
pub(super) async fn tunnel(
    connection: &mut (impl AsyncRead + AsyncWrite + Unpin),
    host: &str,
    auth: Option<&HeaderValue>,
) -> Result<(), ProxyFault> {
    let mut ask = format!("CONNECT {host} HTTP/1.1\r\nhost: {host}\r\n").into_bytes();
    if let Some(auth) = auth {
        ask.extend_from_slice(b"proxy-authorization: ");
        ask.extend_from_slice(auth.as_bytes());
        ask.extend_from_slice(b"\r\n");
    }
    ask.extend_from_slice(b"\r\n");
    connection.write_all(&ask).await.map_err(ProxyFault::failed)?;
    connection.flush().await.map_err(ProxyFault::failed)?;
    let mut head = Vec::new();
    // One byte at a time: what follows the head is the host's, and the connection is new each time.
    while !head.ends_with(b"\r\n\r\n") {
        match connection.read_u8().await {
            Ok(byte) if head.len() < MAX_HEAD => head.push(byte),
            Ok(_) => return Err(ProxyFault::NotHttp),
            Err(error) if head.is_empty() => return Err(ProxyFault::failed(error)),
            Err(_) => return Err(ProxyFault::NotHttp),
        }
    }
    match status(&head) {
        Some(200..=299) => Ok(()),
        Some(407) => Err(ProxyFault::WantsPassword),
        Some(status) => Err(ProxyFault::Refuses(status)),
        None => Err(ProxyFault::NotHttp),
    }
}

fn status(head: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    let (version, rest) = line.split_once(' ')?;
    let status = rest.trim_start().get(..3)?;
    version.starts_with("HTTP/1.").then(|| status.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn statuses() {
        for (head, expected) in [
            ("HTTP/1.1 200 Connection established\r\n\r\n", Some(200)),
            ("HTTP/1.0 407 x\r\nA: b\r\n\r\n", Some(407)),
            ("HTTP/1.1 403\r\n\r\n", Some(403)),
            ("HTTP/2 200\r\n\r\n", None),
            ("SSH-2.0-x 200\r\n\r\n", None),
            ("\r\n\r\n", None),
        ] {
            assert_eq!(status(head.as_bytes()), expected, "{head}");
        }
    }

    proptest! {
        #[test]
        fn no_head_makes_it_panic(head in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = status(&head);
        }
    }
}
