//! Calls of tools, as lines.

use rail_proto::{Finish, Shown, TodoStatus, ToolEnd, ToolStart};
use serde_json::Value;

use crate::diff;
use crate::figures::count;
use crate::text::{Line, Look, Role, Span};

/// How much of a result is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// A few lines.
    #[default]
    Condensed,
    /// All of it.
    Verbose,
}

impl Extent {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Condensed => Self::Verbose,
            Self::Verbose => Self::Condensed,
        }
    }
}

/// How many lines of an error are shown when not all are.
const ERROR_LINES: usize = 3;
/// How long what a call is about may be, when not all of it is shown.
const ABOUT: usize = 160;

/// A call in a line: what is done, and to what.
pub(crate) fn title(start: &ToolStart) -> Vec<Span> {
    let name = if start.title.is_empty() { &start.name } else { &start.title };
    let about = about(&start.input);
    let blank = if about.is_empty() { "" } else { " " };
    vec![Span::new(name, Look::default().bold()), Span::plain(format!("{blank}{about}"))]
}

/// What a call is about, in a line: the argument that says it best.
pub(crate) fn about(input: &Value) -> String {
    const TELLING: &[&str] = &[
        "command",
        "file_path",
        "absolute_path",
        "notebook_path",
        "pattern",
        "query",
        "url",
        "path",
        "description",
        "skill",
        "image",
        "prompt",
        "thought",
        "name",
        "id",
    ];
    let Some(object) = input.as_object() else { return String::new() };
    let text = |key: &&str| object.get(*key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let Some(main) = TELLING.iter().find_map(text) else {
        let first = object.iter().find_map(|(_, value)| value.as_str());
        return first.map(one_line).unwrap_or_default();
    };
    let place = ["path", "dir_path", "include", "glob"].iter().find_map(text).filter(|place| *place != main);
    let place = place.map(|place| format!(" in {}", one_line(place))).unwrap_or_default();
    format!("{}{place}", one_line(main))
}

/// The first line of a text, cut where it is very long.
pub(crate) fn one_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    let cut: String = first.chars().take(ABOUT).collect();
    let more = cut.len() < first.len() || lines.next().is_some();
    if more { format!("{cut} …") } else { cut }
}

/// A call that has its result.
pub(crate) fn ended(start: Option<&ToolStart>, end: &ToolEnd, extent: Extent) -> Vec<Line> {
    let sign = match end.end {
        Finish::Done if end.success => Span::new("• ", Role::Good),
        Finish::Done | Finish::Failed | Finish::Crashed | Finish::Refused | Finish::Unknown => {
            Span::new("• ", Role::Bad)
        }
        Finish::Denied | Finish::Hooked | Finish::Cancelled => Span::new("• ", Role::Warning),
    };
    let name = || vec![Span::new(end.result.name.as_deref().unwrap_or("tool"), Look::default().bold())];
    let mut head = vec![sign];
    head.extend(start.map_or_else(name, title));
    let mut lines = vec![Line::hanging(head, vec![Span::plain("  ")])];
    if extent == Extent::Verbose {
        lines.extend(start.and_then(whole_command).into_iter().flatten());
    }
    lines.extend(result(end, extent));
    lines
}

/// A command of several lines, which the head shows only the first of.
fn whole_command(start: &ToolStart) -> Option<Vec<Line>> {
    let command = start.input.get("command")?.as_str()?;
    let several = command.trim().lines().count() > 1 || command.len() > ABOUT;
    several.then(|| command.trim().lines().map(|line| Line::of(format!("  $ {line}"), Role::Faint)).collect())
}

