//! Calls and reasoning that a model wrote as text.
//!
//! The text is read by one coroutine (a future that nobody but [`Reader`] polls): it waits wherever it needs to see more, so
//! every format is plain recursive descent, each byte is read once, and how the text was cut into pieces can't matter. Text
//! that can't be the start of anything leaves at once; what may still become a call is held.

mod answer;
mod args;
mod block;
mod cx;
mod families;
mod fence;
mod header;
mod json;
mod marks;
mod members;
mod nesting;
mod openers;
mod python;
mod raw;
mod reasoning;
mod said;
mod shape;
mod speaker;
mod stage;
mod weak;

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use cx::{Cx, Line};

use crate::{Catalog, Profile, Step};

pub use stage::ExtractStage;

/// The names of all formats in which calls are found in text, as [`Step::Found`] says them.
pub fn formats() -> impl Iterator<Item = &'static str> {
    families::all().map(|family| family.name)
}

/// A step of reading that may have to wait for more text.
type Reading<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the text turned out to be, in order.
#[derive(Clone, PartialEq, Debug)]
enum Piece {
    /// Text for the reader.
    Text(String),
    /// Reasoning.
    Thinking(String),
    /// A call begins; its name is as the model spelled it.
    Begin {
        /// The id the model gave, where the format has one that matters.
        id: Option<String>,
        /// The name.
        name: String,
        /// The format it was written in.
        format: &'static str,
    },
    /// More of the call's arguments, as JSON text.
    Arguments(String),
    /// Something was mended in the call that began last.
    Mended(Step),
    /// The text that the call which began last was found in; calls of one text share it.
    Wrote(Arc<str>),
    /// The call is over.
    End,
}

/// How a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// The answer is over.
    Stopped,
    /// The output limit cut it.
    Cut,
    /// The answer goes on elsewhere, so calls that were only thought of are drafts.
    Superseded,
}

/// Where a text comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Channel {
    /// What the model says.
    Content,
    /// What the server already told apart as reasoning.
    Reasoning,
}

/// Reads one text of an answer as it comes.
struct Reader {
    line: Arc<Mutex<Line>>,
    work: Option<Reading<'static, ()>>,
}

impl Reader {
    fn new(channel: Channel, profile: &Profile, catalog: &Arc<Catalog>) -> Self {
        let line = Arc::new(Mutex::new(Line::default()));
        let cx = Cx::new(Arc::clone(&line), profile.clone(), Arc::clone(catalog));
        let work: Reading<'static, ()> = match channel {
            Channel::Content => Box::pin(answer::read(cx)),
            Channel::Reasoning => Box::pin(reasoning::read_channel(cx)),
        };
        Self { line, work: Some(work) }
    }

    fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).incoming.push_str(text);
        self.run(out);
    }

    /// A part of the text is over: blanks at its end are given out, what may still become a call is not.
    fn pause(&mut self, out: &mut Vec<Piece>) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).paused = true;
        self.run(out);
    }

    /// Whether some of the text, blanks aside, has not been given out.
    fn holds(&self) -> bool {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).held
    }

    fn finish(&mut self, ending: Ending, out: &mut Vec<Piece>) {
        self.line.lock().unwrap_or_else(PoisonError::into_inner).ending = Some(ending);
        self.run(out);
    }

    fn run(&mut self, out: &mut Vec<Piece>) {
        let mut context = Context::from_waker(Waker::noop());
        if let Some(work) = &mut self.work
            && work.as_mut().poll(&mut context).is_ready()
        {
            self.work = None;
        }
        out.append(&mut self.line.lock().unwrap_or_else(PoisonError::into_inner).outgoing);
    }
}
