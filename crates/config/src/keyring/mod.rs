//! Secrets of the system's keyring, under the service `switchrail`. Nothing is opened before the first is asked for.
//!
//! They are put there by `secret-tool store --label=NAME service switchrail username NAME` on Linux, and by
//! `security add-generic-password -s switchrail -a NAME -w` on macOS.

#[cfg(target_os = "linux")]
mod bus;
#[cfg(target_os = "linux")]
mod message;

use rail_stdx::Secret;

use crate::Env;

/// The service that our secrets are kept under.
const SERVICE: &str = "switchrail";

/// What the keyring has under this name; the error says why there is nothing and what to do.
#[cfg(target_os = "linux")]
pub(crate) fn get(env: &Env, name: &str) -> Result<String, String> {
    match bus::secret(env, SERVICE, name) {
        Ok(Some(secret)) => Ok(secret),
        Ok(None) => Err(format!(
            "the keyring has no `{name}`; store it with `secret-tool store --label={name} service {SERVICE} username {name}`"
        )),
        Err(bus::BusError::Locked) => {
            Err(format!("`{name}` stands in a keyring that is locked; unlock it and try again"))
        }
        Err(error) => Err(format!(
            "the keyring can't be asked for `{name}`: {error}; start it, or use `env:` or `file:`"
        )),
    }
}

/// What the keyring has under this name; the error says why there is nothing and what to do.
#[cfg(target_os = "macos")]
pub(crate) fn get(_env: &Env, name: &str) -> Result<String, String> {
    let found = security_framework::passwords::get_generic_password(SERVICE, name);
    let bytes = found.map_err(|error| {
        format!(
            "the keychain gives no `{name}`: {error}; store it with `security add-generic-password -s {SERVICE} -a {name} -w`"
        )
    })?;
    String::from_utf8(bytes).map_err(|_| format!("`{name}` in the keychain is no UTF-8 text; store it anew"))
}

/// What the keyring has under this name; the error says why there is nothing and what to do.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn get(_env: &Env, name: &str) -> Result<String, String> {
    Err(format!("there is no keyring for `{name}` on this system; use `env:` or `file:`, service {SERVICE}"))
}

/// Whether there is a keyring to store in.
#[cfg(target_os = "linux")]
pub fn can_store(env: &Env) -> bool {
    bus::can_store(env).unwrap_or(false)
}

/// Stores a secret under a name, in place of one that is there; the error says why not and what to do.
#[cfg(target_os = "linux")]
pub fn store(env: &Env, name: &str, secret: &Secret) -> Result<(), String> {
    let stored = bus::store(env, SERVICE, name, secret.reveal());
    stored.map_err(|error| format!("the keyring does not take `{name}`: {error}; unlock it, or use `.env`"))
}

/// Whether there is a keyring to store in.
#[cfg(target_os = "macos")]
pub fn can_store(_env: &Env) -> bool {
    true
}

/// Stores a secret under a name, in place of one that is there; the error says why not and what to do.
#[cfg(target_os = "macos")]
pub fn store(_env: &Env, name: &str, secret: &Secret) -> Result<(), String> {
    let stored =
        security_framework::passwords::set_generic_password(SERVICE, name, secret.reveal().as_bytes());
    stored.map_err(|error| format!("the keychain does not take `{name}`: {error}; unlock it, or use `.env`"))
}

/// Whether there is a keyring to store in.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn can_store(_env: &Env) -> bool {
    false
}

/// Stores a secret under a name, in place of one that is there; the error says why not and what to do.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn store(_env: &Env, name: &str, _secret: &Secret) -> Result<(), String> {
    Err(format!("there is no keyring for `{name}` on this system; use `.env`"))
}
