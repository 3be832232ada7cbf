//! Journals, contents and snapshots on a real disk: what is kept, what comes back, and what nobody may lead astray.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod any;
mod attacks;
mod bed;
mod crash;
mod disk;
mod export;
mod fork;
#[cfg(target_os = "linux")]
mod full;
mod long;
mod random;
mod restore;
mod resume;
mod rewind;
mod scene;
mod sessions;
mod store;
mod taking;
mod users;
mod verify;
mod window;
