//! Requests as clients send them today, read by the real codecs: what each is taken for, and why.

use rail_route::{Client, Options, Routing, classify, estimate, facts};
use serde_json::{Value, json};

use crate::setup::{image, read, tools};

/// What a request is taken for: one line for each.
fn taken(rows: Vec<(&str, &str, Value)>) -> String {
    let routing = Routing { options: Options::default(), ..Routing::default() };
    let lines = rows.into_iter().map(|(about, protocol, body)| {
        let request = read(protocol, &body);
        let facts = facts(&request, &Client::default(), estimate(&request).total());
        let wanted = classify(&routing, &facts, None);
        format!("{about} => {}: {}", wanted.virtual_model, wanted.why)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn with(mut body: Value, fields: Value) -> Value {
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

/// Claude Code: twenty tools, adaptive thinking.
fn claude(fields: Value) -> Value {
    let names = [
        "Task",
        "AskUserQuestion",
        "Bash",
        "BashOutput",
        "Edit",
        "EnterPlanMode",
        "ExitPlanMode",
        "Glob",
        "Grep",
        "KillShell",
        "ListMcpResourcesTool",
        "NotebookEdit",
        "Read",
        "ReadMcpResourceTool",
        "Skill",
        "TodoWrite",
        "ToolSearch",
        "WebFetch",
        "WebSearch",
        "Write",
    ];
    let body = json!({
        "model": "claude-opus-4-6", "max_tokens": 32000, "stream": true,
        "system": [{"type": "text", "text": "You are Claude Code.", "cache_control": {"type": "ephemeral"}}],
        "metadata": {"user_id": "user_1_account_2_session_3"},
        "thinking": {"type": "adaptive"}, "tools": tools(&names),
        "messages": [{"role": "user", "content": [{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "fix it"}]}],
    });
    with(body, fields)
}

/// Codex: its tools, medium effort, the stored web search.
fn codex(fields: Value) -> Value {
    let function = |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object"}, "strict": false});
    let body = json!({
        "model": "gpt-5.1-codex", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "instructions": "You are Codex.", "prompt_cache_key": "0199", "parallel_tool_calls": false,
        "reasoning": {"effort": "medium", "summary": "auto"},
        "tools": [function("shell_command"), function("update_plan"), function("view_image"),
            {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
            {"type": "web_search", "external_web_access": false}],
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it"}]}],
    });
    with(body, fields)
}

/// Gemini CLI: its tools.
fn gemini(fields: Value) -> Value {
    let names = [
        "list_directory",
        "read_file",
        "grep_search",
        "glob",
        "replace",
        "write_file",
        "web_fetch",
        "read_many_files",
        "run_shell_command",
        "save_memory",
        "google_web_search",
    ];
    let declared: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "parametersJsonSchema": {"type": "object"}})).collect();
    let body = json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "You are Gemini CLI."}]},
        "contents": [{"role": "user", "parts": [{"text": "fix it"}]}],
        "tools": [{"functionDeclarations": declared}], "generationConfig": {"temperature": 1, "topP": 0.95, "topK": 64},
    });
    with(body, fields)
}

fn chat(fields: Value) -> Value {
    with(json!({"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}), fields)
}

/// A tool was called and has answered, in the words of Anthropic.
fn claude_after(tool: &str, input: Value, result: Value) -> Value {
    claude(json!({"messages": crate::setup::called(tool, input, result)}))
}

fn codex_after(tool: &str, arguments: &str, output: Value) -> Value {
    codex(json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "call_id": "c", "name": tool, "arguments": arguments},
        {"type": "function_call_output", "call_id": "c", "output": output},
    ]}))
}

fn gemini_after(tool: &str, args: Value, parts: Value) -> Value {
    gemini(json!({"contents": [
        {"role": "user", "parts": [{"text": "look"}]},
        {"role": "model", "parts": [{"functionCall": {"name": tool, "args": args}}]},
        {"role": "user", "parts": parts},
    ]}))
}

