//! Requests that a target would refuse, or read otherwise than they were meant, if they were only respelled.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_wire::find;
use serde_json::{Value, json};

use crate::corpus::{read_request, write_request};

/// The body for `to`, and the losses as lines.
fn sent(from: &str, to: &str, body: Value) -> (Value, String) {
    let request = read_request(find(from).unwrap(), body.to_string().as_bytes()).unwrap();
    let (body, losses) = write_request(find(to).unwrap(), &request);
    (body, losses.iter().map(|loss| format!("{}: {}\n", loss.path, loss.reason)).collect())
}

fn chat(more: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Go."}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn claude(parts: Value) -> Value {
    json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": parts}]})
}

#[test]
fn anthropic_gets_settings_only_within_its_ranges() {
    let (body, losses) =
        sent("openai-chat", "anthropic", chat(json!({"temperature": 1.7, "stop": ["\n\n", "END", " "]})));
    assert_eq!((&body["temperature"], &body["stop_sequences"]), (&json!(1), &json!(["END"])));
    assert!(losses.contains("temperature: ") && losses.contains("stop: "), "{losses}");
    // Newer models refuse the two together; the usual value says nothing.
    let (body, losses) = sent("openai-chat", "anthropic", chat(json!({"temperature": 0.2, "top_p": 0.5})));
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(0.2), &Value::Null));
    assert!(losses.contains("top_p: "), "{losses}");
    let (body, losses) = sent("openai-chat", "anthropic", chat(json!({"temperature": 1.0, "top_p": 0.5})));
    assert_eq!((&body["temperature"], &body["top_p"], losses.as_str()), (&Value::Null, &json!(0.5), ""));
    // A whole number however it was spelled.
    let asked =
        json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}], "generationConfig": {"topK": 40.0}});
    assert_eq!(sent("gemini", "anthropic", asked).0["top_k"].to_string(), "40");
}

#[test]
fn anthropic_thinks_without_a_temperature_and_without_a_forced_tool() {
    let more = json!({"reasoning_effort": "high", "temperature": 0.2, "top_p": 0.5});
    let (body, losses) = sent("openai-chat", "anthropic", chat(more));
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!((&body["temperature"], &body["top_p"]), (&Value::Null, &Value::Null));
    assert!(losses.contains("temperature: ") && losses.contains("top_p: "), "{losses}");

    let tools = json!([{"type": "function", "function": {"name": "f"}}]);
    let more =
        json!({"reasoning_effort": "high", "tools": tools, "tool_choice": "required", "temperature": 0.2});
    let (body, losses) = sent("openai-chat", "anthropic", chat(more));
    assert_eq!(
        (&body["thinking"]["type"], &body["tool_choice"]["type"]),
        (&json!("disabled"), &json!("any"))
    );
    assert_eq!(body["temperature"], 0.2);
    assert!(losses.contains("thinking: "), "{losses}");
}

#[test]
fn a_loss_inside_an_object_that_was_read_says_what_is_lost() {
    let config = json!({"temperature": 0.5, "mediaResolution": "MEDIA_RESOLUTION_LOW"});
    let asked = json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}], "generationConfig": config});
    let (body, losses) = sent("gemini", "anthropic", asked);
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(losses, "generationConfig: anthropic can't say it (mediaResolution)\n");
}

#[test]
fn the_least_effort_of_others_is_not_anthropics_usual_one() {
    let (body, _) = sent("openai-chat", "anthropic", chat(json!({"reasoning_effort": "minimal"})));
    assert_eq!(body["output_config"]["effort"], "low");
}

#[test]
fn every_tool_takes_an_object_that_says_its_properties() {
    let function = |name: &str, schema: Value| json!({"type": "function", "function": {"name": name, "parameters": schema}});
    let odd =
        [json!({}), json!(true), json!({"type": "object"}), json!({"properties": null, "required": null})];
    let tools: Vec<Value> =
        odd.iter().enumerate().map(|(at, schema)| function(&format!("f{at}"), schema.clone())).collect();
    let (body, _) = sent("openai-chat", "anthropic", chat(json!({"tools": tools})));
    let any = json!({"type": "object", "properties": {}});
    for tool in body["tools"].as_array().unwrap() {
        assert_eq!(tool["input_schema"], any);
    }
    let tool = |schema: &Value| json!({"name": "f", "input_schema": schema});
    for schema in &odd {
        let mut asked = claude(json!("x"));
        asked["tools"] = json!([tool(schema)]);
        let (body, _) = sent("anthropic", "openai-chat", asked.clone());
        assert_eq!(body["tools"][0]["function"]["parameters"], any);
        let (body, _) = sent("anthropic", "openai-responses", asked.clone());
        assert_eq!(body["tools"][0]["parameters"], any);
        assert_eq!(sent("anthropic", "anthropic", asked).0["tools"][0]["input_schema"], *schema);
    }
}

