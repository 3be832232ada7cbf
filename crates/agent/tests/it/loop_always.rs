//! What is allowed for always.

use rail_permit::Mode;
use rail_proto::{Answer, Lasting, SessionEvent};
use rail_testkit::{Turn, call, text};
use serde_json::json;

use crate::loop_bed::Bed;

const LOCAL: &str = ".switchrail/config.local.toml";

/// A command that is asked about and allowed for always; what is told of that beside.
async fn always(bed: &Bed) -> Vec<String> {
    let mut talk = bed.open();
    talk.answer = Some(Answer::Offer { at: 0, lasting: Lasting::Always });
    talk.ask("Go.").await;
    assert_eq!(talk.results().len(), 1);
    let events = talk.end().await.into_iter();
    let progress =
        |event| if let SessionEvent::ToolProgress { text, .. } = event { Some(text) } else { None };
    events.filter_map(progress).filter(|text| text.contains("could not be kept")).collect()
}

fn bed() -> Bed {
    let make = call("bash", json!({"command": "make test"}));
    let mut bed = Bed::new(vec![Turn::reply(vec![make]), Turn::reply(vec![text("Made.")])]);
    bed.mode = Mode::Default;
    bed
}

#[tokio::test(flavor = "multi_thread")]
async fn an_always_in_a_plain_folder_is_kept() {
    let bed = bed();
    assert_eq!(always(&bed).await, [""; 0]);
    assert_eq!(bed.read(LOCAL), "[permissions]\nallow = [\"Bash(make test)\"]\n");
    assert!(bed.root().join("state/switchrail/allowed.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_always_does_not_touch_what_an_untrusted_folder_ships() {
    let bed = bed();
    let shipped = "[permissions]\nallow = [\"Bash(curl:*)\"]\n";
    bed.write(LOCAL, shipped);
    let told = always(&bed).await;
    assert!(told.len() == 1 && told[0].contains("trust it with `rail config trust`"), "{told:?}");
    assert_eq!(bed.read(LOCAL), shipped);
}
