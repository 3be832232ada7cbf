//! The file: its sections, written anew or added where they are missing.

use std::fmt::Write;

use super::{Command, Part, Survey};

/// A section: its title, the words in a heading by which an equal one is known, and what it says.
struct Section {
    title: &'static str,
    known_by: &'static [&'static str],
    text: fn(&Survey) -> String,
}

const SECTIONS: [Section; 5] = [
    Section {
        title: "Commands",
        known_by: &[
            "command",
            "commands",
            "build",
            "building",
            "test",
            "tests",
            "testing",
            "develop",
            "development",
            "setup",
        ],
        text: commands,
    },
    Section {
        title: "Checks in CI",
        known_by: &["ci", "checks", "continuous", "pipeline", "workflows"],
        text: checks,
    },
    Section {
        title: "Layout",
        known_by: &[
            "layout",
            "structure",
            "architecture",
            "organization",
            "organisation",
            "folders",
            "directories",
            "modules",
        ],
        text: layout,
    },
    Section {
        title: "Code style",
        known_by: &["style", "conventions", "convention", "formatting", "guidelines", "lint", "linting"],
        text: style,
    },
    Section { title: "Other rules", known_by: &["rules", "instructions"], text: rules },
];

/// A whole AGENTS.md.
pub(crate) fn write(survey: &Survey) -> String {
    let mut out = format!("# {}\n", survey.name);
    if let Some(about) = &survey.about {
        // Writing to a string can't fail.
        let _ = write!(out, "\n{about}\n");
    }
    if !survey.languages.is_empty() {
        let languages: Vec<String> =
            survey.languages.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        let _ = write!(out, "\nLanguages, by number of files: {}.\n", languages.join(", "));
    }
    for section in &SECTIONS {
        out += &section.shown(survey);
    }
    out
}

/// What was added to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Improved {
    /// The whole file: what was there, and what was added behind it.
    pub(crate) text: Vec<u8>,
    /// The titles of what was added.
    pub(crate) added: Vec<&'static str>,
}

/// Adds the sections that a file does not have. What is there stays as it is, to the byte; None when nothing is missing.
pub(crate) fn improve(existing: &[u8], survey: &Survey) -> Option<Improved> {
    let read = String::from_utf8_lossy(existing);
    let headings = headings(&read);
    let is_there = |section: &&Section| headings.iter().any(|heading| section.is(heading));
    let missing = SECTIONS.iter().filter(|section| !is_there(section));
    let missing = missing.map(|section| (section.title, section.shown(survey)));
    let missing: Vec<(&'static str, String)> = missing.filter(|(_, text)| !text.is_empty()).collect();
    if missing.is_empty() {
        return None;
    }
    let mut more = String::new();
    if !existing.is_empty() && !existing.ends_with(b"\n") {
        more.push('\n');
    }
    more.extend(missing.iter().map(|(_, text)| text.as_str()));
    if read.contains("\r\n") {
        more = more.replace('\n', "\r\n");
    }
    let text = [existing, more.as_bytes()].concat();
    Some(Improved { text, added: missing.into_iter().map(|(title, _)| title).collect() })
}

impl Section {
    /// With its heading; nothing where there is nothing to say.
    fn shown(&self, survey: &Survey) -> String {
        match (self.text)(survey) {
            text if text.is_empty() => text,
            text => format!("\n## {}\n\n{text}", self.title),
        }
    }

    /// Whether a heading is this section's.
    fn is(&self, heading: &str) -> bool {
        let heading = heading.to_lowercase();
        let mut words = heading.split(|c: char| !c.is_alphanumeric());
        words.any(|word| self.known_by.contains(&word)) || heading.trim() == self.title.to_lowercase()
    }
}

/// The headings of a Markdown text, but for those in fenced code.
fn headings(text: &str) -> Vec<String> {
    let (mut all, mut fenced) = (Vec::new(), Vec::new());
    let (mut fence, mut above): (Option<&str>, &str) = (None, "");
    for line in text.lines() {
        let inner = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| inner.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => {
                fence = None;
                fenced.clear();
            }
            (Some(_), _) => fenced.extend(heading(inner, above)),
            (None, None) => all.extend(heading(inner, above)),
        }
        above = line;
    }
    // A fence that nobody closed would hide all that was ever added behind it.
    all.append(&mut fenced);
    all
}

