//! The examples of `docs/tool-calls.md`, made from the corpus.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::decode::{Case, Decoded};

/// What is above this line is written by hand.
const LINE: &str =
    "<!-- Below this line: written by `INSTA_UPDATE=always cargo test -p rail-repair docs`. -->\n";

/// One example of each format: its name, and the case that shows it.
const FORMATS: &[(&str, &str)] = &[
    ("Hermes 2 and 3, Qwen 2.5 and 3, Granite 4", "hermes-text-between-calls"),
    ("LongCat", "hermes-longcat"),
    ("Qwen3-Coder, Qwen 3.5, Nemotron 3, Step 3.5, MiMo", "qwen3c-prose"),
    ("Seed-OSS", "seed-think-and-call"),
    ("GLM 4.5 to 4.7, Ling 3", "glm-parallel"),
    ("DeepSeek V3 and R1", "dsv3-single-whole"),
    ("DeepSeek V3.1", "dsv31-single-whole"),
    ("DeepSeek V3.2 and V4", "dsml32-single-whole"),
    ("Kimi K2", "kimi-single-whole"),
    ("Kimi K3", "kimi3-single-whole"),
    ("Mistral, a list", "mistral-array-whole"),
    ("Mistral, name and arguments", "mistral-v11-args"),
    ("Llama 3, bare", "llama3-bare-whole"),
    ("Llama 3, with its tag", "llama3-python-tag"),
    ("Pythonic: Llama 3.2, ToolACE", "pythonic-list-whole"),
    ("Llama 4", "pythonic-llama4-tokens"),
    ("Olmo 3", "pythonic-olmo3"),
    ("LFM2", "pythonic-lfm2"),
    ("Gemma 2 and 3, Gemini's leaks", "gemma-toolcode-two-lines"),
    ("Gemma 4", "gemma4-nested"),
    ("Granite 3.1 to 3.3", "granite31-string"),
    ("Command R7B and A", "cohere-action-whole"),
    ("Command R and R+", "cohere-rplus-action-fence"),
    ("MiniMax M1", "minimax-m1"),
    ("MiniMax M2", "minimax-m2-parallel"),
    ("MiniMax M3", "minimax-m3-nested"),
    ("gpt-oss (harmony)", "harmony-analysis-call-whole"),
    ("Functionary v3.1", "functionary-v31-parallel"),
    ("Functionary v3.2", "functionary-v32-content-and-calls"),
    ("Functionary v2", "functionary-v2"),
    ("FireFunction v2, Phi-4", "phi4-functools-whole"),
    ("Phi-4-mini, Granite 3.0", "phi4mini-token"),
    ("InternLM 2.5", "internlm-plugin"),
    ("Jamba", "jamba-array"),
    ("xLAM", "xlam-after-think"),
    ("Step 3", "step3-parallel"),
    ("Hunyuan A13B", "hunyuan-a13b-nested"),
    ("Hunyuan v3", "hunyuan-v3"),
    ("Ernie 4.5", "ernie-response-and-call"),
    ("Anthropic's XML", "axml-invoke-whole"),
    ("Anthropic's XML of 2023", "axml-legacy-whole"),
    ("Muse Glimmer", "axml-atem"),
    ("ReAct", "react-multiline-json"),
    ("Apriel", "apriel-toolcalls"),
    ("Apertus", "apertus"),
    ("Solar Open", "solar-open"),
    ("GigaChat 3.1", "gigachat31"),
    ("MiniCPM 5", "minicpm5"),
    ("Qwen-Agent", "qwen-agent-flower"),
    ("LongCat, keys and values", "longcat-keys"),
    ("GLM-4-0414", "glm4-0414-name-newline-json"),
    ("FunctionGemma", "functiongemma"),
    ("Granite 20B", "granite-20b"),
    ("Nemotron Nano v2", "nemotron-toolcall"),
    ("Dots", "dots"),
    ("Inkling", "inkling"),
    ("GigaChat 3", "gigachat3"),
    ("Qwen 2.5 Coder, a tag it makes up", "qwen25-coder-tools-tag"),
    ("Qwen 2.5 Coder, braces of its template", "qwen25-coder-doubled-braces"),
    ("JSON, bare", "bare-tool-calls-whole"),
    ("JSON in a fence", "fenced-tool-args-whole"),
];

