use std::path::{Path, PathBuf};

use super::files::{self, Access, By, File};
use super::words::{Folders, Meant, Target, folder_change, is_at_home};
use super::{Cx, Decision, Finding, Proposal, calls, offers};
use crate::rule::{About, Cover, Hit, Holds};
use crate::shell::{self, Danger, RedirectKind, Script, Simple, Weight, Word};
use crate::{Exec, Held, Mode, PartKind, Rule};

/// Programs that do nothing but run the command in their arguments, which is judged on its own.
const NEUTRAL: &[&str] =
    &["command", "env", "ionice", "nice", "nohup", "setsid", "stdbuf", "time", "timeout", "xargs"];

/// Judges every simple command of a shell command, and the files and hosts of each.
pub(crate) fn command(cx: &Cx<'_>, exec: &Exec) -> Vec<Finding> {
    let mut found = parts(cx, exec);
    // Rules were made for commands that the sandbox holds.
    if exec.held == Held::Outside && cx.policy.mode != Mode::Bypass {
        let why = "it would run outside of the sandbox, where nothing holds it";
        found.push(Finding::new(PartKind::Command, &exec.command, Decision::AlwaysAsk, why));
    }
    found
}

fn parts(cx: &Cx<'_>, exec: &Exec) -> Vec<Finding> {
    let script = match shell::read(&exec.command) {
        Ok(script) => shell::unrolled(&script, &exec.command),
        Err(unclear) => return vec![calls::not_read(cx, exec, &unclear.to_string())],
    };
    let home = cx.policy.home.as_deref().and_then(Path::to_str);
    let dangers = shell::danger(&script, home);
    let sets_home = |simple: &Simple| {
        let assigned = simple.assignments.iter().any(|assignment| assignment.name == "HOME");
        assigned || simple.words.iter().any(|word| word_text(word).starts_with("HOME"))
    };
    let mut walk = Walk {
        cx,
        exec,
        script: &script,
        dangers: &dangers,
        folders: Folders::at(&exec.cwd),
        home: cx.policy.home.as_deref().filter(|_| !script.commands.iter().any(sets_home)),
        found: Vec::new(),
    };
    walk.start();
    walk.counting();
    for (at, simple) in script.commands.iter().enumerate() {
        walk.simple(at, simple);
    }
    if walk.found.is_empty() {
        walk.found.push(Finding::new(PartKind::Command, &exec.command, Decision::Allow, "it runs nothing"));
    }
    walk.found
}

struct Walk<'a> {
    cx: &'a Cx<'a>,
    exec: &'a Exec,
    script: &'a Script,
    dangers: &'a [Danger],
    folders: Folders,
    /// The home folder, unless the command itself says what that is.
    home: Option<&'a Path>,
    found: Vec<Finding>,
}

/// A simple command with what is known of it.
struct Known<'a> {
    simple: &'a Simple,
    /// As it stands in the command.
    source: &'a str,
    touches: shell::Touches,
    /// It changes nothing by itself.
    harmless: bool,
    /// What the repository makes git run besides.
    runs: Option<String>,
    /// The rule that allows it.
    rule: Option<(Cover, &'a Rule)>,
    /// What could allow it for longer where it asks for itself, the narrowest first, and how far that goes.
    proposals: Vec<(Cover, Proposal)>,
}

impl<'a> Walk<'a> {
    /// A command that starts outside the workspace looks around there.
    fn start(&mut self) {
        let real = self.cx.world.real(&self.exec.cwd);
        if !self.cx.policy.folders.iter().any(|folder| real.starts_with(folder)) {
            let file =
                File { access: Access::Read, path: &self.exec.cwd, pattern: &[], by: By::Command(None) };
            self.push(files::file(self.cx, file));
        }
    }

    /// Arithmetic runs the commands in the values that it is given.
    fn counting(&mut self) {
        let why = "it counts with a value from elsewhere, and a shell runs the commands in such a value";
        let (decision, why) = match self.cx.policy.mode {
            _ if !shell::counts_unknown(&self.exec.command, self.script) => return,
            Mode::Bypass => return,
            Mode::Plan => (Decision::Deny, files::PLAN),
            Mode::Default | Mode::AcceptEdits => (Decision::Ask, why),
        };
        self.push(Finding::new(PartKind::Command, &self.exec.command, decision, why));
    }

