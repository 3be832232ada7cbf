//! What the user says, as parts for the model.

use std::path::PathBuf;

use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResource, EmbeddedResourceResource, Error};
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use url::Url;

use crate::rpc::wrong;

/// The parts of a prompt.
///
/// # Errors
/// There is something in it that no model is shown.
pub(crate) fn parts(blocks: Vec<ContentBlock>) -> Result<Vec<Part>, Error> {
    let mut parts: Vec<Part> = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::Text(text) => add(&mut parts, &text.text),
            // As if it had been typed: what is named so is attached, as far as it may be read.
            ContentBlock::ResourceLink(link) => add(&mut parts, &linked(&link.uri)),
            ContentBlock::Image(image) => {
                parts.push(media(MediaKind::Image, image.mime_type, image.data, image.uri))
            }
            ContentBlock::Resource(resource) => parts.push(embedded(resource)?),
            ContentBlock::Audio(_) => {
                return Err(wrong("audio is not understood; `promptCapabilities.audio` said so"));
            }
            _ => return Err(wrong("there is a kind of content in the prompt that is not understood")),
        }
    }
    let says = |part: &Part| part.as_text().is_none_or(|text| !text.trim().is_empty());
    if parts.iter().any(says) { Ok(parts) } else { Err(wrong("the prompt is empty")) }
}

/// Texts that follow each other are one: clients cut them where something is named.
fn add(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut().map(|part| &mut part.body) {
        Some(PartBody::Text(before)) => before.push_str(text),
        _ => parts.push(Part::text(text)),
    }
}

/// A file, or an address, as it is named in a text.
fn linked(uri: &str) -> String {
    match path(uri).as_deref().and_then(|path| path.to_str()) {
        // A blank would end the name.
        Some(path) if !path.contains(char::is_whitespace) => format!("@{path}"),
        Some(path) => format!("`{path}`"),
        None => uri.to_owned(),
    }
}

/// The path of a file's address.
fn path(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok()?;
    if url.scheme() == "file" { url.to_file_path().ok() } else { None }
}

/// What the client gives of a file, saved or not.
fn embedded(resource: EmbeddedResource) -> Result<Part, Error> {
    let named = |uri: &str| path(uri).map_or_else(|| uri.to_owned(), |path| path.display().to_string());
    match resource.resource {
        EmbeddedResourceResource::TextResourceContents(text) => {
            let name = named(&text.uri);
            let end = if text.text.ends_with('\n') { "" } else { "\n" };
            Ok(Part::text(format!("<file path=\"{name}\">\n{}{end}</file>", text.text)))
        }
        EmbeddedResourceResource::BlobResourceContents(blob) => {
            let mime = blob.mime_type.unwrap_or_default();
            let kind = match mime.split('/').next() {
                Some("image") => MediaKind::Image,
                _ if mime == "application/pdf" => MediaKind::Document,
                _ => return Err(wrong(&format!("`{}` is neither text, nor an image, nor a PDF", blob.uri))),
            };
            Ok(media(kind, mime, blob.blob, Some(blob.uri)))
        }
        _ => Err(wrong("there is a kind of resource in the prompt that is not understood")),
    }
}

fn media(kind: MediaKind, mime: String, data: String, uri: Option<String>) -> Part {
    let name = uri.as_deref().and_then(|uri| uri.rsplit('/').next()).filter(|name| !name.is_empty());
    let name = name.map(str::to_owned);
    Part::new(PartBody::Media(Media { kind, mime: Some(mime), source: MediaSource::Base64(data), name }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(blocks: serde_json::Value) -> Result<Vec<Part>, Error> {
        parts(serde_json::from_value(blocks).unwrap())
    }

    #[test]
    fn links_are_names_and_resources_are_files() {
        let said = read(json!([
            {"type": "text", "text": "Look at "},
            {"type": "resource_link", "name": "a.rs", "uri": "file:///srv/a.rs"},
            {"type": "text", "text": " and "},
            {"type": "resource_link", "name": "b c", "uri": "file:///srv/b%20c"},
            {"type": "resource_link", "name": "d", "uri": "https://example.com/d"},
            {"type": "resource", "resource": {"uri": "file:///srv/e.rs", "text": "fn e() {}"}},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        ]));
        let said = said.unwrap();
        assert_eq!(said[0].as_text(), Some("Look at @/srv/a.rs and `/srv/b c`https://example.com/d"));
        assert_eq!(said[1].as_text(), Some("<file path=\"/srv/e.rs\">\nfn e() {}\n</file>"));
        assert!(matches!(&said[2].body, PartBody::Media(media) if media.kind == MediaKind::Image));
    }

    #[test]
    fn what_no_model_is_shown_is_refused() {
        for blocks in [
            json!([]),
            json!([{"type": "text", "text": " "}]),
            json!([{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]),
            json!([{"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}}]),
        ] {
            assert_eq!(i32::from(read(blocks.clone()).unwrap_err().code), -32602, "{blocks}");
        }
    }
}