/// What more is done, each with the cases that show it.
const MORE: &[(&str, &[&str])] = &[
    (
        "What is no call",
        &[
            "neg-inline-tag",
            "neg-known-tool-bare-then-prose",
            "neg-tool-definition",
            "neg-no-tools-declared",
            "qwen3c-bare-unknown-is-text",
            "think-draft-only",
            "llama3-person-not-call",
        ],
    ),
    (
        "What is not run",
        &["hermes-unknown-tool-strong", "hermes-truncated-in-string", "rep-truncated-container-length"],
    ),
    ("Reasoning", &["think-answer-whole", "think-prefilled", "think-unclosed-call", "think-stray-close"]),
    (
        "Markup that is broken",
        &[
            "hermes-no-close-tag-eof",
            "qwen3c-no-wrapper",
            "qwen3c-missing-param-close",
            "glm-missing-arg-key-open",
            "kimi-no-section",
            "dsv31-missing-end",
        ],
    ),
    (
        "Arguments that are no JSON",
        &[
            "rep-trailing-comma",
            "rep-single-quotes-with-double",
            "rep-python-none",
            "rep-raw-newline-in-string",
            "rep-missing-two-closers",
            "rep-windows-path",
            "rep-inner-quotes",
            "rep-args-one-element-list",
            "rep-args-nested-wrapper",
        ],
    ),
    (
        "Values of another type",
        &[
            "co-int-string",
            "co-bool-string-title",
            "co-array-string",
            "co-string-from-number",
            "co-null-optional-dropped",
            "co-json-looking-string-param",
            "co-not-a-number-kept",
        ],
    ),
    (
        "Names of tools",
        &[
            "nm-functions-prefix",
            "nm-pascal",
            "nm-doubled",
            "nm-mcp-prefix",
            "nm-alias-ls",
            "nm-exact-wins",
            "nm-ambiguous-alias",
        ],
    ),
    ("Names of parameters", &["pr-path", "pr-kebab", "pr-cmd", "pr-old-str", "pr-declared-untouched"]),
];

/// Groups of cases that are about something else than a format.
const NO_FORMATS: &[&str] = &[
    "negative",
    "reasoning",
    "repair_json",
    "coerce",
    "names",
    "params",
    "unicode",
    "large",
    "openai_native",
];

#[test]
fn docs_show_what_each_format_becomes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tool-calls.md");
    let written = fs::read_to_string(&path).unwrap();
    let (head, _) =
        written.split_once(LINE).unwrap_or_else(|| panic!("{} has lost its line: {LINE}", path.display()));
    let fresh = format!("{head}{LINE}{}", examples(&Case::all()));
    #[expect(clippy::disallowed_methods, reason = "the switch of all golden files")]
    let is_update = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    if is_update {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(
            written == fresh,
            "docs/tool-calls.md is stale; run `INSTA_UPDATE=always cargo test -p rail-repair docs` and read the diff"
        );
    }
}

#[test]
fn docs_have_an_example_of_every_format_of_the_corpus() {
    let cases = Case::all();
    let family = |case: &Case| case.0["family"].as_str().unwrap().to_owned();
    let all: BTreeSet<String> =
        cases.iter().map(family).filter(|family| !NO_FORMATS.contains(&family.as_str())).collect();
    let shown: BTreeSet<String> = FORMATS.iter().map(|(_, id)| family(find(&cases, id))).collect();
    assert_eq!(shown, all);
}

/// Formats that are another way to write one that is shown: without its wrapper, with its tags torn, with JSON in its tokens.
const VARIANTS: &[&str] = &[
    "dsml-tag",
    "invoke-tag",
    "json_tag",
    "lfm2",
    "llama_4",
    "muse",
    "python_tag",
    "response",
    "tags",
    "tags-bare",
    "tool",
    "wrapper",
];

#[test]
fn docs_have_an_example_of_every_format_that_is_read() {
    let cases = Case::all();
    let found = |(_, id): &(&str, &str)| decode(find(&cases, id)).repairs;
    let shown: BTreeSet<String> = FORMATS.iter().flat_map(found).map(|(step, _)| step).collect();
    let is_missing = |name: &&str| !shown.contains(&format!("found:{name}")) && !VARIANTS.contains(name);
    let missing: BTreeSet<&str> = rail_repair::formats().filter(is_missing).collect();
    assert_eq!(missing, BTreeSet::new());
}

fn find<'a>(cases: &'a [Case], id: &str) -> &'a Case {
    cases.iter().find(|case| case.id() == id).unwrap_or_else(|| panic!("no case {id}"))
}

