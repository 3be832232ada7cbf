//! From what a call will touch to a verdict: every part is judged on its own, and the strictest decides.

mod calls;
mod commands;
mod files;
mod lists;
mod offers;
mod words;

use std::sync::Arc;

use serde::Serialize;

use crate::grant::{Secrets, Walls};
use crate::path::{Bases, Fence};
use crate::rule::{About, Holds, HostPattern};
use crate::{Asked, Denial, Facet, Grant, Mode, PartKind, Policy, Question, Reason, Rule, Verdict, World};
use lists::Lists;
pub(crate) use offers::Proposal;

/// What is decided of a part, from the mildest to the strictest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It may be done.
    Allow,
    /// Somebody must say so first, unless a rule already does.
    Ask,
    /// Somebody must say so each time.
    AlwaysAsk,
    /// It is not done.
    Deny,
}

/// What was found of one part of a call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Finding {
    pub(crate) kind: PartKind,
    pub(crate) about: String,
    pub(crate) decision: Decision,
    pub(crate) why: String,
    pub(crate) rule: Option<Rule>,
    /// What could be allowed for longer, the narrowest first.
    pub(crate) proposals: Vec<Proposal>,
    /// What is granted with it, links resolved.
    pub(crate) grants: Vec<Facet>,
}

/// What a judgement looks at.
pub(crate) struct Cx<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) asked: &'a Asked<'a>,
    pub(crate) world: &'a dyn World,
    pub(crate) lists: Lists<'a>,
}

/// Weighs what a call will touch against what the user allows.
pub fn judge(policy: &Policy, asked: &Asked<'_>, world: &dyn World) -> Verdict {
    let cx = Cx::new(policy, asked, world);
    verdict(&cx, findings(&cx))
}

/// What is found of each part of a call.
pub(crate) fn findings(cx: &Cx<'_>) -> Vec<Finding> {
    let mut found = calls::tool(cx);
    for facet in cx.asked.facets {
        match facet {
            Facet::Read(path) => found.push(files::of_tool(cx, files::Access::Read, path)),
            Facet::Write(path) => found.push(files::of_tool(cx, files::Access::Write, path)),
            Facet::Exec(exec) => found.extend(commands::command(cx, exec)),
            Facet::Net(host) => found.push(calls::host(cx, host, None)),
            Facet::Foreign => found.push(calls::foreign(cx)),
            Facet::Skill { name, folder, from } => found.push(calls::skill(cx, name, folder, from)),
        }
    }
    found
}

/// What the findings of all parts come to.
pub(crate) fn verdict(cx: &Cx<'_>, found: Vec<Finding>) -> Verdict {
    let strictest = found.iter().map(|finding| finding.decision).max().unwrap_or(Decision::Allow);
    // Of those that are equally strict, the first decides; where all is allowed, the first that a rule allows.
    let deciding = found.iter().filter(|finding| finding.decision == strictest);
    let first =
        deciding.clone().find(|finding| finding.rule.is_some()).filter(|_| strictest == Decision::Allow);
    let reason = first.or_else(|| deciding.clone().next()).map_or_else(
        || Reason { why: "it touches nothing outside the session".to_owned(), ..Reason::default() },
        Finding::reason,
    );
    let grant = || Grant { facets: granted(cx, &found), reason: reason.clone(), walls: Arc::new(cx.walls()) };
    match strictest {
        Decision::Allow => Verdict::Allow(grant()),
        Decision::Ask | Decision::AlwaysAsk => Verdict::Ask(Question {
            facets: cx.asked.facets.to_vec(),
            always_asks: strictest == Decision::AlwaysAsk,
            offers: offers::offers(&found),
            note: None,
            grant: Box::new(grant()),
            reason,
        }),
        Decision::Deny => Verdict::Deny(Denial::fixed(reason)),
    }
}

