//! The protocol's JSON. Blocks are one shape for all types: which fields count is decided by `type`, the others are left over.

use rail_model::Json;
use serde_json::Number;

use crate::shape::{Count, StrOr, wire};

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
        content: Json,
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
