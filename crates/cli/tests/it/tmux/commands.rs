//! Commands, pickers and what is attached, by keys.

use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use super::pane::{Pane, home, home_with, is_there, wait};

fn echo() -> Models {
    Models::start(vec![Turn::echo().repeat()]).unwrap()
}

/// A picture of one dot.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

#[test]
fn a_model_is_picked_with_its_chain_health_and_price_in_sight() {
    if !is_there() {
        return;
    }
    let models = echo();
    let pane = Pane::with_rail(home_with(&models, "coding = \"p,m;p,other\"\n"), 100, 30);
    pane.types("/model");
    pane.presses("Enter");
    pane.sees("Which model?");
    pane.types("cod");
    pane.sees("1. p,m  not asked lately · free");
    pane.sees("2. p,other");
    pane.presses("Escape");
    pane.types("/route");
    pane.presses("Enter");
    pane.sees("Where do requests go?");
    pane.types("cod");
    pane.until("one is left", |screen| screen.contains("1 of "));
    pane.presses("Enter");
    pane.until("the status line says so", |screen| {
        screen.trim_end().lines().last().is_some_and(|line| line.contains("coding"))
    });
}

#[test]
fn files_and_conversation_go_back_to_a_message_that_is_picked() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![
        Turn::reply(vec![text("Fine.")]),
        Turn::reply(vec![call("write_file", json!({"file_path": "new.txt", "content": "new\n"}))]),
        Turn::reply(vec![text("Written.")]),
        Turn::echo().repeat(),
    ])
    .unwrap();
    let pane = Pane::with_rail(home_with(&models, "[permissions]\nmode = \"accept-edits\"\n"), 100, 30);
    pane.types("first things first");
    pane.presses("Enter");
    pane.sees("Fine.");
    pane.sees("what is to be done?");
    pane.types("write it");
    pane.presses("Enter");
    pane.sees("Written.");
    pane.sees("what is to be done?");
    assert!(pane.home.path("work/new.txt").exists());
    pane.types("/rewind");
    pane.presses("Enter");
    pane.sees("Back to before which message?");
    pane.sees("first things first");
    pane.presses("Enter");
    pane.sees("What goes back?");
    pane.presses("Enter");
    pane.sees("the conversation ends before message 2");
    assert!(!pane.home.path("work/new.txt").exists());
    pane.types("and now?");
    pane.presses("Enter");
    pane.until("the answer", |screen| screen.matches("and now?").count() >= 2);
    let last = models.requests();
    let last = format!("{:?}", last.last().unwrap().request().unwrap().messages);
    assert!(last.contains("first things first") && !last.contains("write it"), "{last}");
}

#[test]
fn another_session_is_opened_and_shows_what_was_said() {
    if !is_there() {
        return;
    }
    let models = echo();
    let pane = Pane::with_rail(home(&models), 100, 30);
    pane.types("the first talk");
    pane.presses("Enter");
    pane.until("the answer", |screen| screen.matches("the first talk").count() >= 2);
    pane.types("/clear");
    pane.presses("Enter");
    pane.until("a new session", |screen| {
        screen.matches("Switchrail").count() == 2 && screen.contains("what is to be done?")
    });
    pane.types("/resume");
    pane.presses("Enter");
    pane.sees("Which session?");
    pane.presses("Enter");
    pane.until("the old one again", |screen| {
        screen.matches("Switchrail").count() == 3 && screen.matches("› the first talk").count() == 2
    });
}

#[test]
fn a_command_of_ones_own_goes_along_with_the_next_words() {
    if !is_there() {
        return;
    }
    let models = echo();
    let pane = Pane::with_rail(home(&models), 100, 30);
    pane.types("!echo $((40 + 2)); exit 3");
    pane.presses("Enter");
    pane.sees("exit code 3");
    pane.types("why?");
    pane.presses("Enter");
    pane.until("the answer", |screen| screen.contains("1 turn"));
    let asked = models.requests();
    let asked = format!("{:?}", asked.last().unwrap().request().unwrap().messages);
    assert!(
        asked.contains("echo $((40 + 2))") && asked.contains("42") && asked.contains("exit code 3"),
        "{asked}"
    );
    // One that does not end is stopped.
    pane.types("!echo begun; sleep 600");
    pane.presses("Enter");
    pane.until("it runs", |screen| screen.lines().any(|line| line.trim() == "begun"));
    pane.presses("Escape");
    pane.sees("killed by");
    pane.sees("what is to be done?");
}

