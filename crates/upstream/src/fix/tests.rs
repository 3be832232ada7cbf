use rail_model::{ApiError, ErrorKind, ProtocolId};
use serde_json::{Value, json};

use super::*;

const CHAT: ProtocolId = ProtocolId::new("openai-chat");
const ANTHROPIC: ProtocolId = ProtocolId::new("anthropic");
const GEMINI: ProtocolId = ProtocolId::new("gemini");

/// A request with all that is ever refused.
fn chat() -> Value {
    json!({
        "model": "m",
        "messages": [
            {"role": "developer", "content": "s"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]},
            {"role": "assistant", "content": "a", "reasoning_content": "r", "refusal": null, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]},
            {"role": "user", "content": "u"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "strict": true, "parameters": {
            "type": "object", "oneOf": [{}], "additionalProperties": false,
            "properties": {"a": {"type": "string", "pattern": "a", "format": "uri", "allOf": [{}]}},
        }}}],
        "tool_choice": "required", "parallel_tool_calls": true, "temperature": 0.2, "top_p": 0.9, "seed": 1,
        "presence_penalty": 1, "frequency_penalty": 0, "stop": ["x"], "max_tokens": 32000, "reasoning_effort": "high",
        "store": false, "stream": true, "stream_options": {"include_usage": true}, "response_format": {"type": "json_object"},
        "logprobs": true, "user": "u", "metadata": {}, "thinking": {"type": "enabled"},
    })
}

/// The same with the newer name of the output limit.
fn newer() -> Value {
    let mut body = chat();
    path::rename(&mut body, "max_tokens", "max_completion_tokens");
    body
}

fn anthropic() -> Value {
    json!({
        "model": "m", "max_tokens": 64000, "temperature": 1, "top_p": 0.5, "top_k": 5, "stream": true,
        "thinking": {"type": "adaptive"}, "context_management": {}, "output_config": {"effort": "high"},
        "tools": [{"name": "t", "input_examples": [], "eager_input_streaming": true, "input_schema": {"type": "object", "anyOf": [{}]}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "t", "citations": []}]},
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "image", "source": {}}]}]},
        ],
    })
}

