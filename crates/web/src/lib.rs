//! Pages of the web as text, behind guards, and the engines that search it.
//!
//! [`Fetcher::fetch`] resolves a name, judges every address that it leads to, and connects to exactly those; so what is judged is what
//! is spoken with. What a page says is data: nothing here reads it as anything else.

mod address;
mod allowed;
mod cache;
pub mod charset;
mod connect;
mod download;
mod exchange;
mod fault;
mod fetch;
pub mod html;
mod limits;
mod page;
mod place;
mod proxy;
mod resolve;
mod search;
mod tls;
mod unpack;

pub use address::not_public;
pub use allowed::{Allowed, NoPlace};
pub use download::Downloaded;
pub use fault::WebFault;
pub use fetch::{Fetched, Fetcher, WebSetup};
pub use limits::Limits;
pub use page::{Kind, Page, Raw};
pub use place::{NotAsked, Place};
pub use resolve::{BoxFuture, Resolve, System};
pub use search::{Engine, EngineKind, Found, Query, SearchFault};
pub use unpack::Damage;
