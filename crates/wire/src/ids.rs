//! Call ids that survive every protocol, and seals that travel inside them.
//!
//! A client gives a call's id back with the result, in every protocol, whatever else it forgets. So what an upstream
//! must see again and the client's protocol has no field for (an illegal id, a seal of another issuer) is folded into
//! the id on the way out and unfolded on the way in. Ids that need nothing stay as they are.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rail_model::{CallId, Seal};

const FOLDED: &str = "rail-";
const MINTED: &str = "rail_";
const SEALED: &str = "rail1.";

/// An id for a call that came without one: the same for the same answer and place, different elsewhere.
pub(crate) fn mint(answer: &str, at: usize) -> CallId {
    CallId::Minted(format!("{MINTED}{:012x}_{at}", fnv(answer.as_bytes()) & 0xffff_ffff_ffff))
}

/// Reads an id a client sent: as it was, with the seal that was folded into it.
pub(crate) fn unfold(id: &str) -> (CallId, Option<Seal>) {
    let Some(folded) = id.strip_prefix(FOLDED) else { return (classify(id.to_owned()), None) };
    let mut fields = folded.splitn(3, '-');
    let plain = fields.next().and_then(unescape);
    let issuer = fields.next().and_then(unescape);
    let data = fields.next().and_then(|data| URL_SAFE_NO_PAD.decode(data).ok());
    let data = data.and_then(|data| String::from_utf8(data).ok());
    match (plain, issuer, data) {
        (Some(plain), Some(issuer), Some(data)) => (classify(plain), Some(Seal { issuer, data })),
        (Some(plain), None, None) => (classify(plain), None),
        // Not one of ours after all.
        _ => (CallId::Given(id.to_owned()), None),
    }
}

/// Whether a body may hold ids that we made or changed and that only we can read: a string that begins with `rail-` or `rail_`,
/// or an item's `…_rail_…`.
pub(crate) fn may_be_folded(body: &[u8]) -> bool {
    memchr::memmem::find_iter(body, b"rail").any(|at| {
        let before = at.checked_sub(1).and_then(|before| body.get(before));
        let after = body.get(at + b"rail".len());
        matches!((before, after), (Some(b'"'), Some(b'-' | b'_')) | (Some(b'_'), Some(b'_')))
    })
}

/// Writes an id for a client: legal in every protocol, with the seal folded in.
pub(crate) fn fold(id: &CallId, seal: Option<&Seal>) -> String {
    match seal {
        None if is_legal(id.as_str()) && !id.as_str().starts_with(FOLDED) => id.as_str().to_owned(),
        None => format!("{FOLDED}{}", escape(id.as_str())),
        Some(seal) => {
            let data = URL_SAFE_NO_PAD.encode(&seal.data);
            format!("{FOLDED}{}-{}-{data}", escape(id.as_str()), escape(&seal.issuer))
        }
    }
}

/// What every protocol accepts as an id: Anthropic's `^[a-zA-Z0-9_-]+$`.
pub(crate) fn is_legal(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// An id for a target: legal there and not too long, always the same for the same id.
pub(crate) fn legal(id: &str, max_len: usize) -> String {
    let legal = if is_legal(id) { id.to_owned() } else { format!("{FOLDED}{}", escape(id)) };
    shorten(&legal, max_len)
}

/// Cuts a name to `max_len` bytes and ends it with a hash, so that different names stay different.
pub(crate) fn shorten(name: &str, max_len: usize) -> String {
    if name.len() <= max_len {
        return name.to_owned();
    }
    let mut end = max_len.saturating_sub(9);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let head = name.get(..end).unwrap_or_default();
    format!("{head}_{:08x}", fnv(name.as_bytes()) & 0xffff_ffff)
}

/// Writes a seal of another issuer into a field where a client keeps its own protocol's seals.
pub(crate) fn fold_seal(seal: &Seal, native: &str) -> String {
    if seal.issuer == native { seal.data.clone() } else { format!("{SEALED}{}.{}", seal.issuer, seal.data) }
}

/// Reads a seal from such a field.
pub(crate) fn unfold_seal(data: String, native: &str) -> Seal {
    let foreign = data.strip_prefix(SEALED).and_then(|rest| rest.split_once('.'));
    match foreign {
        Some((issuer, data)) => Seal { issuer: issuer.to_owned(), data: data.to_owned() },
        None => Seal { issuer: native.to_owned(), data },
    }
}

fn classify(id: String) -> CallId {
    if id.starts_with(MINTED) { CallId::Minted(id) } else { CallId::Given(id) }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("_{byte:02x}"));
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'_' {
            let hex = [bytes.next()?, bytes.next()?];
            out.push(u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok().filter(|text| !text.is_empty())
}

/// FNV-1a: ids must be the same in every run and every version, so not the standard library's hasher.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn folding_is_undone(id in "\\PC{1,40}", issuer in "[a-z-]{1,12}", data in "\\PC{0,40}", sealed: bool) {
            let seal = sealed.then_some(Seal { issuer, data });
            let id = CallId::Given(format!("x{id}"));
            let folded = fold(&id, seal.as_ref());
            prop_assert!(is_legal(&folded));
            prop_assert_eq!(unfold(&folded), (id, seal));
        }

        #[test]
        fn any_id_unfolds(id in "(rail[-_])?\\PC{0,30}") {
            unfold(&id);
        }

        #[test]
        fn shortening_keeps_the_limit(name in "\\PC{0,200}", max in 16usize..80) {
            prop_assert!(shorten(&name, max).len() <= max);
        }
    }

    #[test]
    fn plain_ids_stay_as_they_are() {
        for id in ["toolu_01A", "call-9", "functions_x_0"] {
            assert_eq!(fold(&CallId::Given(id.into()), None), id);
        }
        assert_eq!(fold(&CallId::Given("functions.bash:0".into()), None), "rail-functions_2ebash_3a0");
    }

    #[test]
    fn minted_ids_are_known_again() {
        let id = mint("resp_1", 2);
        assert_eq!(unfold(&fold(&id, None)), (id, None));
    }

    #[test]
    fn seals_travel_in_another_protocols_field() {
        let seal = Seal { issuer: "gemini".into(), data: "a.b+/=".into() };
        assert_eq!(unfold_seal(fold_seal(&seal, "anthropic"), "anthropic"), seal);
        assert_eq!(fold_seal(&seal, "gemini"), "a.b+/=");
    }
}
