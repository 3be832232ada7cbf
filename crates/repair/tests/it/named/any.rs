use proptest::prelude::*;
use serde_json::Value;

use super::{answer, pieces, row};

/// Words of all these formats, and what may stand between them.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "<|channel|>",
        "<|start|>",
        "<|message|>",
        "<|end|>",
        "<|call|>",
        "<|return|>",
        "<|constrain|>",
        "assistant",
        "analysis",
        "commentary",
        "final",
        " to=",
        "functions.",
        "list_dir",
        "get_time",
        "write_file",
        "python",
        "json",
        "{}",
        "{\"path\": \"a\"}",
        "{\"path\": \"",
        "\"}",
        "{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        " ",
        "```",
        "`",
        "text",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "function",
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>",
        ":0",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<|tool_calls_section_end|>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "[CALL_ID]",
        "<|python_tag|>",
        "<|tools_prefix|>",
        "<|tools_suffix|>",
        "<|tool_call:begin|>",
        "<|tool_call:name|>",
        "<|tool_call:args|>",
        "✿FUNCTION✿",
        "✿ARGS✿",
        "✿RESULT✿",
        "<tool>",
        "</tool>",
        "<response>",
        "</response>",
        "<tool_calls>",
        "</tool_calls>",
        "<think>",
        "</think>",
        ">>>",
        "all",
        "<|from|>",
        "<|recipient|>",
        "<|content|>",
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "[BEGIN FINAL RESPONSE]",
    ]);
    prop::collection::vec(word, 0..14).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn how_the_text_is_cut_does_not_matter(
        text in words(),
        family in prop::sample::select(vec!["", "harmony", "functionary_v3.2", "ernie"]),
        size in 1..9_usize,
    ) {
        let case = row(&text).hint(family).case();
        let pieces = pieces(&text, size);
        let whole = case.decode([text.as_str()]);
        let cut = case.decode(pieces.iter().map(String::as_str));
        prop_assert_eq!(answer(&whole), answer(&cut));
        prop_assert_eq!(whole.ids, cut.ids);
    }

    #[test]
    fn no_words_are_lost(text in words(), family in prop::sample::select(vec!["", "harmony", "functionary_v3.2"])) {
        // Two formats have places for words that nobody should see.
        let text = text.replace("<|tool_calls_section_begin|>", "").replace("✿RESULT✿", "");
        let got = row(&text).hint(family).case().decode([text.as_str()]);
        prop_assume!(answer(&got).1.is_empty());
        let said = format!("{} {} {}", got.content, got.reasoning, Value::from(got.calls));
        prop_assert!(said.matches("text").count() >= text.matches("text").count(), "{text:?} became {said:?}");
    }
}
