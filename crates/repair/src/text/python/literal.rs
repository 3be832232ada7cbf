use rail_model::Map;
use serde_json::Value;

use super::string::{self, Style};

/// Lists in lists deeper than this are nobody's arguments.
const MAX_DEPTH: usize = 64;

/// Which of several possible quotes ends each string. One walk through the text makes one row of choices; all rows are
/// tried in turn.
#[derive(Default, Debug)]
pub(super) struct Choices {
    /// What was chosen, out of how many.
    row: Vec<(usize, usize)>,
    next: usize,
    /// Bytes looked at in all walks.
    work: usize,
}

/// More work than this is not worth a call.
const MAX_WORK: usize = 1 << 20;

impl Choices {
    fn pick(&mut self, count: usize) -> usize {
        let picked = match self.row.get(self.next) {
            Some((picked, _)) => *picked,
            None => {
                self.row.push((0, count));
                0
            }
        };
        self.next += 1;
        picked
    }

    /// Moves on to the next row; false when all were tried.
    pub(super) fn turn(&mut self) -> bool {
        self.row.truncate(self.next);
        self.next = 0;
        while let Some((picked, count)) = self.row.pop() {
            if picked + 1 < count {
                self.row.push((picked + 1, count));
                return true;
            }
        }
        false
    }

    /// Whether the work is more than it is worth.
    pub(super) fn is_spent(&self) -> bool {
        self.work > MAX_WORK
    }
}

/// Reads literals from a text that is known whole. None is always: this is no literal.
pub(super) struct Literals<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Strings end at their first quote where there are no choices.
    pub(super) choices: Option<&'a mut Choices>,
    depth: usize,
}

