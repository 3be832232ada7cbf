//! One task with the real `rail`, and what its events say.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::tasks::Task;

/// What `rail` is run with.
pub(super) struct Bench {
    pub(super) rail: PathBuf,
    pub(super) port: u16,
    /// Each task has a folder here, which the next run replaces.
    pub(super) folder: PathBuf,
}

/// How a task went.
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) seconds: u64,
    pub(super) seen: Seen,
    /// What is not as it should be; nothing after a success.
    pub(super) failures: Vec<String>,
}

/// What the events of a task say.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) answer: String,
    /// Why it ended, unless the model answered.
    pub(super) end: Option<String>,
    pub(super) turns: u64,
    /// The results of calls, as the model got them.
    pub(super) results: Vec<String>,
    /// What was mended, and how often.
    pub(super) repairs: BTreeMap<String, usize>,
}

/// A small model on a small machine is slow; these limits end only what would never end.
const LIMITS: &str = "timeouts = { first_token = \"10m\", idle = \"5m\", total = \"20m\" }";
/// More steps than any of the tasks needs, so that a loop ends.
const MAX_TURNS: &str = "8";

impl Bench {
    /// Runs a task in a folder of its own and judges what is there then.
    pub(super) fn run(&self, task: &Task) -> Result<Trial, String> {
        let folder = self.folder.join(task.name);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let (work, home) = (folder.join("work"), folder.join("home"));
        task.prepare(&work)?;
        self.configure(&home)?;
        let (events, said) = (folder.join("events.jsonl"), folder.join("stderr.txt"));
        let began = Instant::now();
        let mut rail = self.rail(&work, &home);
        rail.args(["-p", task.prompt]).stdout(create(&events)?).stderr(create(&said)?);
        rail.status().map_err(|error| format!("{} did not start: {error}", self.rail.display()))?;
        let seconds = began.elapsed().as_secs();
        let seen = Seen::read(&fs::read_to_string(&events).unwrap_or_default());
        let mut failures = task.failures(&seen, &work);
        if !failures.is_empty() {
            failures.extend(seen.end.clone());
        }
        Ok(Trial { name: task.name, seconds, seen, failures })
    }

    /// A home with the least configuration that there can be: where the model is.
    fn configure(&self, home: &Path) -> Result<(), String> {
        let folder = home.join("config/switchrail");
        let model = super::MODEL;
        let text = format!(
            "[providers.local]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:{}/v1\"\nmodels = [\"{model}\"]\n\
             {LIMITS}\n\n[router]\ndefault = \"local,{model}\"\n",
            self.port
        );
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("config.toml"), text))
            .map_err(|error| format!("{}: {error}", folder.display()))
    }

    /// `rail` as a program would run it, with nothing of the user's own settings. Commands run in its sandbox, so all are allowed.
    fn rail(&self, work: &Path, home: &Path) -> Command {
        let mut rail = Command::new(&self.rail);
        rail.args(["--output-format", "events", "--permission-mode", "accept-edits", "--allow", "Bash"]);
        rail.args(["--max-turns", MAX_TURNS]).current_dir(work).stdin(Stdio::null());
        rail.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        rail.env("HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
        rail.env("XDG_STATE_HOME", home.join("state")).env("XDG_CACHE_HOME", home.join("cache"));
        rail
    }
}

fn create(path: &Path) -> Result<File, String> {
    File::create(path).map_err(|error| format!("{}: {error}", path.display()))
}

impl Seen {
    /// Reads the lines that `--output-format events` prints.
    fn read(events: &str) -> Self {
        let mut seen = Self { end: Some("it ended before it was done".to_owned()), ..Self::default() };
        for event in events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let data = event.get("data").unwrap_or(&Value::Null);
            match event.get("type").and_then(Value::as_str) {
                Some("tool_call_end") => seen.results.push(texts(data)),
                Some("note") if text(data, "kind") == "repair" => {
                    *seen.repairs.entry(text(data, "text").to_owned()).or_default() += 1;
                }
                Some("done") => seen.done(data),
                _ => {}
            }
        }
        seen
    }

    fn done(&mut self, data: &Value) {
        self.turns = data.get("turns").and_then(Value::as_u64).unwrap_or_default();
        let (reason, said) = (text(data, "reason"), text(data, "text"));
        if reason == "answered" {
            said.clone_into(&mut self.answer);
            self.end = None;
        } else {
            self.end = Some(format!("it ended as `{reason}`: {}", super::tasks::one_line(said)));
        }
    }
}

fn text<'a>(data: &'a Value, key: &str) -> &'a str {
    data.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// All texts of a result, whatever it looks like.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(fields) => fields.values().map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn the_events_of_a_run_are_read() {
        let events = [
            r#"{"seq":1,"type":"note","data":{"kind":"repair","text":"a call was mended"}}"#,
            r#"{"seq":2,"type":"tool_call_end","data":{"step":1,"tool_call_id":"c","success":true,"output":"42 lines","duration_ms":3,"end":"done"}}"#,
            r#"{"seq":3,"type":"done","data":{"reason":"answered","text":"There are 42.","turns":2}}"#,
        ];
        let seen = Seen::read(&events.join("\n"));
        assert!(seen.results.iter().any(|result| result.contains("42 lines")), "{:?}", seen.results);
        assert_eq!((seen.turns, seen.answer.as_str(), seen.end), (2, "There are 42.", None));
        assert_eq!(seen.repairs.get("a call was mended"), Some(&1));
    }
}
