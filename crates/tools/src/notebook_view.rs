//! A notebook as a model is shown it: its cells with ids, sources and outputs.

use rail_model::{Part, PartBody};
use serde_json::{Map, Value};

use rail_tool::ReadLimits;

use crate::picture::picture;
use crate::words::size;

/// Which cells are wanted, and how much room there is for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cells {
    /// The first cell, from 1.
    pub(crate) first: usize,
    /// The most cells.
    pub(crate) count: usize,
    /// The most characters in all.
    pub(crate) room: usize,
    /// How much of each is shown.
    pub(crate) limits: ReadLimits,
}

/// A notebook as it is shown.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct View {
    /// Texts and images, in order.
    pub(crate) parts: Vec<Part>,
    /// How many cells there are in all.
    pub(crate) cells: usize,
    /// The last cell that is shown; nothing if none is.
    pub(crate) last: Option<usize>,
}

/// The notebook in a JSON text; nothing if it is none.
pub(crate) fn view(json: &str, wanted: Cells) -> Option<View> {
    let notebook: Value = serde_json::from_str(json).ok()?;
    let cells = cells_of(&notebook)?;
    let mut shown = Shown::new(wanted.limits);
    let mut last = None;
    for (at, cell) in cells.iter().enumerate().skip(wanted.first.saturating_sub(1)).take(wanted.count) {
        let mut next = Shown { pictures: shown.pictures, ..Shown::new(wanted.limits) };
        next.cell(at, cell);
        if shown.chars + next.chars > wanted.room && last.is_some() {
            break;
        }
        shown.append(next);
        last = Some(at + 1);
    }
    shown.end_text();
    Some(View { parts: shown.parts, cells: cells.len(), last })
}

/// The cells of a notebook of today, or of one before 2014, which kept them in sheets.
fn cells_of(notebook: &Value) -> Option<Vec<&Map<String, Value>>> {
    let lists: Vec<&Vec<Value>> = match notebook.get("cells") {
        Some(cells) => vec![cells.as_array()?],
        None => {
            let sheets = notebook.get("worksheets")?.as_array()?;
            sheets.iter().map(|sheet| sheet.get("cells")?.as_array()).collect::<Option<_>>()?
        }
    };
    lists.into_iter().flatten().map(Value::as_object).collect()
}

/// What is shown so far: whole parts, and the text behind them.
struct Shown {
    parts: Vec<Part>,
    text: String,
    chars: usize,
    pictures: usize,
    limits: ReadLimits,
}

impl Shown {
    fn new(limits: ReadLimits) -> Self {
        Self { parts: Vec::new(), text: String::new(), chars: 0, pictures: 0, limits }
    }

    fn cell(&mut self, at: usize, cell: &Map<String, Value>) {
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("unknown");
        // Notebooks before 2020 have no ids: their cells are known by their place.
        let id = cell.get("id").and_then(Value::as_str).map_or_else(|| format!("cell-{at}"), str::to_owned);
        self.say(&format!("[cell {}, id `{id}`, {kind}]\n", at + 1));
        let source = cell.get("source").or_else(|| cell.get("input")).map(joined).unwrap_or_default();
        self.body(&source, self.limits.cell_chars);
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            self.output(output);
        }
    }

    fn output(&mut self, output: &Value) {
        let kind = output.get("output_type").and_then(Value::as_str).unwrap_or("unknown");
        match kind {
            "stream" => {
                let name = output.get("name").or_else(|| output.get("stream")).and_then(Value::as_str);
                self.say(&format!("[output, {}]\n", name.unwrap_or("stdout")));
                self.body(&output.get("text").map(joined).unwrap_or_default(), self.limits.cell_output_chars);
            }
            "error" | "pyerr" => {
                let word = |key| output.get(key).and_then(Value::as_str).unwrap_or_default();
                self.say(&format!("[output, error: {}: {}]\n", word("ename"), word("evalue")));
                let lines = output.get("traceback").and_then(Value::as_array).into_iter().flatten();
                let trace: Vec<String> = lines.filter_map(Value::as_str).map(without_colours).collect();
                self.body(&trace.join("\n"), self.limits.cell_output_chars);
            }
            _ => self.data(output.get("data").unwrap_or(output)),
        }
    }

    /// What a cell gave, in the kinds that a model can use: its images, and its plain text.
    fn data(&mut self, data: &Value) {
        let Some(kinds) = data.as_object() else { return };
        let mut used = false;
        for (kind, value) in kinds {
            match kind.as_str() {
                "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/bmp" | "png" | "jpeg" => {
                    self.picture(&joined(value));
                    used = true;
                }
                "text/plain" | "text/markdown" | "text/latex" | "text" => {
                    self.say("[output]\n");
                    self.body(&joined(value), self.limits.cell_output_chars);
                    used = true;
                }
                _ => {}
            }
        }
        if !used {
            let names: Vec<&str> = kinds.keys().map(String::as_str).collect();
            self.say(&format!("[output of a kind that is not shown: {}]\n", names.join(", ")));
        }
    }

    fn picture(&mut self, encoded: &str) {
        use base64::Engine;
        let packed: String = encoded.split_ascii_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(packed).unwrap_or_default();
        if self.pictures >= self.limits.images {
            self.say(&format!(
                "[output, image of {}: not shown, it is one too many]\n",
                size(bytes.len() as u64)
            ));
            return;
        }
        if bytes.len() > self.limits.image_bytes {
            self.say(&format!("[output, image of {}: too large to be shown]\n", size(bytes.len() as u64)));
            return;
        }
        match picture(&bytes, None, &self.limits) {
            Ok(picture) => {
                self.say(&format!("[output, {}]\n", picture.says));
                self.end_text();
                self.parts.push(picture.part);
                self.pictures += 1;
            }
            Err(error) => self.say(&format!("[output, image that can't be shown: {error}]\n")),
        }
    }

    fn append(&mut self, mut next: Self) {
        if let Some(first) = next.parts.first_mut()
            && let PartBody::Text(text) = &mut first.body
        {
            text.insert_str(0, &std::mem::take(&mut self.text));
        }
        self.parts.append(&mut next.parts);
        self.text.push_str(&next.text);
        self.chars += next.chars;
        self.pictures = next.pictures;
    }

    fn body(&mut self, text: &str, at_most: usize) {
        let chars = text.chars().count();
        let kept: String = text.chars().take(at_most).collect();
        self.say(&kept);
        if chars > at_most {
            self.say(&format!("… [{} more characters]", chars - at_most));
        }
        if !kept.is_empty() && !self.text.ends_with('\n') {
            self.say("\n");
        }
    }

    fn say(&mut self, text: &str) {
        self.text.push_str(text);
        self.chars += text.chars().count();
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::text(std::mem::take(&mut self.text)));
        }
    }
}

