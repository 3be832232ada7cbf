//! What the benchmark shows: texts as models write them, and shapes that are hard to show.

use std::fmt::Write as _;

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % end.max(1)
    }

    pub(crate) fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices.get(self.below(choices.len())).copied().unwrap_or_default()
    }
}

const WORDS: &[&str] = &[
    "the",
    "a",
    "parser",
    "keeps",
    "each",
    "line",
    "of",
    "input",
    "until",
    "it",
    "is",
    "complete",
    "and",
    "then",
    "hands",
    "over",
    "to",
    "session",
    "which",
    "writes",
    "journal",
    "before",
    "anything",
    "else",
    "happens",
    "so",
    "that",
    "crash",
    "loses",
    "nothing",
    "`Vec::new`",
    "**never**",
    "*usually*",
    "`rail serve`",
    "configuration",
    "request",
    "[docs](https://example.org/a)",
];
const CJK: &str =
    "这个函数读取配置文件并检查每一个值日本語の文章も同じように折り返されます한국어 문장도 있다。";

/// Words of one paragraph, about this many characters.
pub(crate) fn prose(dice: &mut Dice, chars: usize) -> String {
    let mut text = String::from("Here");
    while text.len() < chars {
        text.push(' ');
        text.push_str(dice.of(WORDS));
        if dice.below(14) == 0 {
            text.push('.');
        }
    }
    text + "."
}

/// So many lines of Markdown: paragraphs, lists, code, tables, quotes, and scripts without blanks.
pub(crate) fn mixed(lines: usize) -> String {
    let mut dice = Dice::new();
    let mut text = String::new();
    let mut count = 0;
    for section in 0.. {
        let block = match section % 8 {
            0 => format!("## Part {section}\n\n{}\n", prose(&mut dice, 420)),
            1 => code(&mut dice, "rust", 24),
            2 => (0..6).map(|_| format!("- {}\n", prose(&mut dice, 90))).collect(),
            3 => table(&mut dice, 6),
            4 => format!("{}\n{}\n", prose(&mut dice, 160), prose(&mut dice, 160)),
            5 => code(&mut dice, "python", 18),
            6 => format!("{}\n\n> {}\n", CJK.repeat(3), prose(&mut dice, 120)),
            _ => (1..6)
                .map(|nth| format!("{nth}. {}\n   - {}\n", prose(&mut dice, 70), prose(&mut dice, 50)))
                .collect(),
        };
        for line in block.lines().chain([""]) {
            if count == lines {
                return text;
            }
            text.push_str(line);
            text.push('\n');
            count += 1;
        }
    }
    text
}

/// A block of code.
pub(crate) fn code(dice: &mut Dice, language: &str, lines: usize) -> String {
    let mut text = format!("```{language}\n");
    for nth in 0..lines {
        let (one, two) = (dice.of(&["left", "right", "request", "count"]), dice.below(1_000));
        let line = match (language, nth % 6) {
            ("python", 0) => format!("def part_{two}({one}, other=None):"),
            ("python", 1) => format!("    \"\"\"Says what {one} is.\"\"\""),
            ("python", 2) => format!("    for key, value in {one}.items():  # all of them"),
            ("python", 3) => format!("        print(f\"{{key}}: {{value + {two}}}\")"),
            ("python", 4) => format!("    return [x * {two} for x in {one} if x is not None]"),
            ("python", _) | (_, 5) => String::new(),
            (_, 0) => format!("/// What {one} is worth."),
            (_, 1) => format!("pub fn part_{two}({one}: &[u64], name: &str) -> Result<String, Error> {{"),
            (_, 2) => format!("    let sum = {one}.iter().map(|value| value * {two}).sum::<u64>();"),
            (_, 3) => format!("    Ok(format!(\"{{name}} has {{sum}} of {two}\")) // as it was"),
            (_, _) => "}".to_owned(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text + "```\n"
}

/// A table of so many rows.
pub(crate) fn table(dice: &mut Dice, rows: usize) -> String {
    let mut text = String::from("| name | what it does | figure |\n|---|:--|---:|\n");
    for nth in 0..rows {
        // Writing to a string can't fail.
        let _ = writeln!(text, "| `row_{nth}` | {} | {} |", prose(dice, 24), dice.below(100_000));
    }
    text
}

/// The text in pieces of about four characters.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut dice = Dice::new();
    let mut chars = text.chars().peekable();
    let mut tokens = Vec::new();
    while chars.peek().is_some() {
        let size = 2 + dice.below(5);
        tokens.push(chars.by_ref().take(size).collect());
    }
    tokens
}

/// Paths of a large repository.
pub(crate) fn paths(count: usize) -> Vec<String> {
    const PARTS: &[&str] = &[
        "src",
        "lib",
        "server",
        "client",
        "user",
        "model",
        "view",
        "controller",
        "test",
        "parser",
        "config",
        "util",
    ];
    const ENDS: &[&str] = &["rs", "ts", "tsx", "py", "json", "md", "toml"];
    let mut dice = Dice::new();
    let path = |nth: usize| {
        let mut path = format!("{}{}/", dice.of(PARTS), nth / 2_000);
        for _ in 0..1 + dice.below(4) {
            path = path + dice.of(PARTS) + "/";
        }
        format!("{path}{}_{}{nth}.{}", dice.of(PARTS), dice.of(PARTS), dice.of(ENDS))
    };
    (0..count).map(path).collect()
}
