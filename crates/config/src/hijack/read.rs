use std::collections::{BTreeMap, BTreeSet};

use rail_stdx::{Secret, nearest};

use super::{Back, EnvLayer, EnvSource, Hijack};
use crate::endpoint::{self, plain};

const ENDPOINT: &str = "_API_ENDPOINT";
const ACTUAL: &str = "_ACTUAL_MODEL";
const TARGET: &str = "_TARGET_MODEL";
const KEY: &str = "_API_KEY";
const PROVIDER: &str = "_PROVIDER";
const ENABLED: &str = "HIJACK_ENABLED";
const ACTIVE: &str = "HIJACK_ACTIVE_PROVIDER";
/// The prefix that is active, and the model that is asked for, when nothing is said.
const USUAL_PREFIX: &str = "HIJACK";
const USUAL_TARGET: &str = "gemini-2.5-flash";

pub(super) fn hijack(layers: &[EnvLayer]) -> Hijack {
    let mut layers: Vec<&EnvLayer> = layers.iter().collect();
    layers.sort_by_key(|layer| layer.source);
    let all = Variables { layers };
    let enabled = all.text(ENABLED).is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let mut hijack = Hijack { enabled, ..Hijack::default() };
    let mut of_project = Vec::new();
    for prefix in all.prefixes() {
        hijack.prefixes.push(prefix.to_owned());
        match complete(&all, prefix, &mut hijack.notes) {
            Ok((back, source)) => {
                of_project.push(source == EnvSource::Project);
                hijack.backs.push(back);
            }
            Err(why) => hijack.notes.push(why),
        }
    }
    name_apart(&mut hijack, &of_project);
    hijack.active = active(&all, &hijack.backs, &mut hijack.notes);
    if !enabled && !hijack.backs.is_empty() {
        hijack.notes.push(format!("{ENABLED} is not `true`: no prefix is in force"));
    }
    hijack
}

/// The layers in the order in which they count.
struct Variables<'a> {
    layers: Vec<&'a EnvLayer>,
}

/// A variable with where it comes from.
#[derive(Clone, Copy)]
struct Variable<'a> {
    value: &'a Secret,
    layer: &'a EnvLayer,
}

impl Variable<'_> {
    fn text(&self) -> &str {
        self.value.reveal().trim()
    }
}

impl<'a> Variables<'a> {
    fn get(&self, name: &str) -> Option<Variable<'a>> {
        self.layers.iter().find_map(|layer| Some(Variable { value: layer.values.get(name)?, layer }))
    }

    /// A variable that is set to something.
    fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).map(|variable| variable.value.reveal().trim()).filter(|text| !text.is_empty())
    }

    fn without_project(&self) -> Self {
        let layers = self.layers.iter().copied();
        Self { layers: layers.filter(|layer| layer.source != EnvSource::Project).collect() }
    }

    /// What may be prefixes, in the order of their first variable. A key alone makes none: many programs have one.
    fn prefixes(&self) -> Vec<&'a str> {
        let (mut prefixes, mut seen) = (Vec::new(), BTreeSet::new());
        for name in self.layers.iter().flat_map(|layer| &layer.names) {
            let prefix = [ENDPOINT, ACTUAL, TARGET].iter().find_map(|ending| name.strip_suffix(ending));
            let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
            let prefix = prefix.filter(|prefix| !prefix.is_empty() && prefix.chars().all(usual));
            prefixes.extend(prefix.filter(|prefix| seen.insert(*prefix)));
        }
        prefixes
    }
}

/// The back of a prefix and the source of its endpoint, or why there is none.
fn complete(all: &Variables<'_>, prefix: &str, notes: &mut Vec<String>) -> Result<(Back, EnvSource), String> {
    let source = |ending: &str| all.get(&format!("{prefix}{ending}")).map(|variable| variable.layer);
    if let (Some(endpoint), Some(key)) = (source(ENDPOINT), source(KEY))
        && endpoint.source == EnvSource::Project
        && key.source != EnvSource::Project
    {
        let note = format!(
            "{prefix}{ENDPOINT} of {} is refused: {prefix}{KEY} comes from {}, and a project may not send it to an address of its own",
            plain(&endpoint.label),
            plain(&key.label)
        );
        let trusted = all.without_project();
        if trusted.get(&format!("{prefix}{ENDPOINT}")).is_none() {
            return Err(note);
        }
        notes.push(format!("{note}; what the other sources say of {prefix} stands"));
        return back(&trusted, prefix, notes);
    }
    back(all, prefix, notes)
}