    fn simple(&mut self, at: usize, simple: &'a Simple) {
        self.doubt(at, simple);
        let source = self.exec.command.get(simple.source.clone()).unwrap_or_default();
        // Redirections are judged on their own.
        let mut plain = Simple { redirects: Vec::new(), ..simple.clone() };
        let adds = simple.place.wrappers.last().is_some_and(|wrapper| wrapper.adds_arguments);
        let only_reads = match self.given(at) {
            Some(given) => {
                plain = given.simple;
                given.certain
            }
            None if adds => {
                plain.words.push(Word::Dynamic { text: "…".to_owned(), known: String::new() });
                false
            }
            None => shell::only_reads(&plain),
        };
        let touches = shell::touches(&plain);
        let harmless = simple.words.is_empty()
            || folder_change(simple).is_some()
            || (touches.known && touches.hosts.is_empty() && only_reads)
            || self.is_neutral(at, simple);
        // No rule knows exactly what a command is given that gets more arguments.
        let rule = self
            .allowing(simple, source)
            .map(|(cover, rule)| (if adds { Cover::Broad } else { cover }, rule));
        let runs = self.folders.git_runs(self.cx.world, simple, &touches.works_in);
        let harmless = harmless && runs.is_none();
        let proposals = match rule.is_none() && !harmless {
            true => offers::of_command(simple),
            false => Vec::new(),
        };
        let covering = |proposal: Proposal| {
            let cover = proposal.cover(simple, source)?;
            Some((if adds { Cover::Broad } else { cover }, proposal))
        };
        let proposals = proposals.into_iter().filter_map(covering).collect();
        let known = Known { simple, source, touches, harmless, runs, rule, proposals };
        if !(simple.words.is_empty() && simple.assignments.is_empty()) {
            let finding = self.itself(at, &known);
            self.push(finding);
        }
        self.files(&known);
        for redirect in &simple.redirects {
            let access = match redirect.kind {
                RedirectKind::Read => Access::Read,
                RedirectKind::Write => Access::Write,
            };
            self.word(access, &redirect.file, By::Redirection, &[]);
        }
        for host in &known.touches.hosts {
            let finding = calls::host(self.cx, host, known.rule.map(|(_, rule)| rule));
            let covered = |_: Cover, rule: &Rule| calls::host(self.cx, host, Some(rule)).decision;
            self.push(with_command(finding, &known.proposals, covered));
        }
        if let Some(to) = folder_change(simple) {
            self.change_folder(&to, By::Command(known.rule));
        }
    }

    /// The command with what another program gives it, if it only reads that.
    fn given(&self, at: usize) -> Option<shell::GivenCommand> {
        let mut given = shell::given(self.script, at, &self.exec.command)?;
        given.simple.redirects.clear();
        let touches = shell::touches(&given.simple);
        let reads = shell::only_reads(&given.simple) && touches.known && touches.writes.is_empty();
        reads.then_some(given)
    }

    /// The command itself, without what it touches.
    fn itself(&self, at: usize, known: &Known<'_>) -> Finding {
        // Of what stands in the arguments of another program, the source is that program's.
        let alone = known.simple.place.wrappers.is_empty() && !known.source.trim().is_empty();
        let about = if alone { known.source.trim().to_owned() } else { shown(known.simple) };
        let found = |decision, why: &str| Finding::new(PartKind::Command, about.as_str(), decision, why);
        let danger =
            |weight| self.dangers.iter().find(|danger| danger.command == at && danger.weight == weight);
        if let Some(danger) = danger(Weight::Refuse) {
            return found(Decision::Deny, &format!("{}, which is refused in every mode", danger.what));
        }
        let (denies, maybe) = self.forbidding(&self.cx.policy.rules.deny, known);
        if let Some(rule) = denies {
            return found(Decision::Deny, "a rule denies it").by(rule);
        }
        match self.cx.policy.mode {
            Mode::Bypass => return found(Decision::Allow, "the mode `bypass` asks nothing"),
            Mode::Plan if !known.harmless => return found(Decision::Deny, files::PLAN),
            Mode::Plan | Mode::Default | Mode::AcceptEdits => {}
        }
        if let Some(danger) = danger(Weight::AlwaysAsk) {
            return found(Decision::AlwaysAsk, &format!("{}, which asks whatever is allowed", danger.what));
        }
        if known.simple.words.first().is_some_and(|program| program.literal().is_none()) {
            return found(Decision::AlwaysAsk, "which program it runs is known only when it runs");
        }
        if let Some(rule) = maybe {
            return found(Decision::AlwaysAsk, "a rule may deny it; a word of it is known only when it runs")
                .by(rule);
        }
        self.by_rules(known, &found)
    }

