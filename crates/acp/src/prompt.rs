//! What the user says, as parts for the model: the user's own words first, in one text, and what they speak of behind them.

use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResource, EmbeddedResourceResource, Error};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use rail_proto::mention;

use crate::embedded::{Place, written};
use crate::rpc::wrong;

/// The parts of a prompt.
///
/// # Errors
/// There is something in it that no model is shown.
pub(crate) fn parts(blocks: Vec<ContentBlock>) -> Result<Vec<Part>, Error> {
    let mut words = Words::default();
    let mut behind: Vec<Part> = Vec::new();
    for block in blocks {
        match block {
            ContentBlock::Text(text) => words.say(&text.text),
            ContentBlock::ResourceLink(link) => words.link(&link.uri),
            ContentBlock::Image(image) => {
                behind.push(media(MediaKind::Image, image.mime_type, image.data, image.uri)?)
            }
            ContentBlock::Resource(resource) => behind.push(embedded(resource, &mut words)?),
            ContentBlock::Audio(_) => {
                return Err(wrong("audio is not understood; `promptCapabilities.audio` said so"));
            }
            _ => return Err(wrong("there is a kind of content in the prompt that is not understood")),
        }
    }
    let words = words.end();
    if words.is_empty() && behind.is_empty() {
        return Err(wrong("the prompt is empty"));
    }
    let words = (!words.is_empty()).then(|| Part::text(words));
    Ok(words.into_iter().chain(behind).collect())
}

/// The user's own words. Clients cut them where something is named, and the name is put in where it stood.
#[derive(Default)]
struct Words {
    text: String,
    /// Whether they end with a name, to which nothing may be glued.
    ends_with_name: bool,
    /// Names of what stands behind the words anyway: they are said where words follow, or where there are no others.
    pending: Vec<String>,
}

impl Words {
    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !text.trim().is_empty() {
            std::mem::take(&mut self.pending).iter().for_each(|name| self.name(name));
        }
        // What ends a sentence does not make a name longer, if nothing is glued to it in turn.
        let glued = text.split(char::is_whitespace).next().unwrap_or_default();
        if self.ends_with_name && glued.contains(|c: char| !".,;:!?)]}".contains(c)) {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.ends_with_name = false;
    }

    /// As if it had been typed: what is named so is attached, as far as it may be read.
    fn link(&mut self, uri: &str) {
        std::mem::take(&mut self.pending).iter().for_each(|name| self.name(name));
        let place = Place::of(uri);
        if !place.is_file {
            return self.name(&place.path);
        }
        let part = place.part.map(|part| format!(" (#{part})")).unwrap_or_default();
        self.name(&format!("{}{part}", mention(&place.path)));
    }

    fn name(&mut self, name: &str) {
        if self.text.chars().next_back().is_some_and(|c| !c.is_whitespace() && !"([{<\"'".contains(c)) {
            self.text.push(' ');
        }
        self.text.push_str(name);
        self.ends_with_name = true;
    }

    /// All of them; where there are none, what was given is named: the first text is what the user said.
    fn end(mut self) -> String {
        if self.text.trim().is_empty() {
            self.text.clear();
            std::mem::take(&mut self.pending).iter().for_each(|name| self.name(name));
        }
        self.text
    }
}

/// What the client gives of a file, saved or not.
fn embedded(resource: EmbeddedResource, words: &mut Words) -> Result<Part, Error> {
    match resource.resource {
        EmbeddedResourceResource::TextResourceContents(text) => {
            let place = Place::of(&text.uri);
            words.pending.push(format!("`{}`", place.path));
            Ok(Part::text(written(&place, &text.text)).beside())
        }
        EmbeddedResourceResource::BlobResourceContents(blob) => {
            let mime = blob.mime_type.unwrap_or_default();
            let kind = match mime.split('/').next() {
                Some("image") => MediaKind::Image,
                _ if mime == "application/pdf" => MediaKind::Document,
                _ => return Err(wrong(&format!("`{}` is neither text, nor an image, nor a PDF", blob.uri))),
            };
            media(kind, mime, blob.blob, Some(blob.uri))
        }
        _ => Err(wrong("there is a kind of resource in the prompt that is not understood")),
    }
}

