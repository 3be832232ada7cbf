//! Searches that are cancelled while they run.

use std::os::fd::OwnedFd;

use rail_tool::{End, Outcome};
use rustix::fs::inotify;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::scratch::Scratch;

/// How often it is tried: on a busy machine a search may be over before anybody can cancel it.
const TRIES: usize = 100;
const FOLDERS: usize = 100;
const FILES: usize = 200;

fn large() -> Scratch {
    let scratch = Scratch::in_memory(rail_tools::registry());
    for folder in 0..FOLDERS {
        let path = scratch.path(&format!("folder{folder}"));
        std::fs::create_dir(&path).unwrap();
        (0..FILES).for_each(|file| std::fs::write(path.join(format!("{file}.txt")), "a line\n").unwrap());
    }
    scratch
}

/// Can be read as soon as somebody opens one of the folders.
fn looked_into(scratch: &Scratch) -> OwnedFd {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    for folder in 0..FOLDERS {
        let path = scratch.path(&format!("folder{folder}"));
        inotify::add_watch(&watch, path, inotify::WatchFlags::OPEN).unwrap();
    }
    watch
}

/// What a search gives that is cancelled when it has begun.
async fn cancelled(tool: &str, input: &Value) -> Outcome {
    let scratch = large();
    for _ in 0..TRIES {
        let begun = looked_into(&scratch);
        let cancel = CancellationToken::new();
        let cancels = async {
            let begins = tokio::task::spawn_blocking(move || rustix::io::read(&begun, &mut [0_u8; 4096]));
            assert!(begins.await.unwrap().unwrap() > 0);
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(scratch.call(tool, input, &cancel), cancels);
        if outcome.end != End::Done {
            return outcome;
        }
    }
    panic!("the search was always over before it could be cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_search_of_contents_ends_when_it_is_cancelled() {
    let outcome = cancelled("grep", &json!({"pattern": "nowhere"})).await;
    // It is the search's own word: it was not broken off.
    assert_eq!((outcome.end, outcome.text().as_str()), (End::Cancelled, "the search was cancelled"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_search_of_names_ends_when_it_is_cancelled() {
    let outcome = cancelled("glob", &json!({"pattern": "**/*.nowhere"})).await;
    assert_eq!((outcome.end, outcome.text().as_str()), (End::Cancelled, "the search was cancelled"));
}
