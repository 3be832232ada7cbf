use super::{At, FilePatch, Patch, PatchHunk};

/// Why a text is no patch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line} of the patch: {what}")]
pub struct PatchFault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what should be.
    pub what: String,
}

/// Reads a patch. What weak models put around it (fences, a shell's here-document) and a missing end do not matter.
///
/// # Errors
/// The first line that can't be understood.
pub fn parse(text: &str) -> Result<Patch, PatchFault> {
    let mut reader = Reader { files: Vec::new(), state: State::Before, open: None };
    let mut last = 0;
    for (at, line) in text.split('\n').enumerate() {
        last = at + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if reader.line(line, last)? == Next::Stop {
            break;
        }
    }
    reader.end_hunk();
    if reader.files.is_empty() {
        let what = "there is no change in it; it must have a line `*** Begin Patch`, then `*** Add File: PATH`, `*** Update File: PATH` or `*** Delete File: PATH`";
        return Err(PatchFault { line: last, what: what.to_owned() });
    }
    for file in &reader.files {
        if let FilePatch::Update { path, to: None, hunks } = file
            && hunks.is_empty()
        {
            let what = format!("the update of `{path}` changes nothing: give lines with `-` and `+`");
            return Err(PatchFault { line: last, what });
        }
    }
    Ok(Patch { files: reader.files })
}

#[derive(PartialEq, Eq)]
enum Next {
    Line,
    Stop,
}

enum State {
    /// Nothing of the patch was seen yet.
    Before,
    /// Between files, where only a header can come.
    Between,
    /// In a file that is made.
    Adding,
    /// In a file that is changed.
    Updating,
}

#[derive(Default)]
struct Open {
    hunk: PatchHunk,
    /// Empty lines that may be part of the hunk, or stand between it and what follows.
    blank: usize,
}

