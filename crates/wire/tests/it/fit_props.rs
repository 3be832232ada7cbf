//! Whatever comes in, what goes out keeps the rules, and fitting it again changes nothing.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rail_model::{
    CacheMark, CallId, CallKind, Effort, Extras, Json, Media, MediaKind, MediaSource, Message, Opaque, Part,
    PartBody, ProtocolId, Request, Role, Sampling, Seal, Thinking, ThinkingMode, ToolCall, ToolChoice,
    ToolDecl, ToolKind, ToolResult,
};
use rail_wire::fit::{Rules, check, fit};
use rail_wire::{ImageLimits, Quirks, TargetSpec, ThinkingStyle};
use serde_json::json;

use crate::fit_common::{ALL, halve};

const LONG: &str = "a_name_that_is_much_longer_than_any_server_would_ever_take_and_then_some_more_of_it_until_it_is_over_the_limit_of_all_of_them_really";

fn rules() -> impl Strategy<Value = Rules> {
    let strict = Rules::strict(ProtocolId::new("strict"));
    select(ALL.into_iter().chain([strict]).collect::<Vec<_>>())
}

fn origin() -> impl Strategy<Value = ProtocolId> {
    select(["anthropic", "openai-chat", "openai-responses", "gemini"].map(ProtocolId::new).to_vec())
}

fn call_id() -> impl Strategy<Value = CallId> {
    let id = select(vec!["a", "b", "c", "d", "a_2", "functions.f:0", "", "call", LONG]);
    (id, any::<bool>())
        .prop_map(|(id, given)| if given { CallId::Given(id.into()) } else { CallId::Minted(id.into()) })
}

fn name() -> impl Strategy<Value = String> {
    select(vec!["f", "g", "h", "", " ", "no good", "a.b", "9th", LONG]).prop_map(str::to_owned)
}

fn words() -> impl Strategy<Value = String> {
    select(vec!["", " \n", "hello", "x-anthropic-billing-header: cc", "more\nwords"]).prop_map(str::to_owned)
}

fn kind() -> impl Strategy<Value = CallKind> {
    select(vec![CallKind::Function, CallKind::Custom])
}

fn seal() -> impl Strategy<Value = Seal> {
    origin().prop_map(|origin| Seal { issuer: origin.name().into(), data: "s".into() })
}

fn extras() -> impl Strategy<Value = Extras> {
    let some = origin().prop_map(|origin| {
        let mut extras = Extras::default();
        extras.insert(origin, "x_field", json!(1));
        extras
    });
    prop_oneof![4 => Just(Extras::NONE), 1 => some]
}

fn media() -> impl Strategy<Value = Media> {
    let kinds = vec![MediaKind::Image, MediaKind::Image, MediaKind::Document, MediaKind::Audio];
    let sources = vec![
        MediaSource::Base64("AAAA".into()),
        MediaSource::Base64("AAAAAAAAAAAAAAAA".into()),
        MediaSource::Base64("AAAA".repeat(20)),
        MediaSource::Base64("-_-_".into()),
        MediaSource::Base64("***".into()),
        MediaSource::Url("https://example.org/x.png".into()),
        MediaSource::FileId("file_1".into()),
    ];
    (select(kinds), select(sources)).prop_map(|(kind, source)| Media { kind, mime: None, source, name: None })
}

fn opaque() -> impl Strategy<Value = Opaque> {
    (origin(), call_id())
        .prop_map(|(origin, id)| Opaque { origin, value: json!({ "type": "x_block", "id": id.as_str() }) })
}

/// Any part but a result.
fn plain_body() -> impl Strategy<Value = PartBody> {
    let call = (call_id(), name(), words(), kind())
        .prop_map(|(id, name, arguments, kind)| PartBody::ToolCall(ToolCall { id, name, arguments, kind }));
    prop_oneof![
        4 => words().prop_map(PartBody::Text),
        1 => words().prop_map(PartBody::Refusal),
        2 => words().prop_map(PartBody::Thinking),
        1 => seal().prop_map(PartBody::Redacted),
        5 => call,
        2 => media().prop_map(PartBody::Media),
        1 => opaque().prop_map(PartBody::Opaque),
    ]
}

fn part_of(body: impl Strategy<Value = PartBody>) -> impl Strategy<Value = Part> {
    let cache = prop_oneof![5 => Just(None), 1 => Just(Some(CacheMark::default()))];
    let seal = prop_oneof![2 => Just(None), 1 => seal().prop_map(Some)];
    (body, seal, cache, extras()).prop_map(|(body, seal, cache, extras)| Part {
        seal,
        cache,
        extras,
        ..Part::new(body)
    })
}

fn result() -> impl Strategy<Value = PartBody> {
    let inner = part_of(plain_body());
    (call_id(), option::of(name()), vec(inner, 0..3), option::of(any::<bool>()), kind()).prop_map(
        |(id, name, content, is_error, kind)| {
            PartBody::ToolResult(ToolResult { id, name, content, is_error, kind })
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let roles = vec![Role::User, Role::User, Role::Assistant, Role::Assistant, Role::Tool, Role::System];
    let parts = vec(part_of(prop_oneof![3 => plain_body(), 2 => result()]), 0..5);
    (select(roles), parts, extras()).prop_map(|(role, parts, extras)| Message { role, parts, extras })
}

fn tool() -> impl Strategy<Value = ToolDecl> {
    let kind = prop_oneof![
        3 => Just(ToolKind::Function { parameters: None }),
        1 => Just(ToolKind::Custom { format: Some(Json::from(json!({"type": "grammar", "syntax": "lark", "definition": "start: x"}))) }),
        1 => opaque().prop_map(ToolKind::Server),
    ];
    let cache = option::of(Just(CacheMark::default()));
    (name(), option::of(words()), kind, cache, extras()).prop_map(
        |(name, description, kind, cache, extras)| ToolDecl {
            name,
            description,
            kind,
            strict: None,
            cache,
            extras,
        },
    )
}

fn choice() -> impl Strategy<Value = ToolChoice> {
    prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Any),
        name().prop_map(ToolChoice::Named),
        (vec(name(), 0..3), any::<bool>())
            .prop_map(|(names, required)| ToolChoice::Among { names, required }),
        opaque().prop_map(ToolChoice::Opaque),
    ]
}

