//! The tools, run through the executor on real folders and processes.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod apply_patch;
mod background;
mod bash;
mod crash;
mod docs;
mod edit_file;
mod examples;
mod glob;
mod grep;
mod guard;
mod ignored;
mod list_directory;
mod multi_edit;
mod notebook_edit;
mod read_file;
mod read_file_kinds;
mod read_file_places;
mod read_many_files;
mod scratch;
mod write_file;
