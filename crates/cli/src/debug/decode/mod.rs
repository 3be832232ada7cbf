//! `rail debug decode`: what a model said becomes text, reasoning and calls, on the command line.

mod answer;
mod case;
mod outcome;
mod sniff;
mod tools;
mod utf8;
mod watch;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Write, stderr, stdin, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use rail_model::Event;
use rail_repair::{Mapping, Profile};
use serde_json::Value;

use crate::Failure;
use answer::{Chunks, Text};
use case::{Case, Form};
use outcome::Outcome;
use utf8::Utf8;

#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(after_help = AFTER)]
pub(crate) struct Decode {
    /// Decode each case of a file: JSON lines with id, kind (`text` or `openai_stream`), chunks, tools and options
    /// (hint, starts_in_reasoning, prompted, finish_reason); `-` is stdin. One line of output a case.
    #[arg(long, value_name = "FILE", group = "what")]
    cases: Option<PathBuf>,
    /// With --cases: read `bytes_b64` instead of `chunks` where a case has it.
    #[arg(long, requires = "cases")]
    bytes: bool,
    /// Decode the answer on stdin, with the tools of this file: a JSON list, or a request that has one under `tools`;
    /// entries may be spelled as Anthropic, OpenAI or Gemini do.
    #[arg(long, value_name = "FILE", group = "what")]
    tools: Option<PathBuf>,
    /// The model's family, where the text alone does not tell: functionary_v3.2, harmony, hunyuan, ernie, …
    #[arg(long, value_name = "F", conflicts_with = "cases")]
    family: Option<String>,
    /// The answer begins inside a reasoning block that the prompt opened.
    #[arg(long, conflicts_with = "cases")]
    reasoning: bool,
    /// The model was taught to write calls as JSON, so JSON counts as a call anywhere.
    #[arg(long, conflicts_with = "cases")]
    prompted: bool,
    /// The server escapes `&`, `<`, `>` and quotes in arguments as HTML entities, as xAI's does.
    #[arg(long, conflicts_with = "cases")]
    escaped: bool,
    /// Why the answer ended, in the words of OpenAI Chat: stop, length, tool_calls, …
    #[arg(long, value_name = "REASON", conflicts_with = "cases")]
    finish: Option<String>,
    /// Each line of stdin is a JSON string (a piece of text), a delta of OpenAI Chat, or a whole chunk of it. `data: `
    /// may stand before it, so the output of `curl -N` can be piped in. The first line tells by itself, if it is one.
    #[arg(long, conflicts_with = "cases")]
    json_lines: bool,
    /// Stdin is the plain text of the answer, even if its first line looks like a chunk.
    #[arg(long, conflicts_with_all = ["cases", "json_lines"])]
    plain: bool,
    /// Names of tools and parameters that this model uses: a built-in mapping (such as lm-studio-qwen), or a TOML file of the
    /// same form; repeatable, the later one wins.
    #[arg(long, value_name = "NAME|FILE")]
    mapping: Vec<String>,
    /// Print each event and note as a line of JSON when it happens, and the object last.
    #[arg(long, conflicts_with = "cases")]
    events: bool,
}

const AFTER: &str = "\
The output is one object: {id, content, reasoning, calls: [{id, name, arguments, unknown?}], incomplete: [name],
repairs: [{step, path}]}. A call that was cut, or whose arguments can't be read, is named in `incomplete` and is not in `calls`.
Stdin whose first line is no chunk is the plain text of the answer, taken up as it arrives; bytes that are no UTF-8 are replaced.";

