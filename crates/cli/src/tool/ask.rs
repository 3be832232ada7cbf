//! Questions at the terminal.

use std::fmt::Write;
use std::io::{BufRead, IsTerminal, Write as _, stderr, stdin};

use rail_config::Inputs;
use rail_permit::{Answer, Facet, Question, Rule, Scope};
use rail_tool::{Asks, BoxFuture, Choices, Chosen, HookedCall, Reply};

use super::choose;
use crate::output::harmless;

/// Asks at the terminal, if there is one; else the answer is no, with what would allow it.
pub(super) struct Terminal {
    /// Where the configuration comes from, for what is allowed for always.
    pub(super) inputs: Inputs,
}

impl Asks for Terminal {
    fn ask<'a>(&'a self, _: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            if !somebody() {
                return Answer::Nobody(nobody(question)).into();
            }
            let question = question.clone();
            let asked = tokio::task::spawn_blocking(move || talk(&question));
            asked.await.unwrap_or(Answer::No(None)).into()
        })
    }

    fn choose<'a>(&'a self, _: &'a str, choices: &'a Choices) -> BoxFuture<'a, Chosen> {
        Box::pin(async move {
            if !somebody() {
                return Chosen::Nobody;
            }
            let choices = choices.clone();
            let asked = tokio::task::spawn_blocking(move || choose::talk(&choices));
            asked.await.unwrap_or(Chosen::Dismissed { said: None })
        })
    }

    fn keep(&self, rules: &[Rule]) -> Result<(), String> {
        let texts: Vec<String> = rules.iter().map(|rule| rule.text.clone()).collect();
        rail_config::allow_always(&self.inputs, &texts).map(drop).map_err(|error| error.to_string())
    }
}

/// Whether there is a terminal, and so perhaps a person.
fn somebody() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// What a script is told, where nobody can be asked.
fn nobody(question: &Question) -> String {
    match question.rule() {
        Some(rule) => format!("Run it at a terminal, or allow it, for example by `--allow '{rule}'`."),
        None => "Run it at a terminal, or with `--permission-mode bypass`.".to_owned(),
    }
}

fn talk(question: &Question) -> Answer {
    loop {
        let mut err = stderr().lock();
        // A terminal that takes no question gives no answer either.
        if err.write_all(harmless(&shown(question)).as_bytes()).and_then(|()| err.flush()).is_err() {
            return Answer::No(None);
        }
        drop(err);
        let mut line = String::new();
        match stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return Answer::No(None),
            Ok(_) => {}
        }
        if let Some(answer) = read(&line, question) {
            return answer;
        }
    }
}

/// The question as it is shown.
fn shown(question: &Question) -> String {
    let mut text = question.note.as_ref().map(|note| format!("{note}\n")).unwrap_or_default();
    for facet in &question.facets {
        // Writing to a string can't fail.
        let _ = match facet {
            Facet::Read(path) => writeln!(text, "  reads {}", path.display()),
            Facet::Write(path) => writeln!(text, "  writes {}", path.display()),
            Facet::Exec(exec) => writeln!(text, "  runs {}", exec.command),
            Facet::Net(host) => writeln!(text, "  speaks with {host}"),
            Facet::Foreign => writeln!(text, "  runs a tool of somebody else"),
            Facet::Skill { name, folder, from } => {
                writeln!(text, "  follows the skill {name}, {from}, in {}", folder.display())
            }
        };
    }
    let _ = writeln!(text, "Asked because {}.", question.reason.why);
    text.push_str("  y  yes, this once\n");
    for (at, offer) in question.offers.iter().enumerate() {
        let _ = writeln!(text, "  {}  for this session: {}", at + 1, offer.says);
        let _ = writeln!(text, "  {}! always, in this folder: the same", at + 1);
    }
    text.push_str("  n  no (say why after it, if you like)\n> ");
    text
}

/// What a line means; None if it means nothing.
fn read(line: &str, question: &Question) -> Option<Answer> {
    let line = line.trim();
    match line {
        "y" | "yes" => return Some(Answer::Once),
        "n" | "no" => return Some(Answer::No(None)),
        _ => {}
    }
    if let Some(why) = line.strip_prefix("n ").or_else(|| line.strip_prefix("no ")) {
        return Some(Answer::No(Some(why.trim().to_owned())));
    }
    let (number, scope) = match line.strip_suffix('!') {
        Some(number) => (number, Scope::Always),
        None => (line, Scope::Session),
    };
    let at = number.parse::<usize>().ok()?.checked_sub(1)?;
    Some(Answer::Offer(question.offers.get(at)?.clone(), scope))
}

#[cfg(test)]
mod tests {
    use rail_permit::{Asked, Exec, Held, Level, Policy, Verdict, judge};

    use super::*;

    #[test]
    fn what_the_system_can_t_do_stands_in_the_question() {
        let exec = Exec { command: "make".to_owned(), cwd: "/".into(), held: Held::Sandbox };
        let asked = Asked { tool: "bash", level: Level::Execute, facets: &[Facet::Exec(exec)] };
        let Verdict::Ask(mut question) = judge(&Policy::default(), &asked, &rail_tool::Disk) else {
            panic!("a command that writes is asked about")
        };
        assert!(shown(&question).starts_with("  runs make\n"));
        question.note = Some("No namespaces: none here.".to_owned());
        assert!(shown(&question).starts_with("No namespaces: none here.\n  runs make\n"));
    }
}