fn result(end: &ToolEnd, extent: Extent) -> Vec<Line> {
    let text = || -> String {
        let texts: Vec<&str> = end.result.content.iter().filter_map(rail_model::Part::as_text).collect();
        texts.join("\n")
    };
    match end.end {
        Finish::Done if end.success => {}
        Finish::Cancelled => return under(vec![Line::of("stopped", Role::Warning)]),
        Finish::Denied => {
            let said =
                if let Some(Shown::Summary { text }) = &end.shown { text.clone() } else { one_line(&text()) };
            return under(vec![Line::words([Span::new(said, Role::Warning)])]);
        }
        // Sentences of ours; others are as a program printed them.
        Finish::Refused | Finish::Hooked | Finish::Crashed | Finish::Unknown => {
            return under(failed(&text(), extent, |text| Line::words([Span::new(text, Role::Bad)])));
        }
        Finish::Done | Finish::Failed => {
            return under(failed(&text(), extent, |text| Line::of(text, Role::Bad)));
        }
    }
    match &end.shown {
        Some(shown) => self::shown(shown, extent),
        None => match extent {
            Extent::Condensed => Vec::new(),
            Extent::Verbose => under(some(&text(), usize::MAX, extent, Role::Faint)),
        },
    }
}

/// What people see of a result.
pub(crate) fn shown(shown: &Shown, extent: Extent) -> Vec<Line> {
    match shown {
        Shown::Diff { files, lines } => {
            let extent = match extent {
                Extent::Condensed => diff::Extent::First(*lines),
                Extent::Verbose => diff::Extent::All,
            };
            let indent = [Span::plain("  ")];
            // Of a single file the call has said which it is.
            let said = usize::from(files.len() == 1 && files.iter().all(|file| file.moved_from.is_none()));
            diff::files(files, extent).into_iter().skip(said).map(|line| line.behind(&indent)).collect()
        }
        Shown::Preview { text, lines } => under(some(text, *lines, extent, Role::Faint)),
        Shown::Summary { text } => under(some(text, usize::MAX, extent, Role::Faint)),
        Shown::Todos { todos } => {
            let line = |todo: &rail_proto::Todo| match todo.status {
                TodoStatus::Completed => Line::of(todo.to_string(), Role::Faint),
                TodoStatus::InProgress => Line::of(todo.to_string(), Role::Accent),
                TodoStatus::Pending => Line::of(todo.to_string(), Role::Plain),
            };
            under(todos.iter().map(line).collect())
        }
    }
}

/// The first lines of a text, and how many more there are.
fn some(text: &str, at_most: usize, extent: Extent, role: Role) -> Vec<Line> {
    let at_most = match extent {
        Extent::Condensed => at_most,
        Extent::Verbose => usize::MAX,
    };
    let all = text.trim_end().lines().count();
    let mut lines: Vec<Line> =
        text.trim_end().lines().take(at_most).map(|line| Line::of(line, role)).collect();
    if all > lines.len() {
        let more = count(all - lines.len(), "more line");
        lines.push(Line::of(format!("… {more} (ctrl+o shows all)"), Role::Faint));
    }
    lines
}

/// What went wrong: where not all of it is shown, the first lines, and the last one, which says how it ended.
fn failed(text: &str, extent: Extent, line: fn(&str) -> Line) -> Vec<Line> {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let line = |text: &&str| line(text);
    match lines.as_slice() {
        [first @ .., last] if extent == Extent::Condensed && first.len() > ERROR_LINES => {
            let more = count(first.len() - ERROR_LINES, "more line");
            let more = Line::of(format!("… {more} (ctrl+o shows all)"), Role::Faint);
            first.iter().take(ERROR_LINES).map(line).chain([more, line(last)]).collect()
        }
        all => all.iter().map(line).collect(),
    }
}

/// Lines below a head, with the sign that says so before the first.
pub(crate) fn under(lines: Vec<Line>) -> Vec<Line> {
    let sign = |at| if at == 0 { "  └ " } else { "    " };
    let behind = |(at, line): (usize, Line)| line.behind(&[Span::new(sign(at), Role::Faint)]);
    lines.into_iter().enumerate().map(behind).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_says_what_it_is_about() {
        let cases = [
            (json!({"command": "cargo test\necho done"}), "cargo test …"),
            (json!({"pattern": "fn main", "path": "src"}), "fn main in src"),
            (json!({"file_path": "/w/a.rs", "old_string": "x"}), "/w/a.rs"),
            (json!({"whatever": 3, "words": "some"}), "some"),
            (json!({}), ""),
            (json!("text"), ""),
        ];
        for (input, said) in cases {
            assert_eq!(about(&input), said);
        }
    }
}
