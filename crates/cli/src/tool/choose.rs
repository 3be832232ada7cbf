//! Choices at the terminal.

use std::fmt::Write;
use std::io::{BufRead, Write as _, stderr, stdin};

use rail_tool::{About, Choice, Choices, Chosen, Pick, Picked};

use crate::output::harmless;

/// Asks one question after the other, until all are answered or the person ends it.
pub(super) fn talk(choices: &Choices) -> Chosen {
    let mut answers = Vec::new();
    let mut before = about(&choices.about);
    for choice in &choices.questions {
        let asked = std::mem::take(&mut before) + &shown(choice);
        match answer(&asked, choice) {
            Some(picked) => answers.push(picked),
            None => return Chosen::Dismissed { said: None },
        }
    }
    Chosen::Answered { answers }
}

/// One answer; None where no more input comes.
fn answer(asked: &str, choice: &Choice) -> Option<Picked> {
    loop {
        let mut err = stderr().lock();
        // A terminal that takes no question gives no answer either.
        err.write_all(harmless(asked).as_bytes()).and_then(|()| err.flush()).ok()?;
        drop(err);
        let mut line = String::new();
        match stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        if let Some(picked) = read(&line, choice) {
            return Some(picked);
        }
    }
}

/// What is to be seen before the question.
fn about(about: &About) -> String {
    match about {
        About::Question | About::EnterPlan => String::new(),
        About::LeavePlan { plan } => format!("{}\n\n", plan.trim_end()),
    }
}

/// The question as it is shown.
fn shown(choice: &Choice) -> String {
    let head = if choice.header.is_empty() { String::new() } else { format!("[{}] ", choice.header) };
    let mut text = format!("{head}{}\n", choice.question);
    for (at, option) in choice.options.iter().enumerate() {
        let meaning =
            if option.description.is_empty() { String::new() } else { format!(": {}", option.description) };
        // Writing to a string can't fail.
        let _ = writeln!(text, "  {}  {}{meaning}", at + 1, option.label);
    }
    text.push_str(match choice.pick {
        Pick::One => "A number, `1: and some words`, or an answer of your own.\n> ",
        Pick::Several => "Numbers (`1, 3`), `1, 3: and some words`, or an answer of your own.\n> ",
    });
    text
}

/// What a line means; None if it means nothing.
fn read(line: &str, choice: &Choice) -> Option<Picked> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    let (numbers, words) = line.split_once(':').unwrap_or((line, ""));
    let Some(numbers) = numbers.split(',').map(|number| number.trim().parse::<usize>().ok()).collect() else {
        return Some(Picked::words(line));
    };
    let numbers: Vec<usize> = numbers;
    let mut options: Vec<usize> = numbers.iter().filter_map(|number| number.checked_sub(1)).collect();
    options.sort_unstable();
    options.dedup();
    // A number that is not offered is a slip, not an answer.
    let offered = options.len() == numbers.len() && options.iter().all(|at| *at < choice.options.len());
    let enough = choice.pick == Pick::Several || options.len() == 1;
    let said = Some(words.trim()).filter(|words| !words.is_empty()).map(str::to_owned);
    (offered && enough).then_some(Picked { options, said })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_tool::ChoiceOption;

    use super::*;

    fn choice(pick: Pick) -> Choice {
        let option = |label: &str, description: &str| ChoiceOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        Choice {
            question: "Which?".to_owned(),
            header: "Storage".to_owned(),
            options: vec![option("SQLite", "one file"), option("PostgreSQL", ""), option("None", "")],
            pick,
        }
    }

    #[test]
    fn a_question_is_shown_with_its_numbers() {
        insta::assert_snapshot!(shown(&choice(Pick::One)), @r"
        [Storage] Which?
          1  SQLite: one file
          2  PostgreSQL
          3  None
        A number, `1: and some words`, or an answer of your own.
        >
        ");
    }

    #[test]
    fn lines_are_answers() {
        let both = |options: &[usize], said: &str| {
            Some(Picked { options: options.to_vec(), said: Some(said.to_owned()) })
        };
        let several = |options: &[usize]| Some(Picked { options: options.to_vec(), said: None });
        let cases = [
            (Pick::One, " 2 \n", several(&[1])),
            (Pick::One, "3: not yet\n", both(&[2], "not yet")),
            (Pick::One, "1:\n", several(&[0])),
            (Pick::One, "1, 2\n", None),
            (Pick::One, "0\n", None),
            (Pick::One, "4\n", None),
            (Pick::One, "\n", None),
            (Pick::One, "2 databases are needed\n", Some(Picked::words("2 databases are needed"))),
            (Pick::One, "note: neither\n", Some(Picked::words("note: neither"))),
            (Pick::Several, "3,1\n", several(&[0, 2])),
            (Pick::Several, "2\n", several(&[1])),
            (Pick::Several, "1, 2: for now: yes\n", both(&[0, 1], "for now: yes")),
            (Pick::Several, "1, 1\n", None),
            (Pick::Several, "1, 9\n", None),
        ];
        for (pick, line, expected) in cases {
            assert_eq!(read(line, &choice(pick)), expected, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_an_answer_to_what_was_asked(line in ".{0,20}|[0-9,: ]{0,12}") {
            for pick in [Pick::One, Pick::Several] {
                if let Some(picked) = read(&line, &choice(pick)) {
                    prop_assert!(picked.options.iter().all(|at| *at < 3));
                    prop_assert!(!picked.options.is_empty() || picked.said.as_deref() == Some(line.trim()));
                }
            }
        }
    }
}
