//! The reference of all keys, made of what the types say of themselves.

use std::fmt::Write;

use serde_json::Value;

use crate::check::wanted;
use crate::schema::Shape;
use crate::variables::variable;
use crate::way::Way;

/// The page for users: an introduction, and every key with its type, default, meaning and variable.
pub fn reference() -> String {
    let mut page = Page { out: String::from(include_str!("docs.md")), told: Vec::new() };
    for (key, shape) in Shape::root().keys() {
        page.section(&Section::top(key, shape));
    }
    page.out
}

struct Page {
    out: String,
    /// Tables that stand in the page already, each with its heading.
    told: Vec<(Shape, String)>,
}

/// A table of keys, or a list of such tables.
struct Section {
    shape: Shape,
    way: Way,
    about: String,
    level: Level,
    place: Place,
    variables: Variables,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    Below,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Table,
    List,
}

/// Whether there are variables for it: inside a list there are none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variables {
    Some,
    None,
}

impl Section {
    fn top(key: &str, shape: Shape) -> Self {
        let (way, about) = (Way::from([key]), shape.about().to_owned());
        Self { shape, way, about, level: Level::Top, place: Place::Table, variables: Variables::Some }
    }

    fn heading(&self) -> String {
        match self.place {
            Place::Table => format!("[{}]", self.way),
            Place::List => format!("[[{}]]", self.way),
        }
    }
}

impl Page {
    fn section(&mut self, section: &Section) {
        let Some(table) = section.shape.form("object") else { return };
        let (rows, below) = contents(table, section);
        // A table of tables with names of the user's choice says nothing by itself.
        if let ([only], true) = (below.as_slice(), rows.is_empty()) {
            let about = format!("{} {}", section.about, only.about);
            return self.section(&Section { about, level: section.level, way: only.way.clone(), ..*only });
        }
        let marks = if section.level == Level::Top { "##" } else { "###" };
        let heading = section.heading();
        let _ = write!(self.out, "\n{marks} `{heading}`\n\n{}\n", section.about);
        if let Some((_, same)) = self.told.iter().find(|(told, _)| told.is(table)) {
            let _ = write!(self.out, "\nIts keys are those of `{same}`.\n");
            return;
        }
        if section.place == Place::List && section.variables == Variables::Some {
            let _ = write!(
                self.out,
                "\nThe list as a whole has the variable `{}`.\n",
                variable(&section.way.keys())
            );
        }
        if !rows.is_empty() {
            let _ =
                write!(self.out, "\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n{rows}");
        }
        self.told.push((table, heading));
        below.iter().for_each(|section| self.section(section));
    }
}

/// The rows of a table, and the tables below it.
fn contents(table: Shape, section: &Section) -> (String, Vec<Section>) {
    let (mut rows, mut below) = (String::new(), Vec::<Section>::new());
    let variables = if section.place == Place::List { Variables::None } else { section.variables };
    for (key, shape) in table.keys().chain(table.any_key().map(|shape| ("NAME", shape))) {
        let way = section.way.to(key);
        let Some((inner, place)) = inner(shape) else {
            rows.push_str(&row(shape, key, &way, variables));
            continue;
        };
        let alike =
            table.keys().filter(|(_, other)| self::inner(*other).is_some_and(|(other, _)| other.is(inner)));
        // Keys that all have the same table are told in rows, and their table once.
        let is_one_of_many = alike.count() > 1;
        if is_one_of_many || shape.forms().len() > 1 {
            rows.push_str(&row(shape, key, &way, variables));
        }
        if below.iter().any(|section| section.shape.is(inner)) {
            continue;
        }
        let way = if is_one_of_many { section.way.to("NAME") } else { way };
        let about = if is_one_of_many || shape.about().is_empty() { inner.about() } else { shape.about() };
        below.push(Section {
            shape: inner,
            way,
            about: about.to_owned(),
            level: Level::Below,
            place,
            variables,
        });
    }
    (rows, below)
}

/// The table inside a value, if it is one or a list of them.
fn inner(shape: Shape) -> Option<(Shape, Place)> {
    if let Some(table) = shape.form("object") {
        return Some((table, Place::Table));
    }
    let table = shape.form("array")?.item()?.form("object")?;
    Some((table, Place::List))
}

fn row(shape: Shape, key: &str, way: &Way, variables: Variables) -> String {
    let default = shape.default().filter(|default| !is_empty(default)).map(shown).unwrap_or_default();
    let about = cell(shape.about());
    let words: String = shape.words().iter().map(|(word, about)| words_line(word, about)).collect();
    let variable = match variables {
        Variables::Some => format!("<br>`{}`", variable(&way.keys())),
        Variables::None => String::new(),
    };
    format!("| `{key}` | {} | {default} | {about}{words}{variable} |\n", kind(shape))
}

fn words_line(word: &str, about: &str) -> String {
    let about = cell(about);
    if about.is_empty() { String::new() } else { format!("<br>`{word}`: {about}") }
}

fn kind(shape: Shape) -> String {
    let words = shape.words();
    if !words.is_empty() {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        return words.join(", ");
    }
    match shape.format() {
        Some("chain") => "a chain".to_owned(),
        Some("size") => "a size".to_owned(),
        Some("duration") => "a length of time".to_owned(),
        Some("secret") => "a secret".to_owned(),
        Some("path") => "a path".to_owned(),
        Some(_) | None => match shape.form("array").and_then(Shape::item) {
            Some(item) if shape.forms().len() == 1 => format!("a list of {}", plural(item)),
            Some(_) | None => wanted(shape),
        },
    }
}

fn plural(item: Shape) -> &'static str {
    match (item.kind(), item.format()) {
        ("object", _) => "tables",
        (_, Some("secret")) => "secrets",
        (_, Some("permission-rule")) => "rules",
        (_, Some("private-place")) => "hosts, addresses and networks",
        _ => "strings",
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`\"{text}\"`"),
        other => format!("`{other}`"),
    }
}

/// Text in a cell of a table: on one line, with no bar that would end it.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