#[test]
fn a_command_that_prints_without_end_is_stopped() {
    if !is_there() {
        return;
    }
    let models = echo();
    let pane = Pane::with_rail(home(&models), 100, 30);
    pane.types("!echo $$ > shell.pid; yes");
    pane.presses("Enter");
    pane.until("it prints", |screen| screen.lines().filter(|line| line.trim() == "y").count() >= 3);
    pane.sees("your command runs");
    let process = std::fs::read_to_string(pane.home.path("work/shell.pid")).unwrap();
    pane.presses("Escape");
    pane.sees("killed by");
    pane.sees("what is to be done?");
    let process = std::path::Path::new("/proc").join(process.trim());
    wait(|| !process.exists(), || "the process to end".to_owned());
}

#[test]
fn text_is_changed_in_an_editor_and_images_are_attached() {
    if !is_there() {
        return;
    }
    let models = echo();
    let home = home_with(&models, "[models.m]\nvision = true\n").set("EDITOR", "sed -i s/draft/final/");
    std::fs::write(home.path("dot.png"), DOT).unwrap();
    let dot = home.path("dot.png").display().to_string();
    let pane = Pane::with_rail(home, 100, 30);
    pane.types("the draft text ");
    pane.presses("C-g");
    pane.sees("› the final text");
    // A file that is dropped on a terminal is pasted as its path.
    pane.tmux(&["set-buffer", &dot]);
    pane.tmux(&["paste-buffer", "-p"]);
    pane.sees("[Image #1]");
    pane.presses("Enter");
    pane.sees("with 1 attachment");
    pane.until("the answer", |screen| screen.contains("1 turn"));
    let asked = models.requests();
    let asked = format!("{:?}", asked.last().unwrap().request().unwrap().messages);
    assert!(asked.contains("the final text") && asked.contains("Media"), "{asked}");
}

#[test]
fn a_command_in_the_background_is_stopped_from_its_list() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![
        Turn::reply(vec![call("bash", json!({"command": "sleep 600", "run_in_background": true}))]),
        Turn::reply(vec![text("It runs.")]),
        Turn::echo().repeat(),
    ])
    .unwrap();
    let pane = Pane::with_rail(home_with(&models, "[permissions]\nallow = [\"Bash(sleep:*)\"]\n"), 100, 30);
    pane.types("wait");
    pane.presses("Enter");
    pane.sees("It runs.");
    pane.sees("& sleep 600");
    pane.presses("C-t");
    pane.sees("› sleep 600  in the background");
    pane.presses("Enter");
    pane.sees("› Look at it");
    pane.presses("Down");
    pane.sees("› Stop it");
    pane.presses("Enter");
    pane.until("it is gone", |screen| !screen.contains("& sleep 600"));
}

#[test]
fn messages_are_taken_in_order_and_a_command_with_an_image_is_a_command() {
    if !is_there() {
        return;
    }
    let models = echo();
    let home = home_with(&models, "[models.m]\nvision = true\n");
    home.write(
        ".config/switchrail/commands/slow.md",
        "---\nallowed-tools: Bash\n---\nThe slow one. !`touch begun; while [ ! -e go ]; do sleep 0.05; done` $ARGUMENTS",
    );
    std::fs::write(home.path("dot.png"), DOT).unwrap();
    let dot = home.path("dot.png").display().to_string();
    let pane = Pane::with_rail(home, 100, 30);
    pane.types("/slow with ");
    pane.tmux(&["set-buffer", &dot]);
    pane.tmux(&["paste-buffer", "-p"]);
    pane.sees("[Image #1]");
    pane.presses("Enter");
    wait(|| pane.home.path("work/begun").exists(), || pane.screen());
    pane.types("the second one");
    pane.presses("Enter");
    // The answer of a command of the interface's own is there when the words before it were sent.
    pane.types("/keys");
    pane.presses("Enter");
    pane.sees("what it does");
    std::fs::write(pane.home.path("work/go"), "").unwrap();
    pane.until("both answers", |screen| {
        screen.matches("1 turn").count() + screen.matches("2 turns").count() >= 1
    });
    wait(|| models.requests().iter().any(|asked| asked_for(asked, "the second one")), || pane.screen());
    let first = models.requests();
    let first = format!("{:?}", first.first().unwrap().request().unwrap().messages);
    assert!(first.contains("The slow one.") && first.contains("Media"), "{first}");
    assert!(!first.contains("the second one") && !first.contains("/slow"), "{first}");
}

fn asked_for(asked: &rail_testkit::Asked, words: &str) -> bool {
    format!("{:?}", asked.request().unwrap().messages).contains(words)
}
