//! A request's place in a trace.

/// A request's place in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Context {
    /// The trace.
    pub(super) trace: [u8; 16],
    /// The request's own span.
    pub(super) span: [u8; 8],
    /// The client's span, if it named one.
    pub(super) parent: Option<[u8; 8]>,
    /// Whether it is told; a client that traces decides that itself.
    pub(super) sampled: bool,
}

impl Context {
    /// A place in the trace that a `traceparent` names, else in a new one.
    pub(crate) fn new(traceparent: Option<&str>) -> Self {
        let span = new_span();
        match traceparent.and_then(read) {
            Some((trace, parent, sampled)) => Self { trace, span, parent: Some(parent), sampled },
            None => Self { trace: fastrand::u128(1..).to_be_bytes(), span, parent: None, sampled: true },
        }
    }
}

/// The id of a new span. Zero means none.
pub(super) fn new_span() -> [u8; 8] {
    fastrand::u64(1..).to_be_bytes()
}

/// Reads `00-<trace>-<span>-<flags>`. Later versions may have more behind it.
fn read(text: &str) -> Option<([u8; 16], [u8; 8], bool)> {
    let mut parts = text.trim().splitn(5, '-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let [version] = hex(version)?;
    let whole = parts.next().is_none();
    let (trace, span, [flags]) = (hex(trace)?, hex(span)?, hex(flags)?);
    let valid = version != 0xff && (version != 0 || whole) && trace != [0; 16] && span != [0; 8];
    valid.then_some((trace, span, flags & 1 == 1))
}

/// Exactly so many bytes in small hexadecimal digits.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != N * 2 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_client_s_trace_is_continued() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = Context::new(Some(parent));
        assert_eq!(context.trace, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes());
        assert_eq!(context.parent, Some(0xb7ad_6b71_6920_3331_u64.to_be_bytes()));
        assert!(context.sampled && context.parent != Some(context.span));
        assert!(!Context::new(Some(&parent.replace("-01", "-00"))).sampled);
        assert!(read("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes").is_some());
    }

    #[test]
    fn what_is_no_trace_begins_a_new_one() {
        for wrong in [
            "",
            "00",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c8031éc-b7ad6b7169203331-01",
        ] {
            let context = Context::new(Some(wrong));
            assert_eq!((context.parent, context.sampled), (None, true), "{wrong}");
            assert_ne!(context.trace, [0; 16]);
        }
    }

    proptest! {
        #[test]
        fn any_header_is_taken(text in "\\PC{0,80}|([0-9a-f]{2}-){0,2}[0-9a-f]{32}-[0-9a-f]{16}-0[01]") {
            Context::new(Some(&text));
        }
    }
}
