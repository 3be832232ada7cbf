//! Every fault with every client: alone, and with a healthy target behind it.

use std::thread;
use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use rail_testkit::{Models, Turn, text};

use super::scripts::{Fault, after, before, mended, whole, without_end};
use super::{line, records};
use crate::gateway::{Layout, PROTOCOLS, Question, Serving};
use crate::home::Home;

/// Asks for each fault from each protocol, alone and with a second target behind; all that clients and ledger tell of it.
fn table(faults: &[Fault], layout: Layout) -> (String, String) {
    let good = Models::start(vec![Turn::reply(vec![text("good")]).repeat()]).unwrap();
    let mut config = format!(
        "[providers.good]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = {{ m = {{ tools = \"native\" }} }}\n",
        good.url("/v1")
    );
    let mut aliases = String::new();
    for Fault { name, url, settings, .. } in faults {
        let models: Vec<String> =
            PROTOCOLS.iter().flat_map(|of| [of.to_string(), format!("{of}-2")]).map(native).collect();
        config += &format!(
            "[providers.{name}]\nprotocol = \"openai-chat\"\nbase_url = \"{url}\"\nmodels = {{ {} }}\nretry = {{ tries = 0 }}\n{settings}\n",
            models.join(", ")
        );
        for of in PROTOCOLS {
            aliases += &format!("{name}-{of}-2 = \"{name},{of}-2;good,m\"\n");
        }
    }
    let home = Home::with(&format!(
        "{config}[aliases]\n{aliases}[router]\ndefault = \"good,m\"\n[gateway]\nlog = \"quiet\"\n"
    ));
    let serving = Serving::start(&home);
    let ask = |fault: &Fault| {
        let mut alone = format!("## {}\n", fault.name);
        let mut behind = alone.clone();
        for of in PROTOCOLS {
            for (model, told) in [
                (format!("{},{of}", fault.name), &mut alone),
                (format!("{}-{of}-2", fault.name), &mut behind),
            ] {
                let answer = serving.ask(&Question { layout, ..Question::stream(of, model) });
                *told += &format!("{of} {}\n", answer.told());
            }
        }
        (alone, behind)
    };
    let told: Vec<(String, String)> = thread::scope(|scope| {
        let asked: Vec<_> = faults.iter().map(|fault| scope.spawn(|| ask(fault))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    serving.stop();
    let records = records(&home);
    let kept = |asked: &str| {
        let all: Vec<String> = records.iter().filter(|entry| entry.asked == asked).map(line).collect();
        assert_eq!(all.len(), 1, "{asked}: {all:?}");
        all.concat()
    };
    let (mut alone, mut behind) = (String::new(), String::new());
    for (fault, (told_alone, told_behind)) in faults.iter().zip(told) {
        let name = fault.name;
        let named = |text: String| text.replace(&fault.addr, "PEER");
        alone += &named(told_alone);
        behind += &named(told_behind);
        for of in PROTOCOLS {
            alone += &named(format!("ledger, {of}: {}\n", kept(&format!("{name},{of}"))));
            behind += &named(format!("ledger, {of}: {}\n", kept(&format!("{name}-{of}-2"))));
        }
    }
    (alone, behind)
}

/// A model whose calls are its protocol's own, so that its answers are passed on as they come where client and target speak alike.
fn native(model: String) -> String {
    format!("{model} = {{ tools = \"native\" }}")
}

#[test]
fn faults_before_content() {
    let (alone, behind) = table(&before(), Layout::Stream);
    insta::assert_snapshot!("before_content_alone", alone);
    insta::assert_snapshot!("before_content_with_another", behind);
}

#[test]
fn faults_after_content() {
    let (alone, behind) = table(&after(), Layout::Stream);
    insta::assert_snapshot!("after_content_alone", alone);
    // What the client has seen can't be taken back: nobody else is asked.
    insta::assert_snapshot!("after_content_with_another", behind);
}

#[test]
fn what_is_no_fault_to_a_client() {
    let (alone, _) = table(&mended(), Layout::Stream);
    insta::assert_snapshot!("mended", alone);
}

#[test]
fn faults_of_whole_answers() {
    let (alone, behind) = table(&whole(), Layout::Whole);
    insta::assert_snapshot!("whole_alone", alone);
    insta::assert_snapshot!("whole_with_another", behind);
}

#[test]
fn an_endless_answer_has_an_end() {
    let fault = without_end();
    let models: Vec<String> = PROTOCOLS.iter().map(|of| native((*of).to_owned())).collect();
    let home = Home::with(&format!(
        "[providers.endless]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = {{ {} }}\n{}\n[gateway]\nlog = \"quiet\"\n",
        fault.url,
        models.join(", "),
        fault.settings
    ));
    let serving = Serving::start(&home);
    let ask = |of| {
        let answer = serving.ask(&Question::stream(of, format!("endless,{of}")));
        assert!(answer.status == 200 && answer.body.contains("hello"), "{of}");
        let end = answer.body.trim_end().lines().last().unwrap_or_default();
        assert!(end.contains("the answer took longer than 2 s"), "{of}: {end}");
        for good in ["message_stop", "[DONE]", "response.completed", "STOP"] {
            assert!(!answer.body.contains(good), "{of}");
        }
    };
    let ask = &ask;
    thread::scope(|scope| {
        PROTOCOLS.map(|of| scope.spawn(move || ask(of))).map(|asked| asked.join().unwrap())
    });
    serving.stop();
    let kept: Vec<&str> = records(&home).iter().map(|entry| entry.ending.word()).collect();
    assert_eq!(kept, ["broken"; 4]);
}

/// Answers of a target that speaks as its client does are passed on as they come, and fail as others do.
#[test]
fn faults_of_answers_that_are_passed_on() {
    let error = |kind, words: &str| ApiError::new(kind, words);
    let hello = || vec![text("hello")];
    let wait =
        ApiError { retry_after: Some(Duration::from_secs(7)), ..error(ErrorKind::RateLimited, "too many") };
    let turns = [
        ("limited", Turn::error(wait)),
        ("overloaded", Turn::error(error(ErrorKind::Overloaded, "too busy"))),
        ("failing", Turn::error(error(ErrorKind::Server, "oh no"))),
        ("stalling", Turn::stall(hello())),
        ("cut", Turn::cut(hello())),
        ("markerless", Turn::markerless(hello())),
        ("breaking", Turn::breaks(hello(), error(ErrorKind::Overloaded, "too busy"))),
    ];
    let targets = turns.map(|(name, turn)| (name, Models::start(vec![turn.repeat()]).unwrap()));
    let mut config = String::new();
    for (name, models) in &targets {
        for of in PROTOCOLS {
            let base_url = models.url(if of == "gemini" { "/v1beta" } else { "/v1" });
            let timeouts = if *name == "stalling" { "timeouts = { idle = \"200ms\" }" } else { "" };
            config += &format!(
                "[providers.{name}-{of}]\nprotocol = \"{of}\"\nbase_url = \"{base_url}\"\nmodels = {{ {} }}\n\
                 retry = {{ tries = 0 }}\n{timeouts}\n",
                native("m".to_owned())
            );
        }
    }
    let home = Home::with(&format!("{config}[gateway]\nlog = \"quiet\"\n"));
    let serving = Serving::start(&home);
    let mut told = String::new();
    for (name, models) in &targets {
        told += &format!("## {name}\n");
        for of in PROTOCOLS {
            let answer = serving.ask(&Question::stream(of, format!("{name}-{of},m")));
            told += &format!("{of} {}\n", answer.told()).replace(&models.addr().to_string(), "PEER");
        }
    }
    serving.stop();
    let named = |line: String| {
        targets.iter().fold(line, |line, (_, at)| line.replace(&at.addr().to_string(), "PEER"))
    };
    let mut kept: Vec<String> = records(&home).iter().map(line).map(named).collect();
    kept.sort();
    insta::assert_snapshot!("passed_on", format!("{told}## the ledger\n{}", kept.join("\n")));
}
