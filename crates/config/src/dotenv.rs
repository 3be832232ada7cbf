//! `.env` files: text in, values with their lines out.

use rail_stdx::Secret;

/// A `.env` file as it was read. Nothing in it can make reading fail.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EnvFile {
    /// Its variables, in the order in which each is first named.
    pub values: Vec<EnvValue>,
    /// Lines that set nothing, with what is wrong. Their text is not repeated: it may hold a key.
    pub notes: Vec<EnvNote>,
}

/// One variable of a `.env` file, as its last line has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnvValue {
    /// Its name.
    pub name: String,
    /// What it is set to; most of them are keys, so all of them are hidden.
    pub value: Secret,
    /// The line that counts, from 1.
    pub line: usize,
}

/// A line of a `.env` file that sets nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnvNote {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl EnvFile {
    /// The variable with this name.
    pub fn get(&self, name: &str) -> Option<&EnvValue> {
        self.values.iter().find(|value| value.name == name)
    }
}

/// Reads a `.env` file: `NAME=value`, also after `export`, with quotes, comments and blank values.
///
/// In double quotes `\n`, `\r`, `\t`, `\\`, `\"` and `\$` are escapes; nothing is expanded, so a `$` stays. A value ends with
/// its line. Of several lines for one name the last one counts.
pub fn read(text: &str) -> EnvFile {
    let mut file = EnvFile::default();
    let mut place = std::collections::BTreeMap::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        match assignment(line.trim()) {
            Ok(None) => {}
            Err(problem) => file.notes.push(EnvNote { line: number, problem }),
            Ok(Some((name, value))) => {
                let at = *place.entry(name.to_owned()).or_insert(file.values.len());
                let value = EnvValue { name: name.to_owned(), value: Secret::new(value), line: number };
                match file.values.get_mut(at) {
                    Some(earlier) => *earlier = value,
                    None => file.values.push(value),
                }
            }
        }
    }
    file
}

/// Writes one line that [`read`] gives back as it was.
pub fn line(name: &str, value: &Secret) -> String {
    let mut quoted = String::new();
    for c in value.reveal().chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' | '$' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    format!("{name}=\"{quoted}\"\n")
}

/// What happens to a variable that is there with another value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Differing {
    /// It stays, and nothing is written.
    Refuse,
    /// It gets the new value.
    Replace,
}

/// A variable that is there with another value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is there with another value")]
pub struct Differs(pub String);

/// The text of a `.env` file with these variables; all that it says otherwise stays as it is.
pub fn with(text: &str, variables: &[(String, Secret)], differing: Differing) -> Result<String, Differs> {
    let mut text = text.to_owned();
    for (name, value) in variables {
        let there = read(&text).get(name).cloned();
        match there {
            Some(there) if there.value == *value => continue,
            Some(_) if differing == Differing::Refuse => return Err(Differs(name.clone())),
            Some(_) => {
                let sets = |line: &&str| matches!(assignment(line.trim()), Ok(Some((set, _))) if set == name);
                text = text.lines().filter(|line| !sets(line)).map(|line| format!("{line}\n")).collect();
            }
            None => {}
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line(name, value));
    }
    Ok(text)
}

/// The name and value that a trimmed line sets; None for a blank line or a comment.
fn assignment(line: &str) -> Result<Option<(&str, String)>, &'static str> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (name, value) = line.split_once('=').ok_or("it has no `=`; write `NAME=value`")?;
    let name = name.trim();
    // `export` alone before the `=` is a variable of that name.
    let name =
        name.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])).unwrap_or(name).trim();
    if !is_name(name) {
        return Err("what stands before the `=` is no variable name");
    }
    let bare = value.trim_start();
    let value = if let Some(rest) = bare.strip_prefix('\'') {
        let (value, after) = rest.split_once('\'').ok_or(UNCLOSED)?;
        nothing_after(after)?;
        value.to_owned()
    } else if let Some(rest) = bare.strip_prefix('"') {
        double_quoted(rest)?
    } else {
        unquoted(value).to_owned()
    };
    Ok(Some((name, value)))
}

const UNCLOSED: &str = "its quote is not closed on the same line";

fn is_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !name.is_empty() && name.chars().all(usual) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn double_quoted(rest: &str) -> Result<String, &'static str> {
    let mut value = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return nothing_after(chars.as_str()).map(|()| value),
            '\\' => match chars.next().ok_or(UNCLOSED)? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                c @ ('"' | '\\' | '$') => value.push(c),
                other => value.extend(['\\', other]),
            },
            c => value.push(c),
        }
    }
    Err(UNCLOSED)
}

fn nothing_after(rest: &str) -> Result<(), &'static str> {
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') { Ok(()) } else { Err("text stands after the closing quote") }
}

