//! The secret of a key: made once, kept as its hash alone.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use rail_stdx::Secret;

use crate::KeyId;

/// A new key's public and secret parts.
pub(crate) struct Fresh {
    pub(crate) id: KeyId,
    /// `rail_<id>_<secret>`.
    pub(crate) secret: Secret,
    pub(crate) hash: Vec<u8>,
}

/// Makes a key from the system's randomness; the error says what the system said.
pub(crate) fn fresh() -> Result<Fresh, String> {
    let (mut id, mut secret) = ([0; 6], [0; 32]);
    for bytes in [&mut id[..], &mut secret[..]] {
        getrandom::fill(bytes).map_err(|error| format!("the system has no random numbers: {error}"))?;
    }
    let id = hex(&id);
    let text = format!("rail_{id}_{}", hex(&secret));
    Ok(Fresh { hash: hash(&text), id: KeyId(id), secret: Secret::new(text) })
}

/// The public part of what claims to be a key's secret.
pub(crate) fn id_of(secret: &Secret) -> Option<KeyId> {
    let (id, _) = secret.reveal().strip_prefix("rail_")?.split_once('_')?;
    id.bytes().all(|byte| byte.is_ascii_alphanumeric()).then(|| KeyId(id.to_owned()))
}

/// Whether a secret is the one of this hash. It takes as long where there is none to compare it with.
pub(crate) fn is_right(secret: &Secret, kept: Option<&[u8]>) -> bool {
    let given = hash(secret.reveal());
    let nobody = [0; 32];
    let equal = given.ct_eq(kept.unwrap_or(&nobody));
    bool::from(equal) && kept.is_some()
}

/// A slow hash would protect secrets that can be guessed; 256 random bits can't, so that one round of SHA-256 is enough.
fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fresh_key_is_told_by_its_secret_alone() {
        let (one, other) = (fresh().unwrap(), fresh().unwrap());
        assert_eq!(one.secret.reveal().len(), "rail_".len() + 12 + 1 + 64);
        assert_eq!(id_of(&one.secret), Some(one.id.clone()));
        assert!(is_right(&one.secret, Some(&one.hash)));
        assert!(!is_right(&other.secret, Some(&one.hash)));
        assert!(!is_right(&one.secret, None));
        assert!(!is_right(&one.secret, Some(b"short")));
        assert_ne!(one.id, other.id);
    }

    #[test]
    fn what_is_no_key_of_ours_has_no_id() {
        for text in ["", "rail_", "rail_abc", "sk-ant-1234", "Rail_a_b", "rail_a\0b_c"] {
            assert_eq!(id_of(&Secret::new(text)), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in "(rail_)?.*") {
            let secret = Secret::new(text);
            let _ = id_of(&secret);
            prop_assert!(!is_right(&secret, Some(&[0; 32])));
        }
    }
}
