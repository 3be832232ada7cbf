//! The protocol's JSON. What is not taken out of a shape is left over and kept.

use std::borrow::Cow;

use rail_model::Json;
use serde::Deserialize;
use serde_json::{Number, Value};

use crate::shape::{Count, Str, StrOr, wire};

wire! {
    struct Call keep {
        model: String,
        instructions: String,
        input: StrOr<Json>,
        tools: Vec<Json>,
        tool_choice: Json,
        parallel_tool_calls: bool,
        reasoning: Reasoning,
        text: TextConfig,
        include: Vec<Value>,
        max_output_tokens: Count,
        temperature: Number,
        top_p: Number,
        top_logprobs: Count,
        user: String,
        stream: bool,
        store: bool,
    }
    struct Reasoning keep { effort: String, summary: String }
    struct TextConfig keep { format: TextFormat, verbosity: String }
    struct TextFormat keep { kind as "type": String, name: String, description: String, schema: Json, strict: bool }

    struct MessageItem keep { kind as "type": String, role: String, content: StrOr<Json> }
    struct ReasoningItem keep { kind as "type": String, summary: Vec<Json>, content: Json, encrypted_content: String }
    struct CallItem keep {
        kind as "type": String,
        call_id: String,
        name: String,
        namespace: String,
        arguments: String,
        input: String,
    }
    struct OutputItem keep { kind as "type": String, call_id: String, name: String, output: StrOr<Json> }
    struct Content keep {
        kind as "type": String,
        text: String,
        refusal: String,
        logprobs: Vec<TokenLogprob>,
        image_url: String,
        file_id: String,
        file_data: String,
        file_url: String,
        filename: String,
        input_audio: Audio,
        prompt_cache_breakpoint: crate::breakpoint::Breakpoint,
    }
    struct Audio keep { data: String, format: String }
    struct TokenLogprob keep { token: String, logprob: Number, bytes: Json, top_logprobs: Vec<TokenLogprob> }

    struct Tool keep {
        kind as "type": String,
        name: String,
        description: String,
        parameters: Json,
        format: Json,
        strict: bool,
        tools: Vec<Json>,
    }
    struct Choice keep { kind as "type": String, name: String, mode: String, tools: Vec<Choice> }

    struct Answer keep {
        id: String,
        model: String,
        status: String,
        incomplete_details: Incomplete,
        output: Vec<Json>,
        usage: Tokens,
    }
    struct Incomplete keep { reason: String }
    struct Tokens keep {
        input_tokens: Count,
        input_tokens_details: InputDetails,
        output_tokens: Count,
        output_tokens_details: OutputDetails,
        total_tokens: Count,
    }
    struct InputDetails keep { cached_tokens: Count, cache_write_tokens: Count }
    struct OutputDetails keep { reasoning_tokens: Count }
    struct CountAnswer keep { object: String, input_tokens: Count }

    struct AnswerFrame drop { kind as "type": String, sequence_number: Count, response: Json }
    struct ItemFrame drop { kind as "type": String, sequence_number: Count, output_index: Count, item: Json }
    struct PartFrame drop {
        kind as "type": String,
        sequence_number: Count,
        item_id: String,
        output_index: Count,
        content_index: Count,
        summary_index: Count,
        part: Json,
    }
    struct DeltaFrame<'a> drop {
        kind as "type": Str<'a>,
        sequence_number: Count,
        item_id: Str<'a>,
        output_index: Count,
        content_index: Count,
        summary_index: Count,
        delta: Str<'a>,
        logprobs: Vec<TokenLogprob>,
        obfuscation: Str<'a>,
    }
    struct DoneFrame<'a> drop {
        kind as "type": Str<'a>,
        sequence_number: Count,
        item_id: Str<'a>,
        output_index: Count,
        content_index: Count,
        summary_index: Count,
        text: Str<'a>,
        refusal: Str<'a>,
        arguments: Str<'a>,
        input: Str<'a>,
        logprobs: Vec<TokenLogprob>,
    }
    struct AnnotationFrame drop {
        kind as "type": String,
        sequence_number: Count,
        item_id: String,
        output_index: Count,
        content_index: Count,
        annotation_index: Count,
        annotation: Value,
    }
}

/// A look at what an object is, before it is read as that.
#[derive(Deserialize)]
pub(super) struct Peek<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) role: Option<Cow<'a, str>>,
}
