//! The tour is a real run of the agent: whole, offline, and the same each time.

use crate::home::Home;

#[test]
fn the_tour_shows_routing_failover_a_mended_call_an_edit_a_denial_and_an_undo() {
    // Whatever the user has configured does not matter: with this the agent could ask nobody.
    let home = Home::with(
        "[providers.x]\nprotocol = \"anthropic\"\nbase_url = \"http://127.0.0.1:9\"\nmodels = [\"y\"]\n",
    );
    let said = home.said(&["demo"], "");
    let folder = said.lines().find_map(|line| line.strip_prefix("folder   ")).unwrap();
    let root = folder.strip_suffix("/project").unwrap();
    assert!(!std::path::Path::new(root).exists(), "the scratch folder is gone");
    insta::assert_snapshot!(timeless(&said.replace(root, "SCRATCH")));
}

/// The text without times, which are different each time.
fn timeless(text: &str) -> String {
    let timed = |line: &str| match (line.find("[done in "), line.find(" ms")) {
        (Some(at), _) => format!("{}[done in N ms]", &line[..at]),
        (None, Some(_)) if line.starts_with("done ") => {
            format!("{}, N ms", line.split(", ").next().unwrap_or_default())
        }
        (None, _) => line.to_owned(),
    };
    text.lines().map(timed).map(|line| line + "\n").collect()
}
