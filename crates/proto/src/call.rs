use rail_model::{Part, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Shown;

/// A call that is taken up.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolStart {
    /// The step.
    pub step: u64,
    /// The call's id.
    #[serde(rename = "tool_call_id")]
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The tool's name for people.
    pub title: String,
    /// The arguments, as far as they can be read.
    pub input: Value,
}

/// A call's result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Written", from = "Written")]
pub struct ToolEnd {
    /// The step.
    pub step: u64,
    /// The result, as the model gets it.
    #[schemars(with = "Value")]
    pub result: ToolResult,
    /// Whether it was done.
    pub success: bool,
    /// How it ended.
    pub end: Finish,
    /// For people.
    pub shown: Option<Shown>,
    /// How long it took.
    pub duration_ms: u64,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    Done,
    /// There is no such tool, or its arguments do not fit.
    Refused,
    /// A rule or the user said no.
    Denied,
    /// A hook said no.
    Hooked,
    /// The tool failed.
    Failed,
    /// The tool broke off.
    Crashed,
    /// Nobody wanted it any more.
    Cancelled,
    /// It was begun, and nobody knows what became of it.
    Unknown,
}

/// A call's result as it is written: what most readers want stands by itself.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Written {
    /// The step.
    step: u64,
    /// The call's id.
    tool_call_id: String,
    /// Whether it was done.
    success: bool,
    /// The text of the result, if it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The text of the result, if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How long it took.
    duration_ms: u64,
    /// How it ended.
    end: Finish,
    /// For people.
    shown: Option<Shown>,
    /// The result, as the model gets it.
    #[schemars(with = "Value")]
    result: ToolResult,
}

impl From<ToolEnd> for Written {
    fn from(ended: ToolEnd) -> Self {
        let ToolEnd { step, result, success, end, shown, duration_ms } = ended;
        let texts: Vec<&str> = result.content.iter().filter_map(Part::as_text).collect();
        let text = texts.join("\n");
        let (output, error) = if success { (Some(text), None) } else { (None, Some(text)) };
        let tool_call_id = result.id.as_str().to_owned();
        Self { step, tool_call_id, success, output, error, duration_ms, end, shown, result }
    }
}

impl From<Written> for ToolEnd {
    fn from(written: Written) -> Self {
        let Written { step, success, duration_ms, end, shown, result, .. } = written;
        Self { step, result, success, end, shown, duration_ms }
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind};
    use serde_json::json;

    use super::*;
    use crate::SessionEvent;

    fn ended(success: bool, end: Finish) -> ToolEnd {
        let result = ToolResult {
            id: CallId::Given("call_1".to_owned()),
            name: Some("bash".to_owned()),
            content: vec![Part::text("one"), Part::text("two")],
            is_error: Some(!success),
            kind: CallKind::Function,
        };
        ToolEnd { step: 2, result, success, end, shown: None, duration_ms: 3 }
    }

    #[test]
    fn an_end_says_its_id_and_its_text_and_comes_back() {
        for (event, key) in [(ended(true, Finish::Done), "output"), (ended(false, Finish::Failed), "error")] {
            let event = SessionEvent::ToolEnd(event);
            let written = serde_json::to_value(&event).unwrap();
            let data = &written["data"];
            assert_eq!(written["type"], "tool_call_end");
            assert_eq!((&data["tool_call_id"], &data[key]), (&json!("call_1"), &json!("one\ntwo")));
            assert_eq!((&data["success"], &data["duration_ms"]), (&json!(key == "output"), &json!(3)));
            assert!(data.get("output").is_some() != data.get("error").is_some());
            assert_eq!(serde_json::from_value::<SessionEvent>(written).unwrap(), event);
        }
    }
}
