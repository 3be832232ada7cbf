//! Images within the target's limits, and media where the target can take them.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody, ProtocolId, Request};

use super::Work;
use super::losses::Place;
use super::parts::{Fate, Voice};
use crate::protocol::{ImageLimits, Shrunk, TargetSpec};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// How many images the request has beyond what the target takes.
pub(super) fn images_over(request: &Request, target: &TargetSpec) -> usize {
    let Some(limits) = &target.images else { return 0 };
    let messages = request.messages.iter().flat_map(|message| &message.parts);
    let images: usize = request.system.iter().chain(messages).map(images_in).sum();
    images.saturating_sub(limits.count)
}

fn images_in(part: &Part) -> usize {
    match &part.body {
        PartBody::Media(media) => usize::from(media.kind == MediaKind::Image),
        PartBody::ToolResult(result) => result.content.iter().map(images_in).sum(),
        PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::Opaque(_) => 0,
    }
}

/// Brings a medium within limits, then to a place where the target can see it.
pub(super) fn fit_media(work: &mut Work<'_>, place: Place, voice: Voice, media: &mut Media) -> Fate {
    if media.kind == MediaKind::Image
        && let Err(why) = fit_image(work, place, media)
    {
        work.losses.add(place, "", format!("image left out: {why}"));
        return Fate::Note(format!("[image left out: {why}]"));
    }
    let kind = word(media.kind);
    if matches!(media.source, MediaSource::FileId(_)) && !knows_files(work) {
        work.losses.add(place, "", format!("{kind} left out: only the provider it was uploaded to has it"));
        return Fate::Note(format!("[{kind} left out: it was uploaded elsewhere]"));
    }
    match voice {
        Voice::User => Fate::Stays,
        Voice::System if work.own => Fate::Stays,
        Voice::System => {
            work.losses.add(place, "", format!("{kind} left out: instructions are text"));
            Fate::Note(format!("[{kind} left out]"))
        }
        Voice::Assistant if work.own || work.rules.assistant_media => Fate::Stays,
        Voice::Result if work.rules.media_in_results && work.target.quirks.image_in_tool_result => {
            Fate::Stays
        }
        Voice::Assistant | Voice::Result => {
            work.losses.add(place, "", format!("{kind} moved to the user message that follows"));
            Fate::Aside(format!("[{kind}: in the user message that follows]"))
        }
    }
}

/// Whether uploaded files of the request's origin are known to the target.
fn knows_files(work: &Work<'_>) -> bool {
    let shared = |origin: ProtocolId| work.rules.carried.contains(&(origin.name(), "content.file_id"));
    work.own || work.request.origin.is_some_and(shared)
}

/// The medium in a word, for notes.
pub(crate) fn word(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio => "sound",
        MediaKind::Video => "film",
    }
}

/// Makes an image small enough, or says why it can't be sent.
fn fit_image(work: &mut Work<'_>, place: Place, media: &mut Media) -> Result<(), String> {
    let Some(limits) = &work.target.images else { return Err("this model can't see images".to_owned()) };
    if work.images_over > 0 {
        work.images_over -= 1;
        return Err(format!("this model takes {} images and there are newer ones", limits.count));
    }
    let MediaSource::Base64(data) = &mut media.source else { return Ok(()) };
    if !work.own && data.contains(char::is_whitespace) {
        data.retain(|char| !char.is_whitespace());
    }
    let Some(bytes) = decode(data) else {
        // Never valid; its own protocol may say so itself.
        return if work.own { Ok(()) } else { Err("its base64 is broken".to_owned()) };
    };
    let kind = kind_of(&bytes);
    if kind.is_none() && work.own && bytes.len() <= limits.max_bytes {
        // Of a kind that we can't measure and that this protocol may take.
        return Ok(());
    }
    let Some(smaller) = shrink(&bytes, limits, work.target)? else {
        if let Some(kind) = kind.filter(|kind| !is_said(media.mime.as_deref(), kind, work.own)) {
            media.mime = Some(kind.to_owned());
            work.losses.add(place, "mime", format!("the data is {kind}; sent as that"));
        }
        return Ok(());
    };
    *data = STANDARD.encode(&smaller.1);
    media.mime = Some(smaller.0.to_owned());
    work.losses.add(place, "", "image made smaller to fit the target's limits");
    Ok(())
}

/// The type of the images that every protocol takes, by how they begin.
fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Whether a type was said as it is. Some protocols take the other spelling of JPEG, and a missing one, from their own clients.
fn is_said(said: Option<&str>, kind: &str, own: bool) -> bool {
    said == Some(kind) || (own && (said.is_none() || said == Some("image/jpg")))
}

fn shrink(
    bytes: &[u8],
    limits: &ImageLimits,
    target: &TargetSpec,
) -> Result<Option<(&'static str, Vec<u8>)>, String> {
    let too_large = || format!("it is larger than the {} bytes this model takes", limits.max_bytes);
    let fits = |bytes: &[u8]| bytes.len() <= limits.max_bytes;
    match target.shrink.map(|shrink| shrink(bytes, limits)) {
        None | Some(Ok(Shrunk::AsIs)) if fits(bytes) => Ok(None),
        None | Some(Ok(Shrunk::AsIs)) => Err(too_large()),
        Some(Ok(Shrunk::To { mime, bytes })) if fits(&bytes) => Ok(Some((mime, bytes))),
        Some(Ok(Shrunk::To { .. })) => Err(too_large()),
        Some(Err(why)) => Err(why),
    }
}

fn decode(data: &str) -> Option<Vec<u8>> {
    PLAIN.decode(data).or_else(|_| URL_SAFE.decode(data)).ok()
}
