//! Ctrl-C.

use std::process::Command;

use rail_model::ProtocolId;
use rail_testkit::{Models, Turn};

use crate::home::Home;

#[test]
fn ctrl_c_ends_a_test_with_130() {
    let chat = ProtocolId::new("openai-chat");
    let models = Models::start(vec![Turn::stall(Vec::new()).reached("asked")]).unwrap();
    let home = Home::with(&format!(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\n[router]\ndefault = \"p,m\"\n",
        models.base_url(chat)
    ));
    let child = home.start(&["provider", "test"]);
    models.wait_for("asked");
    #[expect(clippy::disallowed_methods, reason = "a signal is sent by another process, as a terminal does")]
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(130), vec![], vec![]));
}
