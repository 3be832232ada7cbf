//! Seals in `thoughtSignature`, a field that Google's SDKs decode as base64.
//!
//! Our own signatures pass as they are. A seal of another issuer is folded and then spelled in base64, so that SDK types
//! take it; its first eight characters tell it apart from anything Google writes, whatever alphabet the SDK uses.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rail_model::Seal;

use super::ID;
use crate::ids;

/// `rail1.` in base64.
const FOLDED: &str = "cmFpbDEu";
/// What a call of the running turn is given when it has no signature: Google documents it for history from elsewhere.
pub(super) const DUMMY: &str = "skip_thought_signature_validator";

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Writes a seal for a client.
pub(super) fn write(seal: &Seal) -> String {
    if seal.issuer == ID.name() {
        return seal.data.clone();
    }
    base64::engine::general_purpose::STANDARD.encode(ids::fold_seal(seal, ID.name()))
}

/// Reads a seal that a client sent back; SDKs may have spelled it in the other alphabet.
pub(super) fn read(data: String) -> Seal {
    let folded = data.starts_with(FOLDED).then(|| {
        let standard = GeneralPurpose::new(&STANDARD, LENIENT).decode(&data);
        standard.or_else(|_| GeneralPurpose::new(&URL_SAFE, LENIENT).decode(&data)).ok()
    });
    match folded.flatten().and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(folded) => ids::unfold_seal(folded, ID.name()),
        None => Seal { issuer: ID.name().to_owned(), data },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn foreign_seals_survive_both_alphabets(issuer in "[a-z-]{1,12}", data in "\\PC{0,60}") {
            let seal = Seal { issuer, data };
            let spelled = write(&seal);
            prop_assert!(base64::engine::general_purpose::STANDARD.decode(&spelled).is_ok() || seal.issuer == "gemini");
            prop_assert_eq!(read(spelled.clone()), seal.clone());
            let other = spelled.replace('+', "-").replace('/', "_");
            prop_assert_eq!(read(other.trim_end_matches('=').to_owned()), seal);
        }

        #[test]
        fn own_signatures_pass_untouched(data in "[A-Za-z0-9+/_-]{0,80}={0,2}") {
            prop_assert_eq!(write(&read(data.clone())), data);
        }
    }
}
