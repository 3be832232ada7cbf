//! A client of the Agent Client Protocol that plays a script: typed steps, each of which is done or waited for.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

/// How long a step is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// One step of a script.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum AcpStep {
    /// Asks the agent for something; the answer is waited for by `await`.
    Request {
        /// The id.
        id: Value,
        /// The method.
        method: String,
        /// The parameters; `${NAME}` in texts is what was kept under that name.
        #[serde(default)]
        params: Value,
    },
    /// Tells the agent something.
    Notify {
        /// The method.
        method: String,
        /// The parameters.
        #[serde(default)]
        params: Value,
    },
    /// Says a line as it is.
    Raw {
        /// The line.
        line: String,
    },
    /// Says a line of so many bytes.
    Long {
        /// How many.
        bytes: usize,
    },
    /// Waits for the answer to a request.
    Await {
        /// The request's id.
        id: Value,
        /// What must be in the answer, apart from whatever else is.
        #[serde(default)]
        holding: Value,
        /// Texts of the answer that are kept: names with JSON pointers.
        #[serde(default)]
        keep: BTreeMap<String, String>,
    },
    /// Waits for a request or a notification of the agent.
    Expect {
        /// Its method.
        method: String,
        /// What must be in its parameters, apart from whatever else is.
        #[serde(default)]
        holding: Value,
    },
    /// Answers the oldest request of the agent with this method.
    Answer {
        /// The method.
        method: String,
        /// The answer.
        result: Value,
    },
    /// Refuses the oldest request of the agent with this method.
    Refuse {
        /// The method.
        method: String,
        /// The code of the error.
        code: i64,
    },
    /// Says nothing more.
    Hangup,
    /// Waits until the agent says nothing more.
    Over,
}

/// A client that plays scripts.
pub struct AcpClient {
    to: Option<Box<dyn Write + Send>>,
    from: mpsc::Receiver<String>,
    /// What the agent said and no step was about yet.
    unread: VecDeque<Value>,
    /// Requests of the agent that have no answer.
    asked: VecDeque<Value>,
    kept: BTreeMap<String, String>,
    transcript: Vec<String>,
}

