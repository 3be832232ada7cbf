use rail_model::{Message, Part, PartBody, Reply, Role, Stop};
use rail_route::tokens;

use super::plan::CompactionPlan;

const TASK: &str = "Task";
const DECISIONS: &str = "Decisions";
const FILES: &str = "Files touched";
const OPEN: &str = "Open items";
/// The heading of what the user asked to keep.
pub(super) const KEPT: &str = "To keep";
const HEADINGS: [&str; 5] = [TASK, DECISIONS, FILES, OPEN, KEPT];

const SECOND: &str = include_str!("texts/check.md");

/// What a conversation was about, under fixed headings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// What the user wants, and how far it has come.
    pub task: String,
    /// What was decided or found out.
    pub decisions: String,
    /// Files and what was done to them.
    pub files: String,
    /// What remains.
    pub open_items: String,
    /// What the user asked to keep.
    pub kept: Option<String>,
}

/// Why an answer is no summary.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Rejected {
    /// There is no text in it.
    #[error("the model's summary is empty")]
    Empty,
    /// The model refused.
    #[error("the model refused to summarise")]
    Refused,
    /// The model called a tool.
    #[error("the model called `{0}` where it was to summarise")]
    Called(String),
    /// It ended before its end.
    #[error("the model's summary was cut off")]
    CutOff,
    /// A heading, or what belongs under it, is missing.
    #[error("the model's summary has nothing under `{0}`")]
    Missing(&'static str),
    /// It is longer than what it stands for, or than its share of the window.
    #[error("the model's summary has {tokens} tokens; at most {most} are of use")]
    Inflated {
        /// Its tokens.
        tokens: u64,
        /// The most it may have.
        most: u64,
    },
}

impl Summary {
    /// The whole summary as text.
    pub fn text(&self) -> String {
        let fixed = [
            (TASK, &self.task),
            (DECISIONS, &self.decisions),
            (FILES, &self.files),
            (OPEN, &self.open_items),
        ];
        let all = fixed.into_iter().chain(self.kept.as_ref().map(|kept| (KEPT, kept)));
        all.map(|(heading, text)| format!("## {heading}\n{text}")).collect::<Vec<_>>().join("\n\n")
    }

    fn read(text: &str) -> Result<Self, Rejected> {
        let mut sections = [const { None::<Vec<&str>> }; HEADINGS.len()];
        let mut current = None;
        for line in text.lines() {
            if let Some(at) = heading(line) {
                current = Some(at);
                if let Some(section) = sections.get_mut(at) {
                    section.get_or_insert_default();
                }
            } else if let Some(Some(section)) = current.and_then(|at| sections.get_mut(at)) {
                section.push(line);
            }
        }
        let [task, decisions, files, open_items, kept] = sections.map(|lines| lines.map(joined));
        let task = task.filter(|task| !task.is_empty()).ok_or(Rejected::Missing(TASK))?;
        Ok(Self {
            task,
            decisions: decisions.ok_or(Rejected::Missing(DECISIONS))?,
            files: files.ok_or(Rejected::Missing(FILES))?,
            open_items: open_items.ok_or(Rejected::Missing(OPEN))?,
            kept,
        })
    }
}

/// Which heading a line is, however it is marked: `## Task`, `**Task:**`, `### 1. TASK`.
fn heading(line: &str) -> Option<usize> {
    let line = line.trim();
    if !line.starts_with(['#', '*']) {
        return None;
    }
    let is_mark =
        |c: char| c.is_whitespace() || c.is_ascii_digit() || matches!(c, '#' | '*' | '.' | ':' | ')');
    let name = line.trim_matches(is_mark);
    HEADINGS.iter().position(|heading| heading.eq_ignore_ascii_case(name))
}

fn joined(lines: Vec<&str>) -> String {
    let text = lines.join("\n");
    // Some models fence what they are asked to write.
    text.trim().trim_end_matches("```").trim().to_owned()
}

/// The paths in the list of files of a summary.
pub(super) fn named_files(text: &str) -> Vec<String> {
    let files = Summary::read(text).map(|summary| summary.files).unwrap_or_default();
    let path = |line: &str| Some(line.trim().strip_prefix("- `")?.split_once('`')?.0.to_owned());
    files.lines().filter_map(path).collect()
}

/// Reads the model's answer to the plan's request. The files that calls changed are added where it does not name them.
pub fn check(answer: &Reply, plan: &CompactionPlan) -> Result<Summary, Rejected> {
    let text = said(answer)?;
    let mut summary = Summary::read(&text)?;
    if plan.keep.is_some() && summary.kept.as_ref().is_none_or(String::is_empty) {
        return Err(Rejected::Missing(KEPT));
    }
    let tokens = tokens(&summary.text());
    if tokens > plan.most_tokens {
        return Err(Rejected::Inflated { tokens, most: plan.most_tokens });
    }
    add_files(&mut summary.files, plan);
    Ok(summary)
}

