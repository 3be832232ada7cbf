//! `rail run`: a real client on a gateway that lives as long as it.
//!
//! A client is one file here, and a word in the table of `client.rs`.

mod aim;
pub(crate) mod child;
mod claude;
mod client;
mod codex;
mod gemini;
pub(crate) mod launch;
mod opencode;
mod plain;
mod qwen;
mod stage;

use std::ffi::OsString;

use clap::Args;
use rail_config::{Inputs, Live, LiveError, Loaded};
use rail_gateway::{Configuration, Observe, ObserveSettings, Otlp};
use rail_upstream::Upstream;
use tokio::runtime::Runtime;

use crate::Failure;
use crate::images::shrink_image;
use crate::ledger;
use crate::setup::{Common, serving_runtime, transport, warn, with_local, wrong};
use crate::state::upstream;

pub(crate) use aim::Aim;
pub(crate) use client::{CLIENTS, Client};
pub(crate) use stage::{Program, Stage};

#[derive(Args)]
pub(crate) struct Run {
    /// The client: claude, codex, gemini, qwen or opencode.
    #[arg(value_name = "CLIENT", value_parser = client::parse)]
    client: &'static Client,
    /// What the client is given.
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl Run {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let scene = Scene::set(common)?;
        let upstream = upstream(&scene.loaded, &scene.inputs.env);
        let (runtime, stage) = scene.stage(upstream)?;
        ended(stage.run(runtime, &Program::Client(self.client, &self.args))?)
    }
}

/// What the user's configuration says, for a program on a gateway of its own.
pub(crate) struct Scene {
    pub(crate) inputs: Inputs,
    pub(crate) loaded: Loaded,
    pub(crate) aim: Aim,
}

impl Scene {
    /// Reads the configuration, and tells what is wrong with it before anything is started.
    pub(crate) fn set(common: &Common) -> Result<Self, Failure> {
        let (inputs, checked) = with_local(common.inputs()?)?;
        let loaded = checked.loaded.ok_or(checked.problems).map_err(wrong)?;
        let aim = Aim::find(&loaded, common.model.as_deref())?;
        warn(&loaded);
        Ok(Self { inputs, loaded, aim })
    }

    /// A gateway that follows the configuration and is silent: the terminal is the program's.
    pub(crate) fn stage(self, upstream: Upstream) -> Result<(Runtime, Stage), Failure> {
        let Self { inputs, loaded, aim } = self;
        let runtime = serving_runtime()?;
        let env = inputs.env.clone();
        let observe = {
            let _within = runtime.enter();
            Observe::new(ObserveSettings {
                loaded: &loaded,
                log_to: Box::new(std::io::sink()),
                otlp: Otlp::find(&loaded, &env),
                transport: transport(&env),
            })
        };
        let told = observe.clone();
        let live = Live::start(inputs, move |change| told.changed(&change));
        let live = live.map_err(|error| match error {
            LiveError::Problems(problems) => wrong(problems),
            LiveError::Watch(_) | LiveError::Thread(_) => Failure::Task(error.into()),
        })?;
        let configuration = Configuration::Live(live);
        let upstream = upstream.shrinking(shrink_image);
        Ok((
            runtime,
            Stage { configuration, upstream, observe, ledger: ledger::place_or_none(&loaded)?, env, aim },
        ))
    }
}

