//! The questions of `rail init`, one after the other.

use std::collections::BTreeMap;

use rail_config::first::{self, FirstProvider, Picked, WrongAnswer};
use rail_config::found::{catalog, known};
use rail_config::{keyring, look_up, plain};
use rail_route::{Chain, Provider, Target};

use super::talk::Talk;
use super::{Plan, World};
use crate::Failure;
use crate::config::tell;

/// As many models as fit a screen.
const SHOWN_MODELS: usize = 30;

/// Asks which providers are wanted, how each is reached, and which model serves what.
pub(super) fn plan(world: &World, talk: &mut Talk) -> Result<Plan, Failure> {
    let seen = world.all_seen();
    let names: Vec<String> = catalog().into_iter().map(|known| known.name).collect();
    tell(&format!("Known by name: {}\n", names.join(", ")));
    let mut providers = Vec::new();
    while providers.is_empty() {
        for mut one in wanted(&seen, talk)? {
            if set_up(world, talk, &mut one)? == Kept::Yes {
                providers.push(one);
            }
        }
        if providers.is_empty() {
            tell("No provider is set up yet.\n");
        }
    }
    let chains = models(&providers, talk)?;
    Ok(Plan { providers, chains })
}

/// Whether a provider is written.
#[derive(PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

fn wanted(seen: &[FirstProvider], talk: &mut Talk) -> Result<Vec<FirstProvider>, Failure> {
    let names: Vec<String> = seen.iter().map(|one| one.provider.name.clone()).collect();
    let all: Vec<String> = (1..=names.len()).map(|number| number.to_string()).collect();
    let question = "Which providers? Numbers or names, `other` for one that is not known";
    let picked = talk.ask_for(question, &all.join(","), |answer| match first::pick(answer, &names)? {
        picked if picked.is_empty() => Err(WrongAnswer("write at least one".to_owned())),
        picked => Ok(picked),
    })?;
    let mut wanted: Vec<FirstProvider> = Vec::new();
    for picked in picked {
        let one = match picked {
            Picked::Listed(at) => seen.get(at).cloned(),
            Picked::Known(known) => Some(FirstProvider::known(&known)),
            Picked::Other => Some(other(&wanted, talk)?),
        };
        wanted.extend(one);
    }
    Ok(wanted)
}

/// A provider that nobody knows: its name, where it is, what it speaks.
fn other(wanted: &[FirstProvider], talk: &mut Talk) -> Result<FirstProvider, Failure> {
    let taken: Vec<&str> = wanted.iter().map(|one| one.provider.name.as_str()).collect();
    let name = talk.ask_for("Its name, one word of your choice", "", |answer| first::name(answer, &taken))?;
    let url = talk.ask_for("Its address, such as https://host/v1", "", |answer| {
        first::address(answer, first::protocol_of("", answer)?).map(|_| answer.to_owned())
    })?;
    let guess = first::protocol_of("", &url).map_err(|wrong| super::usage(wrong.to_string()))?;
    let question = "What it speaks: anthropic, openai-chat, openai-responses or gemini";
    let protocol = talk.ask_for(question, guess.name(), |answer| first::protocol_of(answer, &url))?;
    let url = first::address(&url, protocol).map_err(|wrong| super::usage(wrong.to_string()))?;
    Ok(FirstProvider::new(Provider::new(name, protocol, url), "Named by you."))
}

/// Asks for the key of a provider, and the provider for its models.
fn set_up(world: &World, talk: &mut Talk, one: &mut FirstProvider) -> Result<Kept, Failure> {
    // A server that named its models wants no key, and a token in a header is there.
    if !one.models.is_empty() || !one.headers.is_empty() {
        return Ok(Kept::Yes);
    }
    loop {
        key(world, talk, one)?;
        let name = plain(&one.provider.name);
        tell(&format!("Asking {name} for its models …\n"));
        let problem = match world.models(one) {
            Ok(models) if models.is_empty() => format!("{name} lists no models."),
            Ok(models) => {
                tell(&format!("{name} answers and has {} models.\n", models.len()));
                one.models = models;
                return Ok(Kept::Yes);
            }
            Err(error) => plain(&error.to_string()),
        };
        let choices = ["try again, with another key", "keep it as it is", "leave it out"].map(str::to_owned);
        match talk.choose(&problem, &choices, 2)?.as_str() {
            "1" => {}
            "3" => return Ok(Kept::No),
            _ => return Ok(Kept::Yes),
        }
    }
}

