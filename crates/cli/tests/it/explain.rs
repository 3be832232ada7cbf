//! `rail route explain`, as a user runs it.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::Home;

/// A provider for each name in the chains of the first design.
const PROVIDERS: &str = r#"
[providers.qwen]
protocol = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
models   = ["qwen3-coder-plus", "qwen3-max"]
[providers.modelscope]
protocol = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
[providers.shuaihong]
protocol = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
[providers.lmstudio]
protocol = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
"#;

/// The configuration of the first design, word for word, and its providers.
fn seed() -> Home {
    let home = Home::with(PROVIDERS);
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/tests/it/data/seed.json");
    home.write("seed.json", &fs::read_to_string(seed).unwrap());
    home
}

fn explained(home: &Home, more: &[&str], request: &Value) -> String {
    let args = [&["route", "explain", "--config", "../seed.json"], more].concat();
    home.said(&args, &request.to_string())
}

fn anthropic(fields: &Value) -> Value {
    let mut request =
        json!({"model": "claude-opus-4", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]});
    let all = request.as_object_mut().unwrap();
    all.extend(fields.as_object().unwrap().clone());
    request
}

fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({"name": name, "input_schema": {"type": "object"}});
    json!({"tools": names.iter().map(tool).collect::<Vec<_>>()})
}

const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn the_scenarios_of_the_seed() {
    let home = seed();
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}});
    let asked =
        json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "look at this"}, image]}]});
    assert_snapshot!(explained(&home, &[], &anthropic(&asked)), @r"
    asked for  claude-opus-4
    taken for  imageProcessing
    why        the last user turn holds 1 image
    facts      1,507 tokens, 1 image, 0 tools, thinking unsaid
    attempts   1. shuaihong,gemini-2.5-pro  1st of chain `imageProcessing`
    skipped    -  qwen,qwen3-coder-plus     it sees no images, and the request holds 1 image
               -  lmstudio,gpt-oss-20b-mlx  it sees no images, and the request holds 1 image
    ");
    assert_snapshot!(explained(&home, &[], &anthropic(&tools(&["Read", "Edit"]))), @r"
    asked for  claude-opus-4
    taken for  coding
    why        2 of 2 declared tools are neither web nor image tools
    facts      63 tokens, 0 images, 2 tools, thinking unsaid
    attempts   1. modelscope,qwen3-480b     1st of chain `coding`
               2. qwen,qwen3-coder-plus     2nd of chain `coding`
               3. shuaihong,gemini-2.5-pro  the security chain of `coding`
    ");
    assert_snapshot!(explained(&home, &[], &anthropic(&tools(&["WebSearch"]))), @r"
    asked for  claude-opus-4
    taken for  webSearch
    why        the only declared tool, `WebSearch`, is a web tool
    facts      52 tokens, 0 images, 1 tool (1 web), thinking unsaid
    attempts   1. modelscope,qwen3-480b  1st of chain `webSearch`
               2. qwen,qwen3-coder-plus  2nd of chain `webSearch`
    ");
    let mut long = anthropic(&tools(&["Bash"]));
    long["messages"] = json!([{"role": "user", "content": "a line of a long document\n".repeat(12_000)}]);
    assert_snapshot!(explained(&home, &[], &long), @r"
    asked for  claude-opus-4
    taken for  longContext
    why        75,423 tokens are more than the threshold of 60,000
    facts      75,423 tokens, 0 images, 1 tool, thinking unsaid
    attempts   1. shuaihong,gemini-2.5-pro  1st of chain `longContext`
               2. qwen,qwen3-coder-plus     2nd of chain `longContext`
               3. lmstudio,gpt-oss-20b-mlx  the security chain of `longContext`
    ");
}

#[test]
fn json_is_the_object_that_others_rely_on() {
    let request = anthropic(&tools(&["Read", "WebFetch"])).to_string();
    let home = seed();
    home.write("request.json", &request);
    let args = ["route", "explain", "--config", "../seed.json", "--json", "--request", "../request.json"];
    assert_snapshot!(home.said(&args, ""), @r#"
    {
      "asked": "claude-opus-4",
      "virtual_model": "coding",
      "why": "1 of 2 declared tools are neither web nor image tools",
      "facts": {
        "tokens": 65,
        "max_output": 100,
        "images": 0,
        "last_images": 0,
        "image_read": null,
        "tools": 2,
        "web_tools": 1,
        "image_tools": 0,
        "server_search": null,
        "web_called": null,
        "thinking": false,
        "thinking_asked": "unsaid",
        "in_tool_loop": false,
        "purpose": "main",
        "client": "",
        "session": "b1084e7c33a7af18"
      },
      "attempts": [
        {
          "target": "modelscope,qwen3-480b",
          "why": "1st of chain `coding`"
        },
        {
          "target": "qwen,qwen3-coder-plus",
          "why": "2nd of chain `coding`"
        },
        {
          "target": "shuaihong,gemini-2.5-pro",
          "why": "the security chain of `coding`"
        }
      ],
      "skipped": []
    }
    "#);
}

#[test]
fn every_protocol_is_recognised() {
    let home = seed();
    let function = json!({"name": "edit", "parameters": {"type": "object"}});
    let said = json!([{"role": "user", "content": "hi"}]);
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"functionDeclarations": [function]}]});
    for (about, request, more) in [
        ("anthropic", anthropic(&tools(&["edit"])), &[][..]),
        (
            "openai-chat",
            json!({"model": "claude-opus-4", "messages": said, "tools": [{"type": "function", "function": function}]}),
            &[],
        ),
        (
            "openai-responses",
            json!({"model": "claude-opus-4", "input": "hi", "tools": [{"type": "function", "name": "edit", "parameters": {"type": "object"}}]}),
            &[],
        ),
        (
            "gemini by its path",
            gemini.clone(),
            &["--path", "/v1beta/models/claude-opus-4:streamGenerateContent?alt=sse"],
        ),
        ("gemini by the flag", gemini.clone(), &["-m", "claude-opus-4"]),
        ("gemini by name", gemini, &["--protocol", "gemini", "--model", "claude-opus-4"]),
    ] {
        let shown = explained(&home, &[&["--json"], more].concat(), &request);
        let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{about}: {shown}"));
        let got = json!([
            shown["asked"],
            shown["virtual_model"],
            shown["facts"]["tools"],
            shown["attempts"][0]["target"]
        ]);
        assert_eq!(got, json!(["claude-opus-4", "coding", 1, "modelscope,qwen3-480b"]), "{about}");
    }
}