fn gemini() -> Value {
    json!({
        "contents": [{"role": "user", "parts": [{"text": "t"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}],
        "tools": [{"functionDeclarations": [{"name": "g", "parametersJsonSchema": {}}, {"name": "f", "parameters": {"type": "OBJECT", "additionalProperties": false,
            "properties": {"a": {"type": "STRING", "format": "uri", "const": 1}}}}]}],
        "generationConfig": {"maxOutputTokens": 100_000, "topK": 5, "thinkingConfig": {"thinkingBudget": 9}},
        "labels": {},
    })
}

fn drop(path: &str) -> Option<Fix> {
    Some(Fix::Drop { path: path.to_owned() })
}

fn keys(keys: &[&str]) -> Option<Fix> {
    Some(Fix::SchemaKeys { keys: keys.iter().map(|key| (*key).to_owned()).collect() })
}

fn most(most: u64) -> Option<Fix> {
    Some(Fix::MaxOutput { most })
}

fn found(
    protocol: ProtocolId,
    kind: ErrorKind,
    message: &str,
    param: Option<&str>,
    sent: &Value,
) -> Option<Remedy> {
    let error = ApiError { param: param.map(str::to_owned), ..ApiError::new(kind, message) };
    diagnose(protocol, &error, sent)
}

fn check(protocol: ProtocolId, sent: &Value, table: &[(&str, Option<Fix>)]) {
    for (message, expected) in table {
        let remedy = found(protocol, ErrorKind::InvalidRequest, message, None, sent);
        assert_eq!(remedy.map(|remedy| remedy.fix), *expected, "{message}");
    }
}

#[test]
fn what_openai_and_its_likes_say() {
    check(
        CHAT,
        &chat(),
        &[
            // OpenAI, Azure, GitHub Copilot
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(Fix::MaxCompletionTokens),
            ),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                drop("temperature"),
            ),
            ("Unsupported parameter: 'top_p' is not supported with this model.", drop("top_p")),
            (
                "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
                drop("parallel_tool_calls"),
            ),
            ("Unrecognized request argument supplied: reasoning_effort", drop("reasoning_effort")),
            ("Unknown parameter: 'stream_options.include_usage'.", drop("stream_options")),
            ("Unknown parameter: 'messages[2].reasoning_content'.", drop("messages[].reasoning_content")),
            (
                "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
                most(16384),
            ),
            (
                "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings",
                Some(Fix::Whole),
            ),
            (
                "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
                Some(Fix::Whole),
            ),
            (
                "Invalid schema for function 'f': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
                drop("tools[].function.parameters.oneOf"),
            ),
            (
                "Invalid schema for function 'f': In context=('properties', 'a'), 'allOf' is not permitted.",
                keys(&["allOf"]),
            ),
            (
                "Invalid schema for function 'f': In context=('properties', 'a'), 'uri' is not a valid format.",
                keys(&["format"]),
            ),
            (
                "Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false.",
                drop("tools[].function.strict"),
            ),
            (
                "Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
                Some(Fix::ImagesToUser),
            ),
            // DeepSeek
            ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", most(8192)),
            (
                "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool` at line 1 column 85",
                Some(Fix::SystemRole),
            ),
            (
                "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 99",
                Some(Fix::NoImages),
            ),
            (
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
                Some(Fix::ReasoningBack),
            ),
            (
                "Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
                Some(Fix::ReasoningBack),
            ),
            // Qwen on DashScope
            (
                "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
                most(8192),
            ),
            (
                "parameter.enable_thinking must be set to false for non-streaming calls",
                Some(Fix::Set { path: "enable_thinking".to_owned(), value: json!(false) }),
            ),
            (
                "The tool_choice parameter does not support being set to required or object in thinking mode",
                drop("tool_choice"),
            ),
            (
                "This model only support stream mode, please enable the stream parameter to access the model. ",
                Some(Fix::Streamed),
            ),
            // Groq
            ("property 'store' is unsupported, did you mean 'stop'?", drop("store")),
            (
                "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model",
                most(16384),
            ),
            (
                "max_tokens for preview model `llama-3.1-8b-instant` must be less than or equal to 8000",
                most(8000),
            ),
            (
                "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
                drop("messages[].reasoning_content"),
            ),
            // Mistral
            (
                r#"[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted","input":false}]"#,
                drop("store"),
            ),
            (
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]}"#,
                drop("stream_options"),
            ),
            (
                "3 validation errors for ToolMessage content.list[TextChunk].1.type Input should be <ChunkTypes.text: 'text'>",
                Some(Fix::ImagesToUser),
            ),
            // Fireworks, and gateways before it
            ("Extra inputs are not permitted, field: 'stream_options'", drop("stream_options")),
            (
                "Error from provider: Extra inputs are not permitted, field: 'messages[2].refusal', value: None",
                drop("messages[].refusal"),
            ),
            // vLLM
            (
                "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', 'input': {'include_usage': True}}]",
                drop("stream_options"),
            ),
            ("Additional properties are not allowed ('seed' was unexpected)", drop("seed")),
            ("Unexpected message role.", Some(Fix::SystemRole)),
            ("m is not a multimodal model", Some(Fix::NoImages)),
            // xAI
            ("Argument not supported on this model: presencePenalty", drop("presence_penalty")),
            ("Model grok-4-0709 does not support parameter stop.", drop("stop")),
            ("Model grok-4-latest does not support parameter reasoningEffort.", drop("reasoning_effort")),
            // llama.cpp, Ollama
            (
                "JSON schema conversion failed:\nPattern must start with '^' and end with '$'",
                keys(&["pattern"]),
            ),
            ("Failed to initialize samplers: failed to parse grammar", keys(&["pattern"])),
            (
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
                Some(Fix::NoImages),
            ),
            ("json: unknown field \"logprobs\"", drop("logprobs")),
            ("\"gemma3\" does not support thinking", Some(Fix::Think { how: Thinks::Never })),
            // OpenRouter, Doubao, GLM, LiteLLM, and others
            ("No endpoints found that support the provided 'tool_choice' value.", drop("tool_choice")),
            (
                "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32000 instead.",
                most(12288),
            ),
            (
                "Error from provider (Console Go): Upstream request failed: [1214] Incorrect role information",
                Some(Fix::SystemRole),
            ),
            (
                "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.[6].role'",
                Some(Fix::SystemRole),
            ),
            (
                "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.84. Only temperature=1 is supported.",
                drop("temperature"),
            ),
            (
                "litellm.UnsupportedParamsError: openai does not support parameters: ['seed'], for model=m",
                drop("seed"),
            ),
            ("Completions.create() got an unexpected keyword argument 'store'", drop("store")),
            ("The 'metadata' parameter is only allowed when 'store' is enabled.", drop("metadata")),
            ("invalid temperature: only 1 is allowed for this model", drop("temperature")),
            ("This model does not support the seed parameter.", drop("seed")),
            (
                "[{'type': 'literal_error', 'msg': \"Input should be 'system', 'user', 'assistant' or 'tool'\", 'input': 'developer'}]",
                Some(Fix::SystemRole),
            ),
            // Nothing that a change could mend
            ("registry.ollama.ai/library/m:latest does not support tools", None),
            ("Unsupported parameter: 'messages' is not supported with this model.", None),
            ("Unknown parameter: 'tools[0].function.parameters'.", None),
            ("Invalid value for 'content': expected a string, got null.", None),
            ("max_tokens must be at least 1", None),
            ("", None),
        ],
    );
    check(
        CHAT,
        &newer(),
        &[
            (
                "property 'max_completion_tokens' is unsupported, did you mean 'max_tokens'?",
                Some(Fix::MaxTokens),
            ),
            (
                r#"[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":8192}]"#,
                Some(Fix::MaxTokens),
            ),
        ],
    );
}

