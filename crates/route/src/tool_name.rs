//! What a tool's name tells of it.

use rail_model::{ToolDecl, ToolKind};
use serde_json::Value;

/// What a tool's name holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks {
    /// `web`, `search` or `browser`, or `url_context`.
    pub(crate) web: bool,
    /// The same, but not a search in files, code or other things at hand.
    pub(crate) strictly_web: bool,
    /// `image`, `screenshot` or `vision`.
    pub(crate) image: bool,
}

/// Beside `search`, these say that what is searched is no web: files, code, text, tools, what was said before.
const AT_HAND: [&str; 18] = [
    "file",
    "code",
    "grep",
    "text",
    "content",
    "tool",
    "symbol",
    "repo",
    "memory",
    "workspace",
    "folder",
    "director",
    "project",
    "replace",
    "path",
    "history",
    "conversation",
    "semantic",
];

/// Endings of files that hold an image.
const IMAGE_ENDINGS: [&str; 11] =
    [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif"];

/// Reads a name once, from left to right, and copies nothing.
pub(crate) fn marks(name: &str) -> Marks {
    let mut marks = Marks::default();
    let (mut search, mut rest) = (false, name.as_bytes());
    while let [first, tail @ ..] = rest {
        match first.to_ascii_lowercase() {
            b'w' => marks.strictly_web |= starts(rest, "web"),
            b'b' => marks.strictly_web |= starts(rest, "browser"),
            b's' => {
                search |= starts(rest, "search");
                marks.image |= starts(rest, "screenshot");
            }
            // Gemini's own reading of web pages.
            b'u' => marks.strictly_web |= starts(rest, "url_context") || starts(rest, "urlcontext"),
            b'i' => marks.image |= starts(rest, "image"),
            b'v' => marks.image |= starts(rest, "vision"),
            _ => {}
        }
        rest = tail;
    }
    marks.web = search || marks.strictly_web;
    marks.strictly_web |= search && !AT_HAND.iter().any(|word| holds(name, word));
    marks
}

/// The provider's own web search, by its type or name: `web_search_20250305`, `web_search_preview`, `google_search`,
/// `googleSearch`. One that may only look into a stored index (`external_web_access` is false) is what some clients declare
/// in every request, so it says nothing of this one.
pub(crate) fn server_search(tool: &ToolDecl) -> Option<&str> {
    let ToolKind::Server(opaque) = &tool.kind else { return None };
    if opaque.value.get("external_web_access") == Some(&Value::Bool(false)) {
        return None;
    }
    let kind = opaque.value.get("type").and_then(Value::as_str);
    kind.into_iter().chain([tool.name.as_str()]).find(|word| {
        ["web_search", "websearch", "google_search", "googlesearch"].iter().any(|known| holds(word, known))
    })
}

/// Whether a tool reads a file: `Read`, `read_file`, `view`, `view_image`, `read_many_files`, `mcp__files__read_media_file`.
pub(crate) fn reads(name: &str, arguments: &str) -> bool {
    match name {
        // One tool for all: only its `view` reads.
        "str_replace_based_edit_tool" | "str_replace_editor" => arguments.contains("\"view\""),
        _ => words(name).any(|word| ["read", "view"].iter().any(|known| word.eq_ignore_ascii_case(known))),
    }
}

/// Whether a text, or a string that ends in it, is the path of an image. It is not parsed: a quote behind an ending will do.
pub(crate) fn names_image(arguments: &str) -> bool {
    // What a read leaves out is a list of its own.
    let (read, excluded) = arguments.split_once("\"exclude\"").unwrap_or((arguments, ""));
    [read, excluded.split_once(']').map_or("", |(_, behind)| behind)].into_iter().any(holds_image_path)
}

fn holds_image_path(text: &str) -> bool {
    let bytes = text.trim_end().as_bytes();
    let ends = |head: &[u8]| {
        IMAGE_ENDINGS.iter().any(|ending| {
            head.len()
                .checked_sub(ending.len())
                .and_then(|at| head.get(at..))
                .is_some_and(|tail| tail.eq_ignore_ascii_case(ending.as_bytes()))
        })
    };
    ends(bytes)
        || bytes.iter().enumerate().any(|(at, byte)| *byte == b'"' && bytes.get(..at).is_some_and(ends))
}

/// The words of a name: parted by anything that is no letter, and where a capital follows a small letter.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let mut small = false;
        let end = rest.find(|c: char| {
            let parts = !c.is_ascii_alphabetic() || (small && c.is_ascii_uppercase());
            small = c.is_ascii_lowercase();
            parts
        });
        let (word, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

fn holds(name: &str, word: &str) -> bool {
    name.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

fn starts(text: &[u8], word: &str) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rail_model::{Extras, Opaque, ProtocolId};
    use serde_json::json;

    #[test]
    fn names_tell_web_and_image_tools() {
        let kinds = |name: &str| match marks(name) {
            Marks { strictly_web: true, image: false, .. } => "web",
            Marks { web: true, image: false, .. } => "literally web",
            Marks { web: false, image: true, .. } => "image",
            Marks { image: true, .. } => "both",
            Marks { .. } => "",
        };
        for (name, expected) in [
            ("WebFetch", "web"),
            ("WebSearch", "web"),
            ("google_web_search", "web"),
            ("browser_navigate", "web"),
            ("mcp__brave__search", "web"),
            ("deep_research", "web"),
            ("urlContext", "web"),
            ("url_context", "web"),
            ("web_search_files", "web"),
            ("search_files", "literally web"),
            ("grep_search", "literally web"),
            ("search_file_content", "literally web"),
            ("code_search", "literally web"),
            ("file_search", "literally web"),
            ("ToolSearch", "literally web"),
            ("codebase_search", "literally web"),
            ("SearchReplace", "literally web"),
            ("take_screenshot", "image"),
            ("analyze_image", "image"),
            ("Vision", "image"),
            ("image_search", "both"),
            ("browser_take_screenshot", "both"),
            ("Bash", ""),
            ("", ""),
        ] {
            assert_eq!(kinds(name), expected, "{name}");
        }
    }

    #[test]
    fn a_search_that_the_provider_runs() {
        let server = |name: &str, value: Value| ToolDecl {
            name: name.into(),
            description: None,
            kind: ToolKind::Server(Opaque { origin: ProtocolId::new("x"), value }),
            strict: None,
            cache: None,
            extras: Extras::NONE,
        };
        for (name, value, expected) in [
            (
                "web_search",
                json!({"type": "web_search_20250305", "name": "web_search"}),
                Some("web_search_20250305"),
            ),
            ("web_search_preview", json!({"type": "web_search_preview"}), Some("web_search_preview")),
            ("google_search", json!({"google_search": {}}), Some("google_search")),
            ("googleSearch", json!({"googleSearch": {}}), Some("googleSearch")),
            ("web_search", json!({"type": "web_search", "external_web_access": true}), Some("web_search")),
            ("web_search", json!({"type": "web_search", "external_web_access": false}), None),
            ("tool_search", json!({"type": "tool_search_tool_regex_20251119"}), None),
            ("code_execution", json!({"type": "code_execution_20250522"}), None),
        ] {
            assert_eq!(server_search(&server(name, value)), expected, "{name}");
        }
        let function =
            ToolDecl { kind: ToolKind::Function { parameters: None }, ..server("web_search", json!({})) };
        assert_eq!(server_search(&function), None, "the client runs it");
    }

    #[test]
    fn read_tools_of_any_dialect_on_image_files() {
        for (name, arguments, expected) in [
            ("Read", r#"{"file_path":"/a/shot.PNG"}"#, true),
            ("read_file", r#"{"absolute_path": "/a/b.jpeg" , "limit": 3}"#, true),
            ("ReadFile", r#"{"path":"b.webp"}"#, true),
            ("view_image", r#"{"path":"b.gif"}"#, true),
            ("view", r#"{"path":"b.rs"}"#, false),
            ("read_many_files", r#"{"paths":["a.rs","b.tiff"]}"#, true),
            ("read_many_files", r#"{"paths":["src"],"exclude":["a.png"]}"#, false),
            ("read_many_files", r#"{"exclude":["a.png"],"paths":["b.jpg"]}"#, true),
            ("mcp__files__read_media_file", r#"{"path":"x.bmp"}"#, true),
            ("str_replace_based_edit_tool", r#"{"command":"view","path":"x.png"}"#, true),
            ("str_replace_based_edit_tool", r#"{"command":"create","path":"x.png"}"#, false),
            ("read", "x.png\n", true),
            ("read", "x.png y", false),
            ("Write", r#"{"file_path":"a.png"}"#, false),
            ("preview_thread", r#"{"path":"a.png"}"#, false),
            ("Read", "", false),
        ] {
            assert_eq!(reads(name, arguments) && names_image(arguments), expected, "{name} {arguments}");
        }
    }

    proptest! {
        #[test]
        fn any_name_and_arguments_get_an_answer(name in ".*", arguments in ".*") {
            let marks = marks(&name);
            prop_assert!(marks.web || !marks.strictly_web);
            reads(&name, &arguments);
            names_image(&arguments);
        }
    }
}