/// Everything that is granted, once.
fn granted(cx: &Cx<'_>, found: &[Finding]) -> Vec<Facet> {
    let mut facets: Vec<Facet> = Vec::new();
    let commands = cx.asked.facets.iter().filter(|facet| match facet {
        Facet::Exec(_) | Facet::Foreign => true,
        // Of a skill its folder is granted.
        Facet::Read(_) | Facet::Write(_) | Facet::Net(_) | Facet::Skill { .. } => false,
    });
    for facet in commands.chain(found.iter().flat_map(|finding| &finding.grants)) {
        if !facets.contains(facet) {
            facets.push(facet.clone());
        }
    }
    facets
}

impl<'a> Cx<'a> {
    pub(crate) fn new(policy: &'a Policy, asked: &'a Asked<'a>, world: &'a dyn World) -> Self {
        Self { policy, asked, world, lists: Lists::new(policy, asked.tool, world) }
    }

    pub(crate) fn bases(&self) -> Bases<'a> {
        bases(self.policy)
    }

    /// The first rule of a list that says yes.
    fn rule(rules: &'a [Rule], fits: impl Fn(&Rule) -> bool) -> Option<&'a Rule> {
        rules.iter().find(|rule| fits(rule))
    }

    /// Secrets that may be read because a rule names them. A rule that lets write them lets read them, unless writing is denied.
    fn named(&self, by: Holds) -> Vec<Fence> {
        let naming = self.lists.naming.iter().filter(|(_, rule)| rule.holds() == by);
        naming.map(|(fence, _)| fence.clone()).collect()
    }

    fn walls(&self) -> Walls {
        let policy = self.policy;
        let bypass = policy.mode == Mode::Bypass;
        let folders = if policy.mode == Mode::Plan { &[] } else { policy.folders.as_slice() };
        let all_hosts = |rule: &Rule| {
            rule.holds() == Holds::Hosts
                && matches!(rule.about, About::Anything | About::Host(HostPattern::Any))
        };
        let fences = |list: &[(Fence, &Rule)]| list.iter().map(|(fence, _)| fence.clone()).collect();
        Walls {
            denied: fences(&self.lists.read.deny),
            asked: if bypass { Vec::new() } else { fences(&self.lists.read.ask) },
            named: self.named(Holds::Reads),
            named_to_write: match self.lists.write.deny_all {
                Some(_) => Vec::new(),
                None => self.named(Holds::Writes),
            },
            unwritable: fences(&self.lists.write.deny),
            secrets: if bypass { Secrets::Open } else { Secrets::Kept },
            home: policy.home.clone(),
            writable: folders.iter().chain(&policy.temp).cloned().collect(),
            folders: policy.folders.clone(),
            own: policy.own.clone(),
            open_network: bypass || policy.rules.allow.iter().any(all_hosts),
        }
    }
}

fn bases(policy: &Policy) -> Bases<'_> {
    Bases { workspace: policy.folders.first().map(std::path::PathBuf::as_path), home: policy.home.as_deref() }
}

/// A text in which nothing can pretend to be a line, a colour or another order of letters of the question it is shown in.
fn visible(text: String) -> String {
    if !text.contains(is_odd) {
        return text;
    }
    text.chars()
        .flat_map(|c| if is_odd(c) { c.escape_default().collect::<Vec<_>>() } else { vec![c] })
        .collect()
}

/// A character that is not seen, or changes how others are.
fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

impl Finding {
    /// What is decided of a part.
    pub(crate) fn new(
        kind: PartKind,
        about: impl Into<String>,
        decision: Decision,
        why: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            about: visible(about.into()),
            decision,
            why: visible(why.into()),
            rule: None,
            proposals: Vec::new(),
            grants: Vec::new(),
        }
    }

    /// The same, decided by a rule.
    pub(crate) fn by(mut self, rule: &Rule) -> Self {
        self.rule = Some(rule.clone());
        self
    }

    /// The same, with what is granted if it is done.
    pub(crate) fn granting(mut self, facet: Facet) -> Self {
        self.grants.push(facet);
        self
    }

    /// The same, with what could be allowed for longer.
    pub(crate) fn proposing(mut self, proposals: Vec<Proposal>) -> Self {
        self.proposals = proposals;
        self
    }

    fn reason(&self) -> Reason {
        Reason { why: self.why.clone(), rule: self.rule.clone(), about: Some(self.about.clone()) }
    }
}