/// The heading that a line makes, by itself or of the line above it.
fn heading(line: &str, above: &str) -> Option<String> {
    let title = line.trim_start_matches('#');
    let under = line.trim();
    let is_underline = !under.is_empty() && under.chars().all(|c| c == '=' || c == '-');
    if title.len() < line.len() && title.starts_with([' ', '\t']) {
        Some(title.trim().to_owned())
    } else if is_underline && !above.trim().is_empty() {
        Some(above.trim().to_owned())
    } else {
        None
    }
}

fn commands(survey: &Survey) -> String {
    let mut out = String::new();
    let mut last: Option<&Command> = None;
    for command in &survey.commands {
        let Command { purpose, folder, line } = command;
        match last {
            Some(last) if last.folder == *folder && last.purpose == *purpose => {
                let _ = write!(out, ", `{line}`");
            }
            _ => {
                let is_new = last.map_or(!folder.is_empty(), |last| last.folder != *folder);
                out += if last.is_some() { "\n" } else { "" };
                if is_new {
                    let _ = write!(out, "{}In `{folder}/`:\n\n", if last.is_some() { "\n" } else { "" });
                }
                let _ = write!(out, "- {}: `{line}`", purpose.word());
            }
        }
        last = Some(command);
    }
    if last.is_some() {
        out.push('\n');
    }
    out
}

fn checks(survey: &Survey) -> String {
    survey.checks.iter().map(|line| format!("- `{line}`\n")).collect()
}

fn layout(survey: &Survey) -> String {
    let mut out: String =
        survey.layout.iter().map(|Part { path, holds }| format!("- `{path}`: {holds}\n")).collect();
    if survey.cut && !out.is_empty() {
        out.push_str("\nThe repository is large: numbers are of the part that was looked at.\n");
    }
    out
}

fn style(survey: &Survey) -> String {
    let line = |(file, says): &(String, String)| match says.as_str() {
        "" => format!("- As `{file}` says.\n"),
        says => format!("- `{file}`: {says}\n"),
    };
    survey.style.iter().map(line).collect()
}

fn rules(survey: &Survey) -> String {
    let rules: String = survey.rules.iter().map(|path| format!("- `{path}`\n")).collect();
    if rules.is_empty() {
        rules
    } else {
        format!("These files hold here as well; read them before you change what they are about.\n\n{rules}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::commands::Purpose;
    use super::*;

    fn survey() -> Survey {
        let command = Command { purpose: Purpose::Test, folder: String::new(), line: "make test".to_owned() };
        let part = Part { path: "src/".to_owned(), holds: "1 Rust file".to_owned() };
        Survey { name: "x".to_owned(), commands: vec![command], layout: vec![part], ..Survey::default() }
    }

    #[test]
    fn only_what_is_missing_is_added() {
        let added = |text: &str| {
            improve(text.as_bytes(), &survey()).map(|improved| improved.added).unwrap_or_default()
        };
        assert_eq!(added(""), ["Commands", "Layout"]);
        assert_eq!(added("# x\n\n## How to build\n"), ["Layout"]);
        assert_eq!(added("Project structure\n=====\n\n### Test it\n"), [""; 0]);
        assert_eq!(added("```\n# layout\n```\n#commands\n\ntext\n"), ["Commands", "Layout"]);
        let improved = improve(b"mine \xff\r\nno end", &survey()).unwrap();
        let expected = b"mine \xff\r\nno end\r\n\r\n## Commands\r\n\r\n- Test: `make test`\r\n\r\n## Layout\r\n\r\n- `src/`: 1 Rust file\r\n";
        assert_eq!(improved.text, expected);
    }

    proptest! {
        #[test]
        fn what_is_there_stays_and_a_second_time_changes_nothing(text in "(?s).{0,200}", md in "(#|##| |`|~|=|-|layout|build|\r?\n){0,60}") {
            for text in [text, md] {
                if let Some(improved) = improve(text.as_bytes(), &survey()) {
                    prop_assert!(improved.text.starts_with(text.as_bytes()));
                    prop_assert!(improve(&improved.text, &survey()).is_none());
                }
            }
        }
    }
}
