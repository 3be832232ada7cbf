use proptest::prelude::*;
use rail_model::ProtocolId;

use super::*;
use crate::{Layer, Layers, Outside, Readers, Source, compose};

/// A machine where every variable is set.
struct AllSet;

impl Outside for AllSet {
    fn variable(&self, _name: &str) -> Option<String> {
        Some("sk-1".to_owned())
    }

    fn file(&self, _path: &std::path::Path) -> Result<String, String> {
        Ok("sk-1".to_owned())
    }

    fn keyring(&self, _name: &str) -> Result<String, String> {
        Ok("sk-1".to_owned())
    }

    fn home(&self) -> Option<std::path::PathBuf> {
        None
    }
}

fn known(name: &str) -> FirstProvider {
    let known = found::known(name).unwrap();
    let key = known.keys.first().map(|name| format!("env:{name}"));
    FirstProvider { key, ..FirstProvider::known(&known) }
}

fn local(name: &str, models: &[&str]) -> FirstProvider {
    let provider = Provider::new(name, ProtocolId::new("openai-chat"), "http://127.0.0.1:1234/v1");
    FirstProvider::local(&Local {
        provider,
        models: models.iter().map(|model| (*model).to_owned()).collect(),
    })
}

fn loads(written: &Imported) -> crate::Composed {
    let file = "config.toml".into();
    let source = Source { layer: Layer::User, file, text: written.toml.clone(), readers: Readers::Owner };
    let layers = Layers { files: vec![source], ..Layers::default() };
    compose(&layers, &AllSet).unwrap_or_else(|problems| panic!("{problems}\n{}", written.toml))
}

#[test]
fn a_first_configuration() {
    let providers = [known("deepseek"), local("lmstudio", &["qwen3-coder-30b", "qwen3-vl-8b"])];
    let mut chains = chains(&providers);
    prefer(&mut chains, "longContext", Target::new("lmstudio", "qwen3-coder-30b"));
    let written = write(&providers, &chains);
    insta::assert_snapshot!(written.toml);
    let composed = loads(&written);
    assert_eq!(composed.warnings, []);
    assert_eq!(composed.routing.chains, chains.into_iter().filter(|(name, _)| name != "reasoning").collect());
}

#[test]
fn a_token_goes_to_the_env_file() {
    let env = [("ANTHROPIC_AUTH_TOKEN", "token"), ("ANTHROPIC_BASE_URL", "https://api.z.ai/api/anthropic")];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let first = FirstProvider::found(&found::from_environment(&env)[0]);
    let written = write(std::slice::from_ref(&first), &chains(std::slice::from_ref(&first)));
    assert!(!written.toml.contains("Bearer"), "{}", written.toml);
    assert_eq!(written.env_text(), "ANTHROPIC_AUTHORIZATION=\"Bearer token\"\n");
    assert_eq!(loads(&written).routing.providers["anthropic"].headers.len(), 1);
}

#[test]
fn a_model_that_is_gone_is_not_suggested() {
    let mut first = known("deepseek");
    first.models = vec!["deepseek-v5-coder".to_owned(), "deepseek-v5".to_owned()];
    assert_eq!(chains(&[first.clone()])["default"].to_string(), "deepseek,deepseek-v5-coder");
    first.models.push("deepseek-v4-pro-20260101".to_owned());
    assert_eq!(chains(&[first])["default"].to_string(), "deepseek,deepseek-v4-pro");
}

#[test]
fn a_long_list_is_not_written() {
    let models: Vec<String> = (0..100).map(|number| format!("model-{number}b")).collect();
    let first = local("many", &models.iter().map(String::as_str).collect::<Vec<_>>());
    let written = write(std::slice::from_ref(&first), &chains(std::slice::from_ref(&first)));
    let composed = loads(&written);
    assert_eq!(composed.routing.providers["many"].models.keys().collect::<Vec<_>>(), ["model-99b"]);
}

#[test]
fn answers_that_pick_providers() {
    let listed = ["anthropic".to_owned(), "ollama".to_owned()];
    for (answer, expected) in [
        ("", "Ok([])"),
        ("1", "Ok([Listed(0)])"),
        ("2, Anthropic 1", "Ok([Listed(1), Listed(0)])"),
        ("claude", "Ok([Listed(0)])"),
        ("other", "Ok([Other])"),
        ("3", "Err(there is no 3 in the list; write 1 to 2, or a name)"),
        ("0", "Err(there is no 0 in the list; write 1 to 2, or a name)"),
        (
            "deepsek",
            "Err(no provider is known as `deepsek`; did you mean `deepseek`? Else write `other` to name its address)",
        ),
        ("nobody\u{7}", "Err(no provider is known as `nobody\\u{7}`; write `other` to name its address)"),
    ] {
        let shown = match pick(answer, &listed) {
            Ok(picked) => format!("Ok({picked:?})"),
            Err(error) => format!("Err({error})"),
        };
        assert_eq!(shown, expected, "{answer}");
    }
    let picked = pick("kimi", &listed).unwrap();
    let [Picked::Known(known)] = picked.as_slice() else { panic!("{picked:?}") };
    assert_eq!(known.name, "moonshot");
}

