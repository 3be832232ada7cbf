//! What could be in std: nothing here knows what the product does.

mod date;
mod distance;
mod front;
mod host;
mod mask;
mod pattern;
mod proxies;
mod replace;
mod secret;

pub use date::{date, unix_of_date};
pub use distance::{distance, nearest};
pub use front::front_matter;
pub use host::{Host, Reach};
pub use mask::Mask;
pub use pattern::fits;
pub use proxies::Proxies;
pub use replace::{Access, replace};
pub use secret::Secret;
