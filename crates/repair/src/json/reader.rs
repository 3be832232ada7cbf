//! One pass over a text, by one choice of where its doubtful strings end.

use rail_model::Map;
use serde_json::Value;

use super::blank::{self, Place, is_bare_key, quote};
use super::{MAX_DEPTH, State};

/// How much is let pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// JSON and nothing else.
    Strict,
    /// Whatever has one meaning, in a text that strict JSON refused.
    Tolerant,
}

/// A value and how it ended.
pub(super) struct Outcome {
    pub(super) value: Value,
    pub(super) end: usize,
    pub(super) state: State,
}

/// What can't be read, and where.
pub(super) struct Fail {
    pub(super) what: &'static str,
    pub(super) at: usize,
}

impl Fail {
    pub(super) fn words(self) -> String {
        format!("{} at byte {}", self.what, self.at)
    }
}

/// A string with unescaped quotes, and how its end was chosen.
pub(super) struct Broken {
    /// How many quotes that could have closed it were passed over.
    pub(super) skipped: usize,
    /// How many unescaped quotes it holds.
    pub(super) inner: usize,
    /// Whether a later quote could close it too.
    pub(super) more: bool,
}

/// All that a pass gave.
pub(super) struct Run {
    pub(super) outcome: Result<Outcome, Fail>,
    pub(super) broken: Vec<Broken>,
    pub(super) mended: bool,
}

pub(super) enum Frame {
    Object { map: Map, key: Option<String> },
    List { items: Vec<Value>, closer: char },
}

impl Frame {
    pub(super) fn closer(&self) -> char {
        match self {
            Self::Object { .. } => '}',
            Self::List { closer, .. } => *closer,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// A value.
    Value,
    /// The first key or element, or the end.
    First,
    /// A key or element after a comma.
    More,
    /// A comma or the end.
    Next,
}

/// What is to be done after a step.
pub(super) enum Step {
    Want(Want),
    Done(Value),
    /// The text ended inside a token.
    Cut,
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) mode: Mode,
    pub(super) choices: &'a [usize],
    pub(super) stack: Vec<Frame>,
    pub(super) broken: Vec<Broken>,
    pub(super) mended: bool,
}

impl<'a> Reader<'a> {
    /// `choices` says, for each string with unescaped quotes, how many possible ends to pass over.
    pub(super) fn new(text: &'a str, mode: Mode, choices: &'a [usize]) -> Self {
        Self { text, at: 0, mode, choices, stack: Vec::new(), broken: Vec::new(), mended: false }
    }

    pub(super) fn run(mut self) -> Run {
        let outcome = self.read();
        Run { outcome, broken: self.broken, mended: self.mended }
    }

    fn read(&mut self) -> Result<Outcome, Fail> {
        let mut want = Want::Value;
        loop {
            self.blanks()?;
            let step = match self.peek() {
                Some(c) => self.step(want, c)?,
                None if self.stack.is_empty() => return Err(self.fail("the text is empty")),
                None if want == Want::First || want == Want::Next => return self.open(State::OpenContainer),
                // After a colon or a comma something was still to come.
                None => Step::Cut,
            };
            match step {
                Step::Want(next) => want = next,
                Step::Done(value) => return Ok(Outcome { value, end: self.at, state: State::Complete }),
                Step::Cut => return self.open(State::OpenString),
            }
        }
    }

    fn step(&mut self, want: Want, c: char) -> Result<Step, Fail> {
        match want {
            Want::Value => self.value(c),
            Want::Next if c == ',' => {
                self.at += 1;
                Ok(Step::Want(Want::More))
            }
            Want::First | Want::More | Want::Next if matches!(c, '}' | ']' | ')') => {
                if want == Want::More {
                    self.mend("a comma without a value after it")?;
                }
                self.close(c)
            }
            Want::First | Want::More if c == ',' => {
                self.mend("a comma without a value before it")?;
                self.at += 1;
                Ok(Step::Want(Want::More))
            }
            Want::Next => {
                self.mend("a comma is missing")?;
                Ok(Step::Want(Want::More))
            }
            Want::First | Want::More => match self.stack.last() {
                Some(Frame::Object { .. }) => self.key(c),
                Some(Frame::List { .. }) | None => self.value(c),
            },
        }
    }

