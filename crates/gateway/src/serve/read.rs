use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::Body;
use http_body_util::BodyExt;
use rail_config::settings::GatewayLimits;
use rail_model::ErrorKind;
use rail_upstream::decompress::{Damage, Decoder, STEP};
use tokio::time::{Instant, timeout_at};

use super::refused::Refused;
use super::room::{Room, Rooms};

/// A body must come at so many bytes a second at least, besides the time that its client may rest.
const SLOWEST: u64 = 16 << 10;

/// Reads a body to its end, unpacked. It may be no larger than the limit, as it comes and as it is unpacked; its client may not rest
/// for too long, nor keep its place by sending next to nothing; and there must be room for it beside all others.
pub(super) async fn read<B>(
    body: &mut B,
    headers: &HeaderMap,
    limits: &GatewayLimits,
    rooms: &Rooms,
) -> Result<(Vec<u8>, Room), Refused>
where
    B: Body<Data = Bytes, Error: Display> + Unpin,
{
    let most = limits.body.0;
    let said = body.size_hint().lower();
    if said > most {
        return Err(too_large(most));
    }
    let mut unpacking = decoder(headers)?;
    let mut its = Room::default();
    let mut whole = Vec::new();
    let mut came: u64 = 0;
    let begun = Instant::now();
    loop {
        let rest = Instant::now() + limits.body_wait.0;
        let whole_by =
            begun + limits.body_wait.0 + Duration::from_millis(came.saturating_mul(1000) / SLOWEST);
        let Ok(frame) = timeout_at(rest.min(whole_by), body.frame()).await else {
            return Err(too_slow(limits, came));
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|error| {
            let message = format!("the request's body can't be read to its end: {error}; send it again");
            Refused::new(ErrorKind::InvalidRequest, message)
        })?;
        // Trailers say nothing that a request needs.
        let Ok(data) = frame.into_data() else { continue };
        came = came.saturating_add(data.len() as u64);
        if came > most {
            return Err(too_large(most));
        }
        match &mut unpacking {
            None => {
                rooms.enlarge(&mut its, whole.len() + data.len()).await?;
                whole.extend_from_slice(&data);
            }
            Some(decoder) => {
                for piece in data.chunks(STEP) {
                    rooms.enlarge(&mut its, whole.len() + piece.len()).await?;
                    decoder.push(piece, &mut whole).map_err(|damage| damaged(damage, most))?;
                    if whole.len() as u64 > most {
                        return Err(too_large(most));
                    }
                }
            }
        }
    }
    if let Some(decoder) = &mut unpacking {
        decoder.finish(&mut whole).map_err(|damage| damaged(damage, most))?;
        if whole.len() as u64 > most {
            return Err(too_large(most));
        }
    }
    rooms.enlarge(&mut its, whole.len()).await?;
    Ok((whole, its))
}

fn too_slow(limits: &GatewayLimits, came: u64) -> Refused {
    let waited = limits.body_wait;
    let message = format!(
        "the request's body stopped coming, or came too slowly: {came} bytes came, and either nothing more for {waited}, or less than \
         {SLOWEST} bytes a second beyond that time; send it again"
    );
    Refused::new(ErrorKind::Timeout, message).with_status(408)
}

/// What takes off the encodings that the headers name.
fn decoder(headers: &HeaderMap) -> Result<Option<Decoder>, Refused> {
    let names: Vec<&str> =
        headers.get_all(header::CONTENT_ENCODING).iter().map(|value| value.to_str().unwrap_or("?")).collect();
    Decoder::for_header(&names.join(",")).map_err(|damage| damaged(damage, 0))
}

fn damaged(damage: Damage, most: u64) -> Refused {
    let broken = |how: &str, name: &str| {
        let message =
            format!("the request's body {how} its `content-encoding: {name}`; send it whole, or not packed");
        Refused::new(ErrorKind::InvalidRequest, message)
    };
    match damage {
        Damage::Corrupt(name) => broken("is not what it should be by", name),
        Damage::Truncated(name) => broken("ended in the middle of", name),
        Damage::TooLarge(_) => too_large(most),
        Damage::Unknown => {
            let message =
                "the request's `content-encoding` is not known; use gzip, deflate, br or zstd, or none";
            Refused::new(ErrorKind::InvalidRequest, message)
                .with_status(415)
                .with_header(header::ACCEPT_ENCODING, "gzip, deflate, br, zstd")
        }
    }
}

fn too_large(most: u64) -> Refused {
    let message =
        format!("the request's body is larger than {most} bytes; send less, or raise `gateway.limits.body`");
    Refused::new(ErrorKind::TooLarge, message)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use http_body::Frame;
    use tokio::time::{Sleep, sleep};

    use super::*;

    /// A body that comes for ever, so much at once after each pause.
    struct Endless {
        piece: usize,
        pause: Duration,
        next: Pin<Box<Sleep>>,
    }

    impl Body for Endless {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            ready!(self.next.as_mut().poll(cx));
            self.next = Box::pin(sleep(self.pause));
            Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b'x'; self.piece])))))
        }
    }

    async fn refused(piece: usize) -> (String, Duration) {
        let pause = Duration::from_secs(10);
        let mut body = Endless { piece, pause, next: Box::pin(sleep(pause)) };
        let (limits, begun) = (GatewayLimits::default(), Instant::now());
        let refused = read(&mut body, &HeaderMap::new(), &limits, &Rooms::new(1 << 30)).await.unwrap_err();
        (refused.message().to_owned(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_comes_to_an_end() {
        let (said, took) = refused(1).await;
        assert!(said.contains(" bytes came") && took.as_secs() == 60, "{said} {took:?}");
        // Twice as fast as it must, it comes until it is too large.
        let (said, took) = refused(20 * usize::try_from(SLOWEST).unwrap()).await;
        assert!(said.contains("larger than 64000000 bytes") && took.as_secs() == 1960, "{said} {took:?}");
        // Half as fast, it has twice the time that it may rest.
        let (said, took) = refused(5 * usize::try_from(SLOWEST).unwrap()).await;
        assert!(said.contains("too slowly") && took.as_secs() < 130, "{said} {took:?}");
    }
}
