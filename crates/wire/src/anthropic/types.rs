//! The protocol's JSON. Blocks are one shape for all types: which fields count is decided by `type`, the others are left over.

use rail_model::Json;
use serde_json::{Number, Value};

use super::inner::Inner;
use crate::shape::{Count, Str, StrOr, wire};

wire! {
    struct Call keep {
        model: String,
        max_tokens: Count,
        system: StrOr<Block>,
        messages: Vec<Turn>,
        tools: Vec<Tool>,
        tool_choice: Choice,
        thinking: ThinkingConfig,
        output_config: OutputConfig,
        metadata: Metadata,
        stop_sequences: Vec<String>,
        temperature: Number,
        top_p: Number,
        top_k: Number,
        stream: bool,
    }
    struct Turn keep { role: String, content: StrOr<Block> }
    struct Block keep {
        kind as "type": String,
        text: String,
        thinking: String,
        signature: String,
        data: String,
        id: String,
        name: String,
        input: Json,
        tool_use_id: String,
        is_error: bool,
        content: Inner,
        source: Json,
        title: String,
        cache_control: CacheControl,
    }
    struct CacheControl keep { kind as "type": String, ttl: String }
    struct Source keep { kind as "type": String, media_type: String, data: String, url: String, file_id: String }
    struct Tool keep {
        kind as "type": String,
        name: String,
        description: String,
        input_schema: Json,
        strict: bool,
        cache_control: CacheControl,
    }
    struct Choice keep { kind as "type": String, name: String, disable_parallel_tool_use: bool }
    struct ThinkingConfig keep { kind as "type": String, budget_tokens: Count, display: String }
    struct OutputConfig keep { effort: String, format: OutputFormat }
    struct OutputFormat keep { kind as "type": String, schema: Json }
    struct Metadata keep { user_id: String }
}

wire! {
    struct Answer keep {
        id: String,
        kind as "type": String,
        role: String,
        model: String,
        content: Vec<Block>,
        stop_reason: String,
        stop_sequence: String,
        usage: Tokens,
    }
    struct Tokens keep {
        input_tokens: Count,
        cache_creation_input_tokens: Count,
        cache_read_input_tokens: Count,
        output_tokens: Count,
        output_tokens_details: TokenDetails,
    }
    struct TokenDetails keep { thinking_tokens: Count }
    struct StreamFrame<'a> drop {
        kind as "type": Str<'a>,
        index: usize,
        delta: StreamDelta<'a>,
        content_block: Block,
        message: Answer,
        usage: Tokens,
    }
    struct StreamDelta<'a> drop {
        kind as "type": Str<'a>,
        text: Str<'a>,
        thinking: Str<'a>,
        signature: Str<'a>,
        partial_json: Str<'a>,
        citation: Value,
        stop_reason: Str<'a>,
        stop_sequence: Str<'a>,
    }
    struct CountAnswer keep { input_tokens: Count }
}
