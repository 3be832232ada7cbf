use rail_tool::{
    Card, Display, Example, Facet, FacetCx, Generation, Lane, Level, OutputNote, Shown, Telling, Todo,
    TodoStatus, Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::planning::Todos;
use crate::words;

/// Keeps the list of things to do.
pub(crate) struct TodoWrite;

/// The list.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TodoWriteInput {
    /// The whole list, in order.
    todos: Vec<Todo>,
}

impl Tool for TodoWrite {
    type Input = TodoWriteInput;

    const CARD: Card<'static> = Card {
        name: "todo_write",
        title: "Todos",
        summary: "Keeps the list of things to do, which the user sees",
        prompt: include_str!("prompts/todo_write.md"),
        generation: Generation::Gen3,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    fn facets(_: &TodoWriteInput, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: TodoWriteInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let todos = input.todos;
        check(&todos)?;
        cx.session().services.get::<Todos>().replace(todos.clone());
        Ok(ToolOutput::told(said(&todos))
            .shown(Display::Todos(todos.clone()))
            .noted([OutputNote::Todos(todos)]))
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// What can't be shown as a list: entries without words, and the same entry twice.
fn check(todos: &[Todo]) -> Result<(), ToolFault> {
    let left = |why: Telling| Err(ToolFault::new(Telling::said("the list was left as it is: ").then(why)));
    for (at, todo) in todos.iter().enumerate() {
        let content = todo.content.trim();
        if content.is_empty() {
            let why = format!("entry {} has no `content`: say what to do, or leave it out", at + 1);
            return left(why.into());
        }
        if let Some(first) = todos.iter().take(at).position(|other| other.content.trim() == content) {
            let both = Telling::said(format!("entries {} and {} are both `", first + 1, at + 1));
            return left(both.then(Telling::shown(content)).then("`: write each thing once"));
        }
    }
    Ok(())
}

fn said(todos: &[Todo]) -> Telling {
    let of = |status: TodoStatus| todos.iter().filter(move |todo| todo.status == status);
    let count = |status| words::digits(of(status).count() as u64);
    if todos.is_empty() {
        return Telling::said("The list is empty now.");
    }
    let (done, open) = (count(TodoStatus::Completed), count(TodoStatus::Pending));
    let under_way: Vec<&Todo> = of(TodoStatus::InProgress).collect();
    let text = Telling::said(format!(
        "The list has {} now: {done} done, {} in progress, {open} to do.",
        words::count_of(todos.len() as u64, "entry", "entries"),
        words::digits(under_way.len() as u64)
    ));
    let entry = |todo: &Todo| Telling::shown(todo.content.trim());
    match (under_way.as_slice(), of(TodoStatus::Pending).next()) {
        ([], None) => text,
        ([], Some(next)) => {
            text.then(" Next: ").then(entry(next)).then(". Mark it `in_progress` when you begin it.")
        }
        ([now], _) => text.then(" Go on with: ").then(entry(now)).then("."),
        ([_, _, ..], _) => text.then(" Work on one thing at a time: keep one entry `in_progress`."),
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "A list whose second entry is being worked on",
        files: &[],
        read: &[],
        input: r#"{"todos": [
  {"content": "Read the parser", "status": "completed", "activeForm": "Reading the parser"},
  {"content": "Fix the parser", "status": "in_progress", "activeForm": "Fixing the parser"},
  {"content": "Run the tests", "status": "pending", "activeForm": "Running the tests"}
]}"#,
        output: "The list has 3 entries now: 1 done, 1 in progress, 1 to do. Go on with: Fix the parser.",
        after: &[],
    },
    Example {
        about: "The same thing twice",
        files: &[],
        read: &[],
        input: r#"{"todos": [{"content": "Test", "status": "pending"}, {"content": "Test", "status": "pending"}]}"#,
        output: "the list was left as it is: entries 1 and 2 are both `Test`: write each thing once",
        after: &[],
    },
];