impl AcpClient {
    /// A client on two streams: what the agent reads, and what it says.
    pub fn new(to: impl Write + Send + 'static, from: impl Read + Send + 'static) -> Self {
        let (said, heard) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            to: Some(Box::new(to)),
            from: heard,
            unread: VecDeque::new(),
            asked: VecDeque::new(),
            kept: BTreeMap::new(),
            transcript: Vec::new(),
        }
    }

    /// The same with a text that scripts call by a name, and that transcripts show by it.
    pub fn keeping(mut self, name: &str, text: &str) -> Self {
        self.kept.insert(name.to_owned(), text.to_owned());
        self
    }

    /// Plays steps.
    ///
    /// # Errors
    /// Which step could not be done, and why.
    pub fn play(&mut self, steps: &[AcpStep]) -> Result<(), String> {
        for (at, step) in steps.iter().enumerate() {
            self.step(step)
                .map_err(|why| format!("step {}, {step:?}: {why}\n{}", at + 1, self.transcript()))?;
        }
        Ok(())
    }

    /// Plays a script, a JSON list of steps.
    ///
    /// # Errors
    /// It is no script, or a step could not be done.
    pub fn play_script(&mut self, script: &Value) -> Result<(), String> {
        let steps: Vec<AcpStep> =
            Deserialize::deserialize(script).map_err(|error| format!("the script: {error}"))?;
        self.play(&steps)
    }

    /// All that was said, a line each: `>` by the client, `<` by the agent. What is kept stands there by its name.
    pub fn transcript(&self) -> String {
        let mut longest: Vec<(&String, &String)> = self.kept.iter().collect();
        longest.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
        let told = |line: &String| {
            longest
                .iter()
                .fold(line.clone(), |line, (name, text)| line.replace(text.as_str(), &format!("${{{name}}}")))
        };
        self.transcript.iter().map(|line| told(line) + "\n").collect()
    }

    fn step(&mut self, step: &AcpStep) -> Result<(), String> {
        match step {
            AcpStep::Request { id, method, params } => {
                let params = self.filled(params);
                self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
            }
            AcpStep::Notify { method, params } => {
                let params = self.filled(params);
                self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
            }
            AcpStep::Raw { line } => self.say(line),
            AcpStep::Long { bytes } => {
                self.transcript.push(format!("> a line of {bytes} bytes"));
                self.write(&"x".repeat(*bytes))
            }
            AcpStep::Await { id, holding, keep } => {
                let is_it =
                    |message: &Value| message.get("method").is_none() && message.get("id") == Some(id);
                let answer = self.find(is_it)?;
                let wanted = self.filled(holding);
                if !holds(&answer, &wanted) {
                    return Err(format!("the answer is another: {answer}"));
                }
                for (name, pointer) in keep {
                    let text = answer.pointer(pointer).and_then(Value::as_str);
                    let text = text.ok_or_else(|| format!("there is no `{pointer}` in {answer}"))?;
                    self.kept.insert(name.clone(), text.to_owned());
                }
                Ok(())
            }
            AcpStep::Expect { method, holding } => {
                let wanted = self.filled(holding);
                let is_it = |message: &Value| {
                    message.get("method").is_some_and(|said| said == method)
                        && holds(message.get("params").unwrap_or(&Value::Null), &wanted)
                };
                self.find(is_it).map(drop)
            }
            AcpStep::Answer { method, result } => {
                let (id, result) = (self.asked(method)?, self.filled(result));
                self.say(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
            }
            AcpStep::Refuse { method, code } => {
                let id = self.asked(method)?;
                let error = json!({"code": code, "message": "no"});
                self.say(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
            }
            AcpStep::Hangup => {
                self.to = None;
                Ok(())
            }
            AcpStep::Over => {
                while self.read()? {}
                Ok(())
            }
        }
    }

    fn say(&mut self, line: &str) -> Result<(), String> {
        self.transcript.push(format!("> {line}"));
        self.write(line)
    }

    fn write(&mut self, line: &str) -> Result<(), String> {
        let to = self.to.as_mut().ok_or("it has hung up")?;
        let written =
            to.write_all(line.as_bytes()).and_then(|()| to.write_all(b"\n")).and_then(|()| to.flush());
        written.map_err(|error| format!("the agent does not read: {error}"))
    }

    /// Reads one more message; whether there was one.
    fn read(&mut self) -> Result<bool, String> {
        let line = match self.from.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("the agent said nothing for {} s", PATIENCE.as_secs()));
            }
        };
        self.transcript.push(format!("< {line}"));
        let message: Value = serde_json::from_str(&line)
            .map_err(|error| format!("what the agent says is no JSON: {error}: {line}"))?;
        if message.get("method").is_some() && message.get("id").is_some() {
            self.asked.push_back(message.clone());
        }
        self.unread.push_back(message);
        Ok(true)
    }

    /// The first message that no step was about and that is it; it is waited for.
    fn find(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<Value, String> {
        loop {
            if let Some(at) = self.unread.iter().position(&is_it) {
                return self.unread.remove(at).ok_or_else(|| "it is gone".to_owned());
            }
            if !self.read()? {
                return Err("the agent is gone".to_owned());
            }
        }
    }

    /// The id of the oldest request with this method that has no answer; it is waited for.
    fn asked(&mut self, method: &str) -> Result<Value, String> {
        loop {
            let at = self
                .asked
                .iter()
                .position(|request| request.get("method").is_some_and(|said| said == method));
            if let Some(request) = at.and_then(|at| self.asked.remove(at)) {
                return Ok(request.get("id").cloned().unwrap_or_default());
            }
            if !self.read()? {
                return Err("the agent is gone".to_owned());
            }
        }
    }

    /// The same with what was kept in the place of its names.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let put = |text: String, (name, kept): (&String, &String)| {
                    text.replace(&format!("${{{name}}}"), kept)
                };
                Value::String(self.kept.iter().fold(text.clone(), put))
            }
            Value::Array(list) => Value::Array(list.iter().map(|value| self.filled(value)).collect()),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(key, value)| (key.clone(), self.filled(value))).collect())
            }
            other => other.clone(),
        }
    }
}

/// Whether a value holds another: objects may have more keys, lists must have each entry somewhere, nothing is held by all.
fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (_, Value::Null) => true,
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| holds(value, wanted)))
        }
        (Value::Array(value), Value::Array(wanted)) => {
            wanted.iter().all(|wanted| value.iter().any(|value| holds(value, wanted)))
        }
        (value, wanted) => value == wanted,
    }
}
