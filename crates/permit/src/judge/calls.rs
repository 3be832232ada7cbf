use std::path::Path;

use super::{Cx, Decision, Finding, files, offers};
use crate::path::Case;
use crate::rule::{About, Holds, HostPattern, host_name};
use crate::{Exec, Facet, Level, Mode, PartKind, Rule};

/// What the rules say of the tool as a whole, and the default for one that touches nothing it could name.
pub(crate) fn tool(cx: &Cx<'_>) -> Vec<Finding> {
    let (tool, rules) = (cx.asked.tool, &cx.policy.rules);
    let found = |decision, why: &str| Finding::new(PartKind::Tool, tool, decision, why);
    let names = |rule: &Rule| rule.names_tool(tool);
    if let Some(rule) = Cx::rule(&rules.deny, names) {
        return vec![found(Decision::Deny, "a rule denies this tool").by(rule)];
    }
    let asks = Cx::rule(&rules.ask, names).filter(|_| cx.policy.mode != Mode::Bypass);
    if let Some(rule) = asks {
        return vec![found(Decision::Ask, "a rule asks about this tool").by(rule)];
    }
    match cx.asked.facets {
        [] => vec![by_level(cx, cx.asked.level)],
        [_, ..] => Vec::new(),
    }
}

/// A tool of which only somebody else knows what it does.
pub(crate) fn foreign(cx: &Cx<'_>) -> Finding {
    match cx.asked.level {
        Level::Read | Level::None => asking(cx, "what it does is known only to whoever made it"),
        level @ (Level::Write | Level::Execute | Level::Network) => by_level(cx, level),
    }
}

/// A skill: it asks by default, since it tells the model what to do.
pub(crate) fn skill(cx: &Cx<'_>, name: &str, folder: &Path, from: &str) -> Finding {
    let rules = &cx.policy.rules;
    let speaks = |rule: &Rule| {
        let named = match &rule.about {
            About::Anything => true,
            About::Name(pattern) => pattern.fits(name.as_bytes(), Case::Counts),
            About::Command(_) | About::Path(_) | About::Host(_) => false,
        };
        named && rule.is_for(cx.asked.tool)
    };
    let found = |decision, why: String| {
        let about = format!("Skill({name})");
        Finding::new(PartKind::Tool, about, decision, why).granting(Facet::Read(folder.to_owned()))
    };
    if let Some(rule) = Cx::rule(&rules.deny, speaks) {
        return found(Decision::Deny, "a rule denies this skill".to_owned()).by(rule);
    }
    if cx.policy.mode == Mode::Bypass {
        return found(Decision::Allow, "the mode `bypass` asks nothing".to_owned());
    }
    if let Some(rule) = Cx::rule(&rules.ask, speaks) {
        return found(Decision::Ask, "a rule asks about this skill".to_owned()).by(rule);
    }
    if let Some(rule) = Cx::rule(&rules.allow, speaks) {
        return found(Decision::Allow, "a rule allows this skill".to_owned()).by(rule);
    }
    let why = format!("a skill tells the model what to do; this one, in `{}`, is {from}", folder.display());
    found(Decision::Ask, why).proposing(offers::of_skill(name))
}

fn by_level(cx: &Cx<'_>, level: Level) -> Finding {
    let found = |decision, why: &str| Finding::new(PartKind::Tool, cx.asked.tool, decision, why);
    match (level, cx.policy.mode) {
        (Level::None, _) => found(Decision::Allow, "it touches nothing outside the session"),
        (Level::Read, _) => found(Decision::Allow, "it only reads"),
        (Level::Write | Level::Execute, Mode::Plan) => found(Decision::Deny, files::PLAN),
        (Level::Write, _) => asking(cx, "what writes asks"),
        (Level::Execute, _) => asking(cx, "what runs programs asks"),
        (Level::Network, _) => asking(cx, "what uses the network asks"),
    }
}

/// Asks, unless a rule allows the tool by its name or nothing is asked.
fn asking(cx: &Cx<'_>, why: &str) -> Finding {
    let tool = cx.asked.tool;
    let found = |decision, why: &str| Finding::new(PartKind::Tool, tool, decision, why);
    if cx.policy.mode == Mode::Bypass {
        return found(Decision::Allow, "the mode `bypass` asks nothing");
    }
    match Cx::rule(&cx.policy.rules.allow, |rule| rule.names_tool(tool)) {
        Some(rule) => found(Decision::Allow, "a rule allows this tool").by(rule),
        None => found(Decision::Ask, why).proposing(offers::of_tool(tool)),
    }
}

/// A command that can't be read: it is asked about as a whole, in every mode, because nothing else could hold.
pub(crate) fn not_read(cx: &Cx<'_>, exec: &Exec, unclear: &str) -> Finding {
    let found = |decision, why: String| Finding::new(PartKind::Command, &exec.command, decision, why);
    let all = |rules: &'_ [Rule]| {
        rules.iter().find(|rule| rule.holds() == Holds::Commands && rule.about == About::Anything).cloned()
    };
    if let Some(rule) = all(&cx.policy.rules.deny) {
        return found(Decision::Deny, "a rule denies every command".to_owned()).by(&rule);
    }
    let why = format!("what it would do can't be told for certain: {unclear}");
    match cx.policy.mode {
        Mode::Plan => found(Decision::Deny, format!("{why}; {}", files::PLAN)),
        Mode::Default | Mode::AcceptEdits | Mode::Bypass => found(Decision::AlwaysAsk, why),
    }
}

/// Judges a host that a call speaks with; `covered` is the rule that allows the command which names it.
pub(crate) fn host(cx: &Cx<'_>, written: &str, covered: Option<&Rule>) -> Finding {
    let host = host_name(written);
    let rules = &cx.policy.rules;
    let speaks = |rule: &Rule| match (&rule.about, rule.holds()) {
        (About::Host(pattern), _) => pattern.fits(&host),
        (About::Anything, Holds::Hosts) => true,
        (About::Anything, Holds::Tool) => rule.is_for(cx.asked.tool),
        (About::Anything | About::Command(_) | About::Path(_) | About::Name(_), _) => false,
    };
    let found = |decision, why: &str| {
        Finding::new(PartKind::Host, host.as_str(), decision, why).granting(Facet::Net(host.clone()))
    };
    if let Some(rule) = Cx::rule(&rules.deny, speaks) {
        return found(Decision::Deny, "a rule denies this host").by(rule);
    }
    if cx.policy.mode == Mode::Bypass {
        return found(Decision::Allow, "the mode `bypass` asks nothing");
    }
    if let Some(rule) = Cx::rule(&rules.ask, speaks) {
        return found(Decision::Ask, "a rule asks about this host").by(rule);
    }
    if let Some(rule) = Cx::rule(&rules.allow, speaks) {
        return found(Decision::Allow, "a rule allows this host").by(rule);
    }
    match covered {
        Some(rule) => found(Decision::Allow, "a rule allows the command that names it").by(rule),
        None => {
            let rule = HostPattern::parse("WebFetch", &format!("domain:{host}")).ok();
            found(Decision::Ask, "a host is asked about before it is spoken with")
                .proposing(offers::of_host(&host, rule))
        }
    }
}
