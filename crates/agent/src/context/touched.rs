use std::collections::{BTreeMap, BTreeSet};

use rail_edit::patch::{self, FilePatch};
use rail_model::{Message, PartBody, ToolCall};
use serde_json::Value;

/// Tools that change the files they name.
const CHANGING: [&str; 4] = ["write_file", "edit_file", "multi_edit", "notebook_edit"];
/// The tool that changes the files of a patch.
const PATCHING: &str = "apply_patch";
/// The tool that reads the file it names.
const READING: &str = "read_file";

/// The files that the calls of a conversation touched, as far as their calls say it; a command can touch any.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched {
    /// Those that were changed, each once, in the order in which they were first changed.
    pub changed: Vec<String>,
    /// Those that were only read.
    pub read: Vec<String>,
}

impl Touched {
    /// The files of all calls that did not fail.
    pub fn of(messages: &[Message]) -> Self {
        let mut touched = Self::default();
        let mut open: BTreeMap<&str, &ToolCall> = BTreeMap::new();
        for part in messages.iter().flat_map(|message| &message.parts) {
            match &part.body {
                PartBody::ToolCall(call) => {
                    open.insert(call.id.as_str(), call);
                }
                PartBody::ToolResult(result) => {
                    let call = open.remove(result.id.as_str());
                    if let Some(call) = call.filter(|_| result.is_error != Some(true)) {
                        touched.call(call);
                    }
                }
                PartBody::Text(_)
                | PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => {}
            }
        }
        touched.once_each()
    }

    /// With files that were changed before all of these.
    #[must_use]
    pub(super) fn after(mut self, earlier: Vec<String>) -> Self {
        self.changed.splice(0..0, earlier);
        self.once_each()
    }

    fn call(&mut self, call: &ToolCall) {
        let name = call.name.as_str();
        if name == PATCHING {
            self.changed.extend(patched(&call.arguments));
        } else if CHANGING.contains(&name) {
            self.changed.extend(named(&call.arguments));
        } else if name == READING {
            self.read.extend(named(&call.arguments));
        }
    }

    fn once_each(mut self) -> Self {
        let mut seen = BTreeSet::new();
        self.changed.retain(|path| seen.insert(path.clone()));
        self.read.retain(|path| seen.insert(path.clone()));
        self
    }
}

/// The files that arguments name, also those of single edits.
fn named(arguments: &str) -> Vec<String> {
    let Ok(arguments) = serde_json::from_str::<Value>(arguments) else { return Vec::new() };
    let edits = arguments.get("edits").and_then(Value::as_array);
    let all = [&arguments].into_iter().chain(edits.into_iter().flatten());
    let paths = all.flat_map(|value| ["file_path", "notebook_path"].map(|key| value.get(key)));
    paths.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The files of a patch, which is the whole of the arguments or stands in them.
fn patched(arguments: &str) -> Vec<String> {
    let patch = match serde_json::from_str::<Value>(arguments) {
        Ok(Value::String(patch)) => patch,
        Ok(object) => object.get("patch").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Err(_) => arguments.to_owned(),
    };
    let files = patch::parse(&patch).map(|patch| patch.files).unwrap_or_default();
    let moved = |file: &FilePatch| match file {
        FilePatch::Update { to: Some(to), .. } => vec![file.path().to_owned(), to.clone()],
        FilePatch::Update { .. } | FilePatch::Add { .. } | FilePatch::Delete { .. } => {
            vec![file.path().to_owned()]
        }
    };
    files.iter().flat_map(moved).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_name_their_files() {
        for (arguments, files) in [
            (r#"{"file_path":"/a.rs"}"#, vec!["/a.rs"]),
            (r#"{"notebook_path":"/a.ipynb"}"#, vec!["/a.ipynb"]),
            (
                r#"{"file_path":"/a.rs","edits":[{"old_string":"x"},{"file_path":"/b.rs"}]}"#,
                vec!["/a.rs", "/b.rs"],
            ),
            (r#"{"file_path":7}"#, vec![]),
            (r#"{"file_path":"/a"#, vec![]),
        ] {
            assert_eq!(named(arguments), files, "{arguments}");
        }
        let patch =
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n-x\n+y\n*** Delete File: c\n*** End Patch";
        let json = serde_json::json!({ "patch": patch }).to_string();
        let text = serde_json::json!(patch).to_string();
        for arguments in [patch, &json, &text] {
            assert_eq!(patched(arguments), ["a", "b", "c"], "{arguments}");
        }
        assert_eq!(patched("no patch"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_arguments_are_read(arguments: String) {
            named(&arguments);
            patched(&arguments);
        }
    }
}
