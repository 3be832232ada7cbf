//! `rail provider use`: the hot switch of the active provider.

use std::fmt::Write;

use anyhow::anyhow;
use clap::Args;
use rail_config::hijack::banner;
use rail_config::{Loaded, set_active};
use rail_route::{Front, Target};

use crate::setup::{Common, warn};
use crate::state::places;
use crate::{Failure, output};

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Use {
    /// A provider, or a prefix of the environment form such as BACK; in any case.
    name: Option<String>,
    /// Take the choice back: chains begin as they are written.
    #[arg(long)]
    none: bool,
}

impl Use {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        output::print(&activated(self.name.as_deref(), common)?)
    }
}

/// Puts a provider at the front of every chain that has it, and says what begins with it now.
pub(crate) fn put_first(name: &str, common: &Common) -> Result<String, Failure> {
    activated(Some(name), common)
}

fn activated(name: Option<&str>, common: &Common) -> Result<String, Failure> {
    let before = common.load()?;
    let provider = match name {
        None => None,
        Some(name) => {
            let chosen = before.choose(name).map_err(|error| Failure::Usage(anyhow!(error)))?;
            Some(chosen.provider.name.clone())
        }
    };
    set_active(places(&before)?, provider.as_deref()).map_err(|error| anyhow!("{error}"))?;
    let after = common.load()?;
    warn(&after);
    Ok(match &provider {
        Some(provider) => chosen(provider, &before, &after),
        None => taken_back(&before, &after),
    })
}

fn chosen(provider: &str, before: &Loaded, after: &Loaded) -> String {
    let mut out = String::new();
    let begins = |front: &Front| front.target.as_ref().is_some_and(|target| target.provider == provider);
    let (fronts, old) = (after.routing.fronts(), before.routing.fronts());
    let first: Vec<(&Front, Option<&Front>)> = fronts
        .iter()
        .zip(&old)
        .filter(|(new, _)| begins(new))
        .map(|(new, old)| (new, changed(new, old)))
        .collect();
    // A string takes no errors.
    let _ = match (
        after.routing.providers.get(provider).and_then(|of| of.unusable.as_ref()),
        first.is_empty(),
    ) {
        (Some(why), _) => {
            writeln!(out, "`{provider}` is the active provider, but it can't be used: {why}")
        }
        (None, true) => writeln!(
            out,
            "`{provider}` is the active provider, but no chain has it, so that nothing changes; name it under [router]"
        ),
        (None, false) => writeln!(out, "`{provider}` is the active provider. These begin with it:"),
    };
    out.push_str(&lines(&first));
    let back = after.choose(provider).ok().and_then(|chosen| chosen.back);
    if back.is_some() {
        out.push_str(&banner(&after.extras.hijack, Some(provider)));
    }
    out
}

fn taken_back(before: &Loaded, after: &Loaded) -> String {
    let mut out = match &after.routing.active {
        Some(active) => {
            format!("The choice is taken back. `{active}` is active, as the environment form says.\n")
        }
        None => "The choice is taken back. Chains begin as they are written.\n".to_owned(),
    };
    let (fronts, old) = (after.routing.fronts(), before.routing.fronts());
    let all: Vec<_> = fronts
        .iter()
        .zip(&old)
        .filter_map(|(new, old)| changed(new, old).map(|old| (new, Some(old))))
        .collect();
    out.push_str(&lines(&all));
    out
}

/// What a chain began with, if that was something else.
fn changed<'a>(new: &Front, old: &'a Front) -> Option<&'a Front> {
    Some(old).filter(|old| old.of == new.of && old.target != new.target)
}

fn lines(fronts: &[(&Front, Option<&Front>)]) -> String {
    let shown = |target: &Option<Target>| target.as_ref().map_or("nothing".to_owned(), Target::to_string);
    let wide = |of: &dyn Fn(&Front) -> usize| fronts.iter().map(|(new, _)| of(new)).max().unwrap_or_default();
    let names = wide(&|front| front.of.chars().count());
    let targets = wide(&|front| shown(&front.target).chars().count());
    let mut out = String::new();
    for (new, old) in fronts {
        let (of, target) = (&new.of, shown(&new.target));
        let before = old.map(|old| format!("  before: {}", shown(&old.target))).unwrap_or_default();
        let line = format!("  {of:<names$}  {target:<targets$}{before}");
        out += &format!("{}\n", line.trim_end());
    }
    out
}
