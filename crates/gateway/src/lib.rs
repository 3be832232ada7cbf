//! The gateway: HTTP in, the one way through, HTTP out.
//!
//! [`serve`] takes connections and requests, [`exchange`] brings one request to its answer, `observe` tells of it, `api` shows it.

mod api;
mod arrival;
mod body;
mod clock;
mod exchange;
mod gateway;
mod observe;
mod refusal;
mod serve;

pub use exchange::codex_model;
pub use gateway::{Configuration, Gateway, Parts};
pub use observe::{Observe, ObserveSettings, Otlp};
pub use serve::{ServeError, serve};
