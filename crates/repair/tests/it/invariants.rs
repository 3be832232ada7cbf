//! What holds of every text, however it is cut.

use proptest::prelude::*;
use proptest::sample::select;
use rail_model::{Stop, ToolDecl};
use rail_repair::Profile;
use serde_json::json;

use crate::decode::Case;
use crate::stream::{Answer, Became, at_random, by_bytes, by_chars, tools};

/// What exists only for calls, in any format.
const MARKERS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<tool_calls>",
    "</tool_calls>",
    "<function_calls>",
    "</function_calls>",
    "<function=",
    "</function>",
    "<parameter",
    "</parameter>",
    "<invoke",
    "</invoke>",
    "<arg_key>",
    "</arg_value>",
    "<tool_sep>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "]<]minimax[>[",
    "<seed:tool_call>",
    "</seed:tool_call>",
    "<longcat_tool_call>",
    "<TOOLCALL>",
    "</TOOLCALL>",
    "<｜",
    "｜>",
    "<steptml:",
    "<|",
    "|>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<start_function_call>",
    "<end_function_call>",
    "<tool_call|>",
    "```tool_code",
    "functools[",
    "✿FUNCTION✿",
    "✿ARGS✿",
];

fn whole(answer: &Answer) -> Became {
    answer.in_pieces([answer.text])
}

/// Runs the text in every way of cutting it, and gives what it becomes in all of them.
fn in_any_pieces(answer: &Answer, seed: u64) -> Became {
    let text = answer.text;
    let expected = whole(answer);
    let ways = [1, 2, 3, 7]
        .map(|size| by_chars(text, size))
        .into_iter()
        .chain([1, 2, 5].map(|size| by_bytes(text, size)))
        .chain([at_random(text, seed), at_random(text, seed.rotate_left(32))]);
    for pieces in ways {
        let became = answer.in_pieces(pieces.iter().copied());
        assert_eq!(became, expected, "left: in {} pieces, right: whole\ntext: {text:?}", pieces.len());
    }
    let mut ids = expected.ids();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), expected.ids().len(), "ids are unique: {:?}", expected.ids());
    assert!(!ids.contains(&""), "every call has an id");
    expected
}

fn answer<'a>(case: &Case, text: &'a str, tools: &'a [ToolDecl]) -> Answer<'a> {
    Answer { text, tools, profile: case.profile(), stop: case.stop() }
}

#[test]
fn every_case_becomes_the_same_however_it_is_cut() {
    for (seed, case) in (1_u64..).zip(Case::all().iter().filter(|case| case.is_text())) {
        let (text, tools) = (case.text(), case.tools());
        let became = in_any_pieces(&answer(case, &text, &tools), seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let expected = case.0["expect"]["content"].as_str().unwrap_or_default();
        let calls = case.0["expect"]["calls"].as_array().map_or(0, Vec::len);
        if became.found() > 0 && became.found() == calls {
            for marker in MARKERS.iter().filter(|marker| !expected.contains(**marker)) {
                let content = became.content();
                assert!(!content.contains(marker), "{}: {marker} in {content:?}", case.id());
            }
        }
    }
}

#[test]
fn no_case_calls_anything_where_no_tools_are_declared() {
    for case in Case::all().iter().filter(|case| case.is_text()) {
        let text = case.text();
        let became = whole(&answer(case, &text, &[]));
        assert_eq!((became.ids(), became.found()), (Vec::new(), 0), "{}: {text:?}", case.id());
    }
}

#[test]
fn a_message_to_nobody_is_text() {
    for text in ["assistant to=x<|message|>words", "to=functions.read<|message|>{}"] {
        let (profile, stop) = (Profile::default(), Stop::EndTurn);
        let became = whole(&Answer { text, tools: &[], profile, stop });
        assert_eq!((became.ids(), became.found()), (Vec::new(), 0), "{text:?}");
    }
}

#[test]
fn every_case_may_end_anywhere() {
    for case in Case::all().iter().filter(|case| case.is_text()) {
        let (text, tools) = (case.text(), case.tools());
        // Long texts are cut in few places: all of them together would take a while.
        let places = (100_000 / text.len().max(1)).clamp(3, 12);
        for end in (0..text.len()).step_by(1 + text.len() / places).map(|at| text.floor_char_boundary(at)) {
            let mut cut = answer(case, &text[..end], &tools);
            for stop in [Stop::EndTurn, Stop::MaxTokens] {
                cut.stop = stop;
                let expected = whole(&cut);
                let pieces = by_chars(cut.text, 3);
                assert_eq!(cut.in_pieces(pieces), expected, "{}: {:?}", case.id(), cut.text);
            }
        }
    }
}

/// Words that mean something in some format, and pieces of them.
fn words() -> impl Strategy<Value = String> {
    let openers = MARKERS.to_vec();
    let reasoning = vec![
        "<think>",
        "</think>",
        "<thinking>",
        "</thinking>",
        "[THINK]",
        "[/THINK]",
        "◁think▷",
        "◁/think▷",
        "<seed:think>",
        "</mm:think>",
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "<|channel>thought\n",
        "<channel|>",
        "<|channel|>analysis<|message|>",
        "<|channel|>commentary to=functions.list_dir<|message|>",
        "<|end|>",
        "<|call|>",
        "<|start|>assistant",
        "<|im_end|>",
        "</s>",
    ];
    let layout = vec![
        "\n",
        "\n\n",
        " ",
        "   ",
        "\t",
        "```\n",
        "```json\n",
        "```xml\n",
        "~~~\n",
        "````\n",
        "`",
        "``",
        "> ",
        "- ",
    ];
    let json = vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "{}",
        "\\",
        "\\\"",
        "'",
        "{\"name\": \"list_dir\", ",
        "\"arguments\": {",
        "\"path\": \"src\"",
        "\"parameters\": ",
        "{\"tool\": \"get_time\"}",
        "\"name\"",
        "null",
        "true",
        "12",
        "{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}",
        "{\"name\": \"warp\", \"arguments\": {}}",
    ];
    let formats = vec![
        "<tool_call>\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}\n</tool_call>",
        "<function=edit_file>\n<parameter=file_path>\na.py\n</parameter>\n</function>",
        "<parameter=old_string>\n</parameter>",
        "<invoke name=\"list_dir\">",
        "<parameter name=\"path\">x</parameter>",
        "<tool_call>list_dir\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n",
        "<tool_call>get_time",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>",
        "list_dir<｜tool▁sep｜>{\"path\": \".\"}",
        "<｜tool▁call▁end｜>",
        "<｜DSML｜invoke name=\"get_time\">",
        "</｜DSML｜invoke>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{\"path\": 1}",
        "<|tool_call_end|>",
        "<|tool_calls_section_end|>",
        "[TOOL_CALLS]list_dir[ARGS]{\"path\": \"a\"}",
        "[TOOL_CALLS][{\"name\": \"get_time\", \"arguments\": {}}]",
        "[list_dir(path=\"a\"), get_time()]",
        "list_dir(path='x",
        "<|python_tag|>",
        "<|tool_call>call:list_dir{path:<|\"|>x<|\"|>}<tool_call|>",
        "Action: list_dir\n",
        "Action Input: {\"path\": \".\"}\n",
        "Observation: ",
        "Thought: ",
        "Final Answer: ",
        ">>>list_dir\n",
        "✿FUNCTION✿: list_dir\n",
        "✿ARGS✿: {}\n",
        "<TOOLCALL>[",
        "list_dir",
        "get_time",
    ];
    let prose = vec![
        "The answer",
        " is < 3 & > 1",
        "切替 ",
        "é",
        "🚀",
        "e\u{301}",
        "\u{200d}",
        "a.b(c)",
        "x = [1, 2]",
        "<",
        "<t",
        "<tool_c",
        "</",
        "<|too",
        "<｜",
        "[TOOL",
        "#include <functional>",
        "function",
        "json",
        ". ",
        "\u{0}",
        "\r\n",
    ];
    prop_oneof![
        select(openers),
        select(reasoning),
        select(layout),
        select(json),
        select(formats),
        select(prose),
    ]
    .prop_map(str::to_owned)
}