impl<'a> Literals<'a> {
    pub(super) fn new(text: &'a str, choices: Option<&'a mut Choices>) -> Self {
        Self { text, at: 0, choices, depth: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, word: &str) -> bool {
        let takes = self.rest().starts_with(word);
        if takes {
            self.at += word.len();
        }
        takes
    }

    /// Moves over blanks, line ends and comments.
    pub(super) fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let solid = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
            self.at += rest.len() - solid.len();
            if solid.starts_with('#') {
                self.at += solid.find('\n').unwrap_or(solid.len());
            } else if solid.starts_with("\\\n") {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    /// Moves over a name of letters, digits and these.
    pub(super) fn word(&mut self, also: &[char]) -> Option<&'a str> {
        let rest = self.rest();
        let is_part = |c: char| c == '_' || c.is_alphanumeric() || also.contains(&c);
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = rest
            .get(..length)
            .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_numeric()))?;
        self.at += length;
        Some(word)
    }

    pub(super) fn value(&mut self) -> Option<Value> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.blanks();
        self.depth += 1;
        let value = match self.peek()? {
            _ if Style::at(self.rest().as_bytes()).is_some() => self.strings().map(Value::from),
            b'[' => self.sequence("[", "]").map(|(items, _)| Value::from(items)),
            b'(' => self.sequence("(", ")").and_then(|(mut items, comma)| {
                if items.len() == 1 && !comma { items.pop() } else { Some(Value::from(items)) }
            }),
            b'{' => self.braces(),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number(),
            _ => constant(self.word(&[])?),
        };
        self.depth -= 1;
        value
    }

    /// String literals, joined where several stand side by side.
    fn strings(&mut self) -> Option<String> {
        let mut joined = String::new();
        loop {
            let Some((style, opener)) = Style::at(self.rest().as_bytes()) else { return Some(joined) };
            let from = self.at + opener;
            let end = self.end(style, from)?;
            joined.push_str(&string::decode(self.text.get(from..end)?, style)?);
            self.at = end + style.closer();
            let after = self.at;
            self.blanks();
            if Style::at(self.rest().as_bytes()).is_none() {
                self.at = after;
                return Some(joined);
            }
        }
    }

    fn end(&mut self, style: Style, from: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let Some(choices) = &mut self.choices else { return style.end(bytes, from) };
        choices.work += bytes.len() - from.min(bytes.len());
        if choices.is_spent() {
            return None;
        }
        let mut ends = Vec::new();
        let mut at = from;
        let first = style.end(bytes, from)?;
        if is_computed(bytes.get(first + style.closer()..)?) {
            return None;
        }
        while let Some(end) = style.end(bytes, at) {
            at = end + style.closer();
            if may_follow(bytes.get(at..)?) {
                ends.push(end);
            }
            at = if style.triple { at } else { end + 1 };
        }
        if ends.is_empty() {
            return None;
        }
        let picked = choices.pick(ends.len());
        ends.get(picked).copied()
    }

    /// The items between brackets, and whether a comma stood behind the last.
    fn sequence(&mut self, open: &str, close: &str) -> Option<(Vec<Value>, bool)> {
        self.take(open);
        self.items(close, Vec::new(), true)
    }

    /// More items up to the closing bracket; `comma` says whether one may come.
    fn items(&mut self, close: &str, mut items: Vec<Value>, mut comma: bool) -> Option<(Vec<Value>, bool)> {
        loop {
            self.blanks();
            if self.take(close) {
                return Some((items, comma));
            }
            if !comma {
                return None;
            }
            items.push(self.value()?);
            self.blanks();
            comma = self.take(",");
        }
    }

    /// A dict, or a set, which JSON knows only as a list.
    fn braces(&mut self) -> Option<Value> {
        self.take("{");
        let mut map = Map::new();
        loop {
            self.blanks();
            if self.take("}") {
                return Some(Value::from(map));
            }
            let key = self.key()?;
            self.blanks();
            if !self.take(":") {
                if !map.is_empty() {
                    return None;
                }
                let comma = self.take(",");
                return self.items("}", vec![key], comma).map(|(items, _)| Value::from(items));
            }
            let key = match key {
                Value::String(key) => key,
                other => other.to_string(),
            };
            map.insert(key, self.value()?);
            self.blanks();
            if !self.take(",") {
                self.blanks();
                return self.take("}").then(|| Value::from(map));
            }
        }
    }

    /// A key, which may be a bare word that a colon follows, or the first item of a set.
    fn key(&mut self) -> Option<Value> {
        let begun = self.at;
        if Style::at(self.rest().as_bytes()).is_none()
            && let Some(word) = self.word(&[])
        {
            self.blanks();
            if self.peek() == Some(b':') {
                return Some(Value::from(word));
            }
        }
        self.at = begun;
        self.value()
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let mut before = ' ';
        let length = rest
            .find(|c: char| {
                let part = c.is_ascii_alphanumeric()
                    || matches!(c, '_' | '.')
                    || matches!(c, '+' | '-') && matches!(before, ' ' | 'e' | 'E');
                before = c;
                !part
            })
            .unwrap_or(rest.len());
        let value = number(rest.get(..length)?)?;
        self.at += length;
        Some(value)
    }
}

/// Whether a string can be over where this follows. Strings side by side have a blank between, or every quote would do.
fn may_follow(rest: &[u8]) -> bool {
    let solid = rest.trim_ascii_start();
    solid.first().is_none_or(|byte| matches!(byte, b',' | b')' | b']' | b'}' | b':' | b'#'))
        || solid.len() < rest.len() && Style::at(solid).is_some()
}

/// Whether code goes on with a string: then its quotes are right, and the value is none that is written down.
fn is_computed(rest: &[u8]) -> bool {
    let solid = rest.trim_ascii_start();
    matches!(solid, [b'+' | b'%', b' ', ..]) || matches!(rest, [b'.', next, ..] if next.is_ascii_alphabetic())
}

/// A word that stands for a value, in Python or JSON.
pub(super) fn constant(word: &str) -> Option<Value> {
    Some(match word {
        "True" | "true" => Value::from(true),
        "False" | "false" => Value::from(false),
        "None" | "null" => Value::Null,
        _ => return None,
    })
}

