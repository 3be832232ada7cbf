use rail_route::{Client, Routing, explain, facts};
use serde_json::json;

use crate::setup::{Case, Lack, profiles, tools};

fn case() -> Case {
    let mut case =
        Case::new(json!({"model": "claude-opus-4", "tools": tools(&["Bash", "Edit", "WebFetch"])}));
    case.tokens = 12_345;
    case.routing.profiles = profiles(&[("qwen3-480b", Lack::Window(8_192))]);
    case
}

#[test]
fn the_explanation_is_the_object_that_others_rely_on() {
    let case = case();
    let facts = facts(&case.request, &Client { headers: &[], name: Some("rail") }, case.tokens);
    let mut shown = serde_json::to_value(explain(&case.plan(), &facts)).unwrap();
    assert_eq!(shown["facts"]["session"].as_str().unwrap().len(), 16);
    shown["facts"]["session"] = json!("…");
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap(), @r#"
    {
      "asked": "claude-opus-4",
      "virtual_model": "coding",
      "why": "2 of 3 declared tools are neither web nor image tools",
      "facts": {
        "tokens": 12345,
        "max_output": 1000,
        "images": 0,
        "last_images": 0,
        "image_read": null,
        "tools": 3,
        "web_tools": 1,
        "image_tools": 0,
        "server_search": null,
        "web_called": null,
        "thinking": false,
        "thinking_asked": "unsaid",
        "in_tool_loop": false,
        "purpose": "main",
        "client": "rail",
        "session": "…"
      },
      "attempts": [
        {
          "target": "qwen,qwen3-coder-plus",
          "why": "2nd of chain `coding`"
        },
        {
          "target": "shuaihong,gemini-2.5-pro",
          "why": "the security chain of `coding`"
        }
      ],
      "skipped": [
        {
          "target": "modelscope,qwen3-480b",
          "why": "12,345 tokens are more than the 7,192 that it takes beside 1,000 of output"
        }
      ]
    }
    "#);
}

#[test]
fn the_explanation_can_be_read() {
    let case = case();
    let facts = facts(&case.request, &Client { headers: &[], name: Some("rail") }, case.tokens);
    insta::assert_snapshot!(explain(&case.plan(), &facts), @r"
    asked for  claude-opus-4
    taken for  coding
    why        2 of 3 declared tools are neither web nor image tools
    facts      12,345 tokens, 0 images, 3 tools (1 web), thinking unsaid, from rail
    attempts   1. qwen,qwen3-coder-plus     2nd of chain `coding`
               2. shuaihong,gemini-2.5-pro  the security chain of `coding`
    skipped    -  modelscope,qwen3-480b     12,345 tokens are more than the 7,192 that it takes beside 1,000 of output
    ");
    let mut nothing = Case::new(json!({"model": "gone,model"}));
    nothing.routing.providers.clear();
    let facts = rail_route::facts(&nothing.request, &Client::default(), 1);
    insta::assert_snapshot!(explain(&nothing.plan(), &facts), @r"
    asked for  gone,model
    taken for  a target
    why        the target was asked for by name
    facts      1 token, 0 images, 0 tools, thinking unsaid
    attempts   none: no target is left
    skipped    -  gone,model  the provider `gone` is not configured
    ");
    let empty = Case { routing: Routing::default(), ..Case::new(json!({"model": ""})) };
    let facts = rail_route::facts(&empty.request, &Client::default(), u64::MAX);
    insta::assert_snapshot!(explain(&empty.plan(), &facts), @r"
    asked for  nothing
    taken for  default
    why        no other rule takes it: 100 tokens, 0 tools
    facts      18,446,744,073,709,551,615 tokens, 0 images, 0 tools, thinking unsaid
    attempts   none: no chain has a target for it; write `default` under [router]
    ");
}
