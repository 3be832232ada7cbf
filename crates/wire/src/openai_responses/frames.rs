//! The frames of a stream, as they are written.

use rail_model::Map;
use serde::Serialize;
use serde_json::Value;

/// What every frame has.
#[derive(Serialize)]
pub(super) struct Frame<'a, B: Serialize> {
    pub(super) r#type: &'a str,
    pub(super) sequence_number: u64,
    #[serde(flatten)]
    pub(super) body: B,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) rest: Option<&'a Map>,
}

#[derive(Serialize)]
pub(super) struct AnswerBody<'a> {
    pub(super) response: &'a Map,
}

#[derive(Serialize)]
pub(super) struct ItemBody<'a> {
    pub(super) output_index: usize,
    pub(super) item: &'a Map,
}

/// Where a part stands.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Spot {
    pub(super) output_index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary_index: Option<usize>,
}

#[derive(Serialize)]
pub(super) struct PartBodyFrame<'a> {
    pub(super) item_id: &'a str,
    #[serde(flatten)]
    pub(super) spot: Spot,
    pub(super) part: &'a Value,
}

#[derive(Serialize)]
pub(super) struct AnnotationBody<'a> {
    pub(super) item_id: &'a str,
    #[serde(flatten)]
    pub(super) spot: Spot,
    pub(super) annotation_index: usize,
    pub(super) annotation: &'a Value,
}

/// A piece of a text, or the complete text; exactly one of the fields for text is there.
#[derive(Default, Serialize)]
pub(super) struct Piece<'a> {
    pub(super) item_id: &'a str,
    #[serde(flatten)]
    pub(super) spot: Spot,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs: Option<Value>,
}
