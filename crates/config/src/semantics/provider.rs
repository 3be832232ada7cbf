use crate::found::known;
use crate::pasted::is_key;
use crate::settings::{ProviderSettings, Wait};
use crate::tree::Value;
use crate::way::Way;

use super::{Found, Input};

pub(super) fn check(input: &Input<'_>, found: &mut Found) {
    for (name, of) in &input.settings.providers {
        let way = Way::from(["providers", name]);
        if name.trim().is_empty() || name.contains(|c: char| matches!(c, ',' | ';') || c.is_whitespace()) {
            let text = "a provider's name holds no blanks, `,` or `;`, so that chains can name it; rename it";
            found.problems.push(input.key_problem(&way, text));
        }
        if is_key(name) {
            let text = "this looks like a key, and a provider's name is shown; give it a name, and write the key as `key`";
            found.problems.push(input.key_problem(&way, text));
        }
        let is_whole = !input.is_broken(&way) && !input.unusable.contains_key(name);
        if is_whole {
            missing(input, name, of, &way, found);
        }
        keys(input, name, of, &way, found);
        times(input, of, &way, found);
    }
}

fn missing(input: &Input<'_>, name: &str, of: &ProviderSettings, way: &Way, found: &mut Found) {
    let known = known(name);
    let protocol = of.protocol.as_deref().or(known.as_ref().map(|known| known.protocol.name()));
    let Some(protocol) = protocol else {
        let text = "`protocol` is missing; write what it speaks: `anthropic`, `openai-chat`, `openai-responses` or `gemini`";
        found.problems.push(input.key_problem(way, text));
        return;
    };
    if protocol == "replay" {
        if of.cassette.is_none() {
            let text = "`cassette` is missing; write the path of the recording that `replay` plays";
            found.problems.push(input.key_problem(way, text));
        }
        return;
    }
    if of.base_url.is_none() && known.is_none() {
        let text = "`base_url` is missing; write where it is, such as `https://host/v1`";
        found.problems.push(input.key_problem(way, text));
    }
    if of.cassette.is_some() {
        let text = format!(
            "only `replay` plays a cassette, and this provider speaks `{protocol}`; remove one of the two"
        );
        found.problems.push(input.problem(&way.to("cassette"), text));
    }
}

fn keys(input: &Input<'_>, name: &str, of: &ProviderSettings, way: &Way, found: &mut Found) {
    let list = way.to("keys");
    let is_empty = input
        .tree
        .find(&list.keys())
        .is_some_and(|node| matches!(&node.value, Value::List(keys) if keys.is_empty()));
    // A list whose keys are not there, or are wrong, is empty for another reason.
    if is_empty && !input.is_broken(&list) && !input.unusable.contains_key(name) {
        found.problems.push(input.problem(&list, "the list is empty; write a key, or remove it"));
    }
    for name in of.headers.keys() {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            let text = "this is no name of a header; write letters, digits and `-`";
            found.problems.push(input.key_problem(&way.to("headers").to(name), text));
        }
    }
}

fn times(input: &Input<'_>, of: &ProviderSettings, way: &Way, found: &mut Found) {
    let timeouts = &of.timeouts;
    let all = [
        ("connect", timeouts.connect),
        ("first_token", timeouts.first_token),
        ("idle", timeouts.idle),
        ("total", timeouts.total),
    ];
    for (key, wait) in all {
        if wait == Wait(std::time::Duration::ZERO) {
            let text = "no answer can come in no time; write `1s` or more";
            found.problems.push(input.problem(&way.to("timeouts").to(key), text));
        }
    }
    let retry = &of.retry;
    if retry.wait > retry.max_wait {
        let text = format!(
            "the first wait is {} and the longest {}; write a first one that is not longer",
            retry.wait, retry.max_wait
        );
        let key =
            if input.tree.find(&way.to("retry").to("wait").keys()).is_some() { "wait" } else { "max_wait" };
        found.problems.push(input.problem(&way.to("retry").to(key), text));
    }
}
