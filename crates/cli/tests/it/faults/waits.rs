//! Clients that wait: they are told so, and who leaves ends what was begun for it.

use rail_model::{ApiError, ErrorKind};
use rail_testkit::{Conversation, Models, Peer, Step, Turn, sse_head, text};

use super::scripts::{HELLO, event};
use super::{line, records};
use crate::gateway::{PROTOCOLS, Question, Serving};
use crate::home::Home;

fn stalls(first: &[Step]) -> Peer {
    let steps = [&[Step::ReadRequest], first, &[Step::Stall]].concat();
    Peer::start(vec![Conversation::new(steps).repeat()]).unwrap()
}

/// What clients see when the first target stalls, and the second does this once they were told to wait.
fn told(turn: Turn) -> String {
    let mut told = String::new();
    for of in PROTOCOLS {
        let (stalls, second) = (stalls(&[]), Models::start(vec![turn.clone().gate("told")]).unwrap());
        let home = Home::with(&format!(
            "[providers.a]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = {{ m = {{ tools = \"native\" }} }}\nretry = {{ tries = 0 }}\n\
             timeouts = {{ first_token = \"250ms\" }}\n\
             [providers.b]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = {{ m = {{ tools = \"native\" }} }}\nretry = {{ tries = 0 }}\n\
             [router]\ndefault = \"a,m;b,m\"\n[gateway]\nlog = \"quiet\"\nhold = \"100ms\"\nkeep_alive = \"100ms\"\n",
            stalls.url("/v1"),
            second.url("/v1")
        ));
        let serving = Serving::start(&home);
        let mut asking = serving.send(&Question::stream(of, "asked"));
        // The sign of life of each protocol, behind its start if it has one.
        asking.until(match of {
            "anthropic" => "event: ping",
            "openai-responses" => "keepalive",
            // Google's clients know no comments: it is empty lines, a chunk of their own.
            "gemini" => "4\r\n\r\n\r\n\r\n",
            _ => "\r\n: ",
        });
        second.open("told");
        told += &format!("{of} {}\n", asking.answer().told());
        serving.stop();
        told += &format!("ledger: {}\n", records(&home).iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    told
}

#[test]
fn a_client_that_was_told_to_wait_is_answered_by_another_target() {
    insta::assert_snapshot!("told_to_wait_then_answered", told(Turn::reply(vec![text("good")])));
}

#[test]
fn a_client_that_was_told_to_wait_hears_of_failure_in_the_stream() {
    let error = ApiError::new(ErrorKind::Server, "oh no");
    insta::assert_snapshot!("told_to_wait_then_failed", told(Turn::error(error)));
}

fn on(peer: &Peer) -> Home {
    Home::with(&format!(
        "[providers.a]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = {{ m = {{ tools = \"native\" }} }}\n[router]\ndefault = \"a,m\"\n\
         [gateway]\nlog = \"quiet\"\n",
        peer.url("/v1")
    ))
}

#[test]
fn who_leaves_while_waiting_ends_the_upstream_request() {
    let mut told = String::new();
    for of in PROTOCOLS {
        for question in [Question::stream(of, "asked"), Question::whole(of, "asked")] {
            let peer = stalls(&[Step::Reached("asked")]);
            let home = on(&peer);
            let serving = Serving::start(&home);
            let asking = serving.send(&question);
            peer.wait_for("asked");
            asking.leave();
            peer.client_left(0);
            serving.stop();
            told += &format!("{of}: {}\n", records(&home).iter().map(line).collect::<Vec<_>>().join("; "));
        }
    }
    insta::assert_snapshot!("left_while_waiting", told);
}

#[test]
fn who_leaves_in_mid_stream_ends_the_upstream_request() {
    let mut told = String::new();
    for of in PROTOCOLS {
        let peer = stalls(&[Step::Send([sse_head(), event(HELLO)].concat())]);
        let home = on(&peer);
        let serving = Serving::start(&home);
        let mut asking = serving.send(&Question::stream(of, "asked"));
        asking.until("hello");
        asking.leave();
        peer.client_left(0);
        serving.stop();
        told += &format!("{of}: {}\n", records(&home).iter().map(line).collect::<Vec<_>>().join("; "));
    }
    insta::assert_snapshot!("left_in_mid_stream", told);
}
