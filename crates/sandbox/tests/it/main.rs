//! Real processes, confined and ended.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[cfg(target_os = "linux")]
mod daily;
#[cfg(target_os = "linux")]
mod escapes;
mod process;
#[cfg(target_os = "linux")]
mod scene;