#[test]
fn names_are_understood_in_their_order() {
    let home = seed();
    home.write(
        ".config/switchrail/config.toml",
        &format!(
            "{PROVIDERS}\n[aliases]\n\"claude-opus-4\" = \"lmstudio,gpt-oss-20b-mlx\"\n\"claude-*\" = \"virtual\"\n\
             \"claude-haiku-*\" = \"reasoning\"\n"
        ),
    );
    let mut shown = String::new();
    for name in [
        "claude-opus-4",
        "claude-sonnet-4",
        "claude-haiku-4",
        "qwen,qwen3-max",
        "reasoning",
        "qwen3-max",
        "unheard-of",
    ] {
        let text = home.said(&["route", "explain", "--config", "../seed.json", "-m", name], "");
        let lines = text.lines().filter(|line| !line.starts_with("facts")).take(4);
        shown += &format!("{}\n", lines.collect::<Vec<_>>().join("\n"));
    }
    assert_snapshot!(shown, @r"
    asked for  claude-opus-4
    taken for  a target
    why        `claude-opus-4` is an alias ([aliases], user config.toml:17)
    attempts   1. lmstudio,gpt-oss-20b-mlx  what was asked for
    asked for  claude-sonnet-4
    taken for  default
    why        `claude-sonnet-4` is an alias by `claude-*` ([aliases], user config.toml:18) for what the request is: no other rule takes it: 0 tokens, 0 tools
    attempts   1. qwen,qwen3-coder-plus     1st of chain `default`
    asked for  claude-haiku-4
    taken for  reasoning
    why        `claude-haiku-4` is an alias by `claude-haiku-*` ([aliases], user config.toml:19)
    attempts   1. qwen,qwen3-coder-plus  1st of chain `reasoning`
    asked for  qwen,qwen3-max
    taken for  a target
    why        the target was asked for by name
    attempts   1. qwen,qwen3-max  what was asked for
    asked for  reasoning
    taken for  reasoning
    why        the virtual model was asked for by name
    attempts   1. qwen,qwen3-coder-plus  1st of chain `reasoning`
    asked for  qwen3-max
    taken for  a target
    why        `qwen3-max` is a model of qwen
    attempts   1. qwen,qwen3-max  what was asked for
    asked for  unheard-of
    taken for  default
    why        no other rule takes it: 0 tokens, 0 tools
    attempts   1. qwen,qwen3-coder-plus     1st of chain `default`
    ");
}

#[test]
fn rules_of_ones_own_see_the_client() {
    let home = Home::with(&format!(
        "{PROVIDERS}\n[router]\ndefault = \"qwen,qwen3-max\"\n\
         [[router.rules]]\nname = \"team\"\nheaders = {{ x-team = \"blue-*\" }}\nchain = \"modelscope,a\"\n\
         [[router.rules]]\nname = \"cc\"\nclient = \"claude-code\"\nchain = \"lmstudio,b\"\n\
         [[router.rules]]\nname = \"review\"\nsystem = \"You review code\"\nchain = \"shuaihong,c\"\n"
    ));
    let explain = |more: &[&str], fields: Value| {
        let text = home.said(&[&["route", "explain"], more].concat(), &anthropic(&fields).to_string());
        let line =
            |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or(&text).to_owned();
        format!("{}\n{}\n{}", line("taken"), line("why"), line("attempts"))
    };
    assert_snapshot!(explain(&["--header", "X-Team: blue-1"], json!({})), @r"
    taken for  team
    why        the rule `team` matches: the header `x-team` fits `blue-*`
    attempts   1. modelscope,a  chain `team`
    ");
    assert_snapshot!(explain(&["--header", "user-agent: claude-cli/2.1.5 (external, cli)"], json!({})), @r"
    taken for  cc
    why        the rule `cc` matches: the client is `claude-code`
    attempts   1. lmstudio,b  chain `cc`
    ");
    assert_snapshot!(explain(&[], json!({"system": "You review code, and nothing else."})), @r#"
    taken for  review
    why        the rule `review` matches: the system prompt holds "You review code"
    attempts   1. shuaihong,c  chain `review`
    "#);
    assert_snapshot!(explain(&["--header", "x-team: red"], json!({})), @r"
    taken for  default
    why        no other rule takes it: 5 tokens, 0 tools
    attempts   1. qwen,qwen3-max  chain `default`
    ");
}

#[test]
fn tokens_can_be_given() {
    let home = seed();
    let shown = explained(&home, &["--tokens", "60001"], &anthropic(&json!({})));
    assert!(shown.contains("taken for  longContext\n") && shown.contains("60,001 tokens"), "{shown}");
    let shown = explained(&home, &["--tokens", "60000"], &anthropic(&json!({})));
    assert!(shown.contains("taken for  default\n"), "{shown}");
}

#[test]
fn what_earlier_runs_learned_counts() {
    let home = seed();
    let far = 4_102_444_800_u64;
    home.write(
        "state/switchrail/health.json",
        &json!({"modelscope,qwen3-480b": {"at": 1, "open_until": far, "failure_rate": 1.0, "latency_ms": null, "last_error": null}})
            .to_string(),
    );
    home.write(
        "state/switchrail/learned.json",
        &json!({"calibration": {"qwen,qwen3-coder-plus": {"factor": 1.5, "reports": 9}}}).to_string(),
    );
    let mut request = anthropic(&tools(&["Edit"]));
    request["messages"][0]["content"] = json!("word ".repeat(62_000));
    let shown = explained(&home, &[], &request);
    assert!(shown.contains("taken for  longContext"), "the first target counts half as many again: {shown}");
    let request = anthropic(&tools(&["Edit"]));
    let shown: Value = serde_json::from_str(&explained(&home, &["--json"], &request)).unwrap();
    let order: Vec<&str> =
        shown["attempts"].as_array().unwrap().iter().map(|one| one["target"].as_str().unwrap()).collect();
    assert_eq!(order, ["qwen,qwen3-coder-plus", "shuaihong,gemini-2.5-pro", "modelscope,qwen3-480b"]);

    home.write("state/switchrail/health.json", "{ half");
    let shown = explained(&home, &[], &request);
    assert!(
        shown.contains("rail: warning: HOME/state/switchrail/health.json: how targets fared is not valid"),
        "{shown}"
    );
    assert!(shown.contains("1. modelscope,qwen3-480b"), "{shown}");
}

#[test]
fn without_any_configuration_keys_in_the_environment_are_enough() {
    let home = Home::new()
        .set("ANTHROPIC_API_KEY", "sk-ant-0123456789012345678901234567890123456789")
        .set("GEMINI_API_KEY", "AIza0123456789012345678901234567890123456789");
    let shown = home.said(&["route", "explain", "--json"], &anthropic(&tools(&["Edit"])).to_string());
    let shown: Value = serde_json::from_str(&shown).unwrap();
    // A model server that happens to run on this machine stands behind them.
    let providers: Vec<&str> = (0..2)
        .map(|at| shown["attempts"][at]["target"].as_str().unwrap().split(',').next().unwrap())
        .collect();
    assert_eq!((shown["virtual_model"].as_str(), providers), (Some("coding"), vec!["anthropic", "gemini"]));
}

#[test]
fn what_is_wrong_is_told() {
    let home = seed();
    assert_snapshot!(explained(&home, &[], &json!({"model": "m", "messages": 7})), @r"
    rail: openai-chat, messages: invalid type: integer `7`, expected a sequence at line 1 column 25
    exit 1
    ");
    assert_snapshot!(explained(&home, &[], &json!({"no": "request"})), @r"
    rail: the body is a request of no known protocol; say which it is by `--protocol`
    exit 1
    ");
    assert_snapshot!(home.said(&["route", "explain"], "{ half"), @r"
    rail: the request is no JSON: key must be a string at line 1 column 3
    exit 1
    ");
    assert_snapshot!(home.said(&["route", "explain"], " \n"), @r"
    rail: there is no request; give one by `--request FILE` or on stdin, or a name by `--model NAME`
    exit 2
    ");
    assert_snapshot!(home.said(&["route", "explain", "--request", "gone.json"], ""), @r"
    rail: gone.json can't be read: No such file or directory (os error 2)
    exit 2
    ");
    assert_snapshot!(home.said(&["route", "explain", "--header", "no colon"], ""), @r"
    error: invalid value 'no colon' for '--header <HEADER>': write it as `name: value`

    For more information, try '--help'.
    exit 2
    ");
    home.write("wrong.toml", "[rooter]\n");
    assert_snapshot!(home.said(&["route", "explain", "--config", "../wrong.toml", "-m", "x"], ""), @r"
    rail: the configuration is wrong:
    HOME/work/../wrong.toml:1:2: rooter: there is no such key; did you mean `router`?
    exit 2
    ");
    let alone =
        Home::with("[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    assert_snapshot!(alone.said(&["route", "explain", "-m", "x"], ""), @r#"
    asked for  x
    taken for  default
    why        no other rule takes it: 0 tokens, 0 tools
    facts      0 tokens, 0 images, 0 tools, thinking unsaid
    attempts   none: no chain has a target for it; write `default` under [router]
    rail: warning: configuration: router: there is no `default` chain, so that requests without a chain of their own have no target; write default = "provider,model" under [router], or run `rail init`
    "#);
}
