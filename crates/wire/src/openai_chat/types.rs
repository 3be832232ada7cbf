//! The protocol's JSON: requests, whole answers and embeddings. Stream frames are in `chunk`.

use rail_model::Json;
use serde_json::{Number, Value};

use super::chunk::OneOrMany;
use crate::shape::{Count, StrOr, wire};

wire! {
    struct Call keep {
        model: String,
        messages: Vec<Turn>,
        tools: Vec<Tool>,
        functions: Vec<Function>,
        tool_choice: Value,
        function_call: Value,
        parallel_tool_calls: bool,
        max_tokens: Count,
        max_completion_tokens: Count,
        temperature: Number,
        top_p: Number,
        top_k: Number,
        frequency_penalty: Number,
        presence_penalty: Number,
        seed: Number,
        stop: StrOr<String>,
        n: Count,
        logprobs: bool,
        top_logprobs: Count,
        response_format: ResponseFormat,
        reasoning_effort: String,
        user: String,
        stream: bool,
        stream_options: StreamOptions,
    }
    struct StreamOptions keep { include_usage: bool }
    struct Turn keep {
        role: String,
        content: StrOr<ContentPart>,
        refusal: String,
        reasoning_content: String,
        reasoning: String,
        reasoning_details: Vec<Value>,
        annotations: Vec<Value>,
        function_call: FunctionCall,
        tool_calls: OneOrMany<CallEntry>,
        tool_call_id: String,
        name: String,
    }
    struct ContentPart keep {
        kind as "type": String,
        text: String,
        refusal: String,
        thinking: Value,
        image_url: Json,
        video_url: Json,
        input_audio: AudioRef,
        file: FileRef,
        prompt_cache_breakpoint: crate::breakpoint::Breakpoint,
    }
    struct UrlRef keep { url: String }
    struct AudioRef keep { data: String, format: String }
    struct FileRef keep { file_data: String, file_id: String, filename: String }
    struct CallEntry keep {
        id: String,
        kind as "type": String,
        function: FunctionCall,
        custom: CustomCall,
        extra_content: Value,
    }
    struct FunctionCall keep { name: String, arguments: Json }
    struct CustomCall keep { name: String, input: String }
    struct Tool keep { kind as "type": String, function: Function, custom: CustomTool }
    struct Function keep { name: String, description: String, parameters: Json, strict: bool }
    struct CustomTool keep { name: String, description: String, format: Json }
    struct ResponseFormat keep { kind as "type": String, json_schema: JsonSchema }
    struct JsonSchema keep { name: String, description: String, schema: Json, strict: bool }

    struct Answer keep {
        id: String,
        object: String,
        created: Number,
        model: String,
        choices: Vec<Choice>,
        usage: Tokens,
        error: Value,
    }
    struct Choice keep { index: Count, message: Turn, logprobs: Logprobs, finish_reason: String, stop_reason: Value }
    struct Logprobs keep { content: Vec<LogprobEntry>, refusal: Vec<LogprobEntry> }
    struct LogprobEntry keep { token: String, logprob: Number, bytes: Json, top_logprobs: Vec<LogprobEntry> }
    struct Tokens keep {
        prompt_tokens: Count,
        completion_tokens: Count,
        total_tokens: Count,
        prompt_tokens_details: InputDetails,
        completion_tokens_details: OutputDetails,
        prompt_cache_hit_tokens: Count,
        cached_tokens: Count,
    }
    struct InputDetails keep { cached_tokens: Count, cache_write_tokens: Count }
    struct OutputDetails keep { reasoning_tokens: Count }

    struct EmbedCall keep { model: String, input: Value, dimensions: Count, user: String }
    struct EmbedAnswer keep { object: String, data: Vec<Vector>, model: String, usage: Tokens }
    struct Vector keep { object: String, index: Count, embedding: Json }
}