fn thinking() -> impl Strategy<Value = Thinking> {
    let modes =
        select(vec![None, Some(ThinkingMode::On), Some(ThinkingMode::Off), Some(ThinkingMode::Adaptive)]);
    let budgets = select(vec![None, Some(0), Some(500), Some(2000), Some(100_000), Some(u64::MAX)]);
    (modes, budgets, option::of(Just(Effort::High)), extras())
        .prop_map(|(mode, budget, effort, extras)| Thinking { mode, budget, effort, show: None, extras })
}

fn request() -> impl Strategy<Value = Request> {
    let system = vec(part_of(prop_oneof![3 => words().prop_map(PartBody::Text), 1 => plain_body()]), 0..3);
    let output = select(vec![None, Some(1), Some(1024), Some(5000), Some(u64::MAX)]);
    let asked = (option::of(origin()), output, option::of(thinking()), extras());
    let tools = (vec(tool(), 0..4), option::of(choice()), option::of(any::<bool>()));
    (system, vec(message(), 0..9), tools, asked).prop_map(|(system, messages, tools, asked)| {
        let (tools, tool_choice, parallel_tools) = tools;
        let (origin, max_output, thinking, extras) = asked;
        let headers = vec![("anthropic-beta".to_owned(), "x".to_owned())];
        let sampling = Sampling { max_output, ..Sampling::default() };
        let request = Request { system, messages, tools, tool_choice, parallel_tools, ..Request::default() };
        Request { sampling, thinking, origin, headers, extras, ..request }
    })
}

/// The same from a client of the protocol itself, which is left alone the most.
fn of_its_own(request: Request, rules: &Rules) -> Request {
    Request { origin: Some(rules.protocol), ..request }
}

fn target() -> impl Strategy<Value = TargetSpec> {
    let limits = ImageLimits { count: 2, max_bytes: 8, max_edge: 8, max_pixels: 64 };
    let images = select(vec![None, Some(limits), Some(ImageLimits::default())]);
    let most = select(vec![None, Some(1), Some(1500), Some(4096)]);
    let styles = select(vec![ThinkingStyle::AsAsked, ThinkingStyle::Budget, ThinkingStyle::Adaptive]);
    (images, any::<bool>(), most, styles, any::<(bool, bool)>()).prop_map(
        |(images, shrinks, max_output, thinking, (nested, inject_cache))| TargetSpec {
            images,
            shrink: shrinks.then_some(halve),
            max_output,
            thinking,
            quirks: Quirks { image_in_tool_result: nested, inject_cache, ..Quirks::default() },
            ..TargetSpec::new("m")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_out_keeps_the_rules(request in request(), target in target(), rules in rules(), own in any::<bool>()) {
        let request = if own { of_its_own(request, &rules) } else { request };
        let fitted = fit(&request, &target, &rules);
        let broken = check(&fitted.request, &target, &rules);
        prop_assert!(broken.is_empty(), "{:?}\n{:#?}", broken, fitted.request);
    }

    #[test]
    fn fitting_twice_changes_nothing_more(request in request(), target in target(), rules in rules(), own in any::<bool>()) {
        let request = if own { of_its_own(request, &rules) } else { request };
        let once = fit(&request, &target, &rules).request;
        let twice = fit(&once, &target, &rules);
        prop_assert_eq!(twice.request, once, "{:?}", twice.losses);
    }

    #[test]
    fn what_keeps_the_rules_is_left_as_it_is(request in request(), target in target(), rules in rules()) {
        let mut valid = fit(&request, &target, &rules).request;
        valid.origin = Some(rules.protocol);
        prop_assume!(check(&valid, &target, &rules).is_empty());
        let again = fit(&valid, &target, &rules);
        prop_assert_eq!(again.request, valid, "{:?}", again.losses);
    }

    #[test]
    fn a_growing_conversation_keeps_its_ids(ids in vec(call_id(), 1..12), rules in rules()) {
        let mut messages = Vec::new();
        let mut before: Vec<CallId> = Vec::new();
        for id in ids {
            let call = ToolCall { id: id.clone(), name: "f".into(), arguments: "{}".into(), kind: CallKind::Function };
            let result = ToolResult { id, name: None, content: Vec::new(), is_error: None, kind: CallKind::Function };
            messages.push(Message::new(Role::Assistant, vec![Part::new(PartBody::ToolCall(call))]));
            messages.push(Message::new(Role::Tool, vec![Part::new(PartBody::ToolResult(result))]));
            let request = Request { messages: messages.clone(), ..Request::default() };
            let sent = fit(&request, &TargetSpec::new("m"), &rules).request;
            let parts = sent.messages.iter().flat_map(|message| &message.parts);
            let now: Vec<_> = parts.filter_map(|part| if let PartBody::ToolCall(call) = &part.body { Some(call.id.clone()) } else { None }).collect();
            prop_assert!(now.starts_with(&before));
            before = now;
        }
    }
}
