//! `${NAME}` and `${NAME:-default}` in what other agents' files say.

/// The text with each variable's value in its place. What a variable holds is not looked into again, and what is no variable stays.
///
/// # Errors
/// The name of the first variable that is not set and has no default.
pub fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let Some((name, default, after)) = read(from) else {
            out.push_str("${");
            rest = from.get(2..).unwrap_or_default();
            continue;
        };
        match (variable(name), default) {
            (Some(value), None) => out.push_str(&value),
            (Some(value), Some(_)) if !value.is_empty() => out.push_str(&value),
            (Some(_) | None, Some(default)) => out.push_str(default),
            (None, None) => return Err(name.to_owned()),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Whether a text is one variable and nothing else, so that it tells no secret.
pub(super) fn is_variable(text: &str) -> bool {
    read(text).is_some_and(|(_, default, after)| default.is_none() && after.is_empty())
}

/// The name, the default and what follows, of a text that begins with a variable.
fn read(text: &str) -> Option<(&str, Option<&str>, &str)> {
    let (inside, after) = text.strip_prefix("${")?.split_once('}')?;
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let mut bytes = name.bytes();
    let first = bytes.next()?;
    let is_name = (first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, default, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variable(name: &str) -> Option<String> {
        match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${A}".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn variables_and_what_is_none() {
        for (text, expected) in [
            ("", Ok("")),
            ("plain $A {A} $", Ok("plain $A {A} $")),
            ("${A}", Ok("1")),
            ("x${A}y${A}z", Ok("x1y1z")),
            ("${A:-2}", Ok("1")),
            ("${B:-2}", Ok("2")),
            ("${B:-}", Ok("")),
            ("${B:-a:-b}", Ok("a:-b")),
            ("${EMPTY}", Ok("")),
            ("${EMPTY:-2}", Ok("2")),
            ("${NESTED}", Ok("${A}")),
            ("${B}", Err("B")),
            ("${A} ${B} ${C}", Err("B")),
            ("${", Ok("${")),
            ("${A", Ok("${A")),
            ("${1}", Ok("${1}")),
            ("${}", Ok("${}")),
            ("${A-2}", Ok("${A-2}")),
            ("${ A }", Ok("${ A }")),
            ("${${A}", Ok("${1")),
            ("ü${A}ü", Ok("ü1ü")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expand(text, &variable), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "[${}:A-Zü -]{0,30}") {
            let expanded = expand(&text, &|_| Some(String::new()));
            prop_assert!(expanded.is_ok_and(|expanded| expanded.len() <= text.len()));
        }

        #[test]
        fn text_without_variables_stays(text in "[^$]{0,40}") {
            prop_assert_eq!(expand(&text, &variable), Ok(text));
        }

        #[test]
        fn a_value_is_put_in_as_it_is(before in "[a-z$]{0,5}", value in ".{0,20}", after in "[a-z}]{0,5}") {
            let text = format!("{before} ${{A}}{after}");
            prop_assert_eq!(expand(&text, &|_| Some(value.clone())), Ok(format!("{before} {value}{after}")));
        }
    }
}