fn said(answer: &Reply) -> Result<String, Rejected> {
    let mut text = String::new();
    for part in &answer.parts {
        match &part.body {
            PartBody::Text(said) => text.push_str(said),
            PartBody::Refusal(_) => return Err(Rejected::Refused),
            PartBody::ToolCall(call) => return Err(Rejected::Called(call.name.clone())),
            PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolResult(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => {}
        }
    }
    match &answer.stop {
        Stop::Refusal => Err(Rejected::Refused),
        Stop::MaxTokens | Stop::ContextFull | Stop::Pause | Stop::MalformedCall => Err(Rejected::CutOff),
        Stop::EndTurn | Stop::StopSequence(_) | Stop::ToolUse | Stop::Other(_) if text.trim().is_empty() => {
            Err(Rejected::Empty)
        }
        Stop::EndTurn | Stop::StopSequence(_) | Stop::ToolUse | Stop::Other(_) => Ok(text),
    }
}

/// Calls know for certain which files they changed; as many as fit half of a summary are named.
fn add_files(files: &mut String, plan: &CompactionPlan) {
    let mut left = plan.most_tokens / 2;
    let missing: Vec<&String> =
        plan.touched.changed.iter().filter(|path| !files.contains(path.as_str())).collect();
    let mut lines = Vec::new();
    for path in missing.into_iter().rev() {
        let line = format!("- `{path}`: changed");
        let Some(rest) = left.checked_sub(tokens(&line) + 1) else { break };
        left = rest;
        lines.push(line);
    }
    if lines.is_empty() {
        return;
    }
    lines.reverse();
    let said = files.trim_end();
    *files = if said.is_empty() { lines.join("\n") } else { format!("{said}\n{}", lines.join("\n")) };
}

/// What to ask after the first answer: whether the summary is right, and the whole corrected one if not.
pub fn second(summary: &Summary, plan: &CompactionPlan) -> Vec<Message> {
    let text = summary.text();
    let parts = [plan.transcript.as_str(), &format!("<summary>\n{text}\n</summary>"), SECOND.trim_end()];
    vec![Message::new(Role::User, parts.map(Part::text).into())]
}

/// The summary after the second answer: the corrected one if it is one, otherwise the first.
pub fn settled(first: Summary, answer: &Reply, plan: &CompactionPlan) -> Summary {
    check(answer, plan).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headings_are_recognised_however_they_are_marked() {
        for (line, found) in [
            ("## Task", Some(0)),
            ("# TASK:", Some(0)),
            ("**Decisions:**", Some(1)),
            ("### 3. Files touched", Some(2)),
            ("  ## Open items  ", Some(3)),
            ("**To keep**", Some(4)),
            ("Task", None),
            ("- Task", None),
            ("## Tasks", None),
            ("##", None),
            ("", None),
        ] {
            assert_eq!(heading(line), found, "{line}");
        }
    }

    #[test]
    fn a_fenced_summary_with_a_preface_is_read() {
        let text = "Sure!\n```markdown\n## Task\na\n\n## Decisions\n## Files touched\n- `x.rs`: b\n- none\n- `y z.rs` c\n## Open items\nc\n```\n";
        let summary = Summary {
            task: "a".into(),
            decisions: String::new(),
            files: "- `x.rs`: b\n- none\n- `y z.rs` c".into(),
            open_items: "c".into(),
            kept: None,
        };
        assert_eq!(Summary::read(text), Ok(summary));
        assert_eq!(named_files(text), ["x.rs", "y z.rs"]);
        assert_eq!(named_files("no summary"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_rejected(text in "(## (Task|Decisions|Files touched|Open items|To keep)\n|[#*`a-z \n]|.){0,40}") {
            if let Ok(summary) = Summary::read(&text) {
                prop_assert_eq!(Summary::read(&summary.text()), Ok(summary));
            }
            named_files(&text);
        }

        #[test]
        fn what_is_written_is_read_again(task in "[a-z]{1,9}", other in proptest::collection::vec("[a-z`-]{0,9}[a-z]", 3), kept in proptest::option::of("[a-z]{1,9}")) {
            let summary = Summary {
                task,
                decisions: other[0].clone(),
                files: other[1].clone(),
                open_items: other[2].clone(),
                kept,
            };
            prop_assert_eq!(Summary::read(&summary.text()), Ok(summary));
        }
    }
}