impl Decode {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match (&self.cases, &self.tools) {
            (Some(file), _) => self.cases(file),
            (None, Some(file)) => self.answer(file),
            (None, None) => Err(Failure::Usage(anyhow!("give --cases FILE or --tools FILE"))),
        }
    }

    /// A case that can't be read is named on stderr; the others are decoded all the same.
    fn cases(&self, file: &Path) -> Result<(), Failure> {
        let form = if self.bytes { Form::Bytes } else { Form::Chunks };
        let mappings = self.mappings()?;
        let (mut number, mut wrong, mut line) = (0, 0, Vec::new());
        let (mut input, name) = open(file)?;
        while input.read_until(b'\n', &mut line).with_context(|| name.clone())? > 0 {
            number += 1;
            let case = line.trim_ascii();
            if !case.is_empty() {
                match Case::read(case, form).and_then(|case| case.decode(&mappings)) {
                    Ok(object) => show(&object)?,
                    Err(error) => {
                        wrong += 1;
                        // A closed stderr must not hide the other cases.
                        let _ = writeln!(stderr(), "rail: {name}:{number}: {error:#}");
                    }
                }
            }
            line.clear();
        }
        match wrong {
            0 => Ok(()),
            1 => Err(Failure::Task(anyhow!("1 case could not be decoded"))),
            more => Err(Failure::Task(anyhow!("{more} cases could not be decoded"))),
        }
    }

    fn mappings(&self) -> Result<Vec<Mapping>, Failure> {
        self.mapping.iter().map(|name| mapping(name)).collect()
    }

    fn answer(&self, file: &Path) -> Result<(), Failure> {
        let profile = Profile {
            family: self.family.clone(),
            starts_in_reasoning: self.reasoning,
            prompted: self.prompted,
            escapes_entities: self.escaped,
            one_call: false,
        };
        let mut outcome = Outcome::new(&declared(file)?, &profile, &self.mappings()?);
        let mut input = stdin().lock();
        let head = if self.json_lines || self.plain { Vec::new() } else { sniff::head(&mut input)? };
        let is_lines = self.json_lines || sniff::is_chunk(&head);
        let input = BufReader::new(Cursor::new(head).chain(input));
        let ended = if is_lines { self.lines(input, &mut outcome) } else { self.text(input, &mut outcome) };
        // What came before a failure is shown.
        let last = outcome.end();
        self.watch(&last)?;
        let failed =
            outcome.failed().map(|error| anyhow!("the answer ends with an error: {}", error.message));
        show(&outcome.into_object(ID))?;
        ended?;
        failed.map_or(Ok(()), |error| Err(Failure::Task(error)))
    }

    fn text(&self, mut input: impl Read, outcome: &mut Outcome) -> Result<(), Failure> {
        let mut buffer = vec![0; 64 << 10];
        let mut utf8 = Utf8::default();
        let mut events = Vec::new();
        Text::begin(ID, &mut events);
        loop {
            self.pass(&mut events, outcome)?;
            let size = input.read(&mut buffer).context("cannot read stdin")?;
            if size == 0 {
                break;
            }
            Text::more(utf8.push(buffer.get(..size).unwrap_or_default()), &mut events);
        }
        Text::more(utf8.finish().to_owned(), &mut events);
        Text::end(self.finish.as_deref(), &mut events);
        self.pass(&mut events, outcome)
    }

    fn lines(&self, mut input: impl BufRead, outcome: &mut Outcome) -> Result<(), Failure> {
        let mut chunks = Chunks::new(ID);
        let (mut number, mut line, mut events) = (0, Vec::new(), Vec::new());
        while input.read_until(b'\n', &mut line).context("cannot read stdin")? > 0 {
            number += 1;
            if let Some(json) = sniff::payload(&line) {
                let chunk: Result<Value, _> = serde_json::from_slice(json);
                chunk
                    .map_err(anyhow::Error::from)
                    .and_then(|chunk| chunks.more(chunk, &mut events))
                    .with_context(|| format!("stdin:{number}"))?;
            }
            self.pass(&mut events, outcome)?;
            line.clear();
        }
        chunks.end(self.finish.as_deref(), &mut events)?;
        self.pass(&mut events, outcome)
    }

    fn pass(&self, events: &mut Vec<Event>, outcome: &mut Outcome) -> Result<(), Failure> {
        let passed = outcome.pass(events.drain(..));
        self.watch(&passed)
    }

    fn watch(&self, passed: &outcome::Passed) -> Result<(), Failure> {
        if self.events {
            passed.events.iter().map(watch::event).try_for_each(|event| show(&event))?;
            passed.notes.iter().map(watch::note).try_for_each(|note| show(&note))?;
        }
        Ok(())
    }
}

/// The id of an answer that has none; ids of calls are made from it.
const ID: &str = "stdin";

fn mapping(name: &str) -> Result<Mapping, Failure> {
    if let Some(built_in) = Mapping::builtin(name) {
        return Ok(built_in.clone());
    }
    let known: Vec<&str> = Mapping::names().collect();
    let text = std::fs::read_to_string(name)
        .with_context(|| {
            format!("{name}: no such mapping is built in ({}), and no such file", known.join(", "))
        })
        .map_err(Failure::Usage)?;
    toml::from_str(&text).with_context(|| name.to_owned()).map_err(Failure::Usage)
}

fn declared(file: &Path) -> Result<Vec<rail_model::ToolDecl>, Failure> {
    let read = || {
        let mut text = Vec::new();
        File::open(file)?.read_to_end(&mut text)?;
        tools::read(&serde_json::from_slice(&text)?)
    };
    read().with_context(|| file.display().to_string()).map_err(Failure::Usage)
}

/// A file, or stdin, and the name it goes by in messages.
fn open(file: &Path) -> Result<(Box<dyn BufRead>, String), Failure> {
    if file == Path::new("-") {
        return Ok((Box::new(stdin().lock()), "stdin".to_owned()));
    }
    let name = file.display().to_string();
    let opened = File::open(file).with_context(|| name.clone()).map_err(Failure::Usage)?;
    Ok((Box::new(BufReader::new(opened)), name))
}

fn show(object: &Value) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let written = writeln!(out, "{object}").and_then(|()| out.flush());
    written.map_err(|error| Failure::Task(error.into()))
}
