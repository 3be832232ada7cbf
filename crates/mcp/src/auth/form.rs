//! Forms and queries: `application/x-www-form-urlencoded`.

/// The pairs as a form.
pub(super) fn encode<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (name, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        escape(name, &mut out);
        out.push('=');
        escape(value, &mut out);
    }
    out
}

/// One text as it stands in a form.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// The pairs of a form, in order. What is not UTF-8 is shown as such, never an error: nothing that counts has such bytes.
pub(super) fn decode(form: &str) -> Vec<(String, String)> {
    let pairs = form.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (unescaped(name), unescaped(value))
        })
        .collect()
}

// `%20` and not `+` for a blank: it means the same in a query, in a form and in a header.
fn escape(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'+' => out.push(b' '),
            b'%' => match hex(behind) {
                Some((byte, behind)) => {
                    out.push(byte);
                    rest = behind;
                }
                None => out.push(b'%'),
            },
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, behind) = text.split_at_checked(2)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((byte, behind))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_others_are_read() {
        let read = |form: &str| {
            decode(form).iter().map(|(name, value)| format!("{name}<{value}>")).collect::<String>()
        };
        assert_eq!(read("code=a%2Fb&state=x+y&&iss"), "code<a/b>state<x y>iss<>");
        assert_eq!(read("a=%zz%4&b=%+1&c=%C3%A9%FF"), "a<%zz%4>b<% 1>c<é\u{fffd}>");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(pairs in prop::collection::vec((".{1,8}", ".{0,20}"), 0..5)) {
            let pairs: Vec<(String, String)> = pairs;
            let form = encode(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            prop_assert!(form.is_ascii());
            prop_assert_eq!(decode(&form), pairs);
        }

        #[test]
        fn any_form_is_read(form in "(\\PC|[%&=+]){0,40}") {
            decode(&form);
        }
    }
}
