//! Lists to pick from: models and routes with their chains, health and prices, messages, sessions.

use rail_journal::turns;
use rail_route::{AliasTo, Chain, Target};
use rail_tui::Item;

use crate::agent::slash::Ground;
use crate::clock::Now;
use crate::permission::workspace;
use crate::sessions::age;
use crate::state::State;

/// What is known of targets.
struct Known<'a> {
    ground: &'a Ground,
    state: State,
    now: Now,
}

/// The models that can be asked for: each request routed, virtual models, aliases, targets.
pub(super) fn models(ground: &Ground) -> Result<Vec<Item>, String> {
    let known = Known::new(ground);
    let mut items = known.virtual_models();
    for alias in &known.routing().aliases {
        let more = match &alias.to {
            AliasTo::Classified => vec!["routed by what each request is".to_owned()],
            AliasTo::Virtual(name) => known.chain_of(name),
            AliasTo::Chain(chain) => known.chain(chain),
        };
        // A pattern names no model by itself.
        if !alias.name.contains('*') {
            let detail = format!("alias, {}", alias.origin);
            items.push(Item { value: alias.name.clone(), label: alias.name.clone(), detail, more });
        }
    }
    for name in known.routing().providers.keys() {
        for target in known.routing().targets_of(name) {
            let (label, detail) = (target.to_string(), known.target(&target));
            items.push(Item { value: label.clone(), label, detail, more: known.failure(&target) });
        }
    }
    Ok(items)
}

/// Where requests go: the virtual models with their chains.
pub(super) fn routes(ground: &Ground) -> Result<Vec<Item>, String> {
    Ok(Known::new(ground).virtual_models())
}

impl<'a> Known<'a> {
    fn new(ground: &'a Ground) -> Self {
        Self { ground, state: State::load(&ground.prepared.loaded), now: Now::read() }
    }

    fn routing(&self) -> &rail_route::Routing {
        &self.ground.prepared.loaded.routing
    }

    fn virtual_models(&self) -> Vec<Item> {
        if self.routing().providers.is_empty() {
            return Vec::new();
        }
        let auto = Item {
            value: String::new(),
            label: "routed".to_owned(),
            detail: "each request to the model that suits it".to_owned(),
            more: self
                .routing()
                .chains
                .keys()
                .map(|name| format!("{name}: {}", self.first_with_health(name)))
                .collect(),
        };
        let item = |name: &String| Item {
            value: name.clone(),
            label: name.clone(),
            detail: self.first_of(name),
            more: self.chain_of(name),
        };
        std::iter::once(auto).chain(self.routing().chains.keys().map(item)).collect()
    }

    fn first_of(&self, name: &str) -> String {
        let chain = self.routing().chains.get(name);
        let first = chain.and_then(|chain| chain.0.first());
        let more = chain.map_or(0, |chain| chain.0.len().saturating_sub(1));
        let more = if more > 0 { format!(" and {more} behind it") } else { String::new() };
        first.map(|target| format!("{target}{more}")).unwrap_or_default()
    }

    fn first_with_health(&self, name: &str) -> String {
        let first = self.routing().chains.get(name).and_then(|chain| chain.0.first());
        let health = first.map(|target| format!("  {}", self.target(target))).unwrap_or_default();
        format!("{}{health}", self.first_of(name))
    }

    /// A chain, a target a line, and the last resort behind it.
    fn chain_of(&self, name: &str) -> Vec<String> {
        let own = self.routing().chains.get(name).map(|chain| self.chain(chain)).unwrap_or_default();
        let last = self.routing().security.get(name).map(|chain| self.chain(chain)).unwrap_or_default();
        own.into_iter().chain(last.into_iter().map(|line| format!("last resort: {line}"))).collect()
    }

    fn chain(&self, chain: &Chain) -> Vec<String> {
        let line = |(at, target): (usize, &Target)| format!("{}. {target}  {}", at + 1, self.target(target));
        chain.0.iter().enumerate().map(line).collect()
    }

    /// How a target fares and what it costs.
    fn target(&self, target: &Target) -> String {
        let mut said = Vec::new();
        match self.state.health.of(target) {
            None => said.push("not asked lately".to_owned()),
            Some(kept) => {
                said.push(match kept.circuit(self.now.unix).to_string().as_str() {
                    "closed" => "healthy".to_owned(),
                    other => format!("circuit {other}"),
                });
                said.extend(
                    kept.failure_rate
                        .filter(|rate| *rate > 0.0)
                        .map(|rate| format!("{:.0} % failed", rate * 100.0)),
                );
                said.extend(kept.latency_ms.map(|latency| format!("{latency} ms")));
            }
        }
        said.push(self.price(target));
        said.join(" · ")
    }

    fn price(&self, target: &Target) -> String {
        let routing = self.routing();
        let Some(provider) = routing.providers.get(&target.provider) else {
            return "no such provider".to_owned();
        };
        match &routing.profiles.of(provider, &target.model).price {
            Some(price) => format!("${} in, ${} out a million tokens", price.input, price.output),
            None if provider.is_free() => "free".to_owned(),
            None => "price not known".to_owned(),
        }
    }

    fn failure(&self, target: &Target) -> Vec<String> {
        let kept = self.state.health.of(target);
        let error = kept.and_then(|kept| kept.last_error.as_ref());
        error.map(|error| format!("last failure: {}", error.text)).into_iter().collect()
    }
}

/// The user's messages, to go back to.
pub(super) fn messages(ground: &Ground) -> Result<Vec<Item>, String> {
    let Some(live) = &ground.live else { return Ok(Vec::new()) };
    let turns = turns(&live.folder).map_err(|error| error.to_string())?;
    let item = |(at, turn): (usize, rail_journal::Turn)| Item {
        value: (at + 1).to_string(),
        label: turn.title,
        detail: format!("message {}", at + 1),
        more: Vec::new(),
    };
    Ok(turns.into_iter().enumerate().map(item).collect())
}

/// Earlier sessions of this folder, the newest first.
pub(super) fn sessions(ground: &Ground) -> Result<Vec<Item>, String> {
    let cwd = workspace().map_err(|_| "the working folder is gone".to_owned())?;
    let listing = rail_journal::list(&ground.prepared.state.join("sessions"), Some(&cwd))
        .map_err(|error| error.to_string())?;
    let mut sessions = listing.sessions;
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last));
    let own = ground.live.as_ref().map(|live| live.folder.clone());
    let others = sessions.into_iter().filter(|session| Some(&session.folder) != own.as_ref());
    let now = Now::read().unix;
    let item = |session: rail_journal::Summary| {
        let id = session.id.to_string();
        Item {
            label: session.title.clone().unwrap_or_else(|| id.clone()),
            detail: format!(
                "{} ago, {} messages",
                age(now.saturating_sub(session.last.0 / 1000)),
                session.turns
            ),
            value: id,
            more: Vec::new(),
        }
    };
    Ok(others.map(item).collect())
}