#[test]
fn what_anthropic_and_its_likes_say() {
    check(
        ANTHROPIC,
        &anthropic(),
        &[
            (
                "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m",
                most(8192),
            ),
            ("context_management: Extra inputs are not permitted", drop("context_management")),
            (
                "tools.0.custom.eager_input_streaming: Extra inputs are not permitted",
                drop("tools[].eager_input_streaming"),
            ),
            (
                "messages.0.content.0.text.citations: Extra inputs are not permitted",
                drop("messages[].content[].citations"),
            ),
            (
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
                drop("top_p"),
            ),
            ("`temperature` may only be set to 1 when thinking is enabled.", drop("temperature")),
            ("temperature is deprecated for this model", drop("temperature")),
            ("`temperature` is deprecated for this model.", drop("temperature")),
            (
                "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
                drop("tools[].input_schema.anyOf"),
            ),
            ("adaptive thinking is not supported on this model", Some(Fix::Think { how: Thinks::Budget })),
            (
                "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
                Some(Fix::Think { how: Thinks::Budget }),
            ),
            (
                "Only 'enabled' and 'disabled' are supported for thinking; 'adaptive' is not supported.",
                Some(Fix::Think { how: Thinks::Budget }),
            ),
            (
                "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
                Some(Fix::Think { how: Thinks::Adaptive }),
            ),
            (
                "Unexpected value(s) `context-management-2025-06-27` for the `anthropic-beta` header. Please consult our documentation",
                Some(Fix::Beta { value: Some("context-management-2025-06-27".to_owned()) }),
            ),
            ("invalid beta flag", Some(Fix::Beta { value: None })),
            ("Thinking may not be enabled when tool_choice forces tool use.", drop("thinking")),
            ("This model does not support the effort parameter.", drop("output_config.effort")),
            ("`top_k` must be unset when thinking is enabled.", drop("top_k")),
            ("max_tokens: Extra inputs are not permitted", None),
            ("messages.0: all messages must have non-empty content", None),
            ("tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", None),
        ],
    );
}

#[test]
fn what_gemini_says() {
    check(
        GEMINI,
        &gemini(),
        &[
            (
                "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.\nInvalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field.",
                keys(&["additionalProperties", "const"]),
            ),
            (
                "Invalid JSON payload received. Unknown name \"topK\" at 'generation_config': Cannot find field.",
                drop("generationConfig.topK"),
            ),
            ("Invalid JSON payload received. Unknown name \"labels\": Cannot find field.", drop("labels")),
            (
                "Invalid JSON payload received. Unknown name \"thinkingConfig\" at 'generation_config': Cannot find field.",
                drop("generationConfig.thinkingConfig"),
            ),
            (
                "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[a].format: only 'enum' and 'date-time' are supported for STRING type",
                keys(&["format"]),
            ),
            (
                "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
                most(65536),
            ),
            (
                "Unable to submit request because thinking is not supported by this model.",
                Some(Fix::Think { how: Thinks::Never }),
            ),
            ("Thinking is not enabled for models/m", Some(Fix::Think { how: Thinks::Never })),
            (
                "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at 'tools[0].function_declarations[0]': Cannot find field.",
                None,
            ),
            (
                "Invalid JSON payload received. Unknown name \"args\" at 'contents[1].parts[0].function_call': Cannot find field.",
                None,
            ),
            (
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
                None,
            ),
        ],
    );
}

