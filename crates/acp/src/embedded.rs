//! Files that an editor gives whole, as text for a model, and back.

use std::path::PathBuf;

use agent_client_protocol_schema::v1::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, TextResourceContents,
};
use url::Url;

/// A file's address, taken apart. Of another address the path is all of it.
pub(crate) struct Place {
    pub(crate) path: String,
    /// What of the file is meant, such as `L10-20`.
    pub(crate) part: Option<String>,
    pub(crate) is_file: bool,
}

impl Place {
    pub(crate) fn of(uri: &str) -> Self {
        let file = Url::parse(uri).ok().filter(|url| url.scheme() == "file");
        let path = file.as_ref().and_then(|url| url.to_file_path().ok()).map(PathBuf::into_os_string);
        match (file, path.and_then(|path| path.into_string().ok())) {
            (Some(url), Some(path)) => {
                let part = url.fragment().filter(|part| !part.is_empty()).map(str::to_owned);
                Self { path, part, is_file: true }
            }
            _ => Self { path: uri.to_owned(), part: None, is_file: false },
        }
    }

    fn uri(&self) -> String {
        match Url::from_file_path(&self.path) {
            Ok(mut url) => {
                url.set_fragment(self.part.as_deref());
                url.into()
            }
            // What is no absolute path was an address.
            Err(()) => self.path.clone(),
        }
    }
}

/// A file's text with its name around it. Nothing in the file ends it early: the tag is one that does not stand in it.
pub(crate) fn written(place: &Place, text: &str) -> String {
    let tags = std::iter::once("file".to_owned()).chain((2_u64..).map(|number| format!("file-{number}")));
    let tag = tags.into_iter().find(|tag| !text.contains(&format!("</{tag}>"))).unwrap_or_default();
    let part = place.part.as_deref().map(|part| format!(" part=\"{}\"", escaped(part))).unwrap_or_default();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("<{tag} path=\"{}\"{part}>\n{text}{end}</{tag}>", escaped(&place.path))
}

/// The file that was written so.
pub(crate) fn read(text: &str) -> Option<ContentBlock> {
    let (head, rest) = text.strip_prefix('<')?.split_once(">\n")?;
    let (tag, attributes) = head.split_once(" path=\"")?;
    let is_ours = tag == "file" || tag.strip_prefix("file-").is_some_and(|rest| rest.parse::<u64>().is_ok());
    let body = rest.strip_suffix(&format!("</{tag}>")).filter(|body| is_ours && body.ends_with('\n'))?;
    let (path, part) = match attributes.strip_suffix('"')?.split_once("\" part=\"") {
        Some((path, part)) => (path, Some(unescaped(part))),
        None => (attributes.strip_suffix('"')?, None),
    };
    let place = Place { path: unescaped(path), part, is_file: true };
    let contents = TextResourceContents::new(body, place.uri());
    let resource = EmbeddedResourceResource::TextResourceContents(contents);
    Some(ContentBlock::Resource(EmbeddedResource::new(resource)))
}

/// What stands for what would end an attribute, or the line; `&` comes first, for it begins all of them.
const ESCAPES: [(&str, &str); 6] =
    [("&", "&amp;"), ("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;"), ("\n", "&#10;"), ("\r", "&#13;")];

fn escaped(text: &str) -> String {
    ESCAPES.iter().fold(text.to_owned(), |text, (sign, name)| text.replace(sign, name))
}

fn unescaped(text: &str) -> String {
    ESCAPES.iter().rev().fold(text.to_owned(), |text, (sign, name)| text.replace(name, sign))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn back(text: &str) -> Option<(String, String)> {
        let Some(ContentBlock::Resource(resource)) = read(text) else { return None };
        match resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => Some((text.uri, text.text)),
            _ => None,
        }
    }

    #[test]
    fn a_file_has_its_name_around_it() {
        for (uri, text, expected) in [
            ("file:///srv/a.rs", "a", "<file path=\"/srv/a.rs\">\na\n</file>"),
            ("file:///srv/a.rs#L1-2", "a\n", "<file path=\"/srv/a.rs\" part=\"L1-2\">\na\n</file>"),
            ("file:///b%20%22c%22%0Ad", "", "<file path=\"/b &quot;c&quot;&#10;d\">\n\n</file>"),
            (
                "zed:///thread/1?x=<&",
                "</file>",
                "<file-2 path=\"zed:///thread/1?x=&lt;&amp;\">\n</file>\n</file-2>",
            ),
            ("untitled", "</file></file-2>", "<file-3 path=\"untitled\">\n</file></file-2>\n</file-3>"),
        ] {
            assert_eq!(written(&Place::of(uri), text), expected);
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for text in [
            "",
            "<file>",
            "<file path=\"a\">\nx</file>",
            "<file path=\"a\">\nx\n</file> and more",
            "<files path=\"a\">\nx\n</files>",
            "see <file path=\"a\">\nx\n</file>",
            "<file path=\"a>\nx\n</file>",
        ] {
            assert_eq!(back(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            path in "/[a-z0-9&;<>\"# %\n]{1,12}[a-z]", part in proptest::option::of("L[0-9]{1,3}"), text in "(?s).{0,40}",
        ) {
            let place = Place { path, part, is_file: true };
            let text = format!("{text}\n");
            prop_assert_eq!(back(&written(&place, &text)), Some((place.uri(), text)));
        }

        #[test]
        fn any_text_is_read(text in "(<file( path=\"[a&;]{0,6}\")?>?|\n|</file>|\"|a){0,8}") {
            read(&text);
        }
    }
}
