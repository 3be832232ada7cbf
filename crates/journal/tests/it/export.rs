use rail_journal::{Cause, Compacted, Form, Record, Said, export};
use rail_model::{Message, Part, PartBody, Role};
use serde_json::Value;

use crate::bed::{Bed, NOW, add, calls, image, model, result, results, usage, user};

fn exported(form: Form) -> String {
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, user(1, "use the key sk-123\n\nplease"));
    add(
        &mut writer,
        Record::Message(Said {
            step: 1,
            message: Message::new(
                Role::Assistant,
                vec![PartBody::Thinking("hm".into()).into(), Part::text("I look.")],
            ),
        }),
    );
    add(&mut writer, calls(1, &["a"]));
    add(&mut writer, results(1, vec![result("a", "key: sk-123\n```\nfence\n"), image("aGk=")]));
    add(&mut writer, usage(1));
    add(
        &mut writer,
        Record::Compacted(Compacted { window: vec![], cause: Cause::Full, by: Some("acme/small".into()) }),
    );
    let before = writer.last();
    add(&mut writer, user(2, "never mind"));
    writer.rewind(NOW, before, rail_journal::Way::Back).unwrap();
    add(&mut writer, model(3, "Done."));
    let mut out = Vec::new();
    export(writer.folder(), form, &|text| text.replace("sk-123", "***"), &mut out).unwrap();
    let id = writer.folder().file_name().unwrap().to_str().unwrap();
    String::from_utf8(out).unwrap().replace(id, "ID")
}

#[test]
fn markdown_for_people() {
    insta::assert_snapshot!(exported(Form::Markdown), @r#"
    # use the key ***

    - session: ID
    - folder: `/srv/shop`
    - model: fast
    - begun: 2026-01-01

    ## User

    use the key ***

    please

    ## Assistant

    <details><summary>Thinking</summary>

    ```
    hm
    ```

    </details>

    I look.

    ## Assistant

    **bash**

    ```json
    {"command":"ls"}
    ```

    ## Results

    ````
    key: ***
    ```
    fence
    ````

    *An image (image/png).*

    ---

    *Compacted here: the window was nearly full, summary by acme/small.*

    ## Assistant

    Done.
    "#);
}

#[test]
fn json_for_programs() {
    let text = exported(Form::Json);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(!text.contains("sk-123"));
    assert_eq!(value["messages"].as_array().map(Vec::len), Some(6));
    let message: Message = serde_json::from_value(value["messages"][3]["message"].clone()).unwrap();
    assert_eq!(message.parts[1], image("aGk="));
    insta::assert_snapshot!(text, @r#"
    {"id":"ID","title":"use the key ***","cwd":"/srv/shop","model":"fast","started":1767225600000,"parent":null,"totals":{"turns":2,"steps":3,"requests":1,"input":100,"cache_read":0,"cache_write":0,"output":10,"reasoning":0,"cost_usd":0.25,"unpriced":0},"messages":[
    {"n":2,"at":1767225600000,"message":{"role":"user","parts":[{"body":{"text":"use the key ***\n\nplease"}}]}},
    {"n":3,"at":1767225600000,"message":{"role":"assistant","parts":[{"body":{"thinking":"hm"}},{"body":{"text":"I look."}}]}},
    {"n":4,"at":1767225600000,"message":{"role":"assistant","parts":[{"body":{"tool_call":{"id":{"given":"a"},"name":"bash","arguments":"{\"command\":\"ls\"}"}}}]}},
    {"n":5,"at":1767225600000,"message":{"role":"tool","parts":[{"body":{"tool_result":{"id":{"given":"a"},"content":[{"body":{"text":"key: ***\n```\nfence\n"}}]}}},{"body":{"media":{"kind":"image","mime":"image/png","source":{"base64":"aGk="}}}}]}},
    {"n":7,"at":1767225600000,"compacted":{"cause":"full","by":"acme/small"}},
    {"n":10,"at":1767225600000,"message":{"role":"assistant","parts":[{"body":{"text":"Done."}}]}}
    ]}
    "#);
}
