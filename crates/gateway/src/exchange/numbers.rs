//! Numbers of events. Some protocols count the events of a stream, and a client may take a count that goes back for a broken one.

const KEY: &[u8] = br#""sequence_number":"#;

/// Frames that go on counting where those before them stopped. Where those have no numbers, they stay as they are.
pub(super) fn go_on(before: &[u8], frames: Vec<u8>) -> Vec<u8> {
    let Some(mut number) = last(before) else { return frames };
    let mut counted = Vec::with_capacity(frames.len() + 8);
    let mut rest = frames.as_slice();
    while let Some((head, tail)) = at_number(rest) {
        number = number.saturating_add(1);
        counted.extend_from_slice(head);
        counted.extend_from_slice(number.to_string().as_bytes());
        let digits = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = tail.get(digits..).unwrap_or_default();
    }
    counted.extend_from_slice(rest);
    counted
}

/// The last number in these frames. In texts the key's quotes are escaped, so that only a key is found.
fn last(frames: &[u8]) -> Option<u64> {
    let at = frames.windows(KEY.len()).rposition(|window| window == KEY)? + KEY.len();
    let rest = std::str::from_utf8(frames.get(at..)?.get(..24).or(frames.get(at..))?).ok()?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

/// The bytes up to the first number, and those from it on.
fn at_number(frames: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = frames.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    frames.split_at_checked(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_failure_goes_on_counting() {
        let failure = r#"data: {"type":"response.failed","sequence_number":2,"x":1}"#;
        for (before, expected) in [
            (r#"data: {"sequence_number":4} data: {"sequence_number":5,"delta":"a"}"#, "6"),
            (r#"data: {"sequence_number": 41}"#, "42"),
            (r#"data: {"sequence_number":7,"delta":"\"sequence_number\":9"}"#, "8"),
            (r#"data: {"sequence_number":"#, "2"),
            ("data: {}", "2"),
            ("", "2"),
        ] {
            let counted = String::from_utf8(go_on(before.as_bytes(), failure.into())).unwrap();
            assert_eq!(counted, failure.replace(":2,", &format!(":{expected},")), "{before}");
        }
        let two = br#"{"sequence_number":2}{"sequence_number":3}"#;
        assert_eq!(
            go_on(br#"{"sequence_number":8}"#, two.to_vec()),
            br#"{"sequence_number":9}{"sequence_number":10}"#
        );
    }

    proptest! {
        #[test]
        fn what_has_no_number_stays(before: Vec<u8>, frames in "[a-z\"{}:]{0,40}") {
            prop_assert_eq!(go_on(&before, frames.clone().into_bytes()), frames.as_bytes());
            prop_assert_eq!(go_on(br#""sequence_number":1"#, frames.clone().into_bytes()), frames.as_bytes());
        }
    }
}
