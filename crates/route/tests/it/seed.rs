//! The scenarios of the first design on its own configuration. Where the text of a scenario names other targets than the configuration,
//! the configuration stands: scenarios 2, 3 and 4 say `qwen → modelscope`, `shuaihong → qwen` and `modelscope → qwen`.

use serde_json::json;

use crate::setup::{Case, image, tools};

#[test]
fn scenario_1_an_image_is_analysed() {
    let said = json!([{"role": "user", "content": [{"type": "text", "text": "分析这张截图"}, image()]}]);
    insta::assert_snapshot!(Case::new(json!({"messages": said})).lines(), @r"
    imageProcessing: the last user turn holds 1 image
    + shuaihong,gemini-2.5-pro: 1st of chain `imageProcessing`
    + qwen,qwen3-coder-plus: 2nd of chain `imageProcessing`
    + lmstudio,gpt-oss-20b-mlx: the security chain of `imageProcessing`
    ");
}

#[test]
fn scenario_2_files_are_edited() {
    insta::assert_snapshot!(Case::new(json!({"tools": tools(&["Read", "Edit"])})).lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + modelscope,qwen3-480b: 1st of chain `coding`
    + qwen,qwen3-coder-plus: 2nd of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    ");
}

#[test]
fn scenario_3_the_web_is_searched() {
    insta::assert_snapshot!(Case::new(json!({"tools": tools(&["WebSearch"])})).lines(), @r"
    webSearch: the only declared tool, `WebSearch`, is a web tool
    + modelscope,qwen3-480b: 1st of chain `webSearch`
    + qwen,qwen3-coder-plus: 2nd of chain `webSearch`
    ");
}

#[test]
fn scenario_4_a_long_document_with_tools() {
    let case = Case { tokens: 60_001, ..Case::new(json!({"tools": tools(&["Bash"])})) };
    insta::assert_snapshot!(case.lines(), @r"
    longContext: 60,001 tokens are more than the threshold of 60,000
    + shuaihong,gemini-2.5-pro: 1st of chain `longContext`
    + qwen,qwen3-coder-plus: 2nd of chain `longContext`
    + lmstudio,gpt-oss-20b-mlx: the security chain of `longContext`
    ");
}

#[test]
fn reasoning_and_everything_else() {
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    insta::assert_snapshot!(Case::new(thinking).lines(), @r"
    reasoning: thinking is switched on
    + qwen,qwen3-coder-plus: 1st of chain `reasoning`
    + modelscope,qwen3-480b: 2nd of chain `reasoning`
    ");
    insta::assert_snapshot!(Case::new(json!({})).lines(), @r"
    default: no other rule takes it: 100 tokens, 0 tools
    + qwen,qwen3-coder-plus: 1st of chain `default`
    + modelscope,qwen3-480b: 2nd of chain `default`
    + shuaihong,gemini-2.5-pro: 3rd of chain `default`
    ");
}
