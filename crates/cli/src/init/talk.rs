//! Questions on the standard error, answers on the standard input: from a terminal or a pipe alike.

use std::io::{BufRead, IsTerminal, StdinLock, stdin};

use anyhow::{Context, anyhow};
use rail_config::first::WrongAnswer;
use rail_stdx::Secret;

use super::hidden;
use crate::Failure;
use crate::config::tell;

pub(super) struct Talk {
    input: StdinLock<'static>,
    is_terminal: bool,
}

impl Talk {
    /// None when nobody is there to answer: no terminal, and nothing in the pipe.
    pub(super) fn begin() -> Result<Option<Self>, Failure> {
        let mut input = stdin().lock();
        let is_terminal = input.is_terminal();
        if !is_terminal && input.fill_buf().context("the standard input can't be read")?.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { input, is_terminal }))
    }

    /// The answer to a question; an empty one is the default.
    pub(super) fn ask(&mut self, question: &str, default: &str) -> Result<String, Failure> {
        let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
        tell(&format!("{question}{shown}: "));
        let answer = self.line(question)?;
        if !self.is_terminal {
            tell("\n");
        }
        let answer = answer.trim();
        Ok(if answer.is_empty() { default.to_owned() } else { answer.to_owned() })
    }

    /// Asks until the answer makes sense.
    pub(super) fn ask_for<T>(
        &mut self,
        question: &str,
        default: &str,
        read: impl Fn(&str) -> Result<T, WrongAnswer>,
    ) -> Result<T, Failure> {
        loop {
            match read(&self.ask(question, default)?) {
                Ok(answer) => return Ok(answer),
                Err(wrong) => tell(&format!("{wrong}\n")),
            }
        }
    }

    /// The number of one of these choices, from 1; the answer may also be the text that `other` takes.
    pub(super) fn choose(
        &mut self,
        question: &str,
        choices: &[String],
        default: usize,
    ) -> Result<String, Failure> {
        tell(&format!("{question}\n"));
        for (at, choice) in choices.iter().enumerate() {
            tell(&format!("  {}. {choice}\n", at + 1));
        }
        self.ask("Which", &default.to_string())
    }

    /// A secret, which is not shown while it is typed.
    pub(super) fn secret(&mut self, question: &str) -> Result<Secret, Failure> {
        tell(&format!("{question}: "));
        let line = match self.is_terminal {
            true => hidden::line(&mut self.input).context("the terminal can't be read")?,
            false => Some(self.line(question)?),
        };
        tell("\n");
        let line = line.ok_or_else(|| ended(question))?;
        Ok(Secret::new(line.trim()))
    }

    fn line(&mut self, question: &str) -> Result<String, Failure> {
        let mut line = String::new();
        let count = self.input.read_line(&mut line).context("the standard input can't be read")?;
        if count == 0 { Err(ended(question)) } else { Ok(line) }
    }
}

fn ended(question: &str) -> Failure {
    tell("\n");
    Failure::Usage(anyhow!("the answers ended at `{question}`; nothing was written"))
}
