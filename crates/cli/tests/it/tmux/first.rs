//! The first run.

use rail_testkit::{Models, Turn};

use super::pane::{Pane, home, is_there};
use crate::home::Home;

#[test]
fn without_a_model_the_next_step_is_told() {
    if !is_there() {
        return;
    }
    let home = Home::new().set("SWITCHRAIL_DISCOVERY__SERVERS", "[]");
    let pane = Pane::open(home, 100, 30);
    pane.rail("");
    pane.sees("No model is set up yet.");
    pane.sees("rail init");
    pane.sees("rail demo");
}

#[test]
fn a_key_of_the_environment_is_named_and_asked_about_before_it_is_used() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let base = models.base_url(rail_model::ProtocolId::new("anthropic"));
    let home = || {
        Home::new()
            .set("SWITCHRAIL_DISCOVERY__SERVERS", "[]")
            .set("ANTHROPIC_API_KEY", "sk-ant-of-nobody")
            .set("ANTHROPIC_BASE_URL", &base)
    };
    let pane = Pane::open(home(), 100, 30);
    pane.rail("");
    pane.sees("ANTHROPIC_API_KEY is set in the environment. May rail use it");
    assert!(!pane.screen().contains("sk-ant-of-nobody"));
    pane.types("n");
    pane.presses("Enter");
    pane.sees("No model is set up yet.");
    assert_eq!(models.requests().len(), 0);
    pane.presses("C-d");
    pane.until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    // It is not asked again.
    pane.rail("");
    pane.until("the same once more", |screen| screen.matches("No model is set up yet.").count() == 2);
    drop(pane);
    let pane = Pane::open(home(), 100, 30);
    pane.rail("");
    pane.sees("May rail use it");
    pane.types("y");
    pane.presses("Enter");
    pane.sees("this was found and is used");
    pane.types("hello there");
    pane.presses("Enter");
    pane.until("the answer", |screen| screen.matches("hello there").count() >= 2);
}

#[test]
fn a_folder_that_brings_something_is_asked_about() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let home = home(&models);
    home.write("work/.mcp.json", r#"{"mcpServers": {"x": {"command": "touch", "args": ["started"]}}}"#);
    let pane = Pane::open(home, 100, 30);
    pane.rail("");
    pane.sees("Do you trust it?");
    pane.types("n");
    pane.presses("Enter");
    pane.sees("what is to be done?");
    assert!(!pane.home.path("work/started").exists());
}