/// A text that may be written as a list of its lines; anything else as JSON.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) if lines.iter().all(Value::is_string) => {
            lines.iter().filter_map(Value::as_str).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// Errors come in colours, which say nothing to a model.
fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut pieces = text.split("\x1b[");
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic());
        out.push_str(end.and_then(|end| piece.get(end + 1..)).unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn all() -> Cells {
        Cells { first: 1, count: usize::MAX, room: 10_000, limits: rail_tool::Limits::default().read }
    }

    fn text(view: &View) -> String {
        let texts: Vec<&str> = view.parts.iter().map(|part| part.as_text().unwrap_or("<image>\n")).collect();
        texts.concat()
    }

    fn notebook() -> String {
        json!({
            "nbformat": 4, "nbformat_minor": 5, "metadata": {},
            "cells": [
                { "cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "words"] },
                { "cell_type": "code", "id": "a1", "execution_count": 1, "metadata": {}, "source": "print(1)\nplot()",
                  "outputs": [
                    { "output_type": "stream", "name": "stdout", "text": ["1\n"] },
                    { "output_type": "execute_result", "data": { "text/plain": "2", "text/html": "<b>2</b>" } },
                    { "output_type": "display_data", "data": { "application/x": {} } },
                    { "output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\u{1b}[0;31mTrace\u{1b}[0m", "end"] },
                    { "output_type": "display_data", "data": { "image/png": "bm8=" } },
                  ] },
                { "cell_type": "raw", "metadata": {}, "source": "" },
            ],
        })
        .to_string()
    }

    #[test]
    fn cells_are_shown_with_ids_sources_and_outputs() {
        let view = view(&notebook(), all()).unwrap();
        assert_eq!((view.cells, view.last), (3, Some(3)));
        insta::assert_snapshot!(text(&view), @r"
        [cell 1, id `intro`, markdown]
        # Title
        words
        [cell 2, id `a1`, code]
        print(1)
        plot()
        [output, stdout]
        1
        [output]
        2
        [output of a kind that is not shown: application/x]
        [output, error: ValueError: no]
        Trace
        end
        [output, image that can't be shown: not an image: 2 bytes that start like none of PNG, JPEG, WebP, GIF and BMP; send it as a file or text instead]
        [cell 3, id `cell-2`, raw]
        ");
    }

    #[test]
    fn some_cells_are_shown() {
        let wanted = Cells { first: 2, count: 1, ..all() };
        let two = view(&notebook(), wanted).unwrap();
        assert_eq!(two.last, Some(2));
        assert!(text(&two).starts_with("[cell 2, id `a1`, code]\n"));
        let short = view(&notebook(), Cells { room: 100, ..all() }).unwrap();
        assert_eq!(
            (short.last, text(&short).as_str()),
            (Some(1), "[cell 1, id `intro`, markdown]\n# Title\nwords\n")
        );
        let beyond = view(&notebook(), Cells { first: 9, ..all() }).unwrap();
        assert_eq!((beyond.last, beyond.parts), (None, Vec::new()));
    }

    #[test]
    fn old_notebooks_are_read_too() {
        let old = json!({ "worksheets": [{ "cells": [
            { "cell_type": "code", "input": ["x = 1"], "outputs": [{ "output_type": "pyout", "text": ["1"] }] },
        ] }] });
        let view = view(&old.to_string(), all()).unwrap();
        insta::assert_snapshot!(text(&view), @r"
        [cell 1, id `cell-0`, code]
        x = 1
        [output]
        1
        ");
    }

    #[test]
    fn what_is_no_notebook_is_not_shown_as_one() {
        for json in ["", "{}", "[]", r#"{"cells": 1}"#, r#"{"cells": [1]}"#, r#"{"worksheets": [{}]}"#] {
            assert_eq!(view(json, all()), None, "{json}");
        }
    }

    proptest! {
        #[test]
        fn no_notebook_breaks_it(cut in 0_usize..700, with in "[{}\\[\\]\",:a0\u{1b}]{0,6}") {
            let json = notebook();
            let at = json.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(json.len());
            let _ = view(&format!("{}{with}{}", &json[..at], &json[at..]), all());
            let _ = without_colours(&with);
        }
    }
}