fn texts() -> impl Strategy<Value = String> {
    // Now and then a word is cut short, as a stream is.
    let word = (words(), prop::option::weighted(0.1, any::<prop::sample::Index>())).prop_map(
        |(word, cut)| match cut {
            Some(at) => word[..word.floor_char_boundary(at.index(word.len().max(1)))].to_owned(),
            None => word,
        },
    );
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

fn profiles() -> impl Strategy<Value = Profile> {
    let families =
        vec![None, None, None, Some("harmony"), Some("functionary_v3.2"), Some("hunyuan"), Some("ernie")];
    (select(families), any::<bool>(), any::<bool>()).prop_map(|(family, starts_in_reasoning, prompted)| {
        let family = family.map(str::to_owned);
        Profile { family, starts_in_reasoning, prompted, ..Profile::default() }
    })
}

fn stops() -> impl Strategy<Value = Stop> {
    select(vec![Stop::EndTurn, Stop::ToolUse, Stop::MaxTokens])
}

proptest! {
    #[test]
    fn any_text_becomes_the_same_however_it_is_cut(
        text in texts(), profile in profiles(), stop in stops(), seed in any::<u64>(),
    ) {
        in_any_pieces(&Answer { text: &text, tools: &tools(), profile, stop }, seed);
    }

    #[test]
    fn no_text_calls_anything_where_no_tools_are_declared(text in texts(), profile in profiles(), stop in stops()) {
        let became = whole(&Answer { text: &text, tools: &[], profile, stop });
        prop_assert_eq!((became.ids(), became.found()), (Vec::new(), 0));
    }

    #[test]
    fn prose_is_left_as_it_is(text in "[a-zA-Z0-9 ,;!?()<>&*'\"\n\t切é🚀-]{0,200}") {
        let became = whole(&Answer { text: &text, tools: &tools(), profile: Profile::default(), stop: Stop::EndTurn });
        prop_assert_eq!(became.content(), text);
    }
}

#[test]
fn fifty_calls_at_once_are_fifty_calls() {
    let call = |n: usize| json!({"name": "list_dir", "arguments": {"path": format!("src/{n}")}}).to_string();
    let text: String = (0..50).map(|n| format!("<tool_call>{}</tool_call>", call(n))).collect();
    let tools = tools();
    let answer = Answer { text: &text, tools: &tools, profile: Profile::default(), stop: Stop::EndTurn };
    let became = in_any_pieces(&answer, 50);
    assert_eq!(became.ids().len(), 50);
}