    fn value(&mut self, c: char) -> Result<Step, Fail> {
        let frame = match c {
            '{' => Frame::Object { map: Map::new(), key: None },
            '[' => Frame::List { items: Vec::new(), closer: ']' },
            '(' => {
                self.mend("a tuple")?;
                Frame::List { items: Vec::new(), closer: ')' }
            }
            c if quote(c).is_some() => {
                let (text, whole) = self.string(c, self.place())?;
                let step = self.put(Value::String(text));
                return Ok(if whole { step } else { Step::Cut });
            }
            _ => return self.scalar(),
        };
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.fail("containers nest too deep"));
        }
        self.at += 1;
        self.stack.push(frame);
        Ok(Step::Want(Want::First))
    }

    fn key(&mut self, c: char) -> Result<Step, Fail> {
        let name = match quote(c) {
            Some(_) => {
                let (name, whole) = self.string(c, Place::Key)?;
                if !whole {
                    return Ok(Step::Cut);
                }
                name
            }
            None => {
                self.mend("a key without quotes")?;
                let rest = self.rest();
                let length = rest.find(|c| !is_bare_key(c)).unwrap_or(rest.len());
                let name = rest.get(..length).unwrap_or_default();
                if name.is_empty() {
                    return Err(self.fail("a key is expected"));
                }
                self.at += length;
                name.to_owned()
            }
        };
        self.blanks()?;
        match self.peek() {
            Some(':') => self.at += 1,
            Some(_) => return Err(self.fail("a colon is expected")),
            None => return Ok(Step::Cut),
        }
        if let Some(Frame::Object { key, .. }) = self.stack.last_mut() {
            *key = Some(name);
        }
        Ok(Step::Want(Want::Value))
    }

    /// A closing bracket: the innermost container's own, that of one further out, or one too many.
    fn close(&mut self, c: char) -> Result<Step, Fail> {
        if self.stack.last().map(Frame::closer) != Some(c) {
            self.mend("a closing bracket that does not match")?;
        }
        self.at += 1;
        if !self.stack.iter().any(|frame| frame.closer() == c) {
            return Ok(Step::Want(Want::Next));
        }
        while let Some(frame) = self.stack.pop() {
            let own = frame.closer() == c;
            let step = self.put(finished(frame));
            if own {
                return Ok(step);
            }
        }
        Ok(Step::Want(Want::Next))
    }

    /// Puts a value where it belongs.
    pub(super) fn put(&mut self, value: Value) -> Step {
        match self.stack.last_mut() {
            None => return Step::Done(value),
            Some(Frame::List { items, .. }) => items.push(value),
            Some(Frame::Object { map, key }) => {
                if let Some(key) = key.take() {
                    map.insert(key, value);
                }
            }
        }
        Step::Want(Want::Next)
    }

    /// The end of the text while containers are open.
    fn open(&mut self, state: State) -> Result<Outcome, Fail> {
        self.mend("the text ends too early")?;
        let mut value = Value::Null;
        while let Some(frame) = self.stack.pop() {
            value = finished(frame);
            if !self.stack.is_empty() {
                self.put(std::mem::take(&mut value));
            }
        }
        Ok(Outcome { value, end: self.text.len(), state })
    }

    pub(super) fn place(&self) -> Place {
        match self.stack.last() {
            None => Place::Top,
            Some(Frame::Object { .. }) => Place::Member,
            Some(Frame::List { .. }) => Place::Element,
        }
    }

    fn blanks(&mut self) -> Result<(), Fail> {
        if self.mode == Mode::Strict {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            return Ok(());
        }
        let blank = blank::skip(self.text, self.at);
        self.at = blank.end;
        if blank.odd { self.mend("a comment") } else { Ok(()) }
    }

    /// Notes a defect; in strict mode it is the end.
    pub(super) fn mend(&mut self, what: &'static str) -> Result<(), Fail> {
        self.mended = true;
        match self.mode {
            Mode::Strict => Err(self.fail(what)),
            Mode::Tolerant => Ok(()),
        }
    }

    pub(super) fn fail(&self, what: &'static str) -> Fail {
        Fail { what, at: self.at }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
}

fn finished(frame: Frame) -> Value {
    match frame {
        Frame::Object { map, .. } => Value::Object(map),
        Frame::List { items, .. } => Value::Array(items),
    }
}
