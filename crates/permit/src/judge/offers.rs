use std::borrow::Cow;
use std::path::Path;

use super::files::Access;
use super::{Cx, Decision, Finding, is_odd};
use crate::path::{Glob, PathPattern};
use crate::rule::{About, CommandPattern, Cover, HostPattern, escaped};
use crate::shell::{self, Simple, Word};
use crate::{Offer, Rule};

/// A rule that could be added, and what it would allow.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Proposal {
    rule: Rule,
    /// It follows "lets the agent".
    says: String,
}

impl Proposal {
    /// The rule that would be added.
    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    /// How far its rule goes for a command; `source` is the command as it stands.
    pub(crate) fn cover(&self, simple: &Simple, source: &str) -> Option<Cover> {
        match &self.rule.about {
            About::Command(pattern) => pattern.allows(simple, source),
            About::Anything | About::Path(_) | About::Host(_) | About::Name(_) => None,
        }
    }
}

/// Rules of an offer that anybody would read, where fewer do.
const MOST_RULES: usize = 6;

/// What can be allowed for longer, the narrowest first. It must cover every part that asks, or the same call would ask again.
pub(crate) fn offers(found: &[Finding]) -> Vec<Offer> {
    let asking: Vec<&Finding> = found.iter().filter(|finding| finding.decision > Decision::Allow).collect();
    if asking.iter().any(|finding| finding.proposals.is_empty()) {
        return Vec::new();
    }
    let narrow = asking.iter().filter_map(|finding| finding.proposals.first());
    let broad = asking.iter().filter_map(|finding| finding.proposals.last());
    let (narrow, broad) = (offer(narrow), offer(broad));
    let long = narrow.rules.len() > MOST_RULES && narrow.rules.len() > broad.rules.len();
    if narrow == broad || long { vec![broad] } else { vec![narrow, broad] }
}

fn offer<'p>(proposals: impl Iterator<Item = &'p Proposal>) -> Offer {
    let mut rules: Vec<Rule> = Vec::new();
    let mut says: Vec<&str> = Vec::new();
    for proposal in proposals {
        if !rules.contains(&proposal.rule) {
            rules.push(proposal.rule.clone());
            says.push(&proposal.says);
        }
    }
    Offer { rules, says: format!("lets the agent {}", says.join(", and ")) }
}

/// The command as it stands, and its narrowest prefix that is useful. Nothing for what is worth neither.
pub(crate) fn of_command(simple: &Simple) -> Vec<Proposal> {
    let prefix = shell::prefix(simple).filter(|words| words.iter().all(|word| is_plain(word)));
    if prefix.is_none() && shell::whole(simple).is_none() {
        return Vec::new();
    }
    let beginning = prefix.map(|words| {
        let shown = words.join(" ");
        let about = About::Command(CommandPattern::prefix(&words));
        let rule = Rule::offered(format!("Bash({shown}:*)"), "bash", about);
        Proposal { rule, says: format!("run `{shown}`, alone or with anything behind it") }
    });
    exactly(simple).into_iter().chain(beginning).collect()
}

/// The longest command that is offered as it stands: nobody reads more in a rule.
const LONGEST: usize = 200;

/// A command with just these words; None where they are not all known, or can't be read in a rule.
fn exactly(simple: &Simple) -> Option<Proposal> {
    // Another program gives it more words.
    if simple.place.wrappers.last().is_some_and(|wrapper| wrapper.adds_arguments) {
        return None;
    }
    let words: Vec<&str> = simple.words.iter().map(Word::literal).collect::<Option<_>>()?;
    let shown = words.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
    if shown.chars().count() > LONGEST || shown.contains(is_odd) {
        return None;
    }
    let about = About::Command(CommandPattern::parse(&shown).ok()?);
    let rule = Rule::offered(format!("Bash({shown})"), "bash", about);
    Some(Proposal { rule, says: format!("run `{shown}` with nothing behind it") })
}

/// A word as it stands in a rule, which reads quotes as a shell does.
fn quoted(word: &str) -> Cow<'_, str> {
    match is_plain(word) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

/// A word that needs no quotes in a rule.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|c| c.is_alphanumeric() || "._-/:@+=,".contains(c))
        && !word.ends_with(':')
}

