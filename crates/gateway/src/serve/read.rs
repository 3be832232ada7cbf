use http::{HeaderMap, header};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use rail_config::settings::GatewayLimits;
use rail_model::ErrorKind;
use rail_upstream::decompress::{Damage, Decoder, STEP};
use tokio::time::timeout;

use super::refused::Refused;

/// Room that is made for a body before it comes, whatever its length is said to be.
const MOST_ROOM: u64 = 1 << 20;

/// Reads a body to its end, unpacked. It may be no larger than the limit, as it comes and as it is unpacked, and its client may
/// not rest for too long.
pub(super) async fn read(
    body: &mut Incoming,
    headers: &HeaderMap,
    limits: &GatewayLimits,
) -> Result<Vec<u8>, Refused> {
    let most = limits.body.0;
    let said = body.size_hint().lower();
    if said > most {
        return Err(too_large(most));
    }
    let mut unpacking = decoder(headers)?;
    let room = usize::try_from(said.min(MOST_ROOM)).unwrap_or_default();
    let mut whole = Vec::with_capacity(room);
    let mut came: u64 = 0;
    loop {
        let Ok(frame) = timeout(limits.body_wait.0, body.frame()).await else {
            let waited = limits.body_wait;
            let message = format!(
                "the request's body stopped coming, and nothing more came for {waited}; send it again"
            );
            return Err(Refused::new(ErrorKind::Timeout, message).with_status(408));
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
            None => whole.extend_from_slice(&data),
            Some(decoder) => {
                for piece in data.chunks(STEP) {
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
    Ok(whole)
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