#[test]
fn answers_that_pick_a_model() {
    let listed = [Target::new("a", "x/1"), Target::new("b", "y")];
    for (answer, providers, expected) in [
        ("1", &["a", "b"][..], "a,x/1"),
        (" y ", &["a", "b"], "b,y"),
        ("b, new", &["a", "b"], "b,new"),
        ("new", &["a"], "a,new"),
        ("new", &["a", "b"], "`new` is no model of the list; write a number, or `provider,model`"),
        ("c,new", &["a", "b"], "no provider `c` is set up; there is `a`, `b`"),
        ("9", &["a"], "there is no 9 in the list; write 1 to 2, or a name"),
        ("a,", &["a"], "`a,` is no target: no model stands after the `,`; write `provider,model`"),
    ] {
        let picked = pick_target(answer, &listed, providers);
        let shown = picked.map_or_else(|error| error.to_string(), |target| target.to_string());
        assert_eq!(shown, expected, "{answer}");
    }
}

#[test]
fn answers_that_say_where_a_provider_is() {
    for (url, said, expected) in [
        ("https://host/v1/chat/completions", "", "openai-chat https://host/v1"),
        ("https://api.anthropic.com", "", "anthropic https://api.anthropic.com/v1"),
        ("https://host/v1/responses", "openai-responses", "openai-responses https://host/v1"),
        ("host", "", "the address has no `http://` or `https://`; write it as `https://host/path`"),
        (
            "https://host",
            "openai",
            "`openai` is not spoken; did you mean `openai-chat`? There are: `anthropic`, `openai-chat`, `openai-responses`, `gemini`",
        ),
    ] {
        let shown = protocol_of(said, url).and_then(|protocol| {
            let address = address(url, protocol)?;
            Ok(format!("{protocol} {address}"))
        });
        assert_eq!(shown.unwrap_or_else(|error| error.to_string()), expected, "{url}");
    }
    for (answer, is_right) in [("work", true), ("a b", false), ("", false), ("a,b", false), ("taken", false)]
    {
        assert_eq!(name(answer, &["taken"]).is_ok(), is_right, "{answer}");
    }
}

#[test]
fn variables_that_are_free() {
    let set = |name: &str| (name == "K").then(|| Secret::new("other"));
    assert_eq!(free_variable("K", &Secret::new("new"), set), "K_2");
    assert_eq!(free_variable("K", &Secret::new("other"), set), "K");
    assert_eq!(variable(&["my-own", "API_KEY"]), "MY_OWN_API_KEY");
    assert_eq!(variable(&["3rd", "API_KEY"]), "_3RD_API_KEY");
}

proptest! {
    /// Whatever is found, answered and listed: what is written loads without problems.
    #[test]
    fn what_is_written_always_loads(
        chosen in proptest::collection::vec((0..40_usize, ".{1,8}", proptest::collection::vec(".{0,12}", 0..4)), 0..5),
        picks in proptest::collection::vec((0..3_usize, 0..20_usize), 0..4),
    ) {
        let catalog = found::catalog();
        let mut providers: Vec<FirstProvider> = Vec::new();
        for (number, own, models) in chosen {
            let mut first = match catalog.get(number) {
                Some(it) => known(&it.name),
                None if name(&own, &[]).is_ok() => local(own.trim(), &[]),
                None => continue,
            };
            first.models = models;
            if !providers.iter().any(|other| other.provider.name == first.provider.name) {
                providers.push(first);
            }
        }
        let mut made = chains(&providers);
        let listed = targets(&providers, &made);
        for (kind, number) in picks {
            if let Some(target) = listed.get(number) {
                prefer(&mut made, ASKED[kind], target.clone());
            }
        }
        let written = write(&providers, &made);
        let composed = loads(&written);
        prop_assert_eq!(composed.routing.providers.len(), providers.len());
        prop_assert!(composed.warnings.iter().all(|warning| warning.text.contains("no `default` chain")), "{:?}", composed.warnings);
    }
}
