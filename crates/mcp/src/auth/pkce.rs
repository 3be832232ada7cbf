//! What one login can't be guessed by: the verifier with its challenge (RFC 7636), and the state.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rail_stdx::Secret;
use sha2::{Digest, Sha256};

use super::AuthError;

/// 43 characters without meaning, of 256 random bits: a verifier or a state.
pub(super) fn random() -> Result<Secret, AuthError> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| AuthError::NoRandom { why: error.to_string() })?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes)))
}

/// The challenge of a verifier, by the method `S256`.
pub(super) fn challenge(verifier: &Secret) -> String {
    let digest: [u8; 32] = Sha256::digest(verifier.reveal().as_bytes()).into();
    URL_SAFE_NO_PAD.encode(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn no_two_are_the_same() {
        let (one, other) = (random().unwrap(), random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.reveal().len(), 43);
    }
}