/// The program's exit code is ours.
pub(crate) fn ended(code: u8) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure::Ended(code)) }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use rail_config::Env;
    use rail_route::{Target, Thinks};
    use rail_stdx::Secret;
    use rail_wire::{openai_chat, openai_responses};

    use super::launch::{Launch, Pointing};
    use super::*;

    /// What a client is given, where its files are in `/temp`.
    fn launched(client: &Client, asked: Option<&str>, variables: &[(&str, &str)]) -> Launch {
        launched_at(aim(asked), client, variables)
    }

    fn aim(asked: Option<&str>) -> Aim {
        Aim {
            asked: asked.map(str::to_owned),
            window: Some(131_072),
            output: Some(16_384),
            vision: false,
            thinking: Thinks::AsAsked,
            protocol: openai_chat::PROTOCOL.id,
            first: Target::new("p", "m"),
        }
    }

    fn launched_at(aim: Aim, client: &Client, variables: &[(&str, &str)]) -> Launch {
        let env: Env = variables.iter().copied().collect();
        let (token, folder) = (Secret::new("rail-run-0"), Path::new("/temp"));
        let pointing = Pointing { url: "http://127.0.0.1:1", token: &token, aim: &aim, folder, env: &env };
        (client.launch)(&pointing).past_proxies(&env)
    }

    fn shown(launch: &Launch) -> String {
        let Launch { args, set, unset, files, links, warnings } = launch;
        assert_eq!((links.len(), warnings.len()), (0, 0));
        let mut out = String::new();
        args.iter().for_each(|arg| writeln!(out, "arg {arg}").unwrap());
        set.iter().for_each(|(name, value)| writeln!(out, "{name}={value}").unwrap());
        writeln!(out, "without {}", unset.join(" ")).unwrap();
        files.iter().for_each(|(name, value)| writeln!(out, "file {name}\n{value:#}").unwrap());
        out
    }

    #[test]
    fn every_client_is_pointed_at_the_gateway() {
        for client in CLIENTS {
            insta::assert_snapshot!(
                client.name,
                shown(&launched(client, None, &[("QWEN_CODE_SYSTEM_SETTINGS_PATH", "/nowhere")]))
            );
        }
    }

    #[test]
    fn a_model_asked_for_counts_more_than_the_users_variables_and_these_more_than_the_usual() {
        let said = [("ANTHROPIC_MODEL", "mine"), ("GEMINI_MODEL", "mine"), ("ENABLE_TOOL_SEARCH", "true")];
        for (name, variable, asked, without) in [
            ("claude", "ANTHROPIC_MODEL", "p,a/b", None),
            ("gemini", "GEMINI_MODEL", "p,a%2Fb", None),
            ("qwen", "OPENAI_MODEL", "p,a/b", Some("switchrail")),
        ] {
            let client = client::find(name).unwrap();
            let value = |launch: &Launch| launch.set.iter().find(|(name, _)| name == variable).cloned();
            let set = |value: &str| (variable.to_owned(), value.to_owned());
            assert_eq!(value(&launched(client, Some("p,a/b"), &said)), Some(set(asked)));
            assert_eq!(value(&launched(client, None, &said)), without.map(set));
        }
        let claude = launched(client::find("claude").unwrap(), None, &said);
        assert!(claude.set.iter().all(|(name, _)| name != "ENABLE_TOOL_SEARCH"));
    }

    #[test]
    fn a_model_that_codex_knows_needs_no_catalog() {
        let codex = client::find("codex").unwrap();
        for (asked, model, protocol, files) in [
            ("gpt-6.1-sol", "gpt-6.1-sol", openai_responses::ID, 0),
            ("p,gpt-6.1-sol", "gpt-6.1-sol", openai_responses::ID, 1),
            ("gpt-6.1-sol", "small", openai_responses::ID, 1),
            ("gpt-oss:20b", "gpt-oss:20b", openai_chat::PROTOCOL.id, 1),
        ] {
            let aim = Aim { first: Target::new("p", model), protocol, ..aim(Some(asked)) };
            assert_eq!(launched_at(aim, codex, &[]).files.len(), files, "{asked} {model} {protocol}");
        }
    }

    #[test]
    fn what_the_user_has_configured_by_a_variable_stays() {
        let said =
            [("OPENCODE_CONFIG_CONTENT", r#"{"theme": "dark", "model": "a/b"}"#), ("NO_PROXY", "x.test")];
        let launch = launched(client::find("opencode").unwrap(), None, &said);
        let (_, config) = launch.set.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
        let config: serde_json::Value = serde_json::from_str(config).unwrap();
        assert_eq!((&config["theme"], &config["model"]), (&"dark".into(), &"switchrail/switchrail".into()));
        let said = [("OPENCODE_CONFIG_CONTENT", "{\"theme\": \"dark\", // mine\n}")];
        let launch = launched(client::find("opencode").unwrap(), None, &said);
        let (_, config) = launch.set.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
        assert!(config.contains("\"theme\":\"dark\"") && launch.warnings.is_empty(), "{config}");
        let said = [("OPENCODE_CONFIG_CONTENT", "{"), ("NO_PROXY", "x.test")];
        let launch = launched(client::find("opencode").unwrap(), None, &said);
        assert!(launch.warnings.concat().contains("OPENCODE_CONFIG_CONTENT"), "{:?}", launch.warnings);
        let proxies = launch.set.iter().find(|(name, _)| name == "NO_PROXY").unwrap();
        assert_eq!(proxies.1, "x.test,127.0.0.1,localhost");
    }
}
