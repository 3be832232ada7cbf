//! The task, as scripted models go about it.

use rail_model::{ApiError, CallId, ErrorKind, PartBody, ProtocolId, Request};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use super::table::{Call, Files, Tested};

/// How a model writes its calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// As its protocol has them.
    Native,
    /// As marked text.
    Hermes,
    /// As JSON in a fence, with words before it.
    Fence,
}

/// What a model does when it should go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Then {
    /// It does.
    GoesOn,
    /// It says that it is broken.
    Breaks,
    /// It says nothing at all.
    Stalls,
}

pub(super) const DONE: &str = "All is done.";

/// A model that does the task from wherever it is, up to `last` results of tools, and then does something else.
pub(super) fn model(client: &Tested, files: &Files, form: Form, (last, then): (usize, Then)) -> Models {
    let calls = (client.calls)(files);
    Models::answering(move |request| match (results(request), then) {
        _ if request.tools.is_empty() => Turn::reply(vec![text("A title")]),
        (done, Then::Breaks) if done > last => Turn::error(ApiError::new(ErrorKind::Server, "broken")),
        (done, Then::Stalls) if done > last => Turn::stall(Vec::new()),
        (done, Then::GoesOn | Then::Breaks | Then::Stalls) => step(&calls, done, form),
    })
    .unwrap()
}

/// The same that never fails.
pub(super) fn good_model(client: &Tested, files: &Files, form: Form) -> Models {
    model(client, files, form, (usize::MAX, Then::GoesOn))
}

fn step(calls: &[Call; 3], done: usize, form: Form) -> Turn {
    let Some((name, arguments)) = calls.get(done) else { return Turn::reply(vec![text(DONE)]) };
    let spelled = json!({"name": name, "arguments": arguments});
    Turn::reply(vec![match form {
        Form::Native => {
            let mut part = call(*name, arguments.clone());
            if let PartBody::ToolCall(call) = &mut part.body {
                // Each model counts for itself, and a client takes an id for the same call if it comes again.
                call.id = CallId::Given(format!("call_{done}"));
            }
            part
        }
        Form::Hermes => text(format!("I go on.\n<tool_call>\n{spelled}\n</tool_call>")),
        Form::Fence => text(format!("I go on.\n\n```json\n{spelled:#}\n```\n")),
    }])
}

/// How many results of tools there are so far: how far the task has come.
pub(super) fn results(request: &Request) -> usize {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.filter(|part| matches!(part.body, PartBody::ToolResult(_))).count()
}

/// How far the task had come each time that a model was asked to go on with it.
pub(super) fn asked(models: &Models) -> Vec<usize> {
    let requests = models.requests();
    let requests = requests.iter().filter_map(|asked| asked.request());
    requests.filter(|request| !request.tools.is_empty()).map(results).collect()
}

/// A provider of a configuration: its name, the protocol that it is spoken to in, and the model behind it.
pub(super) fn provider(name: &str, protocol: &'static str, models: &Models) -> String {
    format!(
        "[providers.{name}]\nprotocol = \"{protocol}\"\nbase_url = \"{}\"\nkey = \"key-of-{name}\"\n\
         models = {{ m = {{ tools = \"mixed\", window = 200000 }} }}\n",
        models.base_url(ProtocolId::new(protocol))
    )
}
