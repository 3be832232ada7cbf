//! The validator: which parts may stand where, and what they may weigh.

use rail_model::{MediaKind, MediaSource, Part, PartBody, Request, Seal, Thinking};
use rail_wire::fit::fit;
use rail_wire::{ImageLimits, TargetSpec};

use crate::fit_common::*;

#[test]
fn blank_texts_and_empty_messages_go() {
    let messages = [
        user([text(""), text("q")]),
        assistant([text(" \n")]),
        user([text("")]),
        assistant([call("a")]),
        user([result_with("a", vec![text(""), text("r")])]),
        assistant([text("b")]),
        user([text("")]),
        assistant([text("c")]),
        user([]),
    ];
    let (out, losses) = sent(&ANTHROPIC, messages);
    let parts: Vec<_> = out.iter().map(|message| message.parts.len()).collect();
    assert_eq!(parts, [1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(out[2].parts, [result_with("a", vec![text("r")])]);
    assert_eq!(out[4].parts, [text("[empty message]")], "somebody must speak between the assistant's turns");
    let expected = "messages[1].content[0]: a text of white space only; left out\n\
                    messages[6]: nothing is left of this message but a note\n\
                    messages[8]: nothing is left of this message but a note";
    assert_eq!(losses, expected);
    let signed = Part { seal: Some(Seal { issuer: "gemini".into(), data: "s".into() }), ..text("") };
    let (out, _) =
        sent(&GEMINI, [user([text("q")]), assistant([text("a"), signed.clone()]), user([text("r")])]);
    assert_eq!(out[1].parts[1], signed, "the seal is what is said");
}

#[test]
fn images_within_the_targets_limits() {
    let limits = ImageLimits { count: 2, max_bytes: 6, max_edge: 8, max_pixels: 64 };
    let url = media(MediaKind::Image, MediaSource::Url("https://x/y.png".into()));
    let nested = result_with("a", vec![image("AAAA")]);
    let messages = [
        user([image("BBBB"), text("q")]),
        assistant([call("a")]),
        user([nested, url.clone(), image(&"C".repeat(12))]),
    ];
    let see = |images, shrink| {
        let target = TargetSpec { images, shrink, ..target() };
        fitted(&asked(messages.clone()), &target, &ANTHROPIC).request.messages
    };
    let blind = text("[image left out: this model can't see images]");
    let out = see(None, None);
    assert_eq!(out[0].parts[0], blind);
    assert_eq!(out[2].parts, [result_with("a", vec![blind.clone()]), blind.clone(), blind]);
    let older = text("[image left out: this model takes 2 images and there are newer ones]");
    let out = see(Some(limits), Some(halve));
    assert_eq!(out[0].parts[0], older);
    assert_eq!(out[2].parts[..2], [result_with("a", vec![older]), url]);
    let PartBody::Media(small) = &out[2].parts[2].body else { panic!("{out:?}") };
    assert_eq!(
        (small.mime.as_deref(), &small.source),
        (Some("image/jpeg"), &MediaSource::Base64("CCCC".into()))
    );
    let out = see(Some(limits), None);
    assert_eq!(out[2].parts[2], text("[image left out: it is larger than the 6 bytes this model takes]"));
    let out = see(Some(ImageLimits { max_bytes: 3, ..limits }), Some(halve));
    assert_eq!(out[2].parts[2], text("[image left out: it is no image]"));
}

#[test]
fn uploaded_files_stay_with_their_provider_and_its_siblings() {
    let file = media(MediaKind::Document, MediaSource::FileId("file_1".into()));
    let request = own(&RESPONSES, [user([file.clone()])]);
    assert_eq!(fitted(&request, &target(), &CHAT).request.messages[0].parts, [file]);
    let elsewhere = fitted(&request, &target(), &GEMINI);
    assert_eq!(elsewhere.request.messages[0].parts, [text("[document left out: it was uploaded elsewhere]")]);
    assert_eq!(
        losses(&elsewhere),
        "messages[0].content[0]: document left out: only the provider it was uploaded to has it"
    );
}

#[test]
fn extras_are_named_unless_they_are_carried_and_many_become_one() {
    let origin = RESPONSES.protocol;
    let noted = |text: &str| Part { extras: extras(origin, &["annotations", "detail"]), ..Part::text(text) };
    let messages: Vec<_> = (0..7).map(|_| user([noted("q")])).collect();
    let mut request = Request {
        origin: Some(origin),
        extras: extras(origin, &["metadata", "truncation"]),
        ..asked(messages)
    };
    request.messages[2].extras = extras(origin, &["status"]);
    request.tools = vec![rail_model::ToolDecl { extras: extras(origin, &["x_field"]), ..function("f") }];
    request.thinking = Some(Thinking { extras: extras(origin, &["summary"]), ..Thinking::default() });
    let expected = "truncation: openai-chat can't say it\n\
                    thinking.summary: openai-chat can't say it\n\
                    tools[0].x_field: openai-chat can't say it\n\
                    messages[0].content[0].annotations: openai-chat can't say it (7 times)\n\
                    messages[2].status: openai-chat can't say it";
    assert_eq!(losses(&fitted(&request, &target(), &CHAT)), expected);
    assert_eq!(losses(&fit(&request, &target(), &RESPONSES)), "");
}

#[test]
fn parts_stand_only_where_they_can() {
    let messages = [
        user([text("q"), thinking(Some("anthropic")), call("a")]),
        assistant([call("b"), result("b")]),
        user([text("r")]),
    ];
    let (out, losses) = sent(&ANTHROPIC, messages);
    assert_eq!(out[0].parts, [text("q"), text(r#"[call of `f`: {"x":1}]"#)]);
    assert_eq!(out[1].parts, [call("b")]);
    assert_eq!(out[2].parts, [result("b"), text("r")]);
    let expected = "messages[0].content[1]: reasoning is the assistant's; left out\n\
                    messages[0].content[2]: a tool call that is not the assistant's; sent as text";
    assert_eq!(losses, expected);
}
