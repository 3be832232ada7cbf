//! The model changes from one run to the next, and images come in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_testkit::{Turn, call, text, thinking};
use serde_json::json;

use super::{PROTOCOLS, TaskBed, assert_valid};

/// One red dot.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

#[test]
fn a_session_goes_on_with_another_protocol_from_run_to_run() {
    let pairs = PROTOCOLS.iter().flat_map(|from| PROTOCOLS.iter().map(move |to| (*from, *to)));
    let names: Vec<&str> = pairs.filter(|(from, to)| from != to).flat_map(|(from, to)| [from, to]).collect();
    let mut turns = Vec::new();
    for (number, name) in names.iter().enumerate() {
        turns.push(Turn::reply(vec![
            thinking("Hm.", Some("c2lnbmVk")),
            text("I look."),
            call("bash", json!({"command": format!("echo {name} {number}")})),
            call("read_file", json!({"file_path": "a.txt"})),
        ]));
        turns.push(Turn::reply(vec![text(format!("I am {name}."))]));
    }
    let bed = TaskBed::new(turns);
    bed.home.write("work/a.txt", "here\n");
    for (number, name) in names.iter().enumerate() {
        let go_on: &[&str] = if number == 0 { &[] } else { &["-c"] };
        let model = format!("{name},m");
        let result = bed.task(&[&["Who are you?", "-m", &model], go_on].concat(), "");
        assert_eq!(result["result"], format!("I am {name}."));
        assert_eq!(bed.models.requests().last().unwrap().protocol.name(), *name);
    }
    let requests = bed.requests();
    requests.iter().for_each(assert_valid);
    let last = format!("{:?}", requests.last().unwrap().messages);
    for (number, name) in names.iter().enumerate().take(names.len() - 1) {
        let seen = last.contains(&format!("I am {name}.")) && last.contains(&format!("{name} {number}"));
        assert!(seen, "{name} {number}: {last}");
    }
}

#[test]
fn images_reach_every_protocol() {
    for protocol in PROTOCOLS {
        let bed = TaskBed::new(vec![
            Turn::reply(vec![call("read_file", json!({"file_path": "dot.png"}))]),
            Turn::reply(vec![text("Two dots.")]),
            Turn::reply(vec![text("Still two.")]),
        ]);
        std::fs::write(bed.home.path("work/dot.png"), STANDARD.decode(PNG).unwrap()).unwrap();
        let model = format!("{protocol},m");
        let result = bed.task(&["What is this?", "-m", &model, "--image", "dot.png"], "");
        assert_eq!(result["result"], "Two dots.", "{protocol}");
        bed.task(&["And now?", "-m", &model, "-c"], "");
        for asked in &bed.models.requests()[1..] {
            let body = String::from_utf8(asked.call.body.to_vec()).unwrap();
            assert_eq!(body.matches("iVBORw0KGgo").count(), 2, "{protocol}: {body}");
            assert_valid(asked.request().unwrap());
        }
    }
}