/// The value up to a `#` that follows white space.
fn unquoted(value: &str) -> &str {
    let mut after_space = false;
    for (at, c) in value.char_indices() {
        if c == '#' && after_space {
            return value.get(..at).unwrap_or_default().trim();
        }
        after_space = c.is_whitespace();
    }
    value.trim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let file = read(text);
        let values = file.values.iter().map(|v| format!("{}: {}={:?}", v.line, v.name, v.value.reveal()));
        values.chain(file.notes.iter().map(|n| format!("{}: {}", n.line, n.problem))).collect()
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("A=b", r#"1: A="b""#),
            ("export A=b", r#"1: A="b""#),
            ("export\tA = b ", r#"1: A="b""#),
            ("export=b", r#"1: export="b""#),
            ("  A = b c  ", r#"1: A="b c""#),
            ("A=", r#"1: A="""#),
            ("A=''", r#"1: A="""#),
            ("A= # nothing", r#"1: A="""#),
            ("A=#b", r##"1: A="#b""##),
            ("A=b#c # d", r##"1: A="b#c""##),
            ("A='b # c' # d", r#"1: A="b # c""#),
            (r#"A='b\n"c"'"#, r#"1: A="b\\n\"c\"""#),
            (r#"A="b\n\"c\" \\ \$x \q"  # d"#, r#"1: A="b\n\"c\" \\ $x \\q""#),
            ("A=$B ${C}", r#"1: A="$B ${C}""#),
            ("A=b=c", r#"1: A="b=c""#),
            ("A=b'c\"d", r#"1: A="b'c\"d""#),
            ("\u{feff}A=b\r\n\r\nC=d\r\n", "1: A=\"b\"\n3: C=\"d\""),
            ("# A=b\n\n  # c", ""),
            ("A=1\nB=2\nA=3", "3: A=\"3\"\n2: B=\"2\""),
            ("a.b-c_1=x", r#"1: a.b-c_1="x""#),
        ] {
            assert_eq!(shown(text).join("\n"), expected, "{text}");
        }
    }

    #[test]
    fn bad_lines_are_named_and_the_rest_counts() {
        insta::assert_snapshot!(shown("hello\nA='x\nB=\"y\\\nC='z' w\n1D=1\n=e\nF G=1\nexport\nGOOD=1").join("\n"), @r#"
        9: GOOD="1"
        1: it has no `=`; write `NAME=value`
        2: its quote is not closed on the same line
        3: its quote is not closed on the same line
        4: text stands after the closing quote
        5: what stands before the `=` is no variable name
        6: what stands before the `=` is no variable name
        7: what stands before the `=` is no variable name
        8: it has no `=`; write `NAME=value`
        "#);
    }

    #[test]
    fn a_value_is_not_shown_by_accident() {
        let file = read("KEY=sk-live\nsk-live-alone");
        assert!(!format!("{file:?}").contains("sk-live"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>()) {
            let file = read(&text);
            prop_assert!(file.values.iter().all(|value| is_name(&value.name)));
            let names: std::collections::BTreeSet<_> = file.values.iter().map(|value| &value.name).collect();
            prop_assert_eq!(names.len(), file.values.len());
        }

        #[test]
        fn what_is_written_is_read_back(values in prop::collection::vec(("[A-Z_][A-Z0-9_]{0,6}", any::<String>()), 0..6)) {
            let text: String = values.iter().map(|(name, value)| line(name, &Secret::new(value))).collect();
            let file = read(&text);
            prop_assert_eq!(&file.notes, &[]);
            for (name, _) in &values {
                let last = values.iter().rfind(|(other, _)| other == name).map(|(_, value)| value.as_str());
                prop_assert_eq!(file.get(name).map(|value| value.value.reveal()), last);
            }
        }

        #[test]
        fn what_is_put_in_is_there_and_the_rest_stays(text in "([AB#= x'\"]{0,6}\n?){0,6}", value in any::<String>()) {
            let new = [("A".to_owned(), Secret::new(&value))];
            let written = with(&text, &new, Differing::Replace).unwrap();
            let (before, after) = (read(&text), read(&written));
            prop_assert_eq!(after.get("A").map(|there| there.value.reveal()), Some(value.as_str()));
            prop_assert_eq!(after.get("B").map(|there| &there.value), before.get("B").map(|there| &there.value));
            prop_assert_eq!(&with(&written, &new, Differing::Refuse), &Ok(written.clone()));
            let differs = before.get("A").is_some_and(|there| there.value.reveal() != value);
            prop_assert_eq!(with(&text, &new, Differing::Refuse).is_err(), differs);
        }

        #[test]
        fn a_line_alone_says_what_it_says_among_others(text in "[A-C='\"# \\\\\n$x]{0,60}") {
            let whole = read(&text);
            for value in &whole.values {
                let alone = read(text.lines().nth(value.line - 1).unwrap());
                prop_assert_eq!(&alone.values[0].value, &value.value);
            }
        }
    }
}
