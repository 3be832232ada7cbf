//! The tools, run through the executor on real folders and processes.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod apply_patch;
mod ask_user_question;
mod background;
mod bash;
mod cancelled;
mod crash;
mod dialects;
mod docs;
mod edit_file;
mod examples;
mod findings;
mod glob;
mod grep;
mod guard;
mod ignored;
mod injected;
mod limits;
mod list_directory;
mod multi_edit;
mod notebook_edit;
mod person;
mod plan;
mod read_file;
mod read_file_kinds;
mod read_file_places;
mod read_many_files;
mod scratch;
mod sequentialthinking;
mod todo_write;
mod touched;
mod unconfined;
mod web;
mod write_file;
