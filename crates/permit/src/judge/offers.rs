use std::path::Path;

use super::files::Access;
use super::{Cx, Decision, Finding};
use crate::path::{Glob, PathPattern};
use crate::rule::{About, CommandPattern, HostPattern, escaped};
use crate::shell::{self, Simple};
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
}

/// What can be allowed for longer, the narrowest first. It must cover every part that asks, or the same call would ask again.
pub(crate) fn offers(found: &[Finding]) -> Vec<Offer> {
    let asking: Vec<&Finding> = found.iter().filter(|finding| finding.decision > Decision::Allow).collect();
    if asking.iter().any(|finding| finding.proposals.is_empty()) {
        return Vec::new();
    }
    let narrow = asking.iter().filter_map(|finding| finding.proposals.first());
    let broad = asking.iter().filter_map(|finding| finding.proposals.last());
    let (narrow, broad) = (offer(narrow), offer(broad));
    if narrow == broad { vec![narrow] } else { vec![narrow, broad] }
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

/// The narrowest prefix of a command that is useful, or the command as it stands.
pub(crate) fn of_command(simple: &Simple) -> Vec<Proposal> {
    let plain = |words: &Vec<String>| words.iter().all(|word| is_plain(word));
    if let Some(words) = shell::prefix(simple).filter(plain) {
        let shown = words.join(" ");
        let about = About::Command(CommandPattern::prefix(&words));
        let rule = Rule::offered(format!("Bash({shown}:*)"), "bash", about);
        return vec![Proposal { rule, says: format!("run `{shown}`, alone or with anything behind it") }];
    }
    let Some(words) = shell::whole(simple).filter(plain) else { return Vec::new() };
    let shown = words.join(" ");
    let rule =
        Rule::offered(format!("Bash({shown})"), "bash", About::Command(CommandPattern::exactly(&words)));
    vec![Proposal { rule, says: format!("run `{shown}` with nothing behind it") }]
}

/// A word that needs no quotes in a rule.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|c| c.is_alphanumeric() || "._-/:@+=,".contains(c))
        && !word.ends_with(':')
}

/// The file or its folder, and for edits the whole workspace.
pub(crate) fn of_file(cx: &Cx<'_>, access: Access, real: &Path) -> Vec<Proposal> {
    let folder = cx.policy.folders.iter().find(|folder| real.starts_with(folder));
    match (access, folder) {
        (Access::Write, Some(folder)) => {
            let workspace = cx.policy.folders.first() == Some(folder);
            let near = real.parent().filter(|parent| *parent != folder);
            let narrow = match near {
                Some(parent) => path_rule(cx, "Edit", parent, "/**")
                    .map(|rule| (rule, format!("write any file in `{}`", parent.display()))),
                None => {
                    path_rule(cx, "Edit", real, "").map(|rule| (rule, format!("write `{}`", real.display())))
                }
            };
            let broad = path_rule(cx, "Edit", folder, "/**");
            let which =
                if workspace { "of the workspace".to_owned() } else { format!("in `{}`", folder.display()) };
            let broad = broad.map(|rule| (rule, format!("write any file {which}")));
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
