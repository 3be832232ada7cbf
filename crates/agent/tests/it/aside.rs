//! Models that tools ask outside of the conversation, on real sockets.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rail_agent::machine::Bounds;
use rail_agent::team::{Estimate, Purse};
use rail_agent::{Aside, AsideParts, sight};
use rail_config::{Env, Inputs, Loaded};
use rail_model::{ApiError, ErrorKind, Part, PartBody, Purpose, Stop, Usage};
use rail_proto::Spent;
use rail_testkit::{Conversation, Models as Scripted, Peer, Step, Turn, http_whole, image, text};
use rail_tool::{Inquired, Inquiry, Models};
use rail_tools::Sight;
use rail_upstream::{Live, LiveSettings, Upstream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// What is asked through, and what was told of it.
struct Bed {
    root: TempDir,
    aside: Aside,
    spent: Arc<Mutex<Vec<Spent>>>,
}

impl Bed {
    /// With this configuration, model and budget.
    fn new(config: &str, model: &str, budget: Option<f64>) -> Self {
        let root = tempfile::tempdir().unwrap();
        let env = environment(root.path(), &[]);
        let loaded = Arc::new(load(root.path(), &env, config));
        let spent = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&spent);
        let aside = Aside::new(AsideParts {
            upstream: Upstream::new(Arc::new(Live::new(LiveSettings::default()))),
            loaded,
            env,
            model: model.to_owned(),
            purse: Arc::new(Purse::new(&Bounds { usd: budget, ..Bounds::default() })),
            heard: Arc::new(move |spent| heard.lock().unwrap().push(spent)),
        });
        Self { root, aside, spent }
    }

    async fn ask(&self, to: Inquired, parts: Vec<Part>) -> Result<String, String> {
        assert!(self.root.path().exists());
        let inquiry = Inquiry {
            asker: "test".to_owned(),
            to,
            system: Some("Be short.".to_owned()),
            parts,
            max_output: Some(100),
            stop: Vec::new(),
        };
        let told = self.aside.ask(inquiry, &CancellationToken::new()).await?;
        Ok(format!("{}: {}", told.model, told.text))
    }

    async fn look(&self, images: usize) -> Result<String, String> {
        self.ask(Inquired::Vision { model: None }, question(images)).await
    }

    fn spent(&self) -> Vec<String> {
        let spent = self.spent.lock().unwrap();
        let shown = |spent: &Spent| {
            let Usage { input, output, .. } = spent.usage;
            format!("{} {}/{} {:?}", spent.target, input.unwrap_or(0), output.unwrap_or(0), spent.cost_usd)
        };
        spent.iter().map(shown).collect()
    }
}

fn environment(root: &Path, more: &[(&str, &str)]) -> Env {
    let place = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let own =
        [("HOME", place("home")), ("XDG_CONFIG_HOME", place("config")), ("XDG_STATE_HOME", place("state"))];
    own.into_iter().chain(more.iter().map(|(name, value)| (*name, (*value).to_owned()))).collect()
}

