//! Tools as hooks know them: the names and parameters of Claude Code.

use std::path::Path;

use rail_model::{Extras, ToolDecl, ToolKind};
use rail_repair::Mapping;
use rail_tool::{Confine, FacetCx};
use serde_json::{Map, Value, json};

/// The dialect that hooks speak.
const DIALECT: &str = "claude";
/// Parameters that are paths. Hooks compare them with folders, so they are told whole ones.
const PATHS: [&str; 2] = ["file_path", "notebook_path"];

/// The name of a tool in Claude Code, by which hooks and its clients know it; one that it does not have keeps its own.
pub fn theirs(native: &str) -> String {
    let declared = ToolDecl {
        name: native.to_owned(),
        description: None,
        kind: ToolKind::Function { parameters: None },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    Mapping::builtin(DIALECT).map_or_else(|| native.to_owned(), |mapping| mapping.present(&declared).name)
}

/// All names that a matcher may know a tool by.
pub(super) fn all(native: &str) -> Vec<String> {
    let mut names = vec![theirs(native)];
    if !names.iter().any(|name| name == native) {
        names.push(native.to_owned());
    }
    names
}

/// The input that hooks are told. Native parameters have the names of this dialect; a test sees to it.
pub(super) fn input(input: &Value, cwd: &Path, home: Option<&Path>) -> Value {
    let mut told = input.clone();
    for key in PATHS {
        if let Some(Value::String(path)) = told.get_mut(key) {
            *path = FacetCx { cwd, home, skills: &[], confine: Confine::default() }
                .path(path)
                .to_string_lossy()
                .into_owned();
        }
    }
    told
}

/// An input in the names of Claude Code, as hooks and its clients give it, in native names.
pub fn home(native: &str, arguments: Map<String, Value>) -> Value {
    let (_, arguments) = match Mapping::builtin(DIALECT) {
        Some(mapping) => mapping.bring_home(&theirs(native), arguments),
        None => (String::new(), arguments),
    };
    Value::Object(arguments)
}

/// A result as hooks know it: what the model reads, under the keys that hooks for these tools look for. The input is as they know it.
pub(super) fn response(native: &str, input: &Value, output: &str) -> Value {
    let mut told = Map::new();
    told.insert("success".to_owned(), true.into());
    told.insert("output".to_owned(), output.into());
    if native == "bash" {
        let more = json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false});
        told.extend(more.as_object().cloned().unwrap_or_default());
    }
    if let Some(path) = PATHS.iter().find_map(|key| input.get(*key)) {
        told.insert("filePath".to_owned(), path.clone());
    }
    Value::Object(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_the_same_in_both() {
        let mapping = Mapping::builtin(DIALECT).unwrap();
        for tool in rail_tools::registry().tools() {
            let native = tool.declare();
            let shown = mapping.present(&native);
            assert_eq!(ToolDecl { name: native.name.clone(), ..shown }, native);
        }
    }

    #[test]
    fn tools_have_both_names() {
        for (native, expected) in [
            ("bash", &["Bash", "bash"][..]),
            ("read_file", &["Read", "read_file"]),
            ("mcp__git__log", &["mcp__git__log"]),
        ] {
            assert_eq!(all(native), expected);
        }
    }

    #[test]
    fn paths_are_told_whole_and_come_home() {
        let told = |value| input(&value, Path::new("/w"), Some(Path::new("/srv/me"))).to_string();
        assert_eq!(told(json!({"file_path": "a/./b", "x": 1})), r#"{"file_path":"/w/a/b","x":1}"#);
        assert_eq!(told(json!({"notebook_path": "~/n"})), r#"{"notebook_path":"/srv/me/n"}"#);
        assert_eq!(told(json!({"file_path": 5})), r#"{"file_path":5}"#);
        assert_eq!(told(json!("text")), r#""text""#);
        let map = json!({"background": true, "command": "ls"}).as_object().cloned().unwrap();
        assert_eq!(home("bash", map).to_string(), r#"{"run_in_background":true,"command":"ls"}"#);
    }
}