enum Header<'a> {
    Begin,
    End,
    Add(&'a str),
    Delete(&'a str),
    Update(&'a str),
    Move(&'a str),
    EndOfFile,
}

struct Reader {
    files: Vec<FilePatch>,
    state: State,
    /// The hunk that is being read.
    open: Option<Open>,
}

impl Reader {
    fn line(&mut self, line: &str, number: usize) -> Result<Next, PatchFault> {
        let fault = |what: String| Err(PatchFault { line: number, what });
        if let Some(header) = header(line, &self.state) {
            return self.header(header, number);
        }
        match &mut self.state {
            // Words, a fence or a shell's command may stand before the patch.
            State::Before => {}
            State::Between if line.trim().is_empty() || is_wrapping(line) => {}
            State::Between => {
                return fault(format!(
                    "`{}` is outside of a file; start one with `*** Update File: PATH`",
                    short(line)
                ));
            }
            State::Adding => {
                if is_wrapping(line) {
                    self.state = State::Between;
                    return Ok(Next::Line);
                }
                let Some(FilePatch::Add { content, .. }) = self.files.last_mut() else {
                    return Ok(Next::Line);
                };
                match line.strip_prefix('+') {
                    Some(added) => {
                        content.push_str(added);
                        content.push('\n');
                    }
                    None if line.trim().is_empty() => {}
                    None => {
                        return fault(format!(
                            "`{}` must begin with `+`: every line of a new file does",
                            short(line)
                        ));
                    }
                }
            }
            State::Updating => return self.hunk_line(line, number),
        }
        Ok(Next::Line)
    }

    fn header(&mut self, header: Header<'_>, number: usize) -> Result<Next, PatchFault> {
        let fault = |what: &str| Err(PatchFault { line: number, what: what.to_owned() });
        let path = |written: &str| {
            let path = written.trim().trim_matches(['`', '"', '\'']);
            let what = "there is no path after the colon".to_owned();
            if path.is_empty() { Err(PatchFault { line: number, what }) } else { Ok(path.to_owned()) }
        };
        match header {
            Header::EndOfFile => {
                if let Some(open) = &mut self.open {
                    open.hunk.at = At::End;
                }
                self.end_hunk();
                return Ok(Next::Line);
            }
            Header::Begin => self.end_hunk(),
            Header::End => {
                self.end_hunk();
                return Ok(Next::Stop);
            }
            Header::Add(written) => {
                self.end_hunk();
                self.files.push(FilePatch::Add { path: path(written)?, content: String::new() });
                self.state = State::Adding;
                return Ok(Next::Line);
            }
            Header::Delete(written) => {
                self.end_hunk();
                self.files.push(FilePatch::Delete { path: path(written)? });
            }
            Header::Update(written) => {
                self.end_hunk();
                self.files.push(FilePatch::Update { path: path(written)?, to: None, hunks: Vec::new() });
                self.state = State::Updating;
                return Ok(Next::Line);
            }
            Header::Move(written) => {
                let written = path(written)?;
                return match self.files.last_mut() {
                    Some(FilePatch::Update { to, hunks, .. }) if to.is_none() && hunks.is_empty() => {
                        *to = Some(written);
                        Ok(Next::Line)
                    }
                    Some(_) | None => fault("`*** Move to:` must stand right after `*** Update File: PATH`"),
                };
            }
        }
        self.state = State::Between;
        Ok(Next::Line)
    }

    /// A line of a file that is changed.
    fn hunk_line(&mut self, line: &str, number: usize) -> Result<Next, PatchFault> {
        if let Some(anchor) = line.strip_prefix("@@") {
            if self.open.as_ref().is_some_and(|open| !open.is_empty()) {
                self.end_hunk();
            }
            let open = self.open(number);
            open.hunk.anchors.extend(anchor_of(anchor));
            return Ok(Next::Line);
        }
        let (mark, rest) = line.split_at_checked(1).unwrap_or(("", ""));
        match mark {
            "" => self.open(number).blank += 1,
            " " | "-" | "+" => {
                let open = self.open(number);
                open.settle_blank();
                if mark != "+" {
                    open.hunk.old.push_str(rest);
                    open.hunk.old.push('\n');
                }
                if mark != "-" {
                    open.hunk.new.push_str(rest);
                    open.hunk.new.push('\n');
                }
            }
            _ if is_wrapping(line) => {
                self.end_hunk();
                self.state = State::Between;
            }
            _ => {
                let what = format!(
                    "`{}` must begin with a space (a line that stays), `-` (one that goes), `+` (one that comes) or `@@`",
                    short(line)
                );
                return Err(PatchFault { line: number, what });
            }
        }
        Ok(Next::Line)
    }

    fn open(&mut self, number: usize) -> &mut Open {
        self.open.get_or_insert_with(|| Open {
            hunk: PatchHunk { line: number, ..PatchHunk::default() },
            blank: 0,
        })
    }

    /// The hunk that is open is whole. Empty lines behind it only stood before what follows.
    fn end_hunk(&mut self) {
        let Some(open) = self.open.take().filter(|open| !open.is_empty()) else { return };
        if let Some(FilePatch::Update { hunks, .. }) = self.files.last_mut() {
            hunks.push(open.hunk);
        }
    }
}

impl Open {
    fn is_empty(&self) -> bool {
        self.hunk.old.is_empty() && self.hunk.new.is_empty()
    }

    /// Empty lines between lines of the hunk stay: many models leave out the space before them.
    fn settle_blank(&mut self) {
        for _ in 0..std::mem::take(&mut self.blank) {
            self.hunk.old.push('\n');
            self.hunk.new.push('\n');
        }
    }
}

/// A line that begins with three stars. In a changed file a line that stays may look like one, but begins with a space.
fn header<'a>(line: &'a str, state: &State) -> Option<Header<'a>> {
    let line = match state {
        State::Updating => line,
        State::Before | State::Between | State::Adding => line.trim_start(),
    };
    let rest = line.strip_prefix("***")?.trim();
    let after = |name: &str| rest.strip_prefix(name);
    Some(match rest {
        "Begin Patch" => Header::Begin,
        "End Patch" => Header::End,
        "End of File" => Header::EndOfFile,
        _ => after("Add File:")
            .map(Header::Add)
            .or_else(|| after("Delete File:").map(Header::Delete))
            .or_else(|| after("Update File:").map(Header::Update))
            .or_else(|| after("Move to:").map(Header::Move))?,
    })
}

/// What stands behind `@@`: a line of the file, or the numbers of a unified diff, which models count wrong.
fn anchor_of(written: &str) -> Option<String> {
    let numbers = written.trim_start();
    let text = match numbers.strip_prefix('-').and_then(|rest| rest.split_once("@@")) {
        Some((ranges, rest))
            if ranges.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | ',' | '+')) =>
        {
            rest
        }
        Some(_) | None => written,
    };
    let text = text.strip_prefix(' ').unwrap_or(text);
    let text = text.strip_suffix(" @@").unwrap_or(text);
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// A fence, or the end of a shell's here-document.
fn is_wrapping(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```") || matches!(line, "EOF" | "PATCH" | "'EOF'" | "EOF)" | ")")
}

fn short(line: &str) -> String {
    crate::diff::clipped(line, 60)
}
