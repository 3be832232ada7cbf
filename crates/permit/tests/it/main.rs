//! Permission, tested by attack.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod answers;
mod attacks;
mod commands;
mod continued;
mod daily;
mod differential;
mod elsewhere;
mod everyday_table;
mod explain;
mod files;
mod grants;
mod hostile;
mod hostile_runs;
mod hostile_table;
mod modes;
mod properties;
mod rules;
mod setup;
mod shell_properties;
mod shell_reads;