/// Where the key of a provider is.
fn key(world: &World, talk: &mut Talk, one: &mut FirstProvider) -> Result<(), Failure> {
    let name = one.provider.name.clone();
    let known = known(&name).filter(|known| known.name == name);
    let variables = known.as_ref().map(|known| known.keys.clone()).unwrap_or_default();
    let usual = variables.first().cloned().unwrap_or_else(|| first::variable(&[&name, "API_KEY"]));
    let said = one.key.iter().filter_map(|key| key.strip_prefix("env:").map(str::to_owned));
    let mut set: Vec<String> = said.chain(variables).filter(|name| world.variable(name).is_some()).collect();
    set.dedup();
    let mut choices: Vec<String> = set
        .iter()
        .filter_map(|name| Some(format!("in the variable {name} ({})", plain(&world.variable(name)?.hint()))))
        .collect();
    choices.extend(["pasted now".to_owned(), "it needs none".to_owned()]);
    let is_local = known.is_some_and(|known| known.local);
    let default = if is_local { choices.len() } else { 1 };
    let question =
        format!("Where is the key of {}? A number, or env:NAME, file:PATH, keyring:NAME", plain(&name));
    loop {
        let answer = talk.choose(&question, &choices, default)?;
        one.env.clear();
        match answer.parse::<usize>() {
            Ok(number) if number == choices.len() => one.key = None,
            Ok(number) if number + 1 == choices.len() => pasted(world, talk, one, &usual)?,
            Ok(number) => match number.checked_sub(1).and_then(|at| set.get(at)) {
                Some(name) => one.key = Some(format!("env:{name}")),
                None => {
                    tell(&format!("There is no {number}.\n"));
                    continue;
                }
            },
            Err(_) => match look_up(&world.inputs, &answer) {
                Ok(_) => one.key = Some(answer),
                Err(problem) => {
                    tell(&format!("{problem}\n"));
                    continue;
                }
            },
        }
        return Ok(());
    }
}

/// A key that is typed or pasted: it goes into `.env`, or into the keyring, and only its name into the configuration.
fn pasted(world: &World, talk: &mut Talk, one: &mut FirstProvider, usual: &str) -> Result<(), Failure> {
    let secret = loop {
        let secret = talk.secret("Paste the key, it is not shown")?;
        match first::wrong_secret(&secret) {
            Some(problem) => tell(&format!("{problem}\n")),
            None => break secret,
        }
    };
    if keyring::can_store(&world.inputs.env) {
        let choices =
            ["in the file .env beside the configuration, which only you can read", "in the keyring"];
        if talk.choose("Where is it to be kept?", &choices.map(str::to_owned), 1)? == "2" {
            match keyring::store(&world.inputs.env, &one.provider.name, &secret) {
                Ok(()) => {
                    one.key = Some(format!("keyring:{}", one.provider.name));
                    return Ok(());
                }
                Err(problem) => tell(&format!("{problem}\nIt is kept in .env.\n")),
            }
        }
    }
    let name = first::free_variable(usual, &secret, |name| world.variable(name));
    one.key = Some(format!("env:{name}"));
    one.env = vec![(name, secret)];
    Ok(())
}

/// Which model serves what: the suggested ones, with what is chosen in front.
fn models(providers: &[FirstProvider], talk: &mut Talk) -> Result<BTreeMap<String, Chain>, Failure> {
    let mut chains = first::chains(providers);
    let targets = first::targets(providers, &chains);
    let names: Vec<&str> = providers.iter().map(|one| one.provider.name.as_str()).collect();
    tell("Models:\n");
    for (at, target) in targets.iter().take(SHOWN_MODELS).enumerate() {
        tell(&format!("  {}. {}\n", at + 1, plain(&target.to_string())));
    }
    if targets.len() > SHOWN_MODELS {
        tell(&format!("  … and {} more, by name\n", targets.len() - SHOWN_MODELS));
    }
    for (name, about) in
        first::ASKED.into_iter().zip(["everything", "coding with tools", "long conversations"])
    {
        let suggested = chains.get(name).and_then(|chain| chain.0.first()).cloned();
        let default = suggested.as_ref().map(Target::to_string).unwrap_or_default();
        let question = format!("Which model for {about}? A number or a name");
        let chosen = talk.ask_for(&question, &plain(&default), |answer| match (answer, &suggested) {
            ("", None) => Ok(None),
            (answer, Some(suggested)) if answer == plain(&default) => Ok(Some(suggested.clone())),
            (answer, _) => first::pick_target(answer, &targets, &names).map(Some),
        })?;
        if let Some(target) = chosen {
            first::prefer(&mut chains, name, target);
        }
    }
    Ok(chains)
}