fn back(all: &Variables<'_>, prefix: &str, notes: &mut Vec<String>) -> Result<(Back, EnvSource), String> {
    let variable = |ending: &str| all.get(&format!("{prefix}{ending}"));
    let set = |ending: &str| variable(ending).filter(|variable| !variable.text().is_empty());
    let (Some(endpoint), Some(actual), Some(key)) = (set(ENDPOINT), set(ACTUAL), set(KEY)) else {
        return Err(missing(all, prefix));
    };
    let parts = [endpoint, actual, key];
    let at = |variable: Variable<'_>| plain(&variable.layer.label);
    if !endpoint::is_http(endpoint.text()) {
        return Err(format!(
            "{prefix}{ENDPOINT} in {} is no http address; {prefix} is left out",
            at(endpoint)
        ));
    }
    if actual.text().contains([',', ';']) {
        return Err(format!(
            "{prefix}{ACTUAL} in {} holds `,` or `;`, which no model's name may; {prefix} is left out",
            at(actual)
        ));
    }
    let usual = prefix.to_lowercase();
    let named = set(PROVIDER).map_or(usual.as_str(), |variable| variable.value.reveal().trim());
    let provider = if named.contains(|c: char| matches!(c, ',' | ';') || c.is_whitespace() || c.is_control())
    {
        notes.push(format!("{prefix}{PROVIDER} is no provider's name; `{usual}` is used"));
        usual
    } else {
        named.to_owned()
    };
    let mut labels: Vec<String> = Vec::new();
    labels.extend(parts.into_iter().map(at));
    labels.dedup();
    let back = Back {
        prefix: prefix.to_owned(),
        provider,
        protocol: endpoint::protocol(endpoint.text()),
        endpoint: endpoint.text().to_owned(),
        actual_model: actual.text().to_owned(),
        target_model: set(TARGET).map_or(USUAL_TARGET, |variable| variable.value.reveal().trim()).to_owned(),
        key: Secret::new(key.text()),
        origin: format!("{prefix}_* in {}", labels.join(", ")),
    };
    Ok((back, endpoint.layer.source))
}

/// Says which variables of a prefix are missing, and where the others are.
fn missing(all: &Variables<'_>, prefix: &str) -> String {
    let mut lacks = Vec::new();
    let mut places: Vec<String> = Vec::new();
    for ending in [ENDPOINT, ACTUAL, KEY, TARGET] {
        let name = format!("{prefix}{ending}");
        match all.get(&name) {
            Some(variable) if !variable.text().is_empty() => places.push(plain(&variable.layer.label)),
            Some(blank) if ending != TARGET => {
                lacks.push(format!("{name} is blank in {}", plain(&blank.layer.label)));
            }
            None if ending != TARGET => lacks.push(format!("{name} is not set")),
            Some(_) | None => {}
        }
    }
    places.sort();
    places.dedup();
    let rest =
        if places.is_empty() { String::new() } else { format!(" (the rest is in {})", places.join(", ")) };
    format!("{prefix} is incomplete{rest}: {}", lacks.join(", "))
}

/// Gives each back a provider's name that no other has. Those of the project come last: it can't take a name from the user.
fn name_apart(hijack: &mut Hijack, of_project: &[bool]) {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for turn in [false, true] {
        for (back, _) in hijack.backs.iter_mut().zip(of_project).filter(|(_, project)| **project == turn) {
            let wanted = back.provider.clone();
            let base = format!("{wanted}-{}", back.prefix.to_lowercase());
            let mut number = 1;
            while taken.contains_key(&back.provider.to_lowercase()) {
                back.provider = if number == 1 { base.clone() } else { format!("{base}-{number}") };
                number += 1;
            }
            if let Some(other) = taken.get(&wanted.to_lowercase()) {
                hijack.notes.push(format!(
                    "{other} and {} name the same provider `{wanted}`: that of {} is called `{}`",
                    back.prefix, back.prefix, back.provider
                ));
            }
            taken.insert(back.provider.to_lowercase(), back.prefix.clone());
        }
    }
}

/// The prefix that answers first.
fn active(all: &Variables<'_>, backs: &[Back], notes: &mut Vec<String>) -> Option<String> {
    let usual = backs.iter().find(|back| back.prefix == USUAL_PREFIX).or(backs.first());
    let usual = usual.map(|back| back.prefix.clone());
    let Some(asked) = all.text(ACTIVE) else { return usual };
    let found = Hijack { backs: backs.to_vec(), ..Hijack::default() };
    if let Some(back) = found.back(asked) {
        return Some(back.prefix.clone());
    }
    let guess = nearest(asked, backs.iter().map(|back| back.prefix.as_str()));
    let guess = guess.map(|prefix| format!(" (did you mean {prefix}?)")).unwrap_or_default();
    let instead = usual.as_ref().map(|prefix| format!("; {prefix} answers")).unwrap_or_default();
    notes.push(format!("{ACTIVE} is `{}`, which is no complete prefix{guess}{instead}", plain(asked)));
    usual
}
