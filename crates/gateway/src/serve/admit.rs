//! Who may come in.

use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderMap;
use rail_config::settings;
use rail_ledger::{Key, Ledger, Refusal};
use rail_model::ErrorKind;
use rail_stdx::Reach;

use super::Door;
use super::hosts::foreign_origin;
use super::keys::Sent;
use super::refused::{Refused, unauthorized};

/// What a place asks of a key, if there are keys at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// Any that is good.
    Any,
    /// One that may change things.
    Admin,
}

/// Who was let in.
#[derive(Clone, Debug)]
pub(super) enum Admitted {
    /// Somebody on this machine, at a gateway without keys.
    Neighbour,
    /// The program that this gateway was started for.
    Guest,
    /// Who has this key.
    Holder(Key),
}

impl Admitted {
    /// The key it came with, if there was one.
    pub(super) fn key(self) -> Option<Key> {
        match self {
            Self::Neighbour | Self::Guest => None,
            Self::Holder(key) => Some(key),
        }
    }
}

/// Whether there are keys. The ledger is asked no more than once in a while, so that a gateway without keys does not look into it for
/// every request; once there are keys, there always are.
#[derive(Default)]
pub(super) struct HasKeys(AtomicU64);

/// For so many milliseconds there are no keys if there were none.
const NONE_FOR: u64 = 1000;
/// Instead of the moment at which there were none.
const YES: u64 = u64::MAX;

impl HasKeys {
    /// Whether there are any at this Unix millisecond.
    async fn ask(&self, ledger: &Ledger, now: u64) -> Result<bool, Refusal> {
        let none_at = self.0.load(Ordering::Relaxed);
        if none_at == YES || now.abs_diff(none_at) < NONE_FOR {
            return Ok(none_at == YES);
        }
        let has_keys = ledger.has_keys().await;
        let has_keys = has_keys.map_err(|error| Refusal::Ledger { problem: error.to_string() })?;
        self.0.store(if has_keys { YES } else { now }, Ordering::Relaxed);
        Ok(has_keys)
    }
}

/// A request that stands before the door.
pub(super) struct Caller<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) query: &'a str,
    pub(super) need: Need,
    /// Unix milliseconds.
    pub(super) now: u64,
}

/// Lets a caller in, before anything of its body is read.
///
/// Without any key the gateway is open to this machine, whatever keys clients send. Its browsers could then be used by any page, so
/// that pages of other sites are kept out; where keys are needed, such a page has none. A gateway for a guest is never open, and
/// the guest may use models, but not see what others did with them.
pub(super) async fn admit(
    caller: &Caller<'_>,
    door: &Door,
    settings: &settings::Gateway,
) -> Result<Admitted, Refused> {
    let sent = Sent::read(caller.headers, caller.query);
    if !sent.in_address.is_empty() && !settings.url_keys {
        return Err(unauthorized(IN_ADDRESS));
    }
    let guest = door.gateway.guest();
    if let (Some(secret), Need::Any) = (guest, caller.need)
        && sent.has(secret)
    {
        return Ok(Admitted::Guest);
    }
    let ledger = door.gateway.ledger();
    if !door.has_keys.ask(ledger, caller.now).await? {
        if guest.is_some() {
            return Err(unauthorized(NO_GUEST));
        }
        return match (door.reach, foreign_origin(caller.headers, &settings.hosts)) {
            (Reach::Here, None) => Ok(Admitted::Neighbour),
            (Reach::Here, Some(origin)) => Err(foreign(origin)),
            (Reach::Others, _) => Err(unauthorized(NO_KEYS)),
        };
    }
    let key = match sent.all().as_slice() {
        [] => return Err(unauthorized(NO_KEY)),
        [key] => ledger.identify(key, caller.now).await?,
        [_, _, ..] => return Err(unauthorized(SEVERAL)),
    };
    match caller.need {
        Need::Admin if !key.admin => Err(Refused::new(
            ErrorKind::Permission,
            format!(
                "the key `{}` may not change anything here; use one made by `rail key create NAME --admin`",
                key.name
            ),
        )),
        Need::Admin | Need::Any => Ok(Admitted::Holder(key)),
    }
}

const IN_ADDRESS: &str = "a key in the address, `?key=`, stays in logs and histories; send it as the header `x-goog-api-key`, `x-api-key` or \
     `authorization: Bearer`, or let it pass by `gateway.url_keys = true`";
const NO_KEYS: &str = "this gateway can be reached from other machines and has no keys, so that it takes no requests; make one with \
     `rail key create NAME`";
const NO_GUEST: &str = "this gateway is there for one program, which `rail run`, `rail record` or `rail replay` has started; start another by `rail serve`";
const NO_KEY: &str = "this gateway needs a key, and none was sent; send one as `authorization: Bearer`, `x-api-key` or `x-goog-api-key`; \
     `rail key create NAME` makes one";
const SEVERAL: &str = "several different keys were sent; send one, in one header (a client may have more than one variable set, such as \
     ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN)";

fn foreign(origin: &[u8]) -> Refused {
    let origin: String =
        String::from_utf8_lossy(origin).chars().filter(|c| !c.is_control()).take(200).collect();
    let message = format!(
        "the page `{origin}` is not of this machine, and the gateway is open to this machine only; make a key with `rail key create NAME`, \
         or name its host in `gateway.hosts`"
    );
    Refused::new(ErrorKind::Permission, message)
}