/// The file, and its folder.
pub(crate) fn of_file(cx: &Cx<'_>, access: Access, real: &Path) -> Vec<Proposal> {
    let folder = cx.policy.folders.iter().find(|folder| real.starts_with(folder));
    match (access, folder) {
        (Access::Write, Some(folder)) => {
            let narrow =
                path_rule(cx, "Edit", real, "").map(|rule| (rule, format!("write `{}`", real.display())));
            let near = real.parent().filter(|parent| *parent != folder && parent.starts_with(folder));
            let near = near.and_then(|parent| {
                let rule = path_rule(cx, "Edit", parent, "/**")?;
                Some((rule, format!("write any file in `{}`", parent.display())))
            });
            let workspace = cx.policy.folders.first() == Some(folder);
            let which =
                if workspace { "of the workspace".to_owned() } else { format!("in `{}`", folder.display()) };
            let all = || Some((path_rule(cx, "Edit", folder, "/**")?, format!("write any file {which}")));
            let broad = near.or_else(all);
            narrow.into_iter().chain(broad).map(|(rule, says)| Proposal { rule, says }).collect()
        }
        (Access::Write, None) => {
            let rule = path_rule(cx, "Edit", real, "");
            rule.map(|rule| Proposal {
                rule,
                says: format!("write `{}`, and all in it if it is a folder", real.display()),
            })
            .into_iter()
            .collect()
        }
        (Access::Read, _) => {
            let rule = path_rule(cx, "Read", real, "");
            let narrow = rule.map(|rule| Proposal {
                rule,
                says: format!("read `{}`, and all in it if it is a folder", real.display()),
            });
            // The root and the home folder are no narrow places.
            let parent = real
                .parent()
                .filter(|parent| parent.parent().is_some() && Some(*parent) != cx.policy.home.as_deref());
            let broad = parent.and_then(|parent| {
                let rule = path_rule(cx, "Read", parent, "/**")?;
                Some(Proposal { rule, says: format!("read any file in `{}`", parent.display()) })
            });
            narrow.into_iter().chain(broad).collect()
        }
    }
}

/// A rule for a path, spelled from the workspace, the home folder or the root; None if it can't be spelled.
fn path_rule(cx: &Cx<'_>, tool: &str, path: &Path, end: &str) -> Option<Rule> {
    let bases = cx.bases();
    let inner = |base: &Path| path.strip_prefix(base).ok();
    let (start, rest) = match (bases.workspace.and_then(inner), bases.home.and_then(inner)) {
        (Some(rest), _) => ("/", rest),
        (None, Some(rest)) => ("~/", rest),
        (None, None) => ("//", inner(Path::new("/"))?),
    };
    let rest = rest.to_str().filter(|rest| !rest.contains(char::is_control))?;
    if rest.is_empty() && start != "/" {
        return None;
    }
    let escaped = escaped(rest);
    // `src/**` needs no slash before it: there is one in it.
    let start = if start == "/" && (escaped.contains('/') || !end.is_empty()) && !escaped.is_empty() {
        ""
    } else {
        start
    };
    let end = if escaped.is_empty() { end.trim_start_matches('/') } else { end };
    let text = format!("{start}{escaped}{end}");
    let native = if tool == "Edit" { "edit_file" } else { "read_file" };
    let about = About::Path(PathPattern::parse(&text).ok()?);
    Some(Rule::offered(format!("{tool}({text})"), native, about))
}

/// One host.
pub(crate) fn of_host(host: &str, pattern: Option<HostPattern>) -> Vec<Proposal> {
    let rule = pattern
        .map(|pattern| Rule::offered(format!("WebFetch(domain:{host})"), "web_fetch", About::Host(pattern)));
    rule.map(|rule| Proposal { rule, says: format!("speak with {host}") }).into_iter().collect()
}

/// A skill, and all of them.
pub(crate) fn of_skill(name: &str) -> Vec<Proposal> {
    let rule = |text: String, about| Rule::offered(text, "skill", about);
    let one = rule(format!("Skill({name})"), About::Name(Glob::exactly(name)));
    let all = rule("Skill".to_owned(), About::Anything);
    vec![
        Proposal { rule: one, says: format!("use the skill `{name}`") },
        Proposal { rule: all, says: "use every skill".to_owned() },
    ]
}

/// A tool, and all tools of its server.
pub(crate) fn of_tool(tool: &str) -> Vec<Proposal> {
    let rule = |name: &str| Rule::offered(name.to_owned(), name, About::Anything);
    let one = Proposal { rule: rule(tool), says: format!("use `{tool}`") };
    let server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map(|(server, _)| server);
    let all = server.map(|server| Proposal {
        rule: rule(&format!("mcp__{server}")),
        says: format!("use every tool of the MCP server `{server}`"),
    });
    [one].into_iter().chain(all).collect()
}
