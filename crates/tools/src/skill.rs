use std::path::Path;

use rail_stdx::{front_matter, nearest};
use rail_tool::{
    Card, Display, EntryKind, Example, Facet, FacetCx, FileFault, Files, Generation, Lane, Level, OutputNote,
    Shown, SkillCard, SkillLoaded, Telling, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::words;

/// The largest `SKILL.md` that is read.
const LARGEST: u64 = 256 << 10;
/// The most files of a folder that are named.
const FILES: usize = 50;
/// How deep folders may lie in a skill's.
const DEEPEST: usize = 3;
/// How many folders are looked into.
const FOLDERS: usize = 100;
/// How many skills are named to somebody who asks for one that is not there.
const NAMED: usize = 20;
/// Where what a skill is given stands in its text.
const GIVEN: &str = "$ARGUMENTS";

/// Loads the instructions of a skill.
pub(crate) struct Skill;

/// Which skill is loaded.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SkillInput {
    /// The skill's name.
    skill: String,
    /// What it is given.
    args: Option<String>,
}

impl Tool for Skill {
    type Input = SkillInput;

    const CARD: Card<'static> = Card {
        name: "skill",
        title: "Skill",
        summary: "Loads the instructions of a skill, and says which files come with it",
        prompt: include_str!("prompts/skill.md"),
        generation: Generation::Gen4,
        level: Level::None,
        // What it allows is to hold for the next call of the same answer.
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    fn facets(input: &SkillInput, cx: &FacetCx<'_>) -> Vec<Facet> {
        // Of one that is not there nothing is touched, so that nobody is asked about it.
        let found = SkillCard::find(cx.skills, &input.skill);
        found.map(facet).into_iter().collect()
    }

