use std::fmt;

use serde::Serialize;

use crate::judge::{Cx, Decision, Finding, findings, verdict};
use crate::{Asked, Policy, Rule, Verdict, World};

/// What would become of a call, and why, part by part.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Explained {
    /// What would become of it: the strictest of its parts.
    pub decision: Decision,
    /// Why, in a sentence without a full stop.
    pub why: String,
    /// Its simple commands, files and hosts, in order.
    pub parts: Vec<Part>,
    /// What an answer could allow for longer: rules with what they would allow.
    pub offers: Vec<Offered>,
}

/// One simple command, file, host or tool of a call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Part {
    /// What kind of thing it is.
    pub kind: PartKind,
    /// Its text.
    pub about: String,
    /// What is decided of it alone.
    pub decision: Decision,
    /// Why, in a sentence without a full stop.
    pub why: String,
    /// The rule that decided.
    pub rule: Option<RuleShown>,
}

/// What kind of thing a part of a call is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// A simple command.
    Command,
    /// A file or folder that is read.
    Read,
    /// A file or folder that is written.
    Write,
    /// A host.
    Host,
    /// The tool itself.
    Tool,
}

/// A rule with the place where it was written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RuleShown {
    /// As it was written.
    pub text: String,
    /// Where it was written.
    pub origin: String,
}

/// Something that an answer could allow for longer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Offered {
    /// The rules that would be added, as text.
    pub rules: Vec<String>,
    /// What they would allow.
    pub says: String,
}

/// Says what [`judge`](crate::judge()) would make of a call, and why.
pub fn explain(policy: &Policy, asked: &Asked<'_>, world: &dyn World) -> Explained {
    let cx = Cx::new(policy, asked, world);
    let found = findings(&cx);
    let parts = found.iter().map(Part::from).collect();
    let decision = found.iter().map(|finding| finding.decision).max().unwrap_or(Decision::Allow);
    let (reason, offers) = match verdict(&cx, found) {
        Verdict::Allow(grant) => (grant.reason, Vec::new()),
        Verdict::Ask(question) => (question.reason, question.offers),
        Verdict::Deny(denial) => (denial.reason, Vec::new()),
    };
    let offers = offers
        .into_iter()
        .map(|offer| Offered { rules: offer.rules.iter().map(Rule::to_string).collect(), says: offer.says });
    Explained { decision, why: reason.why, parts, offers: offers.collect() }
}

impl From<&Finding> for Part {
    fn from(finding: &Finding) -> Self {
        let shown = |rule: &Rule| RuleShown { text: rule.text.clone(), origin: rule.origin.clone() };
        Self {
            kind: finding.kind,
            about: finding.about.clone(),
            decision: finding.decision,
            why: finding.why.clone(),
            rule: finding.rule.as_ref().map(shown),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allowed",
            Self::Ask => "asks",
            Self::AlwaysAsk => "always asks",
            Self::Deny => "denied",
        })
    }
}

impl fmt::Display for PartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command => "command",
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Host => "host",
            Self::Tool => "tool",
        })
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.decision, self.why)?;
        for part in &self.parts {
            writeln!(f, "  {:<7} {:<11} {}", part.kind.to_string(), part.decision.to_string(), part.about)?;
            match &part.rule {
                Some(rule) => writeln!(f, "      {}: `{}` ({})", part.why, rule.text, rule.origin)?,
                None => writeln!(f, "      {}", part.why)?,
            }
        }
        for offer in &self.offers {
            writeln!(f, "  could be allowed with {}: {}", offer.rules.join(" "), offer.says)?;
        }
        Ok(())
    }
}
