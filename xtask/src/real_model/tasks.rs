//! Ten small tasks, and what shows that one is done.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::trial::Seen;

/// A task: what is in its folder, what is asked for, and what must hold afterwards.
pub(super) struct Task {
    pub(super) name: &'static str,
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) prompt: &'static str,
    wants: &'static [Want],
}

/// What must hold after a task.
enum Want {
    /// A tool showed the model this text.
    Saw(&'static str),
    /// The answer has each of these words.
    Answer(&'static [&'static str]),
    /// A file has exactly these lines.
    File(&'static str, &'static str),
    /// A file has this text nowhere.
    Gone(&'static str, &'static str),
    /// A program of the folder runs without error and prints this.
    Prints(&'static str, &'static str),
}

/// What an agent can't do without, and the task that shows each.
pub(super) const CORE: &[(&str, &str)] = &[
    ("reads a file and answers from it", "read-and-answer"),
    ("edits a line", "edit-a-line"),
    ("runs a command", "run-a-command"),
];

const SERVER: &str = "[server]\nhost = \"127.0.0.1\"\nport = 8741\nworkers = 3\n";

/// All of them. The prompts are what people type, and name no tool.
pub(super) const TASKS: &[Task] = &[
    Task {
        name: "read-and-answer",
        files: &[("server.toml", SERVER)],
        prompt: "On which port does the server listen? It is in server.toml.",
        wants: &[Want::Saw("8741"), Want::Answer(&["8741"])],
    },
    Task {
        name: "edit-a-line",
        files: &[("server.toml", SERVER)],
        prompt: "Change the port in server.toml to 9000.",
        wants: &[Want::File("server.toml", "[server]\nhost = \"127.0.0.1\"\nport = 9000\nworkers = 3\n")],
    },
    Task {
        name: "run-a-command",
        // The number stands in no file, so only who runs the program knows it.
        files: &[("ticket.py", "print(\"ticket\", 311 * 3)\n")],
        prompt: "Run `python3 ticket.py` and tell me the number that it prints.",
        wants: &[Want::Saw("933"), Want::Answer(&["933"])],
    },
    Task {
        name: "list-files",
        files: &[("src/alpha.py", "A = 1\n"), ("src/beta.py", "B = 2\n"), ("src/gamma.py", "C = 3\n")],
        prompt: "Which files are in the folder src?",
        wants: &[Want::Answer(&["alpha.py", "beta.py", "gamma.py"])],
    },
    Task {
        name: "count-lines",
        files: &[(
            "visits.log",
            "ann\nbob\ncid\ndee\neve\nfay\ngus\nhal\nida\njon\nkim\nlee\nmia\nned\noda\npam\nquy\n",
        )],
        prompt: "How many lines does the file visits.log have?",
        wants: &[Want::Answer(&["17"])],
    },
    Task {
        name: "create-a-file",
        files: &[],
        prompt: "Create a file greeting.txt with this text: Hello from rail",
        wants: &[Want::File("greeting.txt", "Hello from rail\n")],
    },
    Task {
        name: "rename-a-function",
        files: &[("shop.py", "def total(prices):\n    return sum(prices)\n\n\nprint(total([1, 2, 3]))\n")],
        prompt: "In shop.py, rename the function total to add_up, also where it is called.",
        wants: &[Want::Gone("shop.py", "total"), Want::Prints("shop.py", "6")],
    },
    Task {
        name: "find-a-word",
        files: &[
            ("monday.txt", "apples and pears\n"),
            ("tuesday.txt", "one pineapple\n"),
            ("friday.txt", "nothing\n"),
        ],
        prompt: "Which file contains the word pineapple?",
        wants: &[Want::Answer(&["tuesday.txt"])],
    },
    Task {
        name: "fix-a-bug",
        files: &[
            ("mean.py", "def mean(numbers):\n    return sum(numbers) / (len(numbers) + 1)\n"),
            ("test.py", "from mean import mean\n\nassert mean([2, 4, 6]) == 4\nprint(\"passed\")\n"),
        ],
        prompt: "`python3 test.py` fails. Fix the function in mean.py so that it passes.",
        wants: &[
            Want::File(
                "test.py",
                "from mean import mean\n\nassert mean([2, 4, 6]) == 4\nprint(\"passed\")\n",
            ),
            Want::Prints("test.py", "passed"),
        ],
    },
    Task {
        name: "append-a-line",
        files: &[("todo.txt", "- water the plants\n- call Ann\n")],
        prompt: "Append the line `- buy milk` to todo.txt.",
        wants: &[Want::File("todo.txt", "- water the plants\n- call Ann\n- buy milk\n")],
    },
];

impl Task {
    /// Puts its files into a folder.
    pub(super) fn prepare(&self, folder: &Path) -> Result<(), String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for (name, text) in self.files {
            let path = folder.join(name);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| fs::write(&path, text))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// What is not as it should be, in words; nothing after a success.
    pub(super) fn failures(&self, seen: &Seen, folder: &Path) -> Vec<String> {
        self.wants.iter().filter_map(|want| want.failure(seen, folder)).collect()
    }
}

impl Want {
    fn failure(&self, seen: &Seen, folder: &Path) -> Option<String> {
        match self {
            Self::Saw(text) => {
                let saw = seen.results.iter().any(|result| result.contains(text));
                (!saw).then(|| format!("no tool showed it `{text}`"))
            }
            Self::Answer(words) => {
                let missing: Vec<&str> =
                    words.iter().copied().filter(|word| !seen.answer.contains(word)).collect();
                (!missing.is_empty()).then(|| format!("the answer lacks {}", missing.join(", ")))
            }
            Self::File(name, text) => match fs::read_to_string(folder.join(name)) {
                // Whether a file ends with a line end is not what was asked for.
                Ok(there) if there.trim_end() == text.trim_end() => None,
                Ok(there) => Some(format!("{name} is {}", one_line(&there))),
                Err(error) => Some(format!("{name}: {error}")),
            },
            Self::Gone(name, text) => match fs::read_to_string(folder.join(name)) {
                Ok(there) => there.contains(text).then(|| format!("{name} still has `{text}`")),
                Err(error) => Some(format!("{name}: {error}")),
            },
            Self::Prints(name, text) => prints(folder, name, text),
        }
    }
}

fn prints(folder: &Path, name: &str, text: &str) -> Option<String> {
    // `-B`: what python leaves behind is nothing that the model made.
    let ran = Command::new("python3").args(["-B", name]).current_dir(folder).stdin(Stdio::null()).output();
    match ran {
        Ok(ran) if ran.status.success() => {
            let said = String::from_utf8_lossy(&ran.stdout);
            (said.trim() != text).then(|| format!("{name} prints {}", one_line(&said)))
        }
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stderr);
            Some(format!("{name} fails: {}", said.lines().last().unwrap_or("it says nothing")))
        }
        Err(error) => Some(format!("python3 did not start: {error}")),
    }
}

/// The most characters of a text that a table shows.
const SHOWN: usize = 120;

/// A text as a line, cut where it is long.
pub(super) fn one_line(text: &str) -> String {
    let quoted = format!("{text:?}");
    match quoted.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", quoted.get(..at).unwrap_or_default()),
        None => quoted,
    }
}