/// An image or a document. What a provider would refuse is refused here, where it can be said of what it is.
fn media(kind: MediaKind, mime: String, data: String, uri: Option<String>) -> Result<Part, Error> {
    if kind == MediaKind::Image && !mime.starts_with("image/") {
        return Err(wrong(&format!("an image can't be of type `{mime}`")));
    }
    if data.is_empty() || STANDARD.decode(&data).is_err() {
        return Err(wrong(&format!("the data of a part of type `{mime}` is not base64")));
    }
    let name = uri.as_deref().and_then(|uri| uri.rsplit('/').next()).filter(|name| !name.is_empty());
    let name = name.map(str::to_owned);
    Ok(Part::new(PartBody::Media(Media { kind, mime: Some(mime), source: MediaSource::Base64(data), name })))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_proto::mentions;
    use serde_json::{Value, json};

    use super::*;

    fn read(blocks: Value) -> Result<Vec<Part>, Error> {
        parts(serde_json::from_value(blocks).unwrap())
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn link(uri: &str) -> Value {
        json!({"type": "resource_link", "name": "it", "uri": uri})
    }

    fn file(uri: &str) -> Value {
        json!({"type": "resource", "resource": {"uri": uri, "text": "fn e() {}"}})
    }

    #[test]
    fn words_are_one_text_and_files_stand_behind_it() {
        let said = read(json!([
            text("Look at "),
            file("file:///srv/e.rs"),
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            text(" and "),
            link("file:///srv/a.rs"),
        ]));
        let said = said.unwrap();
        assert_eq!(said[0].as_text(), Some("Look at `/srv/e.rs` and @/srv/a.rs"));
        assert_eq!(said[1].as_text(), Some("<file path=\"/srv/e.rs\">\nfn e() {}\n</file>"));
        assert!(matches!(&said[2].body, PartBody::Media(media) if media.kind == MediaKind::Image));
        assert_eq!(said.len(), 3);
    }

    #[test]
    fn names_stand_where_they_stood() {
        let (a, web) = (|| link("file:///srv/a.rs"), || link("https://example.com/d"));
        for (blocks, expected) in [
            (json!([a()]), "@/srv/a.rs"),
            (json!([text("see"), a(), text("now")]), "see @/srv/a.rs now"),
            (json!([text("("), a(), text("), "), web(), text(".")]), "(@/srv/a.rs), https://example.com/d."),
            (json!([a(), text(",b")]), "@/srv/a.rs ,b"),
            (json!([a(), web(), a()]), "@/srv/a.rs https://example.com/d @/srv/a.rs"),
            (json!([link("file:///srv/b%20c"), text("\nx")]), "@\"/srv/b c\"\nx"),
            (json!([link("file:///srv/a.rs#L10-20"), text("?")]), "@/srv/a.rs (#L10-20)?"),
            (json!([text("/help"), file("file:///srv/e.rs")]), "/help"),
            (json!([file("file:///srv/e.rs"), text(" "), file("untitled")]), "`/srv/e.rs` `untitled`"),
            (json!([file("file:///srv/e.rs"), text("explain")]), "`/srv/e.rs` explain"),
            (json!([file("file:///srv/e.rs"), a()]), "`/srv/e.rs` @/srv/a.rs"),
        ] {
            assert_eq!(read(blocks.clone()).unwrap()[0].as_text(), Some(expected), "{blocks}");
        }
    }

    #[test]
    fn what_no_model_is_shown_is_refused() {
        for blocks in [
            json!([]),
            json!([text(" ")]),
            json!([{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}]),
            json!([{"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}}]),
            json!([{"type": "image", "data": "AAAA", "mimeType": "text/html"}]),
            json!([{"type": "image", "data": "not base64!", "mimeType": "image/png"}]),
            json!([{"type": "image", "data": "", "mimeType": "image/png"}]),
        ] {
            assert_eq!(i32::from(read(blocks.clone()).unwrap_err().code), -32602, "{blocks}");
        }
    }

    proptest! {
        #[test]
        fn what_is_linked_is_attached(
            before in "[a-z (.\n]{0,5}", path in "/[a-zé .()\"@]{0,8}[a-z]", after in "[a-z ).,\n]{0,5}",
        ) {
            let uri = url::Url::from_file_path(&path).unwrap();
            let said = read(json!([text(&before), link(uri.as_str()), text(&after)])).unwrap();
            let named = mentions(said[0].as_text().unwrap());
            prop_assert_eq!(named.into_iter().map(|named| named.path).collect::<Vec<_>>(), [path]);
        }
    }
}
