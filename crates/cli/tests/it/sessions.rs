//! `rail sessions`, as a user runs it, on sessions that the agent wrote.

use rail_model::{Part, ProtocolId};
use rail_testkit::{Models, Turn, call, text};
use serde_json::{Value, json};

use crate::scratch::{CONFIG, Home};

/// A home with programs, a scratch repository, and a model that says these turns.
pub(crate) fn talking(turns: Vec<Turn>) -> (Home, Models) {
    let models = Models::start(turns).unwrap();
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    // The home is a temporary folder itself: commands may write in that.
    home.write("tmp/here", "");
    let temp = home.path("tmp");
    let home = home.with("TMPDIR", temp.to_str().unwrap());
    home.write(CONFIG, &config(&models)).write("repo/a.txt", "1\n2\n3\n4\n5\n6\n");
    (home, models)
}

/// The configuration that points at a model.
pub(crate) fn config(models: &Models) -> String {
    let url = models.base_url(ProtocolId::new("openai-chat"));
    format!(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"{url}\"\nkey = \"configured-secret\"\nmodels = {{ m = {{ vision = true }} }}\n\n[router]\ndefault = \"p,m\"\n"
    )
}

pub(crate) fn said(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

pub(crate) fn calls(name: &str, arguments: Value) -> Turn {
    Turn::reply(vec![call(name, arguments)])
}

/// What a command printed, which must have ended well.
pub(crate) fn good(home: &Home, args: &[&str]) -> String {
    let said = home.rail(args, "");
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.whole());
    said.out
}

/// The ids of the sessions of this folder, the latest first.
pub(crate) fn ids(home: &Home) -> Vec<String> {
    let list: Value = serde_json::from_str(&good(home, &["sessions", "list", "--json"])).unwrap();
    list.as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

/// A session of one turn, with a call and secrets.
fn one_session() -> (Home, Models, String) {
    let (home, models) = talking(vec![
        calls("read_file", json!({"file_path": "a.txt"})),
        said("Six lines. The key is sk-test-12345678, or configured-secret."),
        said("Still six.").repeat(),
    ]);
    good(&home, &["-p", "How long is a.txt?"]);
    let id = ids(&home).remove(0);
    (home, models, id)
}

/// The text without what differs from run to run.
fn steady(text: &str, id: &str) -> String {
    let day = |line: &str| {
        if line.starts_with("  begun ") || line.starts_with("- begun:") {
            "begun DAY".to_owned()
        } else if let Some((_, who)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            // An answer is written down in as many pieces as it came in.
            format!("[N] {who}")
        } else {
            line.to_owned()
        }
    };
    text.replace(id, "ID").lines().map(day).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_session_is_listed_shown_and_exported_without_its_secrets() {
    let (home, _models, id) = one_session();
    let listed = good(&home, &["sessions", "list"]);
    let row: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(
        (row[0], &row[2..]),
        (id.as_str(), &["1", "$0.0000", "How", "long", "is", "a.txt?"][..]),
        "{listed}"
    );
    let all = good(&home, &["sessions", "list", "--all"]);
    assert!(all.lines().next().unwrap().contains("folder") && all.contains(" /repo "), "{all}");
    let shown = good(&home, &["sessions", "show", &id[..13]]);
    insta::assert_snapshot!("sessions_show", steady(&shown, &id));
    let verbose = good(&home, &["sessions", "show", "--verbose", &id]);
    assert!(verbose.contains("6\n") && !verbose.contains("more lines"), "{verbose}");
    let markdown = good(&home, &["sessions", "export", &id]);
    insta::assert_snapshot!("sessions_markdown", steady(&markdown, &id));
    good(&home, &["sessions", "export", &id, "-o", "out.json"]);
    let json: Value = serde_json::from_str(&home.read("repo/out.json")).unwrap();
    assert_eq!((&json["id"], json["messages"].as_array().unwrap().len()), (&id.as_str().into(), 4), "{json}");
    for text in [shown, verbose, markdown, json.to_string()] {
        assert!(!text.contains("sk-test-12345678") && !text.contains("configured-secret"), "{text}");
    }
}

#[test]
fn sessions_are_searched_forked_and_deleted() {
    let (home, models, id) = one_session();
    let found = good(&home, &["sessions", "search", "SIX", "lines"]);
    assert!(found.starts_with(&id) && found.contains("Six lines."), "{found}");
    assert_eq!(good(&home, &["sessions", "search", "nowhere"]), "`nowhere` was not found\n");
    let fork = good(&home, &["sessions", "fork", &id]).trim().to_owned();
    assert_ne!(fork, id);
    good(&home, &["-p", "And now?", "-r", &fork]);
    let asked = models.requests().pop().unwrap();
    let texts: Vec<String> = asked
        .request()
        .unwrap()
        .messages
        .iter()
        .flat_map(|each| &each.parts)
        .filter_map(Part::as_text)
        .map(str::to_owned)
        .collect();
    assert!(
        texts.iter().any(|text| text == "How long is a.txt?") && texts.iter().any(|text| text == "And now?"),
        "{texts:?}"
    );
    let nobody = home.rail(&["sessions", "delete", &fork], "");
    assert_eq!(
        (nobody.code, nobody.err.as_str()),
        (Some(2), "rail: nobody is there to ask; say `--yes` to delete without asking\n")
    );
    let (_, shown) = home.script(&format!("{} sessions delete {fork}", env!("CARGO_BIN_EXE_rail")), "n\n");
    assert!(shown.contains("nothing was deleted"), "{shown}");
    assert_eq!(good(&home, &["sessions", "delete", "--yes", &fork]), format!("deleted {fork}\n"));
    assert_eq!(ids(&home), [id.as_str()]);
    let gone = home.rail(&["sessions", "show", &fork], "");
    assert_eq!(gone.code, Some(2), "{}", gone.whole());
    for wrong in ["zz", ""] {
        let said = home.rail(&["sessions", "show", wrong], "");
        assert!(said.code == Some(2) && said.err.contains("is no session id"), "{}", said.whole());
    }
    let both = good(&home, &["sessions", "fork", &id[..30]]).trim().to_owned();
    let shared = home.rail(&["sessions", "show", &both[..1]], "");
    assert!(
        shared.code == Some(2) && shared.err.contains("is the beginning of 2 sessions"),
        "{}",
        shared.whole()
    );
}

#[test]
fn a_changed_journal_is_found_out() {
    let (home, _models, id) = one_session();
    let proved = good(&home, &["sessions", "verify", &id]);
    assert!(proved.starts_with(&format!("{id}  proved: ")), "{proved}");
    assert_eq!(good(&home, &["sessions", "verify"]), proved);
    let projects = std::fs::read_dir(home.path("state/switchrail/sessions")).unwrap();
    let project = projects.map(|entry| entry.unwrap().path()).next().unwrap();
    let journal = project.join(&id).join("journal.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, lines.replace("How long is a.txt?", "How wide is a.txt?")).unwrap();
    let broken = home.rail(&["sessions", "verify", &id], "");
    assert!(broken.code == Some(1) && broken.out.contains("broken"), "{}", broken.whole());
    assert_eq!(broken.err, "rail: 1 of 1 sessions are not as they were written\n");
}
