//! What follows a switch of the mode, the generation or the model, and what a session is told that goes on in a changed world.

use rail_permit::Mode;
use rail_proto::{Chosen, Command, Picked, Reason, SessionEvent};
use rail_testkit::{Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, assert_valid, texts};

fn says(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

fn writes(file: &str) -> Turn {
    Turn::reply(vec![call("write_file", json!({"file_path": file, "content": "x\n"}))])
}

fn declares(bed: &Bed, at: usize, tool: &str) -> bool {
    bed.requests()[at].tools.iter().any(|declared| declared.name == tool)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_approved_brings_the_tools_to_do_it() {
    let plan = Turn::reply(vec![call("exit_plan_mode", json!({"plan": "1. Write it."}))]);
    let script = vec![writes("early.txt"), plan, writes("late.txt"), says("Written."), says("Again.")];
    let mut bed = Bed::new(script);
    (bed.mode, bed.config) = (Mode::Plan, "[agent]\ndialect = \"native\"\n".to_owned());
    let mut talk = bed.open();
    talk.say("Go.");
    let ask = talk
        .until(|event| if let SessionEvent::Choice { id, .. } = event { Some(id.clone()) } else { None })
        .await;
    let chosen = Chosen::Answered { answers: vec![Picked { options: vec![0], said: None }] };
    talk.send(Command::Choose { ask, chosen });
    assert_eq!(talk.done().await.text, "Written.");
    let results = talk.results();
    let folder = bed.session();
    talk.end().await;
    // A call of a tool that the mode bars is refused for the mode, not taken for unknown.
    assert!(!results[0].0 && results[0].1.contains("plan"), "{results:?}");
    assert!(!bed.work().join("early.txt").exists() && bed.work().join("late.txt").exists(), "{results:?}");
    assert_eq!([0, 1, 2, 3].map(|at| declares(&bed, at, "write_file")), [false, false, true, true]);
    bed.requests().iter().for_each(assert_valid);
    // The head that was made anew is the one that the session goes on with.
    bed.mode = Mode::Default;
    let mut talk = bed.resume(&folder);
    assert_eq!(talk.ask("And now?").await.text, "Again.");
    talk.end().await;
    let requests = bed.requests();
    assert_eq!((&requests[4].system, &requests[4].tools), (&requests[3].system, &requests[3].tools));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_on_in_another_mode_or_generation_has_its_tools() {
    let mut bed = Bed::new(vec![says("Planned."), says("More."), says("Less."), says("The same.")]);
    let config = |generation: &str| format!("[agent]\ndialect = \"native\"\ngeneration = \"{generation}\"\n");
    (bed.mode, bed.config) = (Mode::Plan, config("gen1"));
    let mut talk = bed.open();
    talk.ask("One.").await;
    let folder = bed.session();
    talk.end().await;
    for (mode, generation) in
        [(Mode::AcceptEdits, "gen2"), (Mode::AcceptEdits, "gen1"), (Mode::AcceptEdits, "gen1")]
    {
        (bed.mode, bed.config) = (mode, config(generation));
        let mut talk = bed.resume(&folder);
        assert_eq!(talk.ask("Next.").await.reason, Reason::Answered);
        talk.end().await;
    }
    assert_eq!([0, 1, 2, 3].map(|at| declares(&bed, at, "write_file")), [false, true, true, true]);
    assert_eq!([0, 1, 2, 3].map(|at| declares(&bed, at, "grep")), [false, true, false, false]);
    let requests = bed.requests();
    assert_eq!((&requests[3].system, &requests[3].tools), (&requests[2].system, &requests[2].tools));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changed_while_nobody_was_there_is_told_once() {
    let bed = Bed::new(vec![
        Turn::reply(vec![call("read_file", json!({"file_path": "deep/x.txt"}))]),
        says("One."),
        says("Two."),
        says("Three."),
        says("Four."),
    ]);
    bed.write(".git/HEAD", "ref: refs/heads/main\n");
    bed.write("AGENTS.md", "Rule one.\n");
    bed.write("deep/AGENTS.md", "Rule of the deep.\n");
    bed.write("deep/x.txt", "x\n");
    let mut talk = bed.open();
    talk.ask("Go.").await;
    let folder = bed.session();
    talk.end().await;
    // Nothing changed, and nothing is told.
    let mut talk = bed.resume(&folder);
    talk.ask("Second.").await;
    talk.end().await;
    assert!(texts(&bed.last()).last().unwrap().ends_with("Second."), "{:#?}", texts(&bed.last()));
    assert_eq!(bed.last().messages.len(), bed.requests()[1].messages.len() + 2);
    bed.write("AGENTS.md", "Rule two.\n");
    bed.write("deep/AGENTS.md", "Rule of the deepest.\n");
    bed.write(".git/HEAD", "ref: refs/heads/other\n");
    let mut talk = bed.resume(&folder);
    talk.ask("Third.").await;
    let seen = talk.end().await;
    let told = texts(&bed.last()).join("\n");
    for news in ["Rule two.", "Rule of the deepest.", "branch other"] {
        assert_eq!(told.matches(news).count(), 1, "{news} in {told}");
    }
    let read = seen.iter().filter(|event| matches!(event, SessionEvent::Memory(_))).count();
    assert_eq!(read, 2);
    let mut talk = bed.resume(&folder);
    talk.ask("Fourth.").await;
    talk.end().await;
    let told = texts(&bed.last()).join("\n");
    assert_eq!(told.matches("Rule two.").count(), 1, "{told}");
    let requests = bed.requests();
    for request in &requests {
        assert_valid(request);
        assert_eq!((&request.system, &request.tools), (&requests[0].system, &requests[0].tools));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_are_there_when_the_session_goes_on() {
    let bed = Bed::new(vec![
        Turn::reply(vec![call("findings", json!({"action": "add", "text": "The lock is never taken."}))]),
        says("Noted."),
        Turn::reply(vec![call("findings", json!({"action": "list"}))]),
        says("Listed."),
    ]);
    let mut talk = bed.open();
    talk.ask("Note it.").await;
    let folder = bed.session();
    talk.end().await;
    let mut talk = bed.resume(&folder);
    talk.ask("List them.").await;
    assert!(talk.results()[0].1.contains("The lock is never taken."), "{:?}", talk.results());
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_model_is_told_less_when_it_takes_over() {
    let bed = Bed::new(vec![says("Large."), says("Small."), says("Large again.")]);
    let small = "[providers.small]\nprotocol = \"openai-chat\"\nkey = \"none\"\n";
    let address = bed.models.base_url(rail_wire::find("openai-chat").unwrap().id);
    let mut bed = bed;
    bed.config = format!(
        "{small}base_url = \"{address}\"\nmodels = {{ s = {{ window = 8000, max_output = 1000, small = true }} }}\n"
    );
    let mut talk = bed.open();
    talk.ask("One.").await;
    for model in ["small,s", "anthropic,m"] {
        talk.send(Command::SetModel(model.to_owned()));
        talk.ask("Next.").await;
    }
    talk.end().await;
    let requests = bed.requests();
    let tools: Vec<usize> = requests.iter().map(|request| request.tools.len()).collect();
    assert!(tools[1] < tools[0] && tools[2] == tools[0], "{tools:?}");
    assert_eq!(requests[0].system, requests[2].system);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_imported_does_not_enter_its_folder() {
    let bed = Bed::new(vec![says("One."), says("Two.")]);
    bed.write(".git/HEAD", "ref: refs/heads/main\n");
    bed.write("AGENTS.md", "Rule one. @docs/style.md\n");
    bed.write("docs/style.md", "Be brief.\n");
    bed.write("docs/AGENTS.md", "Rule of the docs.\n");
    let mut talk = bed.open();
    talk.ask("Go.").await;
    talk.ask("On.").await;
    talk.end().await;
    let said = format!("{:?}{}", bed.last().system, texts(&bed.last()).join("\n"));
    assert!(said.contains("Be brief.") && !said.contains("Rule of the docs."), "{said}");
}
