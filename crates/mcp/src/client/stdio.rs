//! Messages over a child process: a line each.

use rail_sandbox::Talk;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use super::desk::Fault;
use super::link::{Closed, Inbox, Letter};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// Bytes of the beginning and the end of a line that is too long, to see what it answers.
const ENDS: usize = 200;

/// Carries messages until one side is at its end.
pub(crate) async fn carry(talk: Talk, letters: mpsc::Receiver<Letter>, inbox: Inbox) {
    let Talk { input, output } = talk;
    let desk = inbox.desk.clone();
    let why = tokio::select! {
        // A server that reads no more may still have something to say.
        () = listen(output, inbox) => "it closed its output",
        () = speak(input, letters) => "the talk was ended",
    };
    desk.over(Fault::Gone(why.to_owned()));
}

async fn speak(mut input: pipe::Sender, mut letters: mpsc::Receiver<Letter>) {
    while let Some(Letter { mut text, .. }) = letters.recv().await {
        text.push('\n');
        if input.write_all(text.as_bytes()).await.is_err() {
            // Nobody reads: what the server printed before is still read, and its end ends this.
            std::future::pending::<()>().await;
        }
    }
}

async fn listen(mut output: pipe::Receiver, inbox: Inbox) {
    let mut lines = Lines::new(inbox.desk.limits.message);
    let mut chunk = vec![0; CHUNK];
    while let Ok(count @ 1..) = output.read(&mut chunk).await {
        for line in lines.push(chunk.get(..count).unwrap_or_default()) {
            let put = match line {
                Line::Whole(line) => inbox.put(&line).await,
                Line::TooLong { length, answers } => too_long(&inbox, length, answers).await,
            };
            if put.is_err() {
                return;
            }
        }
    }
}

async fn too_long(inbox: &Inbox, length: usize, answers: Option<Value>) -> Result<(), Closed> {
    let limit = inbox.desk.limits.message;
    let why = format!("a message of {length} bytes is longer than {limit} and was not read");
    inbox.desk.note(format!("{why}; the first of them"));
    match answers {
        Some(id) => inbox.fail(&id, why).await,
        None => Ok(()),
    }
}

/// Cuts bytes into lines.
struct Lines {
    limit: usize,
    line: Vec<u8>,
    /// How long the current line is already, once it is too long to be kept.
    skipped: usize,
    tail: Vec<u8>,
}

/// A line.
#[derive(Debug, PartialEq)]
enum Line {
    Whole(Vec<u8>),
    /// It was not kept; the request that it seems to answer.
    TooLong {
        length: usize,
        answers: Option<Value>,
    },
}

impl Lines {
    fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), skipped: 0, tail: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut found = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(end);
            rest = behind.get(1..).unwrap_or_default();
            self.add(line);
            found.push(self.end());
        }
        self.add(rest);
        found
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.skipped == 0 && self.line.len() + bytes.len() <= self.limit {
            self.line.extend_from_slice(bytes);
            return;
        }
        if self.skipped == 0 {
            self.tail = self.line.split_off(self.line.len().min(ENDS));
            self.skipped = self.line.len() + self.tail.len();
            self.line.shrink_to_fit();
        }
        self.skipped += bytes.len();
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(ENDS)..).unwrap_or(bytes));
        self.tail.drain(..self.tail.len().saturating_sub(ENDS));
        self.tail.shrink_to(2 * CHUNK);
    }

    fn end(&mut self) -> Line {
        let (line, tail) = (std::mem::take(&mut self.line), std::mem::take(&mut self.tail));
        match std::mem::take(&mut self.skipped) {
            0 => Line::Whole(line),
            length => Line::TooLong { length, answers: answered(&line, &tail) },
        }
    }
}

/// The request that a message seems to answer, by its first and its last bytes. That is a guess, and whoever guesses wrong is told that
/// an answer was too long, by a server that sends such.
fn answered(head: &[u8], tail: &[u8]) -> Option<Value> {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    if head.contains("\"method\"") {
        return None;
    }
    let number = |text: &str| -> Option<Value> {
        let (_, behind) = text.rsplit_once("\"id\":")?;
        let digits: String = behind.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<i64>().ok().map(Value::from)
    };
    let first = head.split("\"result\"").next().and_then(number);
    first.or_else(|| number(&tail))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(limit: usize, pieces: &[&[u8]]) -> Vec<Line> {
        let mut lines = Lines::new(limit);
        pieces.iter().flat_map(|piece| lines.push(piece)).collect()
    }

    #[test]
    fn a_line_that_is_too_long_is_told_by_what_it_answers() {
        let long = format!("{{\"result\":\"{}\",\"jsonrpc\":\"2.0\",\"id\":7}}\n{{}}\n", "x".repeat(900));
        let expected =
            vec![Line::TooLong { length: 938, answers: Some(7.into()) }, Line::Whole(b"{}".to_vec())];
        assert_eq!(all(300, &[long.as_bytes()]), expected);
        let first = format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"{}\"}}\n", "x".repeat(900));
        assert_eq!(
            all(300, &[first.as_bytes()]),
            [Line::TooLong { length: first.len() - 1, answers: Some(3.into()) }]
        );
        let told = format!("{{\"id\":3,\"method\":\"a\",\"params\":\"{}\"}}\n", "x".repeat(900));
        assert_eq!(all(300, &[told.as_bytes()]), [Line::TooLong { length: told.len() - 1, answers: None }]);
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_are_cut(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..2_000),
            cuts in proptest::collection::vec(0_usize..2_000, 0..8),
            limit in 1_usize..600,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let whole = all(limit, &[&bytes]);
            prop_assert_eq!(&all(limit, &pieces), &whole);
            let mut expected: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            expected.pop();
            prop_assert_eq!(whole.len(), expected.len());
            for (line, expected) in whole.iter().zip(expected) {
                match line {
                    Line::Whole(line) => prop_assert_eq!(line.as_slice(), expected),
                    Line::TooLong { length, .. } => {
                        prop_assert_eq!(*length, expected.len());
                        prop_assert!(*length > limit);
                    }
                }
            }
        }
    }
}
