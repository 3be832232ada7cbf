//! Whatever the text: reading it ends, stays in bounds and says the same again.

use proptest::prelude::*;
use rail_permit::shell::{Script, danger, influences, only_reads, prefix, read, touches};

use crate::hostile_table::HOSTILE;

/// Signs that mean something to a shell.
const SIGNS: &str = "[ \\n\\t'\"`$(){};&|<>#\\\\=\\[\\]!*?~,a-c0/.:@%+^-]{0,60}";

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        all(&text);
    }

    #[test]
    fn any_signs_are_read_or_refused(text in SIGNS) {
        all(&text);
    }

    #[test]
    fn damaged_hostile_commands_are_read_or_refused(
        row in prop::sample::select(HOSTILE),
        at in any::<prop::sample::Index>(),
        sign in SIGNS,
        removed in 0..4_usize,
    ) {
        let at = at.index(row.0.chars().count() + 1);
        let before: String = row.0.chars().take(at).collect();
        let after: String = row.0.chars().skip(at + removed).collect();
        all(&format!("{before}{sign}{after}"));
    }

    /// A word in single quotes is that text, whatever it holds.
    #[test]
    fn quoted_words_come_back(words in prop::collection::vec("[ -~&&[^'`]]{1,12}", 1..5)) {
        let command = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        if let Ok(script) = read(&format!("echo {command}")) {
            let seen: Vec<String> = script.commands[0].words.iter().skip(1).map(|word| word.literal().unwrap().to_owned()).collect();
            prop_assert_eq!(seen, words);
        }
    }
}

/// Reads a text and asks everything about it.
fn all(text: &str) {
    let Ok(script) = read(text) else { return };
    assert_eq!(read(text), Ok(script.clone()));
    for (index, simple) in script.commands.iter().enumerate() {
        assert!(text.get(simple.source.clone()).is_some(), "{:?} is no part of {text:?}", simple.source);
        assert!(simple.place.piped_from.is_none_or(|from| from < index));
        let _ = (influences(simple), only_reads(simple), prefix(simple), touches(simple));
        for word in &simple.words {
            word.at_home(Some("/srv/people/ann"));
        }
    }
    for danger in danger(&script, Some("/srv/people/ann")) {
        assert!(danger.command < script.commands.len());
    }
}

#[test]
fn no_depth_overflows_the_stack() {
    let brackets = [
        "$(",
        "`",
        "\"$(",
        "${x:-",
        "$((",
        "((",
        "(",
        "{ ",
        "if ",
        "while ",
        "<(",
        "a=(",
        "case a in a) ",
        "f() { ",
        "[[ ( ",
        "! ",
        "time ",
        "a[",
        "{a,",
        "<<E\n",
        "for i in a; do ",
        "\\",
        "'",
        "${a[",
        "echo $(( $(",
    ];
    let wrappers = [
        "eval ",
        "sudo ",
        "env ",
        "xargs ",
        "bash -c '",
        "$x ",
        "env $x ",
        "find . -exec ",
        "sudo $(",
        "eval $(",
    ];
    let openers =
        brackets.iter().map(|opener| (opener, 10_000)).chain(wrappers.iter().map(|opener| (opener, 1_000)));
    for (opener, times) in openers {
        for end in ["", ")", " ls"] {
            all(&format!("{}{end}", opener.repeat(times)));
            all(&format!("echo {}ls{}", opener.repeat(times), end.repeat(times)));
        }
    }
}

#[test]
fn long_texts_are_read_in_time() {
    let pieces = [
        "a ", "a;", "a|", "a\n", "'a' ", "\"$a\" ", "$(a) ", "{a,b} ", "{a,b}", "# a\n", "a=1 ", "> a ",
        "a\\\n", "`a` ", "${a} ", "env ", "~ ", "*",
    ];
    for piece in pieces {
        all(&piece.repeat(4_000));
        let _ = read(&format!("echo {}", piece.repeat(4_000)));
    }
    let document = format!("cat <<'E'\n{}E\n", "x $(y) `z`\n".repeat(4_000));
    assert_eq!(read(&document).map(|Script { commands }| commands.len()), Ok(1));
}
