use std::time::Duration;

use crate::unpack::Damage;
use crate::{NotAsked, Place};

/// Why there is no page.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WebFault {
    /// The address may not be asked for.
    #[error(transparent)]
    NotAsked(#[from] NotAsked),
    /// It leads to a place that is not on the public internet.
    #[error(
        "`{host}` is not fetched: it leads to {what}; only the user can allow that, by `allow_private` under [web] in the configuration"
    )]
    Private {
        /// The host, and the address where a name led to it.
        host: String,
        /// What stands there.
        what: String,
    },
    /// Its name is nobody's.
    #[error("`{host}` can't be found ({why}); check its spelling, or look for the page with a search")]
    Unresolved {
        /// The host.
        host: String,
        /// What the system said.
        why: String,
    },
    /// Nobody answers there, or not as a web server does.
    #[error("`{host}` can't be reached: {why}; try again, or take another source")]
    Unreachable {
        /// The host.
        host: String,
        /// What happened.
        why: String,
    },
    /// It took too long.
    #[error("`{url}` took too long: {what} within {limit:?}; try again later, or take another source")]
    Late {
        /// The address.
        url: String,
        /// What did not come.
        what: &'static str,
        /// How long was waited.
        limit: Duration,
    },
    /// It answered that there is no such page, or that it may not be seen.
    #[error("`{url}` answered {status}; {}", way_out(*status, retry_after.as_deref()))]
    Status {
        /// The address.
        url: String,
        /// The status.
        status: u16,
        /// What its `retry-after` said.
        retry_after: Option<String>,
    },
    /// It sends on to a place that is not asked.
    #[error("`{url}` sends on to `{to}`, which is not followed: {why}")]
    Redirect {
        /// The address.
        url: String,
        /// Where it sends to.
        to: String,
        /// Why that is not followed.
        why: String,
    },
    /// It sends on and on.
    #[error("`{url}` sends on in a circle, or more than {limit} times; take another source")]
    Circle {
        /// The address that was asked for.
        url: String,
        /// How many steps are followed.
        limit: usize,
    },
    /// Its body can't be read.
    #[error("`{url}` can't be read: {damage}; try again, or take another source")]
    Damaged {
        /// The address.
        url: String,
        /// What is wrong.
        damage: Damage,
    },
    /// The configuration can't be used.
    #[error("{0}; correct it in the configuration")]
    Misconfigured(String),
}

impl WebFault {
    pub(crate) fn unreachable(place: &Place, why: impl ToString) -> Self {
        Self::Unreachable { host: place.authority(), why: why.to_string() }
    }

    pub(crate) fn late(place: &Place, what: &'static str, limit: Duration) -> Self {
        Self::Late { url: place.as_str().to_owned(), what, limit }
    }
}

/// What to do about a status.
fn way_out(status: u16, retry_after: Option<&str>) -> String {
    match (status, retry_after) {
        (401 | 403 | 407 | 451, _) => {
            "it does not show this page to everybody; take another source".to_owned()
        }
        (404 | 410, _) => {
            "there is no such page; check the address, or look for the page with a search".to_owned()
        }
        (408 | 425 | 429 | 503, Some(after)) => {
            format!("it asks to try again after `{after}` (seconds, or a date)")
        }
        (408 | 425 | 429 | 500..=599, _) => "try again later, or take another source".to_owned(),
        _ => "check the address, or take another source".to_owned(),
    }
}
