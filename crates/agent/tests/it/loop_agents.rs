//! Agents that calls set to work, on a scripted model at a real socket.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rail_agent::machine::Bounds;
use rail_agent::team::{AgentType, types};
use rail_model::{Request, Role, Usage};
use rail_permit::Mode;
use rail_proto::{Answer, Command, Reason, SessionEvent};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, assert_valid, message_text, texts};

/// The first words of a conversation: they tell agents apart.
fn first(request: &Request) -> String {
    texts(request).first().cloned().unwrap_or_default()
}

/// How many answers a conversation has.
fn answers(request: &Request) -> usize {
    request.messages.iter().filter(|message| message.role == Role::Assistant).count()
}

fn task(description: &str, kind: &str, prompt: &str) -> rail_model::Part {
    call("task", json!({"description": description, "prompt": prompt, "subagent_type": kind}))
}

fn used(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

fn bed(answer: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> Bed {
    let mut bed = Bed::on(Models::answering(answer).unwrap());
    bed.agents = types::built_in();
    bed
}

/// What is told of the agent of each call, by the task's description.
fn told(seen: &[SessionEvent]) -> BTreeMap<String, Vec<&SessionEvent>> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut told: BTreeMap<String, Vec<&SessionEvent>> = BTreeMap::new();
    for event in seen {
        match event {
            SessionEvent::AgentBegan(began) => {
                names.insert(&began.id, &began.description);
            }
            SessionEvent::AgentEvent { id, event } => {
                told.entry(names[id.as_str()].to_owned()).or_default().push(event);
            }
            _ => {}
        }
    }
    told
}

#[tokio::test]
async fn eight_agents_at_once_lose_nothing_and_add_up() {
    // Each reads its own file twice and answers; the fourth never comes to its end, and is stopped.
    let bed = bed(|request| match (first(request), answers(request)) {
        (who, 0) if who == "go" => Turn::reply(
            (0..8).map(|at| task(&format!("job {at}"), "general-purpose", &format!("job {at}"))).collect(),
        )
        .usage(used(1_000, 100)),
        (who, _) if who == "go" => Turn::reply(vec![text("all done")]).usage(used(2_000, 10)),
        (who, 1) if who == "job 3" => Turn::stall(vec![text("I am ")]),
        (who, at @ (0 | 1)) => {
            let file = format!("{}.txt", who.replace(' ', "-"));
            Turn::reply(vec![call("read_file", json!({"file_path": file, "offset": at + 1}))])
                .usage(used(100, 10))
        }
        (who, _) => Turn::reply(vec![text(format!("{who} is done"))]).usage(used(100, 10)),
    });
    for at in 0..8 {
        bed.write(&format!("job-{at}.txt"), "one\ntwo\nthree\n");
    }
    let mut talk = bed.open();
    talk.say("go");
    // The fourth is in the middle of its second answer: it is stopped, the others go on.
    let mut fourth = String::new();
    let stuck = talk
        .until(|event| match event {
            SessionEvent::AgentBegan(began) => {
                if began.description == "job 3" {
                    fourth.clone_from(&began.id);
                }
                None
            }
            SessionEvent::AgentEvent { id, event } if *id == fourth => {
                matches!(**event, SessionEvent::Text { .. }).then(|| id.clone())
            }
            _ => None,
        })
        .await;
    talk.send(Command::StopAgent { id: stuck.clone() });
    let done = talk.done().await;
    assert_eq!((done.reason, done.text.as_str()), (Reason::Answered, "all done"));

    let results: Vec<(bool, String)> = talk.results();
    assert_eq!(results.len(), 8, "{results:#?}");
    let mut by_job: Vec<String> = results.iter().map(|(_, text)| text.clone()).collect();
    by_job.sort();
    for at in [0, 1, 2, 4, 5, 6, 7] {
        let said = by_job.iter().find(|text| text.starts_with(&format!("job {at} is done"))).unwrap();
        assert!(said.contains("[2 tool uses, 330 tokens, "), "{said}");
    }
    let stopped = results.iter().find(|(success, _)| !success).unwrap();
    assert!(stopped.1.starts_with("the user stopped the agent; what it changed"), "{stopped:?}");
    assert!(stopped.1.contains("\nIt had said: I am\n\n[1 tool use, "), "{stopped:?}");

    // Every event of every agent came, in its order, between its begin and its end.
    let seen = talk.end().await;
    let told = told(&seen);
    assert_eq!(told.len(), 8);
    for (job, events) in &told {
        assert!(matches!(events.first(), Some(SessionEvent::Opened(_))), "{job}");
        assert!(matches!(events.last(), Some(SessionEvent::Closed)), "{job}");
        let count = |is: fn(&SessionEvent) -> bool| events.iter().filter(|event| is(event)).count();
        let (starts, ends) = (
            count(|event| matches!(event, SessionEvent::ToolStart(_))),
            count(|event| matches!(event, SessionEvent::ToolEnd(_))),
        );
        let spent = count(|event| matches!(event, SessionEvent::Spent(_)));
        let expected = if job == "job 3" { (1, 1, 2) } else { (2, 2, 3) };
        assert_eq!((starts, ends, spent), expected, "{job}: {events:#?}");
        assert_eq!(count(|event| matches!(event, SessionEvent::Done(_))), 1, "{job}");
    }
    let ended: Vec<_> = seen
        .iter()
        .filter_map(|event| if let SessionEvent::AgentEnded(ended) = event { Some(ended) } else { None })
        .collect();
    assert_eq!(ended.len(), 8);
    assert_eq!(ended.iter().map(|ended| ended.tool_uses).sum::<u64>(), 7 * 2 + 1);
    let cut = ended.iter().find(|ended| ended.id == stuck).unwrap();
    // The answer that was cut off is counted, as far as was reported of it.
    assert_eq!(ended.iter().map(|ended| ended.tokens).sum::<u64>(), 7 * 330 + cut.tokens);
    assert!(cut.tokens > 110, "{cut:?}");
    assert_eq!(cut.reason, Reason::Interrupted);

    // Each has a journal of its own beside its parent's, and none is listed as a session.
    let folder = bed.session();
    let agents: Vec<_> =
        std::fs::read_dir(folder.join("agents")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(agents.len(), 8);
    for agent in agents {
        let journal = std::fs::read_to_string(agent.join("journal.jsonl")).unwrap();
        assert!(journal.contains("\"agent_of\"") && journal.contains("job "), "{journal}");
    }
    bed.requests().iter().for_each(assert_valid);
}

#[tokio::test]
async fn an_agent_has_its_own_context_tools_model_and_prompt() {
    let bed = bed(|request| match (first(request), answers(request)) {
        (who, 0) if who == "go" => Turn::reply(vec![call(
            "task",
            json!({"description": "review", "prompt": "look at it", "subagent_type": "code-reviewer", "model": "openai-chat,m"}),
        )]),
        (who, _) if who == "go" => Turn::reply(vec![text("done")]),
        _ => Turn::reply(vec![text("it is fine")]),
    });
    let mut talk = bed.open();
    assert_eq!(talk.ask("go").await.reason, Reason::Answered);
    let requests = bed.models.requests();
    let child = requests
        .iter()
        .find(|asked| asked.request().is_some_and(|request| first(request) == "look at it"))
        .unwrap();
    assert_eq!(child.protocol.to_string(), "openai-chat");
    let request = child.request().unwrap();
    assert_eq!(request.messages.len(), 1, "a fresh context");
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(
        tools.contains(&"read_file") && !tools.contains(&"write_file") && !tools.contains(&"task"),
        "{tools:?}"
    );
    let system = message_text(&rail_model::Message::new(Role::User, request.system.clone()));
    let kind = types::built_in().into_iter().find(|kind| kind.name == "code-reviewer").unwrap();
    assert!(system.starts_with(kind.prompt.trim()), "{system}");
    let parent = bed.requests().into_iter().find(|request| first(request) == "go").unwrap();
    let system = message_text(&rail_model::Message::new(Role::User, parent.system));
    assert!(system.contains("- code-reviewer: "), "the types are listed: {system}");
}

#[tokio::test]
async fn without_a_type_an_agent_only_looks_and_an_unknown_type_names_those_there_are() {
    let mut bed = bed(|request| match (first(request), answers(request)) {
        (who, 0) if who == "go" => Turn::reply(vec![call("dispatch_agent", json!({"prompt": "look"}))]),
        (who, 1) if who == "go" => Turn::reply(vec![task("x", "no-such", "look")]),
        (who, _) if who == "go" => Turn::reply(vec![text("done")]),
        (_, 0) => Turn::reply(vec![call("bash", json!({"command": "touch made"}))]),
        _ => Turn::reply(vec![text("I could not")]),
    });
    bed.mode = Mode::AcceptEdits;
    let mut talk = bed.open();
    assert_eq!(talk.ask("go").await.reason, Reason::Answered);
    let results = talk.results();
    assert!(results[0].1.starts_with("I could not"), "{results:?}");
    assert!(results[1].1.contains("there is no type of agent `no-such`; there are `"), "{results:?}");
    assert!(!bed.work().join("made").exists());
}

#[tokio::test]
async fn questions_of_agents_are_asked_of_the_user_and_answers_hold_for_all() {
    let mut bed = bed(|request| match (first(request), answers(request)) {
        (who, 0) if who == "go" => Turn::reply(vec![task("one", "general-purpose", "one")]),
        (who, 1) if who == "go" => Turn::reply(vec![task("two", "general-purpose", "two")]),
        (who, _) if who == "go" => Turn::reply(vec![text("done")]),
        (_, 0) => Turn::reply(vec![call("bash", json!({"command": "make test"}))]),
        (who, _) => Turn::reply(vec![text(format!("{who} ended"))]),
    });
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    talk.say("go");
    let ask = talk
        .until(|event| if let SessionEvent::Permission(ask) = event { Some(ask.clone()) } else { None })
        .await;
    assert!(!ask.offers.is_empty(), "{ask:?}");
    assert!(ask.id.contains('/'), "the id says whose it is: {}", ask.id);
    assert_eq!(ask.tool, "bash");
    let lasting = rail_proto::Lasting::Session;
    talk.send(Command::Answer { ask: ask.id, answer: Answer::Offer { at: 0, lasting } });
    let done = talk.done().await;
    assert_eq!(done.reason, Reason::Answered, "{done:?}");
    let asked = talk.seen.iter().filter(|event| matches!(event, SessionEvent::Permission(_))).count();
    assert_eq!(asked, 1, "what was allowed to the first is allowed to the second");
    assert!(talk.results().iter().all(|(success, _)| *success), "{:?}", talk.results());
}

#[tokio::test]
async fn budgets_hold_over_the_whole_tree() {
    for bounds in [
        Bounds { turns: Some(6), ..Bounds::default() },
        Bounds { tokens: Some(600), ..Bounds::default() },
        Bounds { usd: Some(0.6), ..Bounds::default() },
    ] {
        let mut bed = bed(|request| match (first(request), answers(request)) {
            (who, 0) if who == "go" => {
                Turn::reply((0..3).map(|at| task("loop", "general-purpose", &format!("loop {at}"))).collect())
                    .usage(used(90, 10))
            }
            // They never end by themselves.
            (_, at) => {
                Turn::reply(vec![call("list_directory", json!({"path": ".", "ignore": [format!("{at}")]}))])
                    .usage(used(90, 10))
            }
        });
        bed.bounds = bounds;
        // Ten cents an answer.
        bed.price = ", price = { input = 1000.0, output = 1000.0 }";
        let mut talk = bed.open();
        let done = talk.ask("go").await;
        assert!(matches!(done.reason, Reason::Budget | Reason::TurnLimit), "{done:?}");
        let seen = talk.end().await;
        let requests = bed.requests().len();
        // What a request will take is held for it, so that those under way come on top of nothing.
        assert_eq!(requests, 6, "{:?}", bed.bounds);
        let cut = seen.iter().filter(|event| match event {
            SessionEvent::AgentEnded(ended) => ended.reason == Reason::Budget,
            _ => false,
        });
        assert!(cut.count() >= 1);
    }
}

#[tokio::test]
async fn what_an_agent_took_is_told_however_it_ended() {
    let bed = bed(|request| match (first(request).as_str(), answers(request)) {
        ("go", 0) => {
            Turn::reply(vec![task("a", "general-purpose", "fail"), task("b", "general-purpose", "refuse")])
        }
        ("go", _) => Turn::reply(vec![text("done")]),
        (_, 0) => Turn::reply(vec![text("I look."), call("list_directory", json!({"path": "."}))])
            .usage(used(100, 10)),
        ("fail", _) => {
            Turn::error(rail_model::ApiError::new(rail_model::ErrorKind::InvalidRequest, "no such thing"))
        }
        _ => Turn::reply(vec![text("I won't.")]).stop(rail_model::Stop::Refusal).usage(used(100, 10)),
    });
    let mut talk = bed.open();
    assert_eq!(talk.ask("go").await.text, "done");
    let results = talk.results();
    for (begins, took) in [
        ("the agent failed: ", "\nIt had said: I look.\n\n[1 tool use, 110 tokens, "),
        ("the agent's model refused the task: ", "\n\n[1 tool use, 220 tokens, "),
    ] {
        let (success, said) = results.iter().find(|(_, said)| said.starts_with(begins)).unwrap();
        assert!(!success && said.contains(took), "{results:#?}");
    }
}

#[tokio::test]
async fn an_interruption_ends_all_agents_and_every_call_has_a_result() {
    let reached = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&reached);
    let bed = bed(move |request| match first(request).as_str() {
        "go" if answers(request) == 0 => {
            Turn::reply((0..4).map(|at| task("wait", "general-purpose", &format!("wait {at}"))).collect())
        }
        "go" | "again" => Turn::reply(vec![text("here")]),
        _ => {
            *counted.lock().unwrap() += 1;
            Turn::stall(vec![text("I am ")])
        }
    });
    let mut talk = bed.open();
    talk.say("go");
    let mut waiting = 0;
    talk.until(|event| {
        if let SessionEvent::AgentEvent { event, .. } = event
            && matches!(&**event, SessionEvent::Text { .. })
        {
            waiting += 1;
        }
        (waiting == 4).then_some(())
    })
    .await;
    talk.send(Command::Interrupt);
    assert_eq!(talk.done().await.reason, Reason::Interrupted);
    // The conversation is valid and goes on.
    assert_eq!(talk.ask("again").await.text, "here");
    assert_valid(&bed.last());
    talk.end().await;
    assert_eq!(*reached.lock().unwrap(), 4);
}

#[tokio::test]
async fn agents_set_others_to_work_only_as_deep_as_is_allowed() {
    let mut bed = bed(|request| {
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        match (first(request).as_str(), answers(request)) {
            ("go", 0) => Turn::reply(vec![task("a", "general-purpose", "level 1")]),
            ("level 1", 0) => {
                assert!(tools.contains(&"task"));
                Turn::reply(vec![task("b", "general-purpose", "level 2")]).usage(used(10, 1))
            }
            ("level 2", 0) => {
                assert!(!tools.contains(&"task"));
                Turn::reply(vec![call("list_directory", json!({"path": "."}))]).usage(used(10, 1))
            }
            (who, _) => Turn::reply(vec![text(format!("{who} ended"))]).usage(used(10, 1)),
        }
    });
    bed.config = "[agent]\nagent_depth = 2\n".to_owned();
    let mut talk = bed.open();
    assert_eq!(talk.ask("go").await.text, "go ended");
    let outer = talk
        .seen
        .iter()
        .filter_map(|event| if let SessionEvent::AgentEnded(ended) = event { Some(ended) } else { None })
        .next()
        .unwrap();
    // Its own call and the one of its agent; four answers of 11 tokens.
    assert_eq!((outer.tool_uses, outer.tokens), (2, 44));
}

#[tokio::test]
async fn an_agent_s_own_agent_can_be_stopped_by_itself() {
    for with_path in [false, true] {
        let mut bed = bed(|request| match (first(request).as_str(), answers(request)) {
            ("go", 0) => Turn::reply(vec![task("a", "general-purpose", "level 1")]),
            ("level 1", 0) => Turn::reply(vec![task("b", "general-purpose", "level 2")]),
            ("level 2", 0) => Turn::stall(vec![text("I am ")]),
            ("level 1", _) => {
                let told = texts(request).join("\n");
                Turn::reply(vec![text(format!("stopped: {}", told.contains("the user stopped the agent; ")))])
            }
            (who, _) => Turn::reply(vec![text(format!("{who} ended"))]),
        });
        bed.config = "[agent]\nagent_depth = 2\n".to_owned();
        let mut talk = bed.open();
        talk.say("go");
        let (outer, inner) = talk
            .until(|event| match event {
                SessionEvent::AgentEvent { id: outer, event } => match &**event {
                    SessionEvent::AgentEvent { id: inner, event } => {
                        matches!(**event, SessionEvent::Text { .. }).then(|| (outer.clone(), inner.clone()))
                    }
                    _ => None,
                },
                _ => None,
            })
            .await;
        talk.send(Command::StopAgent { id: if with_path { format!("{outer}/{inner}") } else { inner } });
        assert_eq!(talk.done().await.text, "go ended");
        assert!(talk.results()[0].1.starts_with("stopped: true"), "{:?}", talk.results());
    }
}

#[tokio::test]
async fn what_an_agent_wrote_can_be_undone_with_the_step_that_set_it_to_work() {
    let bed = bed(|request| match (first(request).as_str(), answers(request)) {
        ("go", 0) => Turn::reply(vec![task("write", "general-purpose", "write it")]),
        ("write it", 0) => {
            Turn::reply(vec![call("write_file", json!({"file_path": "new.txt", "content": "new\n"}))])
        }
        (who, _) => Turn::reply(vec![text(format!("{who} ended"))]),
    });
    let mut talk = bed.open();
    talk.ask("go").await;
    assert_eq!(bed.read("new.txt"), "new\n");
    talk.send(Command::Undo);
    talk.sees(|event| matches!(event, SessionEvent::Restored(_))).await;
    assert!(!bed.work().join("new.txt").exists());
}

#[tokio::test]
async fn an_agent_need_not_read_again_what_its_own_command_changed() {
    let bed = bed(|request| match (first(request).as_str(), answers(request)) {
        ("go", 0) => Turn::reply(vec![task("edit", "general-purpose", "edit it")]),
        ("edit it", 0) => Turn::reply(vec![call("read_file", json!({"file_path": "a.txt"}))]),
        ("edit it", 1) => Turn::reply(vec![call("bash", json!({"command": "sed -i s/one/two/ a.txt"}))]),
        ("edit it", 2) => {
            let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"});
            Turn::reply(vec![call("edit_file", edit)])
        }
        (who, _) => Turn::reply(vec![text(format!("{who} ended"))]),
    });
    bed.write("a.txt", "one\n");
    let mut talk = bed.open();
    talk.ask("go").await;
    assert_eq!(bed.read("a.txt"), "three\n", "{:?}", talk.seen);
    talk.send(Command::Undo);
    talk.sees(|event| matches!(event, SessionEvent::Restored(_))).await;
    assert_eq!(bed.read("a.txt"), "one\n", "it is one step of the session");
}

#[tokio::test]
async fn what_agents_wrote_before_a_crash_can_be_undone_and_nothing_else() {
    let bed = bed(|request| match (first(request).as_str(), answers(request)) {
        ("go", 0) => Turn::reply(vec![task("write", "general-purpose", "write it")]),
        ("write it", at @ (0 | 1)) => {
            let file = json!({"file_path": format!("new-{at}.txt"), "content": "new\n"});
            Turn::reply(vec![call("write_file", file)])
        }
        _ => Turn::stall(vec![text("I am ")]),
    });
    let mut talk = bed.open();
    talk.say("go");
    talk.sees(|event| match event {
        SessionEvent::AgentEvent { event, .. } => matches!(**event, SessionEvent::Text { .. }),
        _ => false,
    })
    .await;
    // It is gone in the middle of the agent's work.
    drop(talk);
    tokio::task::yield_now().await;
    bed.write("mine.txt", "mine\n");
    let mut talk = bed.resume(&bed.session());
    talk.send(Command::Undo);
    let restored = talk
        .until(
            |event| if let SessionEvent::Restored(restored) = event { Some(restored.clone()) } else { None },
        )
        .await;
    assert_eq!((restored.files.len(), restored.refused), (2, None), "{:?}", restored.files);
    assert!(!bed.work().join("new-0.txt").exists() && !bed.work().join("new-1.txt").exists());
    assert_eq!(bed.read("mine.txt"), "mine\n");
}

#[tokio::test]
async fn hooks_see_agents_begin_and_end_and_may_send_them_on() {
    let mut bed = bed(|request| match (first(request).as_str(), answers(request)) {
        ("go", 0) => Turn::reply(vec![task("job", "general-purpose", "job")]),
        ("job", 0) => Turn::reply(vec![call("read_file", json!({"file_path": "a.txt"}))]),
        ("job", 1) => Turn::reply(vec![text("too early")]),
        ("job", _) => {
            let all = texts(request).join("\n");
            Turn::reply(vec![text(format!("sent on: {}", all.contains("look again")))])
        }
        _ => Turn::reply(vec![text("done")]),
    });
    bed.write("a.txt", "a\n");
    let log = bed.root().join("hooks.log");
    let say = |word: &str| {
        format!(
            "[[hooks.{word}]]\nhooks = [{{ type = \"command\", command = \"echo {word} >> {}\" }}]\n",
            log.display()
        )
    };
    bed.config = ["SubagentStart", "Stop", "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse"]
        .map(say)
        .concat();
    bed.config.push_str(&format!(
        "[[hooks.SubagentStop]]\nhooks = [{{ type = \"command\", command = \"echo SubagentStop >> {0}; grep -c SubagentStop {0} | grep -qx 1 && {{ echo look again >&2; exit 2; }}; exit 0\" }}]\n",
        log.display()
    ));
    let mut talk = bed.open();
    assert_eq!(talk.ask("go").await.text, "done");
    assert!(talk.results()[0].1.starts_with("sent on: true"), "{:?}", talk.results());
    talk.end().await;
    let said = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "SubagentStart",
            "PreToolUse",
            "SubagentStop",
            "SubagentStop",
            "Stop",
            "SessionEnd"
        ]
    );
}

#[test]
fn the_types_of_the_spec_are_there() {
    let names: Vec<String> = types::built_in().into_iter().map(|kind: AgentType| kind.name).collect();
    for name in [
        "general-purpose",
        "code-refactorer",
        "security-auditor",
        "project-rules-architect",
        "code-reviewer",
        "test-writer",
        "doc-writer",
        "architect",
    ] {
        assert!(names.iter().any(|there| there == name), "{name}");
    }
}
