use rail_config::Trusted;
use rail_model::Part;
use rail_permit::Rule;
use rail_tool::BoxFuture;

use super::files::native;
use super::template::{Given, Piece, has_given, template};
use super::{CustomCommand, Owner, words};

/// Where a command's text gets what it does not say itself.
pub trait Sources: Send + Sync {
    /// Runs a shell command as the model's own would be run: judged, perhaps asked about, and allowed besides by these rules. Gives what
    /// it printed, or why it was not run.
    fn run<'a>(&'a self, command: &'a str, allowed: &'a [Rule]) -> BoxFuture<'a, Result<String, String>>;

    /// Reads a file as the tool for that does, judged too; nothing where there is no such file.
    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Result<Vec<Part>, String>>>;
}

/// What becomes of a command.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expanded {
    /// The text for the model. It holds what others wrote, so that it must not be read for commands or files again.
    pub text: String,
    /// The files that it names.
    pub attached: Vec<Attached>,
    /// The model that is to answer, if the command says.
    pub model: Option<String>,
    /// What may be done without asking while it is answered.
    pub allowed: Vec<Rule>,
    /// What went wrong, for the user.
    pub problems: Vec<String>,
}

/// A file that is sent along.
#[derive(Clone, PartialEq, Debug)]
pub struct Attached {
    /// As it was written.
    pub path: String,
    /// What is in it, as a model is shown it.
    pub parts: Vec<Part>,
}

impl Attached {
    /// The parts of a message that show it, with its name before them.
    pub fn shown(self) -> impl Iterator<Item = Part> {
        let named = Part::text(format!("What `@{}` holds now:", self.path));
        [named].into_iter().chain(self.parts).map(Part::beside)
    }
}

/// Makes the text of a command: what the user gave, the output of commands and the names of files in their places.
///
/// The text is read before anything is put in: whatever stands in an argument, an output or a file is only text.
pub async fn expand(command: &CustomCommand, args: &str, sources: &dyn Sources) -> Expanded {
    let pieces = template(&command.body);
    let given = words(args);
    let mut out = Expanded { model: command.model.clone(), ..Expanded::default() };
    out.allowed = rules(
        &format!("the command /{}", command.name),
        command.owner,
        &command.allowed_tools,
        &mut out.problems,
    );
    for piece in &pieces {
        match piece {
            Piece::Text(_) | Piece::Given(_) => put(&mut out.text, std::slice::from_ref(piece), args, &given),
            Piece::Command(inner) => {
                let mut line = String::new();
                put(&mut line, inner, args, &given);
                match sources.run(&line, &out.allowed).await {
                    Ok(output) => out.text.push_str(output.trim_end()),
                    Err(why) => {
                        out.text.push_str(&format!("[`{line}` was not run or failed: {why}]"));
                        out.problems.push(format!("/{}: `{line}`: {why}", command.name));
                    }
                }
            }
            Piece::File(inner) => {
                let mut path = String::new();
                put(&mut path, inner, args, &given);
                out.text.push('@');
                out.text.push_str(&path);
                attach(&mut out, &path, command, sources).await;
            }
        }
    }
    if !args.is_empty() && !has_given(&pieces) {
        out.text.push_str("\n\nARGUMENTS: ");
        out.text.push_str(args);
    }
    out
}

async fn attach(out: &mut Expanded, path: &str, command: &CustomCommand, sources: &dyn Sources) {
    if path.is_empty() || out.attached.iter().any(|attached| attached.path == path) {
        return;
    }
    match sources.read(path).await {
        None => {}
        Some(Ok(parts)) => out.attached.push(Attached { path: path.to_owned(), parts }),
        Some(Err(why)) => out.problems.push(format!("/{}: `@{path}`: {why}", command.name)),
    }
}

/// Puts in what the user gave. A word that was not given is empty.
fn put(out: &mut String, pieces: &[Piece], args: &str, given: &[String]) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Given(Given::All) => out.push_str(args),
            Piece::Given(Given::Word(word)) => {
                let word = word.checked_sub(1).and_then(|at| given.get(at));
                out.push_str(word.map_or("", String::as_str));
            }
            Piece::Command(inner) | Piece::File(inner) => put(out, inner, args, given),
        }
    }
}

/// The rules that a file brings; `whose` it is, is said with each problem. A project that is not trusted can't allow anything.
pub(crate) fn rules(whose: &str, owner: Owner, written: &[String], problems: &mut Vec<String>) -> Vec<Rule> {
    if owner == Owner::Project(Trusted::No) && !written.is_empty() {
        problems.push(format!(
            "{whose}: its `allowed-tools` do not count, since this folder is not trusted; trust it with `rail config trust`"
        ));
        return Vec::new();
    }
    let rules = written.iter().map(|text| Rule::parse(text, whose, &native));
    rules
        .filter_map(|rule| {
            rule.map_err(|error| problems.push(format!("{whose}: allowed-tools: {error}"))).ok()
        })
        .collect()
}