fn examples(cases: &[Case]) -> String {
    let mut out = String::from("\n## Formats\n");
    for (name, id) in FORMATS {
        let case = find(cases, id);
        let (text, decoded) = (case.text(), decode(case));
        let fence = if text.contains("```") { "````" } else { "```" };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let known = known(case).map(|known| format!("{known}:\n\n")).unwrap_or_default();
        write!(
            out,
            "\n### {name}\n\n{known}{fence}text\n{text}{end}{fence}\n\n```json\n{}```\n",
            object(&decoded)
        )
        .unwrap();
    }
    out.push_str("\n## More\n");
    for (name, ids) in MORE {
        write!(out, "\n### {name}\n\n| said | becomes | mended |\n| --- | --- | --- |\n").unwrap();
        for id in *ids {
            let case = find(cases, id);
            let (text, decoded) = (case.text(), decode(case));
            let known = known(case).map(|known| format!("{known}: ")).unwrap_or_default();
            let (said, becomes) = (cell(&text), result(&text, &decoded));
            writeln!(out, "| {known}{said} | {becomes} | {} |", steps(&decoded)).unwrap();
        }
    }
    out
}

/// What is known besides the text, where something is.
fn known(case: &Case) -> Option<String> {
    let options = &case.0["options"];
    let known = [
        case.tools().is_empty().then(|| "without tools".to_owned()),
        options["hint"].as_str().map(|family| format!("with `--family {family}`")),
        (options["starts_in_reasoning"] == true).then(|| "with `--reasoning`".to_owned()),
        (options["prompted"] == true).then(|| "with `--prompted`".to_owned()),
        options["finish_reason"].as_str().map(|reason| format!("with `--finish {reason}`")),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let text = known.join(", ");
    let first = text.chars().next()?;
    Some(format!("{}{}", first.to_uppercase(), &text[first.len_utf8()..]))
}

fn decode(case: &Case) -> Decoded {
    let text = case.text();
    case.decode([text.as_str()])
}

/// The object that `rail debug decode` prints, without ids and empty members, one member a line.
fn object(decoded: &Decoded) -> String {
    let members = [
        ("content", json!(decoded.content)),
        ("reasoning", json!(decoded.reasoning)),
        ("calls", json!(decoded.calls)),
        ("incomplete", json!(decoded.incomplete)),
    ];
    let is_there = |value: &Value| *value != json!("") && *value != json!([]);
    let lines: Vec<String> = members
        .iter()
        .filter(|(_, value)| is_there(value))
        .map(|(key, value)| format!("  \"{key}\": {}", spaced(value)))
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// JSON on one line with blanks, as people write it; calls one a line.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(spaced).collect();
            format!("[{}]", list.join(", "))
        }
        Value::Object(map) => {
            let members: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", json!(key), spaced(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn result(text: &str, decoded: &Decoded) -> String {
    let mut parts = Vec::new();
    if !decoded.reasoning.is_empty() {
        parts.push(format!("reasoning {}", cell(&decoded.reasoning)));
    }
    if decoded.content == text {
        parts.push("text, as it is".to_owned());
    } else if !decoded.content.is_empty() {
        parts.push(format!("text {}", cell(&decoded.content)));
    }
    for call in &decoded.calls {
        let unknown = match (&call["unknown"], &call["fault"]) {
            (Value::Bool(true), _) => ", no such tool",
            (_, Value::String(_)) => ", not run",
            _ => "",
        };
        let name = call["name"].as_str().unwrap_or_default();
        parts.push(format!("{}{unknown}", cell(&format!("{name} {}", spaced(&call["arguments"])))));
    }
    parts.extend(decoded.incomplete.iter().map(|name| format!("{} is incomplete", cell(name))));
    parts.join("; ")
}

/// What was mended in the calls that can be run.
fn steps(decoded: &Decoded) -> String {
    if decoded.calls.is_empty() {
        return String::new();
    }
    let mut steps: Vec<&str> = decoded
        .repairs
        .iter()
        .map(|(step, _)| step.as_str())
        .filter(|step| !step.starts_with("found:"))
        .collect();
    steps.dedup();
    steps.join(", ")
}

/// Code in a cell of a table: on one line, with no bar that would end it.
fn cell(text: &str) -> String {
    let text = text.replace('\n', "⏎").replace('\t', "⇥").replace('|', "\\|");
    let fence = if text.contains('`') { "``" } else { "`" };
    let space = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