#[test]
fn anthropic_names_documents_only_and_takes_texts_as_texts() {
    let file = |mime: &str, bytes: &[u8]| {
        let data = format!("data:{mime};base64,{}", STANDARD.encode(bytes));
        json!({"type": "file", "file": {"filename": "a.x", "file_data": data}})
    };
    let asked = |part: Value| json!({"model": "m", "messages": [{"role": "user", "content": [part]}]});
    let (body, _) = sent("openai-chat", "anthropic", asked(file("text/csv", "a,é".as_bytes())));
    let block = &body["messages"][0]["content"][0];
    assert_eq!(block["source"], json!({"type": "text", "media_type": "text/plain", "data": "a,é"}));
    assert_eq!(block["title"], "a.x");
    let (body, losses) = sent("openai-chat", "anthropic", asked(file("application/msword", b"\xd0\xcf")));
    let block = &body["messages"][0]["content"][0];
    assert_eq!(block, &json!({"type": "text", "text": "[document a.x left out: this model can't read it]"}));
    assert!(losses.contains("messages[0].content[0]: "), "{losses}");

    let data = STANDARD.encode(b"\x89PNG\r\n\x1a\n");
    let part = json!({"inlineData": {"mimeType": "image/png", "data": data, "displayName": "shot.png"}});
    let (body, losses) =
        sent("gemini", "anthropic", json!({"contents": [{"role": "user", "parts": [part]}]}));
    assert_eq!(body["messages"][0]["content"][0]["title"], Value::Null);
    assert!(losses.contains("messages[0].content[0].name: "), "{losses}");
}

#[test]
fn what_is_left_out_leaves_a_note_so_that_nothing_else_is_taken_for_it() {
    let document = json!({"type": "document", "source": {"type": "url", "url": "https://d.example/a.pdf"}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": [document]});
    let call = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let mut asked = claude(json!("x"));
    asked["messages"] = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result, {"type": "text", "text": "so?"}]}]);
    let (body, _) = sent("anthropic", "openai-chat", asked);
    let note = &body["messages"][3]["content"];
    assert!(note.to_string().contains("[document left out, it is at https://d.example/a.pdf]"), "{note}");

    let parts = json!([{"inlineData": {"mimeType": "video/mp4", "data": "AAAA"}}, {"inlineData": {"mimeType": "audio/ogg", "data": "AAAA"}}, {"text": "so?"}]);
    for to in ["anthropic", "openai-responses"] {
        let (body, losses) = sent("gemini", to, json!({"contents": [{"role": "user", "parts": parts}]}));
        let said = body.to_string();
        assert!(said.contains("[film left out") && said.contains("[sound left out"), "{said}");
        assert_eq!(losses.lines().count(), 2, "{losses}");
    }
}

#[test]
fn gemini_gets_the_same_history_again_after_the_turn_is_over() {
    let call = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "r"});
    let mut asked = claude(json!("x"));
    asked["messages"] = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]);
    let before = sent("anthropic", "gemini", asked.clone()).0;
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.extend([
        json!({"role": "assistant", "content": "Done."}),
        json!({"role": "user", "content": "More."}),
    ]);
    let after = sent("anthropic", "gemini", asked).0;
    let (before, after) = (before["contents"].as_array().unwrap(), after["contents"].as_array().unwrap());
    assert_eq!(before[1]["parts"][0]["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(before.as_slice(), &after[..before.len()]);
}

#[test]
fn gemini_gets_a_seed_it_can_hold_and_no_empty_word() {
    let (body, losses) = sent("openai-chat", "gemini", chat(json!({"seed": 9_007_199_254_740_993_u64})));
    assert_eq!(body["generationConfig"]["seed"], Value::Null);
    assert!(losses.contains("seed: "), "{losses}");
    assert_eq!(sent("openai-chat", "gemini", chat(json!({"seed": -5}))).0["generationConfig"]["seed"], -5);

    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["", "x"]}, "b": {"enum": [""]}}});
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
    let (body, losses) = sent("openai-chat", "gemini", chat(json!({"tools": tools})));
    let fields = &body["tools"][0]["functionDeclarations"][0]["parameters"]["properties"];
    assert_eq!(fields["a"]["enum"], json!(["x"]));
    assert_eq!(fields["b"], json!({"type": "STRING"}));
    assert_eq!(losses.matches("enum: ").count(), 2, "{losses}");
}

