//! What a frame of a stream says, as it is written.

use std::borrow::Cow;

use rail_model::{CallKind, Map};
use serde::Serialize;
use serde_json::Value;

use super::types::LogprobEntry;

type Text<'a> = Option<Cow<'a, str>>;

/// The delta of one frame, and the log probabilities beside it. Pieces that came in one frame are put together again.
#[derive(Default, Serialize)]
pub(super) struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Text<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Text<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reasoning_details: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) annotations: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_call: Option<SaidFunction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<SaidCall<'a>>,
    #[serde(skip)]
    pub(super) logprobs: Option<SaidLogprobs>,
}

/// A piece of a call. What a continuation does not repeat is left out, not null.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SaidCall<'a> {
    Known {
        index: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        r#type: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        function: Option<SaidFunction<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        custom: Option<SaidCustom<'a>>,
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        rest: Option<Box<Map>>,
    },
    Unknown(Value),
}

#[derive(Default, Serialize)]
pub(super) struct SaidFunction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Text<'a>,
    pub(super) arguments: Cow<'a, str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<Box<Map>>,
}

#[derive(Default, Serialize)]
pub(super) struct SaidCustom<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Text<'a>,
    pub(super) input: Cow<'a, str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<Box<Map>>,
}

#[derive(Default, Serialize)]
pub(super) struct SaidLogprobs {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Vec<LogprobEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<Vec<LogprobEntry>>,
}

impl<'a> SaidCall<'a> {
    /// More arguments of the call with this index.
    pub(super) fn more(index: usize, kind: CallKind, text: &'a str) -> Self {
        let (mut function, mut custom) = (None, None);
        match kind {
            CallKind::Function => {
                function = Some(SaidFunction { arguments: text.into(), ..SaidFunction::default() })
            }
            CallKind::Custom => custom = Some(SaidCustom { input: text.into(), ..SaidCustom::default() }),
        }
        Self::Known { index, id: None, r#type: None, function, custom, rest: None }
    }

    fn into_owned(self) -> SaidCall<'static> {
        match self {
            Self::Unknown(value) => SaidCall::Unknown(value),
            Self::Known { index, id, r#type, function, custom, rest } => SaidCall::Known {
                index,
                id,
                r#type,
                function: function.map(SaidFunction::into_owned),
                custom: custom.map(|custom| SaidCustom {
                    name: custom.name.map(owned),
                    input: owned(custom.input),
                    rest: custom.rest,
                }),
                rest,
            },
        }
    }
}

impl SaidFunction<'_> {
    fn into_owned(self) -> SaidFunction<'static> {
        SaidFunction { name: self.name.map(owned), arguments: owned(self.arguments), rest: self.rest }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

fn append(text: &mut Text<'static>, more: Text<'_>) {
    match (text, more) {
        (Some(text), Some(more)) => text.to_mut().push_str(&more),
        (text @ None, Some(more)) => *text = Some(owned(more)),
        (_, None) => {}
    }
}

impl Said<'static> {
    /// Adds what came in the same frame.
    pub(super) fn absorb(&mut self, more: Said<'_>) {
        self.role = self.role.or(more.role);
        append(&mut self.content, more.content);
        append(&mut self.refusal, more.refusal);
        append(&mut self.reasoning_content, more.reasoning_content);
        append(&mut self.reasoning, more.reasoning);
        self.reasoning_details.extend(more.reasoning_details);
        self.annotations.extend(more.annotations);
        match (&mut self.function_call, more.function_call) {
            (Some(call), Some(more)) => call.arguments.to_mut().push_str(&more.arguments),
            (call @ None, Some(more)) => *call = Some(more.into_owned()),
            (_, None) => {}
        }
        more.tool_calls.into_iter().for_each(|call| self.absorb_call(call));
        if let Some(more) = more.logprobs {
            let logprobs = self.logprobs.get_or_insert_default();
            logprobs.content = logprobs.content.take().or(more.content);
            logprobs.refusal = logprobs.refusal.take().or(more.refusal);
        }
    }

    fn absorb_call(&mut self, more: SaidCall<'_>) {
        if let (
            Some(SaidCall::Known { index, function, custom, .. }),
            SaidCall::Known { index: next, id: None, function: more_function, custom: more_custom, .. },
        ) = (self.tool_calls.last_mut(), &more)
            && index == next
        {
            if let (Some(function), Some(more)) = (function, more_function) {
                function.arguments.to_mut().push_str(&more.arguments);
            }
            if let (Some(custom), Some(more)) = (custom, more_custom) {
                custom.input.to_mut().push_str(&more.input);
            }
            return;
        }
        self.tool_calls.push(more.into_owned());
    }
}
