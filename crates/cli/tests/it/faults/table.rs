//! Every fault with every client: alone, and with a healthy target behind it.

use std::thread;

use rail_testkit::{Models, Turn, text};

use super::scripts::{Fault, after, before, mended, whole};
use super::{line, records};
use crate::gateway::{Layout, PROTOCOLS, Question, Serving};
use crate::home::Home;

/// Asks for each fault from each protocol, alone and with a second target behind; all that clients and ledger tell of it.
fn table(faults: &[Fault], layout: Layout) -> (String, String) {
    let good = Models::start(vec![Turn::reply(vec![text("good")]).repeat()]).unwrap();
    let mut config =
        format!("[providers.good]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = {{ m = {{ tools = \"native\" }} }}\n", good.url("/v1"));
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
