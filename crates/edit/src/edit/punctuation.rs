//! Letters that look alike, and the ways in which weak models write letters that they should have written as they are.

use super::fold::{Folded, is_blank};

/// Folds one line: quotes, dashes and blanks to their plain forms, blanks at the end to nothing.
pub(super) fn fold(line: &str, folded: &mut Folded) {
    let kept = line
        .trim_end_matches(|letter| is_blank(letter) || plain(letter).is_some_and(|to| to.trim().is_empty()));
    if kept.is_ascii() {
        folded.keep(kept);
    } else {
        for letter in kept.chars() {
            let mut bytes = [0; 4];
            let same: &str = letter.encode_utf8(&mut bytes);
            match plain(letter) {
                Some(to) => folded.swap(same.len(), to),
                None => folded.keep(same),
            }
        }
    }
    folded.swap(line.len() - kept.len(), "");
}

/// The plain form of a letter, if it is another one.
fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        '‘' | '’' | '‚' | '‛' | '′' | '´' | 'ʼ' => "'",
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => "\"",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '\u{ad}' => "-",
        '…' => "...",
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => " ",
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => "",
        _ => return None,
    })
}

/// The texts that may have been meant by one that was written with escapes, the text itself first.
pub(super) fn readings() -> [fn(&str) -> String; 4] {
    [str::to_owned, without_escapes, without_entities, |text| without_escapes(&without_entities(text))]
}

/// `\n`, `\t`, `\"`, `\'`, `` \` `` and `\\` as what they stand for.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let meant = match letters.peek() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some(next @ ('"' | '\'' | '`' | '\\' | '/')) => *next,
            Some(_) | None => {
                out.push(letter);
                continue;
            }
        };
        if letter == '\\' {
            letters.next();
            out.push(meant);
        } else {
            out.push(letter);
        }
    }
    out
}

/// The few entities that models write for letters of code.
const ENTITIES: [(&str, &str); 9] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&apos;", "'"),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&#34;", "\""),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

fn without_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let (used, meant) = ENTITIES
            .iter()
            .find_map(|(entity, meant)| after.starts_with(entity).then_some((entity.len(), *meant)))
            .unwrap_or((1, "&"));
        out.push_str(meant);
        rest = after.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_entities_are_what_they_stand_for() {
        assert_eq!(without_escapes(r#"a\nb\t\"c\" \\d \w \"#), "a\nb\t\"c\" \\d \\w \\");
        assert_eq!(without_escapes("nt"), "nt");
        assert_eq!(without_entities("if a &lt; b &amp;&amp; c &amp;lt; &x &"), "if a < b && c &lt; &x &");
    }
}