#[test]
fn an_answer_that_only_this_request_leaves_no_room_for_is_cut_once() {
    let table = [
        (
            CHAT,
            chat(),
            "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (8000 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.",
            Some(24768),
        ),
        (
            CHAT,
            chat(),
            "This model's maximum context length is 40000 tokens. However, you requested 40200 tokens (8000 in the messages, 200 in the functions, and 32000 in the completion).",
            Some(31800),
        ),
        (
            CHAT,
            chat(),
            "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 8000 input tokens (32000 > 32768 - 8000). (parameter=max_tokens, value=32000)",
            Some(24768),
        ),
        (
            CHAT,
            chat(),
            "This model's maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens, for a total of at least 32769 tokens.",
            Some(31999),
        ),
        (
            CHAT,
            chat(),
            "`inputs` tokens + `max_new_tokens` must be <= 32769. Given: 800 `inputs` tokens and 32000 `max_new_tokens`",
            Some(31969),
        ),
        (
            ANTHROPIC,
            anthropic(),
            "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease input length or `max_tokens` and try again",
            Some(10000),
        ),
        // The input alone is too long.
        (
            CHAT,
            chat(),
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).",
            None,
        ),
        (
            CHAT,
            chat(),
            "This model's maximum context length is 16384 tokens. However, your messages resulted in 20000 tokens.",
            None,
        ),
        (ANTHROPIC, anthropic(), "prompt is too long: 210000 tokens > 200000 maximum", None),
    ];
    for (protocol, sent, message, expected) in table {
        let remedy = found(protocol, ErrorKind::ContextLength, message, None, &sent);
        let expected = expected.map(|most| Remedy { fix: Fix::MaxOutput { most }, lasting: false });
        assert_eq!(remedy, expected, "{message}");
    }
}

#[test]
fn a_field_that_the_error_names_beside_its_message_counts() {
    let remedy = found(CHAT, ErrorKind::InvalidRequest, "Unsupported parameter", Some("seed"), &chat());
    assert_eq!(remedy.map(|remedy| remedy.fix), drop("seed"));
    assert_eq!(found(CHAT, ErrorKind::RateLimited, "Unsupported parameter", Some("seed"), &chat()), None);
}

#[test]
fn a_model_without_eyes_does_not_answer_about_what_it_was_just_shown() {
    let mut sent = chat();
    sent["messages"].as_array_mut().unwrap().truncate(2);
    assert_eq!(found(CHAT, ErrorKind::InvalidRequest, "m is not a multimodal model", None, &sent), None);
}

#[test]
fn fixes_change_what_they_name_and_nothing_else() {
    let mut body = json!({
        "messages": [{"role": "developer", "content": "developer"}, {"role": "user", "content": "u"}],
        "max_tokens": 5, "seed": 1,
    });
    assert!(Fix::SystemRole.edit(&mut body) && !Fix::SystemRole.edit(&mut body));
    assert!(Fix::MaxCompletionTokens.edit(&mut body) && !Fix::MaxCompletionTokens.edit(&mut body));
    assert!(Fix::Drop { path: "seed".to_owned() }.edit(&mut body));
    assert_eq!(
        body.to_string(),
        r#"{"messages":[{"role":"system","content":"developer"},{"role":"user","content":"u"}],"max_completion_tokens":5}"#
    );
    let mut headers =
        vec![("anthropic-beta".to_owned(), "a, b,c".to_owned()), ("x".to_owned(), "b".to_owned())];
    Fix::Beta { value: Some("b".to_owned()) }.head(&mut headers);
    assert_eq!(headers[0].1, "a,c");
    Fix::Beta { value: None }.head(&mut headers);
    assert_eq!(headers, [("x".to_owned(), "b".to_owned())]);
}

proptest::proptest! {
    #[test]
    fn any_words_are_read_without_harm(message in ".{0,200}", cue in "(Unknown name \"|loc|range|> |'|\\[|not supported ){0,4}") {
        for (protocol, sent) in [(CHAT, chat()), (ANTHROPIC, anthropic()), (GEMINI, gemini())] {
            let message = format!("{cue}{message}");
            if let Some(remedy) = found(protocol, ErrorKind::InvalidRequest, &message, Some(&message), &sent) {
                let mut body = sent.clone();
                remedy.fix.edit(&mut body);
                for kept in ["model", "messages", "contents", "tools"] {
                    proptest::prop_assert_eq!(body.get(kept).is_some(), sent.get(kept).is_some());
                }
            }
        }
    }
}
