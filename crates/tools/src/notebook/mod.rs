//! A notebook with one cell changed, and everything else byte for byte as it was.

mod json;

use json::{Kind, Member, Node};

/// What is to be done with a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CellEdit<'a> {
    /// The cell's id, or `cell-N` with its number from 0 where it has none; before all cells if there is nothing to insert after.
    pub(crate) cell: Option<&'a str>,
    /// What is done.
    pub(crate) act: CellAct<'a>,
}

/// What is done with a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CellAct<'a> {
    /// It gets another source, and perhaps becomes one of another kind.
    Replace(&'a str, Option<CellKind>),
    /// A new one comes after it.
    Insert(&'a str, CellKind),
    /// It goes.
    Delete,
}

/// What a cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CellKind {
    /// Code that can be run.
    Code,
    /// Text.
    Markdown,
}

/// A changed notebook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edited {
    /// The text of the file.
    pub(crate) text: String,
    /// The cell's id, or `cell-N`.
    pub(crate) cell: String,
}

/// Why a notebook can't be changed so.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum NotebookFault {
    /// It is no JSON.
    #[error("it is no valid JSON at line {line}: mend it first, with a program through ‹bash›")]
    NoJson {
        /// The line, from 1.
        line: usize,
    },
    /// It is JSON, but no notebook.
    #[error(
        "it is no notebook of today's form: there is no list `cells` in it; convert it first (`jupyter nbconvert --to notebook`)"
    )]
    NoCells,
    /// There is no such cell.
    #[error("there is no cell `{cell}`; its cells are {}", .there.join(", "))]
    NoCell {
        /// What was asked for.
        cell: String,
        /// The first cells that there are.
        there: Vec<String>,
    },
    /// A cell to replace or delete must be named.
    #[error("‹cell_id› is missing: name the cell, as ‹read_file› shows it")]
    Unnamed,
    /// A cell is not as it should be.
    #[error("the cell `{cell}` has no source that can be replaced")]
    NoSource {
        /// The cell.
        cell: String,
    },
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}

/// Changes one cell of a notebook.
///
/// # Errors
/// It is no notebook, or there is no such cell.
pub(crate) fn edited(text: &str, edit: &CellEdit<'_>) -> Result<Edited, NotebookFault> {
    let root =
        json::read(text).map_err(|at| NotebookFault::NoJson { line: rail_edit::lines::line_at(text, at) })?;
    let list = root.get("cells").filter(|cells| cells.items().is_some()).ok_or(NotebookFault::NoCells)?;
    let book = Notebook { text, list, cells: list.items().unwrap_or_default(), ids: has_ids(&root, text) };
    let at = edit.cell.map(|cell| book.find(cell)).transpose()?;
    match (edit.act, at) {
        (CellAct::Insert(source, kind), after) => Ok(book.insert(after, source, kind)),
        (CellAct::Replace(source, kind), Some(at)) => book.replace(at, source, kind),
        (CellAct::Delete, Some(at)) => Ok(book.delete(at)),
        (CellAct::Replace(..) | CellAct::Delete, None) => Err(NotebookFault::Unnamed),
    }
}

struct Notebook<'a> {
    text: &'a str,
    list: &'a Node,
    cells: &'a [Node],
    ids: Ids,
}

/// Whether new cells get an id: they do since version 4.5 of the form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    Given,
    None,
}

fn has_ids(root: &Node, text: &str) -> Ids {
    let number = |key: &str| {
        let raw = root.get(key).and_then(|node| text.get(node.at.clone()))?;
        raw.parse::<u32>().ok()
    };
    let version = (number("nbformat").unwrap_or(0), number("nbformat_minor").unwrap_or(0));
    if version >= (4, 5) { Ids::Given } else { Ids::None }
}