fn load(root: &Path, env: &Env, config: &str) -> Loaded {
    let file = root.join("config.toml");
    std::fs::write(&file, config).unwrap();
    let inputs =
        Inputs { env: env.clone(), working_folder: root.to_owned(), config: Some(file), ..Inputs::default() };
    rail_config::load(&inputs).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A provider that speaks chat and is tried once.
fn provider(name: &str, base_url: &str, more: &str) -> String {
    format!(
        "[providers.{name}]\nprotocol = \"openai-chat\"\nbase_url = \"{base_url}\"\nkey = \"sk-{name}-0123456789\"\n\
         retry = {{ tries = 0 }}\n{more}\n"
    )
}

fn on(models: &Scripted) -> String {
    models.url("/v1")
}

fn question(images: usize) -> Vec<Part> {
    let all = (0..images).map(|_| image("image/png", PNG));
    [Part::text("What is it?")].into_iter().chain(all).collect()
}

fn says(said: &str) -> Turn {
    Turn::reply(vec![text(said)])
}

fn fails(kind: ErrorKind, message: &str) -> Turn {
    Turn::error(ApiError::new(kind, message))
}

#[tokio::test]
async fn a_small_model_does_what_is_done_in_the_background() {
    let models = Scripted::start(vec![says("Paris."), says("Rome.")]).unwrap();
    let config = format!(
        "{}[router]\ndefault = \"p,big\"\n\
         [[router.rules]]\nname = \"background\"\npurpose = \"background\"\nchain = \"p,small\"\n",
        provider(
            "p",
            &on(&models),
            "models = { big = {}, small = { price = { input = 1.0, output = 2.0 } } }"
        )
    );
    let bed = Bed::new(&config, "", None);
    let said = bed.ask(Inquired::Background, vec![Part::text("Capital?")]).await;
    assert_eq!(said.as_deref(), Ok("p/small: Paris."));
    let requests = models.requests();
    let asked = requests[0].request().unwrap();
    assert_eq!(asked.model, "small");
    assert_eq!(asked.system.iter().filter_map(Part::as_text).collect::<Vec<_>>(), ["Be short."]);
    assert_eq!(asked.sampling.max_output, Some(100));
    assert_eq!((asked.messages.len(), asked.tools.len()), (1, 0));
    assert_eq!(asked.purpose, Purpose::Main, "the wire has no word for it");
    bed.aside.set_model("p,big");
    let said = bed.ask(Inquired::Background, vec![Part::text("And of Italy?")]).await;
    assert_eq!(said.as_deref(), Ok("p/big: Rome."), "the session goes on with another model");
}

#[tokio::test]
async fn what_an_answer_took_is_told() {
    let usage = Usage { input: Some(1000), output: Some(10), ..Usage::default() };
    let models = Scripted::start(vec![says("A cat.").usage(usage), says("A dog, twelve times.")]).unwrap();
    let config = format!(
        "{}{}",
        provider("p", &on(&models), "models = { m = { price = { input = 10.0, output = 100.0 } } }"),
        "[agent]\nimage_model = \"p,m\"\n"
    );
    let bed = Bed::new(&config, "", Some(1.0));
    assert_eq!(bed.look(1).await.as_deref(), Ok("p/m: A cat."));
    assert_eq!(bed.look(1).await.as_deref(), Ok("p/m: A dog, twelve times."));
    let spent = bed.spent();
    assert_eq!(spent[0], "p,m 1000/10 Some(0.011)");
    assert!(spent[1].starts_with("p,m ") && !spent[1].starts_with("p,m 0/"), "estimated: {}", spent[1]);
}

#[tokio::test]
async fn with_a_budget_nobody_is_asked_whose_price_is_not_known() {
    let config = format!(
        "{}[agent]\nimage_model = \"far,unheard-of\"\n",
        provider("far", "https://far.example.com/v1", "")
    );
    let bed = Bed::new(&config, "", Some(1.0));
    insta::assert_snapshot!(
        bed.look(1).await.unwrap_err(),
        @"no target can serve `far,unheard-of` (far,unheard-of: its price is not known, so that no budget in dollars can hold; say it as `price` of the model in [providers.far]); `rail route explain` says more"
    );
}

#[tokio::test]
async fn the_next_is_asked_when_one_fails() {
    for first in [
        fails(ErrorKind::Server, "out of order"),
        fails(ErrorKind::NotFound, "no such model"),
        fails(ErrorKind::InvalidRequest, "image input is not supported by this model"),
        Turn::breaks(vec![text("A c")], ApiError::new(ErrorKind::Server, "it broke")),
        Turn::cut(vec![text("A c")]),
    ] {
        let (bad, good) =
            (Scripted::start(vec![first]).unwrap(), Scripted::start(vec![says("A cat.")]).unwrap());
        let config = format!(
            "{}{}[agent]\nimage_model = \"bad,m;good,m\"\n",
            provider("bad", &on(&bad), ""),
            provider("good", &on(&good), "")
        );
        let bed = Bed::new(&config, "", None);
        assert_eq!(bed.look(2).await.as_deref(), Ok("good/m: A cat."));
        assert_eq!((bad.turns_taken(), good.turns_taken()), (1, 1));
        let requests = good.requests();
        let parts = &requests[0].request().unwrap().messages[0].parts;
        let images = parts.iter().filter(|part| matches!(part.body, PartBody::Media(_))).count();
        assert_eq!((parts.len(), images), (3, 2));
    }
}

#[tokio::test]
async fn when_all_fail_each_reason_is_told() {
    let first = Scripted::start(vec![fails(ErrorKind::Server, "out of order")]).unwrap();
    let second = Scripted::start(vec![fails(ErrorKind::InvalidRequest, "no images")]).unwrap();
    let config = format!(
        "{}{}[agent]\nimage_model = \"a,m;b,m\"\n",
        provider("a", &on(&first), ""),
        provider("b", &on(&second), "")
    );
    let bed = Bed::new(&config, "", None);
    insta::assert_snapshot!(bed.look(1).await.unwrap_err(), @"
    no target answered:
    - a,m: out of order (500)
    - b,m: no images (400)
    ");
    assert_eq!(bed.spent(), Vec::<String>::new());
}

#[tokio::test]
async fn a_call_may_name_the_model_as_users_write_it() {
    let models = Scripted::start(vec![says("one"), says("two"), says("three")]).unwrap();
    let config = format!(
        "{}[agent]\nimage_model = \"p,usual\"\n[aliases]\neyes = \"p,aliased\"\n",
        provider("p", &on(&models), "")
    );
    let bed = Bed::new(&config, "", None);
    let mut said = Vec::new();
    for named in [Some("p/other"), Some("eyes"), None, Some("nobody")] {
        let to = Inquired::Vision { model: named.map(str::to_owned) };
        said.push(bed.ask(to, question(1)).await.unwrap_or_else(|why| why));
    }
    insta::assert_snapshot!(said.join("\n"), @"
    p/other: one
    p/aliased: two
    p/usual: three
    no target can serve `nobody` (nobody has a model `nobody`; write `provider,model`); `rail route explain` says more
    ");
}

/// MiniMax's own API, with these answers, each on a connection of its own.
fn minimax(answers: &[Value]) -> Peer {
    let answer = |body: &Value| {
        let reply = http_whole(200, "application/json", body.to_string());
        Conversation::new([Step::ReadRequest, Step::Send(reply), Step::Close])
    };
    Peer::start(answers.iter().map(answer).collect()).unwrap()
}

fn saw(content: &str) -> Value {
    json!({ "content": content, "base_resp": { "status_code": 0, "status_msg": "success" } })
}

#[tokio::test]
async fn minimax_is_asked_through_its_own_api() {
    let peer = minimax(&[saw("A cat.")]);
    let config = format!(
        "{}[agent]\nimage_model = \"minimax/MiniMax-VL-01\"\n",
        provider("minimax", &peer.url("/anthropic/v1"), "")
    );
    let bed = Bed::new(&config, "", None);
    assert_eq!(bed.look(1).await.as_deref(), Ok("minimax/MiniMax-VL-01: A cat."));
    let request = &peer.requests()[0];
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/v1/coding_plan/vlm"));
    assert_eq!(request.header("authorization"), Some("Bearer sk-minimax-0123456789"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let url = format!("data:image/png;base64,{PNG}");
    assert_eq!(body, json!({ "prompt": "Be short.\n\nWhat is it?", "image_url": url }));
    assert_eq!(bed.spent().len(), 1);
}

#[tokio::test]
async fn a_refusal_of_minimax_leads_to_the_next() {
    let refused =
        json!({ "base_resp": { "status_code": 1004, "status_msg": "login fail: sk-minimax-0123456789" } });
    let (peer, next) =
        (minimax(std::slice::from_ref(&refused)), Scripted::start(vec![says("A cat.")]).unwrap());
    let config = format!(
        "{}{}[agent]\nimage_model = \"minimax,MiniMax-VL-01;next,m\"\n",
        provider("minimax", &peer.url("/v1"), ""),
        provider("next", &on(&next), "")
    );
    assert_eq!(Bed::new(&config, "", None).look(1).await.as_deref(), Ok("next/m: A cat."));
    assert_eq!(peer.requests().len(), 1);
    let peer = minimax(&[refused]);
    let config = format!(
        "{}[agent]\nimage_model = \"minimax,MiniMax-VL-01\"\n",
        provider("minimax", &peer.url("/v1"), "")
    );
    let why = Bed::new(&config, "", None).look(1).await.unwrap_err();
    assert!(why.starts_with("minimax,MiniMax-VL-01: 1004: login fail: "), "{why}");
    assert!(!why.contains("0123456789"), "{why}");
}

#[tokio::test]
async fn several_images_go_to_minimax_one_by_one_and_only_where_nobody_else_answers() {
    let (peer, next) = (minimax(&[]), Scripted::start(vec![says("Two cats.")]).unwrap());
    let config = format!(
        "{}{}[agent]\nimage_model = \"minimax,MiniMax-VL-01;next,m\"\n",
        provider("minimax", &peer.url("/v1"), ""),
        provider("next", &on(&next), "")
    );
    assert_eq!(Bed::new(&config, "", None).look(2).await.as_deref(), Ok("next/m: Two cats."));
    assert_eq!(peer.requests().len(), 0);
    let broken = Scripted::start(vec![fails(ErrorKind::Server, "out of order")]).unwrap();
    let peer = minimax(&[saw("A cat."), saw("A dog.")]);
    let config = format!(
        "{}{}[agent]\nimage_model = \"minimax,MiniMax-VL-01;broken,m\"\n",
        provider("minimax", &peer.url("/v1"), ""),
        provider("broken", &on(&broken), "")
    );
    let said = Bed::new(&config, "", None).look(2).await;
    assert_eq!(said.as_deref(), Ok("minimax/MiniMax-VL-01: Image 1: A cat.\n\nImage 2: A dog."));
    assert_eq!((broken.turns_taken(), peer.requests().len()), (1, 2));
    let peer = minimax(&[saw("A cat."), saw("A dog.")]);
    let config = format!(
        "{}[agent]\nimage_model = \"minimax,MiniMax-VL-01\"\n",
        provider("minimax", &peer.url("/v1"), "")
    );
    let said = Bed::new(&config, "", None).look(2).await;
    assert_eq!(said.as_deref(), Ok("minimax/MiniMax-VL-01: Image 1: A cat.\n\nImage 2: A dog."));
    assert_eq!(peer.requests().len(), 2);
}

#[tokio::test]
async fn pages_are_read_by_whoever_sees_where_there_is_no_openrouter() {
    let router = Scripted::start(Vec::new()).unwrap();
    let eyes = Scripted::start(vec![says("A page.")]).unwrap();
    let config = format!(
        "{}{}[agent]\nimage_model = \"eyes,m\"\n",
        provider("openrouter", &on(&router), ""),
        provider("eyes", &on(&eyes), "")
    );
    // A server of the user's own is not taken for OpenRouter, whatever its name.
    let bed = Bed::new(&config, "", None);
    let said = bed.ask(Inquired::Document, question(1)).await;
    assert_eq!(said.as_deref(), Ok("eyes/m: A page."));
    assert_eq!(router.turns_taken(), 0);
}

#[tokio::test]
async fn a_question_ends_when_it_is_cancelled_or_takes_too_long() {
    let models =
        Scripted::start(vec![Turn::stall(vec![text("A")]).reached("begun"), Turn::stall(Vec::new())])
            .unwrap();
    let config = format!("{}[agent]\nimage_model = \"p,m\"\n", provider("p", &on(&models), ""));
    let bed = Bed::new(&config, "", None);
    let cancel = CancellationToken::new();
    let to = Inquired::Vision { model: None };
    let inquiry = Inquiry {
        asker: "test".to_owned(),
        to,
        system: None,
        parts: question(1),
        max_output: None,
        stop: Vec::new(),
    };
    let (stop, models) = (cancel.clone(), Arc::new(models));
    let begun = Arc::clone(&models);
    let asked = bed.aside.ask(inquiry.clone(), &cancel);
    let (told, ()) = tokio::join!(asked, async {
        tokio::task::spawn_blocking(move || begun.wait_for("begun")).await.unwrap();
        stop.cancel();
    });
    assert_eq!(told.unwrap_err(), "the model was not asked to its end: the call was cancelled");
    let Bed { aside, .. } = bed;
    let aside = aside.within(Duration::from_millis(1));
    let told = aside.ask(inquiry, &CancellationToken::new()).await;
    assert_eq!(told.unwrap_err(), "no model answered within 1ms; ask for less, or name a faster one");
}

#[test]
fn who_sees_is_found_by_keys_and_by_the_main_model() {
    let root = tempfile::tempdir().unwrap();
    let own = "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"https://p.example.com/v1\"\nkey = \"none\"\n\
               models = { blind = { vision = false }, sees = { vision = true } }\n";
    let blind = own.replace(", sees = { vision = true }", "");
    let chosen = format!("{blind}[agent]\nimage_model = \"p,x\"\n");
    for (config, variables, model, expected) in [
        (own, &[][..], "p,blind", Sight::Others),
        (own, &[], "p,sees", Sight::MainToo),
        (&blind, &[], "p,blind", Sight::Nobody),
        (&blind, &[("OPENAI_API_KEY", "sk-1")], "p,blind", Sight::Others),
        (&blind, &[("ANTHROPIC_API_KEY", "sk-1")], "p,blind", Sight::Others),
        (&blind, &[("MINIMAX_API_KEY", "sk-1")], "p,blind", Sight::Others),
        (&blind, &[("GEMINI_API_KEY", "sk-1")], "p,blind", Sight::Others),
        (&blind, &[("DEEPSEEK_API_KEY", "sk-1")], "p,blind", Sight::Nobody),
        (&chosen, &[], "p,blind", Sight::Others),
        ("", &[], "", Sight::Nobody),
        ("", &[("ANTHROPIC_API_KEY", "sk-1")], "", Sight::MainToo),
    ] {
        let env = environment(root.path(), variables);
        let loaded = load(root.path(), &env, config);
        assert_eq!(sight(&loaded, &env, model), expected, "{variables:?} {model}\n{config}");
    }
}

#[tokio::test]
async fn an_answer_ends_at_the_strings_that_end_it_and_says_why_it_ended() {
    let models = Scripted::start(vec![
        says("one\nSTOP two"),
        says("three").stop(Stop::MaxTokens),
        says("four"),
        says("five END six").repeat(),
    ])
    .unwrap();
    let config = provider("p", &on(&models), "models = [\"m\"]");
    let responses =
        provider("r", &on(&models), "models = [\"m\"]").replace("openai-chat", "openai-responses");
    let asked = async |config: &str, model: &str| {
        let bed = Bed::new(config, model, None);
        let inquiry = Inquiry {
            asker: "test".to_owned(),
            to: Inquired::Background,
            system: None,
            parts: vec![Part::text("x")],
            max_output: Some(50),
            stop: vec!["END".to_owned(), "\nSTOP".to_owned()],
        };
        let told = bed.aside.ask(inquiry, &CancellationToken::new()).await.unwrap();
        (told.text, told.stop)
    };
    let by = |stop: &str| Stop::StopSequence(Some(stop.to_owned()));
    let own = format!("{config}[router]\ndefault = \"p,m\"\n");
    assert_eq!(asked(&own, "p,m").await, ("one".to_owned(), by("\nSTOP")));
    assert_eq!(models.requests()[0].request().unwrap().sampling.stop, ["END", "\nSTOP"]);
    assert_eq!(asked(&own, "p,m").await, ("three".to_owned(), Stop::MaxTokens));
    assert_eq!(asked(&own, "p,m").await, ("four".to_owned(), Stop::EndTurn));
    // This protocol has no word for them.
    let other = format!("{responses}[router]\ndefault = \"r,m\"\n");
    assert_eq!(asked(&other, "r,m").await, ("five ".to_owned(), by("END")));
}

#[tokio::test]
async fn nobody_is_asked_where_nothing_is_left_to_spend() {
    let root = tempfile::tempdir().unwrap();
    let env = environment(root.path(), &[]);
    let purse = Arc::new(Purse::new(&Bounds { usd: Some(0.5), ..Bounds::default() }));
    purse.hold(Estimate::default()).await.unwrap().spent(&Usage::default(), 0.5);
    let aside = Aside::new(AsideParts {
        upstream: Upstream::new(Arc::new(Live::new(LiveSettings::default()))),
        loaded: Arc::new(load(root.path(), &env, "")),
        env,
        model: String::new(),
        purse,
        heard: Arc::new(|spent| panic!("{spent:?}")),
    });
    let inquiry = Inquiry {
        asker: "test".to_owned(),
        to: Inquired::Background,
        system: None,
        parts: vec![Part::text("x")],
        max_output: None,
        stop: Vec::new(),
    };
    let why = aside.ask(inquiry, &CancellationToken::new()).await.unwrap_err();
    assert!(why.contains("have spent $0.5000 of $0.5"), "{why}");
}