    /// What rules and defaults say of a command in which nothing is dangerous.
    fn by_rules(&self, known: &Known<'_>, found: &dyn Fn(Decision, &str) -> Finding) -> Finding {
        let exact = known.rule.is_some_and(|(cover, _)| cover == Cover::Exact);
        if let Some(name) = shell::influences(known.simple).filter(|_| !exact) {
            return found(
                Decision::Ask,
                &format!(
                    "it sets `{name}`, which changes what runs; only a rule with exactly this command allows it"
                ),
            );
        }
        let (asks, maybe) = self.forbidding(&self.cx.policy.rules.ask, known);
        if let Some(rule) = asks.or(maybe) {
            return found(Decision::Ask, "a rule asks about it").by(rule);
        }
        if let Some((_, rule)) = known.rule {
            return found(Decision::Allow, "a rule allows it").by(rule);
        }
        if known.harmless && shell::names_secret(&self.exec.command) {
            return found(Decision::Ask, "it names a variable that looks like a secret");
        }
        if known.harmless {
            return found(Decision::Allow, "it changes nothing by itself");
        }
        let why = match &known.runs {
            Some(key) => format!("the repository makes git run a program here, by `{key}`"),
            None => "running a command asks".to_owned(),
        };
        let proposals = known.proposals.iter().map(|(_, proposal)| proposal.clone());
        found(Decision::Ask, &why).proposing(proposals.collect())
    }

    /// The rule that forbids a command, and the one that may.
    fn forbidding(&self, rules: &'a [Rule], known: &Known<'_>) -> (Option<&'a Rule>, Option<&'a Rule>) {
        let hit = |rule: &Rule| match (&rule.about, rule.holds()) {
            (About::Anything, Holds::Commands) => Hit::Yes,
            (About::Command(pattern), _) => pattern.forbids(known.simple, known.source),
            (About::Anything | About::Path(_) | About::Host(_) | About::Name(_), _) => Hit::No,
        };
        let first = |wanted: Hit| rules.iter().find(|rule| hit(rule) == wanted);
        (first(Hit::Yes), first(Hit::Maybe))
    }

    /// The allow rule that goes furthest.
    fn allowing(&self, simple: &Simple, source: &str) -> Option<(Cover, &'a Rule)> {
        let covers = self.cx.policy.rules.allow.iter().filter_map(|rule| match (&rule.about, rule.holds()) {
            (About::Anything, Holds::Commands) => Some((Cover::Broad, rule)),
            (About::Command(pattern), _) => pattern.allows(simple, source).map(|cover| (cover, rule)),
            (About::Anything | About::Path(_) | About::Host(_) | About::Name(_), _) => None,
        });
        // Of equals the first: it is the one that the user would look at.
        covers.reduce(|best, next| if next.0 > best.0 { next } else { best })
    }

    /// A program that only runs another command of this script.
    fn is_neutral(&self, at: usize, simple: &Simple) -> bool {
        let Some(program) = simple.words.first().and_then(Word::literal) else { return false };
        let runs = |other: &Simple| other.place.wrappers.iter().any(|wrapper| wrapper.program == program);
        let neutral = NEUTRAL.contains(&program) || shell::find_only_runs(simple);
        neutral && self.script.commands.iter().skip(at + 1).any(runs)
    }

    fn files(&mut self, known: &Known<'_>) {
        if folder_change(known.simple).is_some() {
            return;
        }
        let by = By::Command(known.rule);
        let asking = known.proposals.as_slice();
        let of = |words: &[Word]| -> Vec<Word> {
            words.iter().filter(|word| !matches!(word.literal(), Some("" | "-"))).cloned().collect()
        };
        for word in of(&known.touches.reads) {
            self.word(Access::Read, &word, by, asking);
        }
        for word in of(&known.touches.writes) {
            self.word(Access::Write, &word, by, asking);
        }
        for word in of(&known.touches.works_in) {
            // Inside of the workspace it writes as any command does; elsewhere only where it is told to.
            let access = if self.is_inside(&word) { Access::Read } else { Access::Write };
            self.word(access, &word, by, asking);
        }
        if !known.touches.known {
            self.guessed(known);
        }
    }

    /// Of a program that nobody knows, each word could be a file that must not be read.
    fn guessed(&mut self, known: &Known<'_>) {
        for text in
            known.simple.words.iter().skip(1).filter_map(Word::literal).filter(|text| text.len() < 4096)
        {
            let values = [Some(text), text.split_once('=').map(|(_, value)| value), text.strip_prefix('@')];
            for value in values.into_iter().flatten().filter(|value| !value.is_empty()) {
                let meant = self.folders.meant(&Word::Literal(value.to_owned()), self.home);
                let kept = meant.paths.iter().filter_map(|path| files::kept_back(self.cx, path));
                let kept: Vec<Finding> = kept.collect();
                kept.into_iter().for_each(|finding| self.push(finding));
            }
        }
    }