/// A number as JSON would write it: its digits stay what they are.
pub(super) fn number(spelled: &str) -> Option<Value> {
    let (sign, digits) = match spelled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", spelled.strip_prefix('+').unwrap_or(spelled)),
    };
    let digits = digits.replace('_', "").to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            let whole = u64::from_str_radix(digits, radix).ok()?;
            return serde_json::from_str(&format!("{sign}{whole}")).ok();
        }
    }
    let (mantissa, exponent) = digits.split_once('e').map_or((digits.as_str(), None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    if whole.is_empty() && fraction.is_none_or(str::is_empty) {
        return None;
    }
    let mut json = format!("{sign}{}", whole.trim_start_matches('0'));
    if whole.trim_start_matches('0').is_empty() {
        json.push('0');
    }
    if let Some(fraction) = fraction {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        json.push('e');
        json.push_str(exponent);
    }
    serde_json::from_str(&json).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Choices, Literals};

    fn read(text: &str) -> Option<Value> {
        let mut literals = Literals::new(text, None);
        let value = literals.value()?;
        literals.blanks();
        literals.rest().is_empty().then_some(value)
    }

    #[test]
    fn literals_become_json() {
        for (text, value) in [
            ("'a'", json!("a")),
            ("'a' \"b\"\n r'\\c'", json!("ab\\c")),
            ("('a'\n 'b')", json!("ab")),
            ("-1", json!(-1)),
            ("+1", json!(1)),
            ("007", json!(7)),
            ("000", json!(0)),
            ("1_000", json!(1000)),
            ("-0.50", serde_json::from_str("-0.50").unwrap()),
            (".5", json!(0.5)),
            ("1.", serde_json::from_str("1.0").unwrap()),
            ("1e-3", serde_json::from_str("1e-3").unwrap()),
            ("1E+3", serde_json::from_str("1e+3").unwrap()),
            ("0xff", json!(255)),
            ("-0b11", json!(-3)),
            (
                "123456789012345678901234567890",
                serde_json::from_str("123456789012345678901234567890").unwrap(),
            ),
            ("True", json!(true)),
            ("null", json!(null)),
            ("[1, 'b', [],]", json!([1, "b", []])),
            ("()", json!([])),
            ("(1,)", json!([1])),
            ("(1)", json!(1)),
            ("(1, 2)", json!([1, 2])),
            ("{1, 2}", json!([1, 2])),
            ("{}", json!({})),
            ("{'a': 1, \"b\": {'c': None},}", json!({"a": 1, "b": {"c": null}})),
            ("{1: 2, lat: 3}", json!({"1": 2, "lat": 3})),
            ("{'a',}", json!(["a"])),
            ("[ # one\n 1, # two\n 2]", json!([1, 2])),
            ("{'a]': '}'}", json!({"a]": "}"})),
        ] {
            assert_eq!(read(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_computed_is_no_literal() {
        for text in [
            "x",
            "f()",
            "1 + 2",
            "'a' + 'b'",
            "[1 2]",
            "{'a': 1 'b': 2}",
            "1j",
            "1.2.3",
            "--1",
            "-",
            ".",
            "nan",
            "[,]",
            "'a'.x",
            "{'a': 1, 2}",
            "",
            "1e",
            "_",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"[".repeat(100_000)), None);
    }

    #[test]
    fn all_ways_to_end_strings_are_tried_once() {
        let text = "['a', 'b']";
        let mut choices = Choices::default();
        let mut ways = Vec::new();
        loop {
            ways.push(Literals::new(text, Some(&mut choices)).value());
            if !choices.turn() {
                break;
            }
        }
        assert_eq!(ways, [Some(json!(["a", "b"])), Some(json!(["a', 'b"]))]);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
            "[a-z'\\\\\n{}\\[\\]()#é]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-z]{1,4}", inner), 0..4)
                    .prop_map(|members| Value::from(members.into_iter().collect::<serde_json::Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_is_python(value in any_json()) {
            prop_assert_eq!(read(&value.to_string()), Some(value));
        }

        #[test]
        fn reading_never_panics(text in "[\\[\\](){},:'\"#rbf0-9eE._+ \n\\\\aé-]{0,40}") {
            let _ = read(&text);
            let mut choices = Choices::default();
            for _ in 0..64 {
                let _ = Literals::new(&text, Some(&mut choices)).value();
                if !choices.turn() {
                    break;
                }
            }
        }
    }
}