    async fn run(input: SkillInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let Some(card) = SkillCard::find(&cx.session().skills, &input.skill).cloned() else {
            return Err(unknown(&cx.session().skills, &input.skill));
        };
        let files = cx.files();
        cx.blocking(move || load(&card, input.args.as_deref().unwrap_or_default().trim(), &files)).await
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

fn facet(card: &SkillCard) -> Facet {
    let lends = match card.lends.as_slice() {
        [] => String::new(),
        lends => format!(" and may do {} without asking", rules(lends)),
    };
    let from = format!("{}{lends}", card.from);
    Facet::Skill { name: card.name.clone(), folder: card.folder.clone(), from }
}

fn rules(rules: &[impl ToString]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| format!("`{}`", rule.to_string())).collect();
    rules.join(", ")
}

fn load(card: &SkillCard, args: &str, files: &Files) -> Result<ToolOutput, ToolFault> {
    let file = card.folder.join(SkillCard::FILE);
    let (_, bytes) = files.read(&file, LARGEST).map_err(|fault| not_loaded(card, &fault))?;
    let Ok(text) = String::from_utf8(bytes) else {
        let name = &card.name;
        let why = format!(
            "the skill `{name}` is not loaded: `{}` is no text in UTF-8; go on without it",
            shown(&file)
        );
        return Err(ToolFault::new(why));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let body = front_matter(text).map_or(text, |(_, body)| body).trim();
    let lends = match card.lends.as_slice() {
        [] => String::new(),
        lends => format!("Until the task is done, this is not asked about: {}.\n", rules(lends)),
    };
    let head = Telling::said("The skill `")
        .then(Telling::shown(&card.name))
        .then("` is loaded; do as it says below. Its folder is `")
        .then(Telling::shown(shown(&card.folder)))
        .then("`, from which paths in it start.\n")
        .then(others(&card.folder, files))
        .then(Telling::shown(lends));
    let loaded = SkillLoaded {
        name: card.name.clone(),
        kept: card.to_read().into_iter().collect(),
        lent: card.lends.clone(),
    };
    let text = head.then("\n").then(Telling::shown(given(body, args)));
    let summary = Display::Summary(format!("skill {}", card.name));
    Ok(ToolOutput::told(text).shown(summary).noted([OutputNote::Skill(loaded)]))
}

/// The text with what the skill is given in its places, or at the end where it has none. What is given is not read again.
fn given(body: &str, args: &str) -> String {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let mut out = String::new();
    let (mut rest, mut placed) = (body, false);
    while let Some((before, after)) = rest.split_once(GIVEN) {
        out.push_str(before);
        let is_name = !goes_on(after);
        out.push_str(if is_name { args } else { GIVEN });
        placed |= is_name;
        rest = after;
    }
    out.push_str(rest);
    if !placed && !args.is_empty() {
        out.push_str("\n\nARGUMENTS: ");
        out.push_str(args);
    }
    out
}

/// The files that come with the instructions. Links are left out: where they lead is for whoever reads them to be judged.
fn others(folder: &Path, files: &Files) -> Telling {
    let mut named: Vec<String> = Vec::new();
    let (mut open, mut looked, mut more) = (vec![(folder.to_owned(), 1)], 0, 0_u64);
    while let Some((path, depth)) = open.pop() {
        looked += 1;
        // A folder that can't be listed has nothing to name.
        for entry in files.list(&path).unwrap_or_default().into_iter().rev() {
            let at = path.join(&entry.name);
            let hidden = entry.name.as_encoded_bytes().starts_with(b".");
            match entry.kind {
                _ if hidden => {}
                EntryKind::Folder if depth < DEEPEST && looked + open.len() < FOLDERS => {
                    open.push((at, depth + 1))
                }
                EntryKind::File if at != folder.join(SkillCard::FILE) && files.may_read(&at) => {
                    if named.len() < FILES {
                        let below = at.strip_prefix(folder).unwrap_or(&at);
                        named.push(format!("- `{}` ({})\n", shown(below), words::size(entry.len)));
                    } else {
                        more += 1;
                    }
                }
                EntryKind::File | EntryKind::Folder | EntryKind::Link | EntryKind::Other => {}
            }
        }
    }
    if named.is_empty() {
        return Telling::default();
    }
    named.sort();
    let rest = if more > 0 { format!("- and {} more\n", words::digits(more)) } else { String::new() };
    Telling::said("Files that come with it, to be read with ‹read_file› when they are needed:\n")
        .then(Telling::shown(named.concat() + &rest))
}

fn not_loaded(card: &SkillCard, fault: &FileFault) -> ToolFault {
    ToolFault::new(format!("the skill `{}` is not loaded: {fault}; go on without it", card.name))
}

fn unknown(cards: &[SkillCard], name: &str) -> ToolFault {
    let known = || cards.iter().map(|card| card.name.as_str());
    let asked: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    let next = match nearest(&asked, known()) {
        _ if cards.is_empty() => "there are none here; go on without it".to_owned(),
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let names: Vec<String> = known().take(NAMED).map(|name| format!("`{name}`")).collect();
            let rest = if cards.len() > NAMED { ", …" } else { "" };
            format!("there are {}{rest}", names.join(", "))
        }
    };
    ToolFault::new(
        Telling::said("there is no skill `").then(Telling::shown(asked)).then(format!("`; {next}")),
    )
}

const EXAMPLES: &[Example] = &[Example {
    about: "One that is not there",
    files: &[],
    read: &[],
    input: r#"{"skill": "pdf"}"#,
    output: "there is no skill `pdf`; there are none here; go on without it",
    after: &[],
}];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_given_stands_in_its_places() {
        for (body, args, expected) in [
            ("Do $ARGUMENTS now: $ARGUMENTS.", "it", "Do it now: it."),
            ("Do $ARGUMENTS_2", "it", "Do $ARGUMENTS_2\n\nARGUMENTS: it"),
            ("Do", "it", "Do\n\nARGUMENTS: it"),
            ("Do $ARGUMENTS", "$ARGUMENTS", "Do $ARGUMENTS"),
            ("Do $ARGUMENTS", "", "Do "),
            ("Do", "", "Do"),
            ("", "", ""),
        ] {
            assert_eq!(given(body, args), expected, "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_given_anything(body in "([$]ARGUMENTS|[a-z_$ é]){0,8}", args in "([$]ARGUMENTS|[a-z $]){0,4}") {
            let text = given(&body, args.trim());
            prop_assert!(args.trim().is_empty() || text.contains(args.trim()));
        }
    }
}