#[test]
fn claude_code() {
    let page = json!({"role": "user", "content": "Web page content: …"});
    insta::assert_snapshot!(taken(vec![
        ("a turn", "anthropic", claude(json!({}))),
        ("ultrathink", "anthropic", claude(json!({"thinking": {"type": "enabled", "budget_tokens": 31999}}))),
        ("adaptive, effort high", "anthropic", claude(json!({"output_config": {"effort": "high"}}))),
        ("adaptive, effort medium", "anthropic", claude(json!({"output_config": {"effort": "medium"}}))),
        ("a title", "anthropic", claude(json!({"model": "claude-haiku-4-5", "tools": [], "thinking": {"type": "disabled"}}))),
        ("its web search", "anthropic", claude(json!({"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}]}))),
        ("its summary of a page", "anthropic", claude(json!({"tools": [], "messages": [page]}))),
        ("a sub-agent that explores", "anthropic", claude(json!({"tools": tools(&["Glob", "Grep", "Read", "Bash", "WebFetch"])}))),
        ("a sub-agent for the web", "anthropic", claude(json!({"tools": tools(&["WebFetch", "WebSearch"])}))),
        ("a quota check", "anthropic", json!({"model": "claude-haiku-4-5", "max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]})),
        ("tool search of the provider", "anthropic", claude(json!({"tools": [{"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}, {"name": "Bash", "input_schema": {}}]}))),
        ("an image pasted", "anthropic", claude(json!({"messages": [{"role": "user", "content": [image(), {"type": "text", "text": "see"}]}]}))),
        ("an image read", "anthropic", claude_after("Read", json!({"file_path": "/a/shot.png"}), json!([image()]))),
        ("an image could not be read", "anthropic", claude_after("Read", json!({"file_path": "/a/SHOT.JPG"}), json!("no such file"))),
        ("a drawing as text", "anthropic", claude_after("Read", json!({"file_path": "/a/logo.svg"}), json!("<svg/>"))),
        ("a PDF", "anthropic", claude_after("Read", json!({"file_path": "/a/b.pdf"}), json!([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}]))),
        ("an image of a tool", "anthropic", claude_after("mcp__playwright__browser_take_screenshot", json!({}), json!([{"type": "text", "text": "ok"}, image()]))),
        ("an image written", "anthropic", claude_after("Write", json!({"file_path": "/a/shot.png", "content": "x"}), json!("ok"))),
        ("a page fetched", "anthropic", claude_after("WebFetch", json!({"url": "https://a.test/b.png"}), json!("a page"))),
        ("an image ten turns ago", "anthropic", claude(json!({"messages": [{"role": "user", "content": [image()]}, {"role": "assistant", "content": "nice"}, {"role": "user", "content": "go on"}]}))),
        ("a begun answer", "anthropic", json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [image()]}, {"role": "assistant", "content": "{"}]})),
    ]), @r"
    a turn => coding: 18 of 20 declared tools are neither web nor image tools
    ultrathink => reasoning: thinking is switched on
    adaptive, effort high => reasoning: thinking is asked for, with the effort `high`
    adaptive, effort medium => coding: 18 of 20 declared tools are neither web nor image tools
    a title => default: no other rule takes it: 26 tokens, 0 tools
    its web search => webSearch: the provider's own web search `web_search_20250305` is declared
    its summary of a page => default: no other rule takes it: 19 tokens, 0 tools
    a sub-agent that explores => coding: 4 of 5 declared tools are neither web nor image tools
    a sub-agent for the web => webSearch: all 2 declared tools are web tools
    a quota check => default: no other rule takes it: 5 tokens, 0 tools
    tool search of the provider => coding: 2 of 2 declared tools are neither web nor image tools
    an image pasted => imageProcessing: the last user turn holds 1 image
    an image read => imageProcessing: the last user turn holds 1 image
    an image could not be read => imageProcessing: `Read` was just called on an image file
    a drawing as text => coding: 18 of 20 declared tools are neither web nor image tools
    a PDF => coding: 18 of 20 declared tools are neither web nor image tools
    an image of a tool => imageProcessing: the last user turn holds 1 image
    an image written => coding: 18 of 20 declared tools are neither web nor image tools
    a page fetched => coding: 18 of 20 declared tools are neither web nor image tools
    an image ten turns ago => coding: 18 of 20 declared tools are neither web nor image tools
    a begun answer => imageProcessing: the last user turn holds 1 image
    ");
}

#[test]
fn codex_cli() {
    let picture = json!([{"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}]);
    insta::assert_snapshot!(taken(vec![
        ("a turn", "openai-responses", codex(json!({}))),
        ("effort high", "openai-responses", codex(json!({"reasoning": {"effort": "high", "summary": "auto"}}))),
        ("effort xhigh", "openai-responses", codex(json!({"reasoning": {"effort": "xhigh"}}))),
        ("effort none", "openai-responses", codex(json!({"reasoning": {"effort": "none"}}))),
        ("a summary only", "openai-responses", codex(json!({"reasoning": {"summary": "auto"}}))),
        ("no reasoning", "openai-responses", codex(json!({"reasoning": null}))),
        ("live web search", "openai-responses", codex(json!({"tools": [{"type": "web_search", "external_web_access": true}]}))),
        ("web search preview", "openai-responses", codex(json!({"tools": [{"type": "web_search_preview"}]}))),
        ("search in files of the provider", "openai-responses", codex(json!({"tools": [{"type": "file_search", "vector_store_ids": ["v"]}]}))),
        ("image generation", "openai-responses", codex(json!({"tools": [{"type": "image_generation"}]}))),
        ("an image given", "openai-responses", codex(json!({"input": [{"type": "message", "role": "user", "content": picture.clone()}]}))),
        ("an image viewed", "openai-responses", codex_after("view_image", r#"{"path":"/a/b.png"}"#, json!("attached local image path"))),
        ("an image in the output", "openai-responses", codex_after("mcp__x__shoot", "{}", picture.clone())),
        ("an image in the output, in a list", "openai-responses", codex_after("view_image", r#"{"path":"a"}"#, picture)),
        ("a file read", "openai-responses", codex_after("shell_command", r#"{"command":"cat a.png"}"#, json!("x"))),
        ("a text as input", "openai-responses", json!({"model": "gpt-5", "input": "hi"})),
    ]), @r"
    a turn => coding: 3 of 5 declared tools are neither web nor image tools
    effort high => reasoning: thinking is asked for, with the effort `high`
    effort xhigh => reasoning: thinking is asked for, with the effort `xhigh`
    effort none => coding: 3 of 5 declared tools are neither web nor image tools
    a summary only => coding: 3 of 5 declared tools are neither web nor image tools
    no reasoning => coding: 3 of 5 declared tools are neither web nor image tools
    live web search => webSearch: the provider's own web search `web_search` is declared
    web search preview => webSearch: the provider's own web search `web_search_preview` is declared
    search in files of the provider => coding: the tool `file_search` is declared, which is neither a web nor an image tool
    image generation => default: no other rule takes it: 75 tokens, 1 tool
    an image given => imageProcessing: the last user turn holds 1 image
    an image viewed => imageProcessing: `view_image` was just called on an image file
    an image in the output => imageProcessing: the last user turn holds 1 image
    an image in the output, in a list => imageProcessing: the last user turn holds 1 image
    a file read => coding: 3 of 5 declared tools are neither web nor image tools
    a text as input => default: no other rule takes it: 5 tokens, 0 tools
    ");
}

#[test]
fn gemini_cli() {
    let thinks = |config: Value| gemini(json!({"generationConfig": {"thinkingConfig": config}}));
    let result = |name: &str| json!({"functionResponse": {"name": name, "response": {"output": "ok"}}});
    let picture = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}});
    insta::assert_snapshot!(taken(vec![
        ("a turn", "gemini", gemini(json!({}))),
        ("as the model likes", "gemini", thinks(json!({"includeThoughts": true, "thinkingBudget": -1}))),
        ("no thoughts", "gemini", thinks(json!({"thinkingBudget": 0}))),
        ("a budget", "gemini", thinks(json!({"includeThoughts": true, "thinkingBudget": 8192}))),
        ("level high", "gemini", thinks(json!({"thinkingLevel": "HIGH"}))),
        ("level low", "gemini", thinks(json!({"thinkingLevel": "low"}))),
        ("its web search", "gemini", gemini(json!({"tools": [{"googleSearch": {}}]}))),
        ("search in snake case", "gemini", gemini(json!({"tools": [{"google_search": {}}]}))),
        ("search of 1.5", "gemini", gemini(json!({"tools": [{"googleSearchRetrieval": {}}]}))),
        ("its web fetch", "gemini", gemini(json!({"tools": [{"urlContext": {}}]}))),
        ("search and fetch", "gemini", gemini(json!({"tools": [{"googleSearch": {}}, {"url_context": {}}]}))),
        ("code is run", "gemini", gemini(json!({"tools": [{"codeExecution": {}}]}))),
        ("an image", "gemini", gemini(json!({"contents": [{"role": "user", "parts": [{"text": "see"}, picture.clone()]}]}))),
        ("an image by address", "gemini", gemini(json!({"contents": [{"role": "user", "parts": [{"fileData": {"mimeType": "image/jpeg", "fileUri": "gs://a/b"}}]}]}))),
        ("an image read", "gemini", gemini_after("read_file", json!({"absolute_path": "/a/b.png"}), json!([result("read_file")]))),
        ("an image behind the result", "gemini", gemini_after("read_file", json!({"file_path": "a"}), json!([result("read_file"), picture.clone()]))),
        ("an image inside the result", "gemini", gemini_after("shoot", json!({}), json!([{"functionResponse": {"name": "shoot", "response": {"output": "ok"}, "parts": [picture]}}]))),
        ("many files", "gemini", gemini_after("read_many_files", json!({"paths": ["docs/*.md", "img/*.png"]}), json!([result("read_many_files")]))),
        ("many files but images", "gemini", gemini_after("read_many_files", json!({"paths": ["src"], "exclude": ["**/*.png"]}), json!([result("read_many_files")]))),
        ("a loop is checked", "gemini", gemini(json!({"tools": [], "generationConfig": {"responseMimeType": "application/json"}}))),
    ]), @r"
    a turn => coding: 9 of 11 declared tools are neither web nor image tools
    as the model likes => coding: 9 of 11 declared tools are neither web nor image tools
    no thoughts => coding: 9 of 11 declared tools are neither web nor image tools
    a budget => reasoning: thinking is switched on
    level high => reasoning: thinking is asked for, with the effort `high`
    level low => coding: 9 of 11 declared tools are neither web nor image tools
    its web search => webSearch: the provider's own web search `googleSearch` is declared
    search in snake case => webSearch: the provider's own web search `googleSearch` is declared
    search of 1.5 => webSearch: the provider's own web search `googleSearchRetrieval` is declared
    its web fetch => webSearch: the only declared tool, `urlContext`, is a web tool
    search and fetch => webSearch: the provider's own web search `googleSearch` is declared
    code is run => coding: the tool `codeExecution` is declared, which is neither a web nor an image tool
    an image => imageProcessing: the last user turn holds 1 image
    an image by address => imageProcessing: the last user turn holds 1 image
    an image read => imageProcessing: `read_file` was just called on an image file
    an image behind the result => imageProcessing: the last user turn holds 1 image
    an image inside the result => imageProcessing: the last user turn holds 1 image
    many files => imageProcessing: `read_many_files` was just called on an image file
    many files but images => coding: 9 of 11 declared tools are neither web nor image tools
    a loop is checked => default: no other rule takes it: 15 tokens, 0 tools
    ");
}

#[test]
fn openai_chat_and_tools_of_any_name() {
    let named = |names: &[&str]| {
        let list: Vec<Value> = names.iter().map(|name| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}})).collect();
        chat(json!({"tools": list}))
    };
    insta::assert_snapshot!(taken(vec![
        ("plain", "openai-chat", chat(json!({}))),
        ("effort minimal", "openai-chat", chat(json!({"reasoning_effort": "minimal"}))),
        ("effort high", "openai-chat", chat(json!({"reasoning_effort": "high"}))),
        ("effort of no known word", "openai-chat", chat(json!({"reasoning_effort": "turbo"}))),
        ("OpenRouter's budget", "openai-chat", chat(json!({"reasoning": {"max_tokens": 2000}}))),
        ("OpenRouter's effort", "openai-chat", chat(json!({"reasoning": {"effort": "high"}}))),
        ("Z.ai's switch", "openai-chat", chat(json!({"thinking": {"type": "enabled"}}))),
        ("Z.ai's switch, off", "openai-chat", chat(json!({"thinking": {"type": "disabled"}, "reasoning_effort": "high"}))),
        ("Qwen's switch", "openai-chat", chat(json!({"enable_thinking": true}))),
        ("Qwen's budget", "openai-chat", chat(json!({"enable_thinking": true, "thinking_budget": 2000}))),
        ("vLLM's switch", "openai-chat", chat(json!({"chat_template_kwargs": {"enable_thinking": true}}))),
        ("vLLM's switch, off", "openai-chat", chat(json!({"chat_template_kwargs": {"enable_thinking": false}}))),
        ("web search of the provider", "openai-chat", chat(json!({"web_search_options": {}}))),
        ("an image", "openai-chat", chat(json!({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.test/b.png"}}]}]}))),
        ("Brave", "openai-chat", named(&["mcp__brave-search__web_search"])),
        ("a search in files", "openai-chat", named(&["search_files"])),
        ("a browser", "openai-chat", named(&["browser_click", "browser_snapshot"])),
        ("research", "openai-chat", named(&["research"])),
        ("a web site", "openai-chat", named(&["website_editor"])),
        ("Elastic", "openai-chat", named(&["mcp__elasticsearch__query"])),
        ("images only", "openai-chat", named(&["generate_image"])),
        ("web and images", "openai-chat", named(&["WebSearch", "generate_image"])),
        ("a screenshot of the browser", "openai-chat", named(&["browser_take_screenshot", "browser_click"])),
        ("functions of old", "openai-chat", chat(json!({"functions": [{"name": "run", "parameters": {}}]}))),
    ]), @r"
    plain => default: no other rule takes it: 5 tokens, 0 tools
    effort minimal => default: no other rule takes it: 5 tokens, 0 tools
    effort high => reasoning: thinking is asked for, with the effort `high`
    effort of no known word => default: no other rule takes it: 5 tokens, 0 tools
    OpenRouter's budget => reasoning: thinking is switched on
    OpenRouter's effort => reasoning: thinking is asked for, with the effort `high`
    Z.ai's switch => reasoning: thinking is switched on
    Z.ai's switch, off => default: no other rule takes it: 5 tokens, 0 tools
    Qwen's switch => reasoning: thinking is switched on
    Qwen's budget => reasoning: thinking is switched on
    vLLM's switch => reasoning: thinking is switched on
    vLLM's switch, off => default: no other rule takes it: 5 tokens, 0 tools
    web search of the provider => webSearch: the provider's own web search `web_search_options` is declared
    an image => imageProcessing: the last user turn holds 1 image
    Brave => webSearch: the only declared tool, `mcp__brave-search__web_search`, is a web tool
    a search in files => coding: the tool `search_files` is declared, which is neither a web nor an image tool
    a browser => webSearch: all 2 declared tools are web tools
    research => webSearch: the only declared tool, `research`, is a web tool
    a web site => webSearch: the only declared tool, `website_editor`, is a web tool
    Elastic => webSearch: the only declared tool, `mcp__elasticsearch__query`, is a web tool
    images only => default: no other rule takes it: 52 tokens, 1 tool
    web and images => default: no other rule takes it: 69 tokens, 2 tools
    a screenshot of the browser => webSearch: all 2 declared tools are web tools
    functions of old => coding: the tool `run` is declared, which is neither a web nor an image tool
    ");
}
