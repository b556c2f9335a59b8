//! Transcripts into a real store: a history read in pieces equals one read at once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a broken expectation should fail loudly")]

mod archive_without_rows;
mod archived;
mod changes;
#[path = "../../../watch/tests/it/counting_fs.rs"]
#[allow(dead_code, reason = "shared with all tests that need a file system watched")]
mod counting_fs;
mod day;
mod down;
mod exclude_folders;
mod exclude_later;
#[cfg(unix)]
mod exclude_spellings;
mod excluded_reasons;
mod forget;
mod index_commits;
mod index_rig;
mod laws;
mod recovery;
mod removed_links;
mod schemas;
mod search;
mod second_index;
mod secret_text;
mod stored_files;
mod thread;
mod unusable_store;
mod wait;