#[test]
fn a_text_document_in_a_result_keeps_its_name_in_every_protocol() {
    let source = json!({"type": "text", "media_type": "text/plain", "data": "Keep left."});
    let document = json!({"type": "document", "title": "Manual", "source": source});
    let (body, losses) = sent("anthropic", "gemini", claude(json!([document])));
    assert_eq!(body["contents"][0]["parts"][0]["text"], "Manual:\nKeep left.");
    assert_eq!(losses, "");
    let call = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": [document]});
    let mut asked = claude(json!("x"));
    asked["messages"] = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]);
    let (body, _) = sent("anthropic", "gemini", asked);
    let response = &body["contents"][2]["parts"][0]["functionResponse"]["response"];
    assert_eq!(response["output"], "Manual:\nKeep left.");
}

#[test]
fn an_image_goes_out_under_the_type_it_is_of() {
    let image = |mime: &str, data: String| json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}});
    let gif = STANDARD.encode(b"GIF89a");
    for to in ["anthropic", "openai-chat", "gemini"] {
        let (body, losses) = sent("anthropic", to, claude(json!([image("image/png", gif.clone())])));
        assert!(body.to_string().contains("image/gif") && !body.to_string().contains("image/png"), "{body}");
        assert!(losses.contains("the data is image/gif"), "{losses}");
    }
    // Lines of base64 are base64.
    let (body, losses) =
        sent("anthropic", "gemini", claude(json!([image("image/gif", "R0lG\nODlh\r\n".into())])));
    assert_eq!(body["contents"][0]["parts"][0]["inlineData"]["data"], "R0lGODlh");
    assert_eq!(losses, "");
}

#[test]
fn the_end_of_a_prefill_is_not_white_space_for_anthropic() {
    let messages = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": "It is \n"}]);
    let (body, _) = sent("openai-chat", "anthropic", json!({"model": "m", "messages": messages}));
    assert_eq!(body["messages"][1]["content"][0]["text"], "It is");
}

#[test]
fn cache_breakpoints_travel_between_openais_protocols_and_to_anthropic() {
    let chat = find("openai-chat").unwrap();
    let responses = find("openai-responses").unwrap();
    let point = json!({"mode": "explicit", "ttl": "30m"});
    let body = json!({"model": "m", "input": [{"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "x", "prompt_cache_breakpoint": point}]}]});
    let request = read_request(responses, body.to_string().as_bytes()).unwrap();
    let (sent, losses) = write_request(chat, &request);
    assert_eq!(sent["messages"][0]["content"][0]["prompt_cache_breakpoint"], point);
    assert_eq!(losses, []);
    let request = read_request(chat, sent.to_string().as_bytes()).unwrap();
    let (sent, _) = write_request(responses, &request);
    assert_eq!(sent["input"][0]["content"][0]["prompt_cache_breakpoint"], point);
    let (sent, _) = write_request(find("anthropic").unwrap(), &request);
    assert_eq!(sent["messages"][0]["content"][0]["cache_control"], json!({"type": "ephemeral"}));
}

#[test]
fn wrong_shapes_are_named_and_a_byte_order_mark_is_not_one() {
    let table = [
        ("gemini", r#"{"contents":-1.5}"#, "gemini, contents: invalid type: number, expected an object"),
        (
            "openai-responses",
            r#"{"model":"m","input":[[]]}"#,
            "openai-responses, input[0]: must be an object",
        ),
    ];
    for (id, body, expected) in table {
        let error = read_request(find(id).unwrap(), body.as_bytes()).unwrap_err();
        assert!(error.message.starts_with(expected), "{}", error.message);
    }
    let anthropic = find("anthropic").unwrap();
    let body = "\u{feff}{\"model\":\"m\",\"max_tokens\":9,\"thinking\":{},\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
    let (sent, _) = write_request(anthropic, &read_request(anthropic, body.as_bytes()).unwrap());
    assert_eq!(sent["thinking"], json!({}));
}

#[test]
fn every_request_is_recognised_by_its_fields() {
    for protocol in rail_wire::ALL {
        for fixture in crate::corpus::fixtures(protocol, "request", ".json") {
            let body = crate::corpus::json(&fixture.bytes);
            let found = rail_wire::recognise(&body).map(|protocol| protocol.id);
            assert_eq!(found, Some(protocol.id), "{}/{}", protocol.id, fixture.name);
        }
    }
}
