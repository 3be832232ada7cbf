use std::fmt::Write;

use rail_tool::{
    Card, Display, Example, Facet, FacetCx, Finding, Generation, Lane, Level, OutputNote, Shown, Telling,
    Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{planning, words};

/// Characters of a finding at most: it is a note, not a copy of what was read.
const CHARS: usize = 2_000;
/// Findings at most.
const FINDINGS: usize = 200;

/// Keeps notes while planning.
pub(crate) struct Findings;

/// What is to be done with the notes.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct FindingsInput {
    /// What to do.
    action: Action,
    /// For `add`: a sentence or two.
    text: Option<String>,
    /// For `add`: what it is about, `src/a.rs:12`. For `list`: only those about it.
    file: Option<String>,
    /// For `remove`: which one.
    number: Option<u64>,
}

/// What can be done with the notes.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    Add,
    List,
    Remove,
    Clear,
}

impl Tool for Findings {
    type Input = FindingsInput;

    const CARD: Card<'static> = Card {
        name: "findings",
        title: "Findings",
        summary: "Keeps short notes of what you find out while planning, and lists them again",
        prompt: include_str!("prompts/findings.md"),
        generation: Generation::Gen3,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Brief,
    };

    fn facets(_: &FindingsInput, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: FindingsInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let kept = cx.session().services.get::<planning::Findings>();
        kept.with(|findings| {
            let said = match input.action {
                Action::Add => add(findings, input.text, given(input.file))?,
                Action::List => return Ok(list(findings, given(input.file).as_deref())),
                Action::Remove => remove(findings, input.number)?,
                Action::Clear => clear(findings),
            };
            let summary = Display::Summary(words::count(findings.len() as u64, "finding"));
            Ok(ToolOutput::told(said).shown(summary).noted([OutputNote::Findings(findings.clone())]))
        })
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// A text without the blanks around it, if anything is left.
fn given(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn add(findings: &mut Vec<Finding>, text: Option<String>, file: Option<String>) -> Result<String, ToolFault> {
    let refused = |why: String| Err(ToolFault::new(format!("nothing was noted: {why}")));
    let Some(text) = given(text) else {
        return refused("`add` needs ‹text›, what you found out".to_owned());
    };
    let chars = text.chars().count() + file.as_deref().map_or(0, |file| file.chars().count());
    if chars > CHARS {
        let (chars, most) = (words::digits(chars as u64), words::digits(CHARS as u64));
        return refused(format!(
            "it has {chars} characters of {most} at most; say it shorter, and name the file"
        ));
    }
    if let Some(known) = findings.iter().find(|known| known.text == text && known.file == file) {
        return Ok(format!("That is finding {} already.", known.number));
    }
    if findings.len() >= FINDINGS {
        return refused(format!("there are {FINDINGS}, which is the most; remove some that do not matter"));
    }
    let number = findings.iter().map(|known| known.number).max().unwrap_or(0).saturating_add(1);
    findings.push(Finding { number, text, file });
    Ok(format!("Noted as finding {number}."))
}

fn list(findings: &[Finding], file: Option<&str>) -> ToolOutput {
    let about = |finding: &&Finding| file.is_none_or(|file| is_about(finding, file));
    let listed: Vec<&Finding> = findings.iter().filter(about).collect();
    let count = words::count(listed.len() as u64, "finding");
    let text = match (listed.as_slice(), file) {
        ([], None) => Telling::said("There are no findings yet."),
        ([], Some(file)) => {
            let all = words::count(findings.len() as u64, "finding");
            let about = Telling::said("There are no findings about `").then(Telling::shown(file));
            about.then(format!("`, of {all} in all."))
        }
        ([_, ..], _) => {
            let mut text = format!("{count}:");
            for finding in listed {
                let place = finding.file.as_ref().map(|file| format!("`{file}`: ")).unwrap_or_default();
                // Writing to a string can't fail.
                let _ = write!(text, "\n{}. {place}{}", finding.number, finding.text);
            }
            Telling::shown(text)
        }
    };
    ToolOutput::told(text).shown(Display::Summary(count))
}

/// `src/a.rs:12` is about `src/a.rs`.
fn is_about(finding: &Finding, file: &str) -> bool {
    let rest = finding.file.as_deref().and_then(|noted| noted.strip_prefix(file));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

fn remove(findings: &mut Vec<Finding>, number: Option<u64>) -> Result<String, ToolFault> {
    let Some(number) = number else {
        return Err(ToolFault::new("nothing was removed: `remove` needs ‹number›; `list` shows the numbers"));
    };
    let before = findings.len();
    findings.retain(|finding| finding.number != number);
    if findings.len() == before {
        return Err(ToolFault::new(format!(
            "nothing was removed: there is no finding {number}; `list` shows the numbers"
        )));
    }
    Ok(format!("Finding {number} is removed, {} left.", words::digits(findings.len() as u64)))
}

fn clear(findings: &mut Vec<Finding>) -> String {
    let count = words::count(findings.len() as u64, "finding");
    findings.clear();
    format!("{count} removed.")
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "A note about a place",
        files: &[],
        read: &[],
        input: r#"{"action": "add", "text": "The cache is never emptied.", "file": "src/cache.rs:40"}"#,
        output: "Noted as finding 1.",
        after: &[],
    },
    Example {
        about: "Nothing noted yet",
        files: &[],
        read: &[],
        input: r#"{"action": "list"}"#,
        output: "There are no findings yet.",
        after: &[],
    },
    Example {
        about: "One that is not there",
        files: &[],
        read: &[],
        input: r#"{"action": "remove", "number": 7}"#,
        output: "nothing was removed: there is no finding 7; `list` shows the numbers",
        after: &[],
    },
];
