//! One part of a message, for people.

use rail_model::{MediaKind, Part, PartBody};

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Length {
    /// Of results and arguments only the beginning, of thoughts nothing.
    Cut,
    /// All of it.
    Whole,
}

/// How many lines of a result are shown when not all are.
const LINES: usize = 4;
/// How many characters of one line, or of arguments, are shown when not all are.
const WIDE: usize = 160;

/// Adds a part of a message.
pub(super) fn part(part: &Part, length: Length, out: &mut String) {
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => *out += &format!("{}\n", text.trim_end()),
        PartBody::Thinking(text) => match length {
            Length::Cut => {}
            Length::Whole => indented("(thinks) ", text, length, out),
        },
        PartBody::Redacted(_) => match length {
            Length::Cut => {}
            Length::Whole => *out += "(thinks, and its issuer does not show what)\n",
        },
        PartBody::ToolCall(call) => {
            let arguments = match length {
                Length::Cut => cut(&call.arguments),
                Length::Whole => call.arguments.clone(),
            };
            *out += &format!("> {} {arguments}\n", call.name);
        }
        PartBody::ToolResult(result) => {
            if result.is_error == Some(true) {
                *out += "  (it failed)\n";
            }
            for content in &result.content {
                match content.as_text() {
                    Some(text) => indented("  ", text, length, out),
                    None => self::part(content, length, out),
                }
            }
        }
        PartBody::Media(media) => {
            let kind = match media.kind {
                MediaKind::Image => "an image",
                MediaKind::Document => "a document",
                MediaKind::Audio => "a sound",
                MediaKind::Video => "a film",
            };
            let mime = media.mime.as_deref().unwrap_or("of unknown type");
            *out += &format!("({kind}, {mime})\n");
        }
        PartBody::Opaque(opaque) => *out += &format!("(a block that only {} knows)\n", opaque.origin),
    }
}

fn indented(before: &str, text: &str, length: Length, out: &mut String) {
    let shown = match length {
        Length::Cut => LINES,
        Length::Whole => usize::MAX,
    };
    let mut lines = text.trim_end().lines();
    for line in lines.by_ref().take(shown) {
        let line = if length == Length::Cut { cut(line) } else { line.to_owned() };
        *out += format!("{before}{line}").trim_end();
        out.push('\n');
    }
    match lines.count() {
        0 => {}
        1 => *out += &format!("{before}… 1 more line\n"),
        more => *out += &format!("{before}… {more} more lines\n"),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind, ToolResult};

    use super::*;

    fn shown(body: PartBody, length: Length) -> String {
        let mut out = String::new();
        part(&Part::new(body), length, &mut out);
        out
    }

    #[test]
    fn long_results_are_cut_and_whole_ones_are_not() {
        let result = |text: &str| {
            PartBody::ToolResult(ToolResult {
                id: CallId::Given("1".to_owned()),
                name: None,
                content: vec![Part::text(text)],
                is_error: Some(true),
                kind: CallKind::Function,
            })
        };
        let six = "1\n2\n3\n4\n5\n6\n";
        assert_eq!(shown(result(six), Length::Cut), "  (it failed)\n  1\n  2\n  3\n  4\n  … 2 more lines\n");
        assert_eq!(shown(result(six), Length::Whole), "  (it failed)\n  1\n  2\n  3\n  4\n  5\n  6\n");
        assert_eq!(
            shown(result(&"x".repeat(200)), Length::Cut),
            format!("  (it failed)\n  {}…\n", "x".repeat(160))
        );
        assert_eq!(shown(PartBody::Thinking("hm".to_owned()), Length::Cut), "");
        assert_eq!(shown(PartBody::Thinking("hm".to_owned()), Length::Whole), "(thinks) hm\n");
        assert_eq!(shown(PartBody::Text("a\nb\n\n".to_owned()), Length::Cut), "a\nb\n");
    }
}