impl Notebook<'_> {
    fn id(&self, at: usize) -> String {
        let id = self.cells.get(at).and_then(|cell| cell.get("id")).and_then(Node::text);
        id.map_or_else(|| format!("cell-{at}"), str::to_owned)
    }

    fn find(&self, cell: &str) -> Result<usize, NotebookFault> {
        let by_id = (0..self.cells.len()).find(|at| self.id(*at) == cell);
        // A number is a way to name a cell that has an id as well, unless another has that for its id.
        let number = || cell.strip_prefix("cell-").and_then(|number| number.parse().ok());
        by_id.or_else(|| number().filter(|at| *at < self.cells.len())).ok_or_else(|| NotebookFault::NoCell {
            cell: cell.to_owned(),
            there: (0..self.cells.len().min(20)).map(|at| format!("`{}`", self.id(at))).collect(),
        })
    }

    /// A new source; a code cell forgets what it gave when it was run.
    fn replace(&self, at: usize, source: &str, kind: Option<CellKind>) -> Result<Edited, NotebookFault> {
        let no_source = || NotebookFault::NoSource { cell: self.id(at) };
        let cell = self.cells.get(at).ok_or_else(no_source)?;
        let now = cell.get("cell_type").and_then(Node::text).unwrap_or_default();
        let mut changes = vec![(cell.get("source").ok_or_else(no_source)?.at.clone(), String::new())];
        if let Some((place, with)) = changes.first_mut() {
            *with = self.source(source, self.indent_at(place.start));
        }
        if let Some(kind) = kind.filter(|kind| kind.name() != now) {
            let place = cell.get("cell_type").ok_or_else(no_source)?.at.clone();
            changes.push((place, format!("\"{}\"", kind.name())));
            self.change_kind(cell, kind, &mut changes);
        } else if now == "code" {
            let clear = [("outputs", "[]"), ("execution_count", "null")];
            changes.extend(
                clear.iter().filter_map(|(key, with)| {
                    cell.get(key).map(|node| (node.at.clone(), (*with).to_owned()))
                }),
            );
        }
        changes.sort_by_key(|(place, _)| place.start);
        Ok(Edited { text: self.changed(&changes), cell: self.id(at) })
    }

    /// Code cells have outputs and a count, others may not.
    fn change_kind(&self, cell: &Node, kind: CellKind, changes: &mut Vec<(std::ops::Range<usize>, String)>) {
        let Kind::Object(members) = &cell.kind else { return };
        match kind {
            CellKind::Code => {
                let indent = self.line_break(cell, 1);
                let more = format!(",{indent}\"execution_count\": null,{indent}\"outputs\": []");
                let end = members.last().map_or(cell.at.end, |last| last.value.at.end);
                changes.push((end..end, more));
            }
            CellKind::Markdown => {
                let gone = |member: &Member| matches!(member.key.as_str(), "outputs" | "execution_count");
                let mut kept_until = None;
                for run in members.chunk_by(|one, next| gone(one) == gone(next)) {
                    let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
                    if !gone(first) {
                        kept_until = Some(last.value.at.end);
                        continue;
                    }
                    // With the comma: the one behind it, or the one before it where nothing follows.
                    let next = members.iter().find(|member| member.start > last.start).map(|next| next.start);
                    let place = match (next, kept_until) {
                        (Some(next), _) => first.start..next,
                        (None, kept) => kept.unwrap_or(first.start)..last.value.at.end,
                    };
                    changes.push((place, String::new()));
                }
            }
        }
    }

    fn insert(&self, after: Option<usize>, source: &str, kind: CellKind) -> Edited {
        let at = after.map_or(0, |after| after + 1);
        let id = match self.ids {
            Ids::Given => Some(self.new_id(source)),
            Ids::None => None,
        };
        let neighbour = after.and_then(|after| self.cells.get(after)).or_else(|| self.cells.first());
        let (cell_break, inner) = match neighbour {
            Some(cell) => (self.line_break(cell, 0), self.line_break(cell, 1)),
            None => ("\n  ".to_owned(), "\n   ".to_owned()),
        };
        let new = self.cell(source, kind, id.as_deref(), &cell_break, &inner);
        let place = match after.and_then(|after| self.cells.get(after)) {
            Some(cell) => (cell.at.end..cell.at.end, format!(",{cell_break}{new}")),
            None => match self.cells.first() {
                Some(first) => (first.at.start..first.at.start, format!("{new},{cell_break}")),
                None => (self.list.at.clone(), format!("[{cell_break}{new}\n ]")),
            },
        };
        Edited { text: self.changed(&[place]), cell: id.unwrap_or_else(|| format!("cell-{at}")) }
    }

    fn cell(&self, source: &str, kind: CellKind, id: Option<&str>, close: &str, inner: &str) -> String {
        let mut members = vec![format!("\"cell_type\": \"{}\"", kind.name())];
        if kind == CellKind::Code {
            members.push("\"execution_count\": null".to_owned());
        }
        members.extend(id.map(|id| format!("\"id\": {}", quoted(id))));
        members.push("\"metadata\": {}".to_owned());
        if kind == CellKind::Code {
            members.push("\"outputs\": []".to_owned());
        }
        members.push(format!("\"source\": {}", self.source(source, Some(inner))));
        format!("{{{inner}{}{close}}}", members.join(&format!(",{inner}")))
    }

    fn delete(&self, at: usize) -> Edited {
        let cell = self.id(at);
        let range = |nth: usize| self.cells.get(nth).map(|cell| cell.at.clone());
        let (this, before, next) = (range(at), at.checked_sub(1).and_then(range), range(at + 1));
        let place = match (this, before, next) {
            (Some(this), _, Some(next)) => this.start..next.start,
            (Some(this), Some(before), None) => before.end..this.end,
            (Some(_), None, None) => {
                return Edited { text: self.changed(&[(self.list.at.clone(), "[]".to_owned())]), cell };
            }
            (None, _, _) => 0..0,
        };
        Edited { text: self.changed(&[(place, String::new())]), cell }
    }

    /// A source as a list of lines, as Jupyter writes it; in the form of the file, on one line or on several.
    fn source(&self, source: &str, inner: Option<&str>) -> String {
        let lines: Vec<String> = source.split_inclusive('\n').map(quoted).collect();
        match inner {
            _ if lines.is_empty() => "[]".to_owned(),
            Some(inner) if inner.contains('\n') => {
                let unit = self.unit();
                format!("[{inner}{unit}{}{inner}]", lines.join(&format!(",{inner}{unit}")))
            }
            Some(_) | None => format!("[{}]", lines.join(", ")),
        }
    }

    /// The line break and indentation of the line that a key stands in, if it stands on a line of its own.
    fn indent_at(&self, value: usize) -> Option<&str> {
        let before = self.text.get(..value)?;
        let start = before.rfind('\n')?;
        let line = before.get(start + 1..)?;
        let blank = line.len() - line.trim_start().len();
        let start =
            if before.as_bytes().get(start.wrapping_sub(1)) == Some(&b'\r') { start - 1 } else { start };
        let own = line.trim_start().starts_with('"') && line.matches('"').count() == 2;
        own.then(|| before.get(start..before.len() - line.len() + blank)).flatten()
    }

    /// What stands between a cell's bracket and its first key, or before the bracket itself: nothing where all is on one line.
    fn line_break(&self, cell: &Node, depth: usize) -> String {
        let before_bracket = || {
            let before = self.text.get(..cell.at.start)?;
            let kept = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
            before.get(kept..).filter(|blank| blank.contains('\n'))
        };
        let before_key = || {
            let Kind::Object(members) = &cell.kind else { return None };
            self.text.get(cell.at.start + 1..members.first()?.start)
        };
        let found = if depth == 0 { before_bracket() } else { before_key() };
        found.unwrap_or(if depth == 0 { " " } else { "" }).to_owned()
    }

    /// One step of indentation: what a cell is indented more than the list it is in.
    fn unit(&self) -> String {
        let Some(cell) = self.cells.first() else { return " ".to_owned() };
        let (outer, inner) = (self.line_break(cell, 0), self.line_break(cell, 1));
        let unit = inner.strip_prefix(&outer).filter(|unit| !unit.is_empty());
        unit.unwrap_or(" ").to_owned()
    }

    fn changed(&self, changes: &[(std::ops::Range<usize>, String)]) -> String {
        let splices: Vec<rail_edit::edit::Splice> = changes
            .iter()
            .map(|(at, with)| rail_edit::edit::Splice { at: at.clone(), with: with.clone() })
            .collect();
        rail_edit::edit::splice(self.text, &splices).0
    }

    /// An id that no cell has, made from the source and the number of cells: the same call gives the same file.
    fn new_id(&self, source: &str) -> String {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in source.bytes().chain(self.cells.len().to_string().bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let taken: std::collections::BTreeSet<String> = (0..self.cells.len()).map(|at| self.id(at)).collect();
        loop {
            let id = format!("{:08x}", hash >> 32);
            if !taken.contains(&id) {
                return id;
            }
            hash = hash.wrapping_mul(0x0100_0000_01b3).wrapping_add(1);
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