    /// Judges a word that means a file; `asking` is what could allow the command where that asks for itself.
    fn word(&mut self, access: Access, word: &Word, by: By<'_>, asking: &[(Cover, Proposal)]) {
        let meant = self.folders.meant(word, self.home);
        let covered = |cover: Cover, rule: &Rule| {
            let covered = self.strictest(access, &meant, By::Command(Some((cover, rule))));
            covered.map_or(Decision::Ask, |covered| covered.decision)
        };
        let finding =
            self.strictest(access, &meant, by).map(|finding| with_command(finding, asking, covered));
        let is_open = finding.as_ref().is_none_or(|finding| finding.decision < Decision::Deny);
        if meant.unknown && is_open {
            let covered = match by {
                By::Command(Some((Cover::Exact, rule))) => Some(rule),
                By::Command(_) | By::Redirection | By::Tool => None,
            };
            let finding = files::unknown(self.cx, access, word_text(word), covered);
            self.push(finding);
        }
        if let Some(finding) = finding {
            self.push(finding);
        }
    }

    fn is_inside(&self, word: &Word) -> bool {
        let meant = self.folders.meant(word, self.home);
        let inside = |path: &PathBuf| {
            let real = self.cx.world.real(path);
            self.cx.policy.folders.iter().any(|folder| real.starts_with(folder))
        };
        !meant.unknown && meant.paths.iter().all(inside)
    }

    fn strictest(&self, access: Access, meant: &Meant, by: By<'_>) -> Option<Finding> {
        let judged = meant
            .paths
            .iter()
            .map(|path| files::file(self.cx, File { access, path, pattern: &meant.pattern, by }));
        judged.reduce(|mut strictest, mut next| {
            if next.decision > strictest.decision {
                std::mem::swap(&mut strictest, &mut next);
            }
            strictest.grants.append(&mut next.grants);
            strictest
        })
    }

    /// After a `cd` it is certain where a command is only as long as it is joined by `&&`.
    fn doubt(&mut self, at: usize, simple: &Simple) {
        let Some(before) = at.checked_sub(1).and_then(|before| self.script.commands.get(before)) else {
            return;
        };
        let between = self.exec.command.get(before.source.end..simple.source.start).map(str::trim);
        if between != Some("&&") || simple.place.subshell || before.place.subshell {
            self.folders.doubt();
        }
    }

    fn change_folder(&mut self, to: &Target, by: By<'_>) {
        let home = self.home;
        let text = match to {
            Target::Folder(Word::Literal(text)) => Some(text.as_str()),
            Target::Folder(Word::Dynamic { text, .. }) if is_at_home(text) => Some(text.as_str()),
            Target::Folder(Word::Pattern(_) | Word::Dynamic { .. }) | Target::Unknown => None,
            Target::Home => Some("~"),
        };
        let path = match (text, text.and_then(|text| text.strip_prefix('~')), home) {
            (Some(_), Some(rest), Some(home)) => Some(home.join(rest.trim_start_matches('/'))),
            (Some(_), Some(_), None) | (None, _, _) => None,
            (Some(text), None, _) => Some(PathBuf::from(text)),
        };
        let word = match to {
            Target::Folder(word) => word.clone(),
            Target::Home => Word::Literal("~".to_owned()),
            Target::Unknown => Word::Dynamic { text: "the folder of `cd`".to_owned(), known: String::new() },
        };
        self.word(Access::Read, &word, by, &[]);
        self.folders.change(path.as_deref());
    }

    fn push(&mut self, finding: Finding) {
        if !self.found.contains(&finding) {
            self.found.push(finding);
        }
    }
}

/// A rule that allowed the command may allow what it touches with it: then no more is offered.
fn with_command(
    mut finding: Finding,
    asking: &[(Cover, Proposal)],
    covered: impl Fn(Cover, &Rule) -> Decision,
) -> Finding {
    if finding.decision != Decision::Ask {
        return finding;
    }
    let covering = |proposal: Option<&(Cover, Proposal)>| {
        let (cover, proposal) = proposal?;
        (covered(*cover, proposal.rule()) == Decision::Allow).then(|| proposal.clone())
    };
    let (narrow, broad) = (covering(asking.first()), covering(asking.last()));
    let narrow = narrow.or_else(|| finding.proposals.first().cloned());
    let broad = broad.or_else(|| finding.proposals.last().cloned());
    finding.proposals = narrow.into_iter().chain(broad).collect();
    finding
}

/// A command as it is shown when its text is not at hand.
fn shown(simple: &Simple) -> String {
    simple.words.iter().map(word_text).collect::<Vec<_>>().join(" ")
}

fn word_text(word: &Word) -> &str {
    match word {
        Word::Literal(text) | Word::Pattern(text) | Word::Dynamic { text, .. } => text,
    }
}
