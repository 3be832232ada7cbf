use std::collections::BTreeSet;

use rail_route::{Chain, Rule, built_in_virtual_models};
use rail_stdx::nearest;

use crate::way::{Way, quoted};

use super::{Found, Input};

pub(super) fn check(input: &Input<'_>, found: &mut Found) {
    let mut names: BTreeSet<&str> = built_in_virtual_models().collect();
    names.extend(input.settings.router.rules.iter().map(|rule| rule.name.as_str()));
    sections(input, &names, found);
    aliases(input, &names, found);
    rules(input, found);
    if input.settings.router.options.long_context_threshold == 0 {
        let way = Way::from(["router", "options", "long_context_threshold"]);
        found.problems.push(input.problem(&way, "every request has more than 0 tokens; write 1 or more"));
    }
    let has_default = input.settings.router.default.is_some() || input.extras.chains.contains_key("default");
    if !has_default && !input.is_broken(&Way::from(["router", "default"])) {
        let text = "there is no `default` chain, so that requests without a chain of their own have no target; \
                    write default = \"provider,model\" under [router], or run `rail init`";
        found.warnings.push(input.problem(&Way::from(["router"]), text));
    }
}

/// `[router]` and `[security]`: each key is a virtual model, each value a chain.
fn sections(input: &Input<'_>, names: &BTreeSet<&str>, found: &mut Found) {
    let router = input.settings.router.chains().map(|(name, chain)| ("router", name, chain));
    let security = input.settings.security.iter().map(|(name, chain)| ("security", name.as_str(), chain));
    for (section, name, text) in router.chain(security) {
        let way = Way::from([section, name]);
        if !names.contains(name) && !input.is_broken(&Way::from(["router", "rules"])) {
            found.problems.push(input.key_problem(&way, unknown_virtual_model(name, names)));
        }
        if let Ok(chain) = text.0.parse() {
            providers_of(input, &chain, &way, found);
        }
    }
}

fn unknown_virtual_model(name: &str, names: &BTreeSet<&str>) -> String {
    match nearest(name, names.iter().copied()) {
        Some(meant) => format!("no virtual model has this name; did you mean `{meant}`?"),
        None => "no virtual model has this name; correct it, or add a [[router.rules]] with this `name`"
            .to_owned(),
    }
}

/// A chain may name providers that are not there: their targets are skipped.
fn providers_of(input: &Input<'_>, chain: &Chain, way: &Way, found: &mut Found) {
    let ours = input.settings.providers.keys().map(String::as_str);
    let others = input.extras.providers.iter().map(|provider| provider.name.as_str());
    let known: BTreeSet<&str> = ours.chain(others).collect();
    let mut told = BTreeSet::new();
    for target in &chain.0 {
        let name = target.provider.as_str();
        if known.contains(name) || !told.insert(name) {
            continue;
        }
        let meant = nearest(name, known.iter().copied());
        let meant = meant.map(|meant| format!("did you mean `{meant}`? Else ")).unwrap_or_default();
        let text = format!(
            "no provider `{name}` is configured, so that its targets are skipped; {meant}add [providers.{}]",
            quoted(name)
        );
        found.warnings.push(input.problem(way, text));
    }
}

fn aliases(input: &Input<'_>, names: &BTreeSet<&str>, found: &mut Found) {
    for (name, text) in &input.settings.aliases {
        let way = Way::from(["aliases", name]);
        if name.trim().is_empty() {
            found.problems.push(
                input.key_problem(&way, "an alias needs a name; write the model name that is asked for"),
            );
        }
        let to = text.trim();
        if to == "virtual" || names.contains(to) {
            continue;
        }
        if to.contains([',', ';']) {
            match to.parse::<Chain>() {
                Ok(chain) => providers_of(input, &chain, &way, found),
                Err(error) => found.problems.push(input.problem(&way, error.to_string())),
            }
            continue;
        }
        let known = names.iter().copied().chain(["virtual"]);
        let meant =
            nearest(to, known).map(|meant| format!("did you mean `{meant}`? Else ")).unwrap_or_default();
        let text = format!(
            "`{to}` is no virtual model; {meant}write `provider,model`, or `virtual` to classify each request"
        );
        found.problems.push(input.problem(&way, text));
    }
}

fn rules(input: &Input<'_>, found: &mut Found) {
    let way = Way::from(["router", "rules"]);
    // Rules that were wrong are gone; the others are told by the number that they have in the file.
    let is_there = |at: &usize| !input.earlier.iter().any(|problem| problem.key == way.at(*at).to_string());
    let mut numbers = (0..).filter(is_there);
    for (at, rule) in input.settings.router.rules.iter().enumerate() {
        let mut of_rule = Found::default();
        one_rule(input, rule, &way.at(at), &mut of_rule);
        let (here, in_file) = (way.at(at).to_string(), way.at(numbers.next().unwrap_or(at)).to_string());
        for problem in of_rule.problems.iter_mut().chain(&mut of_rule.warnings) {
            problem.key = problem.key.replacen(&here, &in_file, 1);
        }
        found.problems.append(&mut of_rule.problems);
        found.warnings.append(&mut of_rule.warnings);
    }
}

fn one_rule(input: &Input<'_>, rule: &Rule, way: &Way, found: &mut Found) {
    let name = rule.name.as_str();
    if name.is_empty() || name == "virtual" || name.contains([',', ';']) {
        let text =
            "this can be no name of a virtual model; write a word without `,` and `;` that is not `virtual`";
        found.problems.push(input.problem(&way.to("name"), text));
    }
    if matches!(name, "options" | "rules") {
        let text = format!("`{name}` means something else under [router]; choose another name");
        found.problems.push(input.problem(&way.to("name"), text));
    }
    if let Some(text) = &rule.chain {
        match text.parse::<Chain>() {
            Ok(chain) => providers_of(input, &chain, &way.to("chain"), found),
            Err(error) => found.problems.push(input.problem(&way.to("chain"), error.to_string())),
        }
    }
    let has_chain = rule.chain.is_some()
        || built_in_virtual_models().any(|known| known == name)
        || input.settings.router.own.contains_key(name)
        || input.settings.router.rules.iter().any(|other| other.name == name && other.chain.is_some());
    if !has_chain && !input.is_broken(&Way::from(["router", name])) {
        let text = format!(
            "`{name}` has no chain; write chain = \"provider,model\" here, or a line {name} = \"…\" under [router]"
        );
        found.problems.push(input.problem(way, text));
    }
    if let (Some(least), Some(most)) = (rule.min_tokens, rule.max_tokens)
        && least > most
    {
        let text = format!("at least {least} and at most {most} tokens can't both hold; swap them");
        found.problems.push(input.problem(&way.to("min_tokens"), text));
    }
    let plain = Rule {
        name: rule.name.clone(),
        priority: rule.priority,
        chain: rule.chain.clone(),
        ..Rule::default()
    };
    if *rule == plain {
        let text = "the rule has no condition, so that it matches every request that no earlier rule takes; add one, such as `model` or `min_tokens`";
        found.warnings.push(input.problem(way, text));
    }
}
