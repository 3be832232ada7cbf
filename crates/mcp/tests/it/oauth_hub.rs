//! A hub at a real server that takes the tokens of a real authorisation server.

use std::sync::Arc;

use rail_mcp::{ServerSpec, State, Way};
use serde_json::json;

use super::oauth_kit::{LIMIT, Person, Wish, World};
use crate::bed::Bed;

const WHO: &str = "mcp__guarded__whoami";
const ADMIN: &str = "mcp__guarded__admin";

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_has_the_login_that_somebody_made_elsewhere_and_renews_it() {
    let Some(world) = World::start() else { return };
    let mut spec = ServerSpec::new("guarded", Way::Http { url: world.server.clone(), headers: Vec::new() });
    spec.tokens = Some(Arc::new(world.tokens()));
    let bed = Bed::new(vec![spec]);
    let needs = "needs a login: the server wants a login; log in with `rail mcp login guarded`";
    let state = bed.until("guarded", |state| state.state != State::Connecting).await;
    assert_eq!(state.state.to_string(), needs);

    // As another process does it.
    world.tokens().login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    bed.hub.reconnect("guarded").unwrap();
    bed.ready("guarded").await;
    assert_eq!(bed.says(WHO, &json!({})).await, "ok: ada by mcp:tools");

    // Its time is over; and then the server does not know it any more.
    world.clock.forward(3600);
    assert_eq!(bed.says(WHO, &json!({})).await, "ok: ada by mcp:tools");
    assert_eq!(world.asked(), ["authorization_code", "refresh_token"]);
    world.clock.forward(60);
    world.forget("AccessToken");
    assert_eq!(bed.says(WHO, &json!({})).await, "ok: ada by mcp:tools");
    assert_eq!(world.asked(), ["authorization_code", "refresh_token", "refresh_token"]);

    // What the login does not grant costs one call.
    assert_eq!(
        bed.says(ADMIN, &json!({})).await,
        "error: the MCP server `guarded` refused the call: the server wants a login for `mcp:tools mcp:admin`; \
         log in with `rail mcp login guarded`"
    );
    assert_eq!(bed.says(WHO, &json!({})).await, "ok: ada by mcp:tools");
    world.tokens().login(&Person::who(Wish::Consent), LIMIT).await.unwrap();
    assert_eq!(bed.says(ADMIN, &json!({})).await, "ok: ada by mcp:tools mcp:admin");
    assert!(matches!(bed.hub.states().remove(0).state, State::Ready { tools: 2, .. }));

    // Nothing can be renewed any more.
    world.clock.forward(60);
    for kind in ["AccessToken", "RefreshToken"] {
        world.forget(kind);
    }
    let lost = bed.says(WHO, &json!({})).await;
    assert!(lost.starts_with("error: ") && lost.contains("`rail mcp login guarded`"), "{lost}");
    let state = bed.until("guarded", |state| !matches!(state.state, State::Ready { .. })).await;
    assert_eq!(state.state.to_string(), needs);
    bed.end().await;
}
