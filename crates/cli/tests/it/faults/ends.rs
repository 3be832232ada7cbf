//! A gateway that is told to stop, configured anew or killed while it answers.

use rail_testkit::{Models, Turn, text};

use super::{line, records};
use crate::gateway::{PROTOCOLS, Question, Serving};
use crate::home::Home;

fn config(models: &Models, gateway: &str) -> String {
    format!(
        "[providers.a]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = {{ m = {{ tools = \"native\" }} }}\n[router]\ndefault = \"a,m\"\n[gateway]\n{gateway}\n",
        models.url("/v1")
    )
}

fn gated() -> Models {
    Models::start(vec![Turn::reply(vec![text("good")]).gate_before_end("end").repeat()]).unwrap()
}

/// The records in no order of time: requests came at once.
fn kept(home: &Home) -> Vec<String> {
    let mut kept: Vec<String> = records(home).iter().map(line).collect();
    kept.sort();
    kept
}

#[test]
fn told_to_stop_it_brings_streams_to_their_end() {
    let models = gated();
    let home = Home::with(&config(&models, "log = \"quiet\""));
    let serving = Serving::start(&home);
    let mut asked = PROTOCOLS.map(|of| serving.send(&Question::stream(of, "asked")));
    asked.iter_mut().for_each(|asking| asking.until("good"));
    serving.signal("-TERM");
    serving.is_stopping();
    models.open("end");
    let told: Vec<String> = asked.into_iter().map(|asking| asking.answer().told()).collect();
    assert_eq!(serving.end(), Some(0));
    insta::assert_snapshot!("told_to_stop", told.join("\n"));
    let [own, relayed] =
        ["", ", passed on as it came"].map(|how| format!("answered 200: a,m answered 200{how}"));
    assert_eq!(kept(&home), [own.as_str(), &own, &own, &relayed]);
}

/// The ledger does not say of those that they left.
#[test]
fn who_is_not_done_in_time_is_cut_off() {
    let models = gated();
    let home = Home::with(&config(&models, "log = \"quiet\"\ngrace = \"200ms\""));
    let serving = Serving::start(&home);
    let mut asked = PROTOCOLS.map(|of| serving.send(&Question::stream(of, "asked")));
    asked.iter_mut().for_each(|asking| asking.until("good"));
    serving.signal("-TERM");
    let told: Vec<String> = asked.into_iter().map(|asking| asking.answer().told()).collect();
    assert_eq!(serving.end(), Some(0));
    insta::assert_snapshot!("cut_off", format!("{}\n{}", told.join("\n"), kept(&home).join("\n")));
    models.open("end");
}

#[test]
fn who_waits_in_vain_is_cut_off_too() {
    let models = Models::start(vec![Turn::stall(Vec::new()).reached("asked")]).unwrap();
    let home = Home::with(&config(&models, "log = \"quiet\"\ngrace = \"200ms\""));
    let serving = Serving::start(&home);
    let asking = serving.send(&Question::whole("anthropic", "asked"));
    models.wait_for("asked");
    serving.signal("-TERM");
    assert_eq!(serving.end(), Some(0));
    assert!(asking.ends_without_a_word(), "an answer came");
    let told = "the gateway was told to stop, and this took longer than `gateway.grace`";
    assert_eq!(kept(&home), [format!("broken 503: a,m left; then: {told}")]);
}

#[test]
fn a_new_configuration_in_mid_stream_changes_nothing_of_it() {
    let (old, new) = (gated(), Models::start(vec![Turn::reply(vec![text("new")]).repeat()]).unwrap());
    let home = Home::with(&config(&old, ""));
    let serving = Serving::start(&home);
    let mut asking = serving.send(&Question::stream("anthropic", "asked"));
    asking.until("good");
    home.write(
        ".config/switchrail/config.toml",
        &config(&new, "").replace("a,m", "b,m").replace(".a]", ".b]"),
    );
    serving.tells("the configuration was loaded again");
    let next = serving.ask(&Question::stream("anthropic", "asked anew"));
    assert!(next.status == 200 && next.body.contains("new"), "{}", next.told());
    old.open("end");
    let answer = asking.answer();
    assert!(answer.body.contains("good") && answer.body.contains("message_stop"), "{}", answer.told());
    serving.stop();
    assert_eq!(kept(&home), ["answered 200: a,m answered 200", "answered 200: b,m answered 200"]);
}

#[test]
fn killed_in_mid_stream_it_leaves_a_ledger_that_can_be_used() {
    let script = vec![
        Turn::reply(vec![text("first")]),
        Turn::reply(vec![text("second")]).gate_before_end("end"),
        Turn::reply(vec![text("third")]),
    ];
    let models = Models::start(script).unwrap();
    let home = Home::with(&config(&models, "log = \"quiet\""));
    let serving = Serving::start(&home);
    assert_eq!(serving.ask(&Question::stream("anthropic", "one")).status, 200);
    let used = || home.said(&["usage", "--json"], "");
    // What was answered is written down within a moment, and then stays.
    while !used().contains("\"requests\": 1") {}
    let mut asking = serving.send(&Question::stream("anthropic", "two"));
    asking.until("second");
    serving.signal("-KILL");
    assert!(asking.answer().told().ends_with("(cut off)"));
    assert_eq!(serving.end(), None);
    assert!(used().contains("\"requests\": 1"), "{}", used());
    models.open("end");
    let serving = Serving::start(&home);
    assert_eq!(serving.ask(&Question::stream("gemini", "three")).status, 200);
    serving.stop();
    assert_eq!(kept(&home), vec!["answered 200: a,m answered 200"; 2]);
}
