//! The keys of Vim.

use rail_tui::input::{Editor, Handled, Keys, VimMode};

use crate::keys::{LONG, marked, typing, with};

fn check(cases: &[(&str, &str, &str)]) {
    for (before, typed, after) in cases {
        let mut editor = with(Keys::Vim, before);
        typing(&mut editor, typed);
        assert_eq!(marked(&editor), *after, "{before:?} {typed}");
    }
}

#[test]
fn motions() {
    check(&[
        ("on|e two", "h", "o|ne two"),
        ("|one", "h", "|one"),
        ("on|e", "l", "on|e"),
        ("|one two", "5l", "one t|wo"),
        ("|one.two three", "w", "one|.two three"),
        ("|one.two three", "W", "one.two |three"),
        ("|one.two three", "3w", "one.two |three"),
        ("one two thre|e", "b", "one two |three"),
        ("one.two thre|e", "BB", "|one.two three"),
        ("|one two", "e", "on|e two"),
        ("on|e two", "e", "one tw|o"),
        ("|one.two three", "E", "one.tw|o three"),
        ("  one t|wo", "0", "|  one two"),
        ("  one t|wo", "^", "  |one two"),
        ("o|ne\ntwo", "$", "on|e\ntwo"),
        ("one\ntw|o\nthree", "gg", "|one\ntwo\nthree"),
        ("o|ne\ntwo\nthree", "G", "one\ntwo\n|three"),
        ("o|ne\ntwo\nthree", "2G", "one\n|two\nthree"),
        ("o|ne\ntwo", "99gg", "one\n|two"),
        ("on|e\ntwo\nx", "j", "one\ntw|o\nx"),
        ("on|e\nx\ntwo", "2j", "one\nx\ntw|o"),
        ("on|e\nx\ntwo", "jj", "one\nx\ntw|o"),
        ("|a.b.c.d", "f.", "a|.b.c.d"),
        ("|a.b.c.d", "2f.", "a.b|.c.d"),
        ("|a.b.c.d", "f.;;", "a.b.c|.d"),
        ("|a.b.c.d", "f.;,", "a|.b.c.d"),
        ("|a.b.c.d", "t.;", "a.|b.c.d"),
        ("a.b.c.|d", "F.", "a.b.c|.d"),
        ("a.b.c.|d", "T.;", "a.b.|c.d"),
        ("|abc", "fx", "|abc"),
        ("o|ne", "<Right><Left><Home><End>", "on|e"),
        ("|one two", "<C-Right>", "one |two"),
    ]);
}

#[test]
fn changes() {
    check(&[
        ("o|ne", "x", "o|e"),
        ("on|e", "x", "o|n"),
        ("o|ne", "9x", "|o"),
        ("on|e", "X", "o|e"),
        ("o|ne two\nx", "D", "|o\nx"),
        ("o|ne two", "Cx<Esc>", "o|x"),
        ("a\n|one two\nb", "Sx<Esc>", "a\n|x\nb"),
        ("|one", "sx<Esc>", "|xne"),
        ("|one", "rx", "|xne"),
        ("|one", "3rx", "xx|x"),
        ("|one", "~", "O|ne"),
        ("|oNe", "5~", "On|E"),
        ("o|ne\n  two", "J", "one| two"),
        ("o|ne\ntwo\nthree", "3J", "one two| three"),
        ("|one two three", "dw", "|two three"),
        ("|one two three", "2dw", "|three"),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("|one two", "de", "| two"),
        ("one tw|o", "db", "one |o"),
        ("one| two", "d0", "| two"),
        ("o|ne two", "d$", "|o"),
        ("|one two", "dfe", "| two"),
        ("|one two", "dte", "|e two"),
        ("one tw|o", "dF ", "one|o"),
        ("one\nt|wo\nthree", "dd", "one\n|three"),
        ("one\nt|wo", "dd", "|one"),
        ("o|ne", "dd", "|"),
        ("o|ne\ntwo\nthree", "2dd", "|three"),
        ("o|ne\ntwo\nthree", "dj", "|three"),
        ("one\ntwo\nth|ree", "dk", "|one"),
        ("one\ntw|o\nthree", "dG", "|one"),
        ("one\ntw|o\nthree", "dgg", "|three"),
        ("|one two", "cwx<Esc>", "|x two"),
        ("o|ne two", "ccx<Esc>", "|x"),
        ("|a b c", "c2wx<Esc>", "|x c"),
        ("one|", "ix<Esc>", "on|xe"),
        ("one|", "ax<Esc>", "one|x"),
        ("  on|e", "Ix<Esc>", "  |xone"),
        ("o|ne\ntwo", "Ax<Esc>", "one|x\ntwo"),
        ("o|ne\ntwo", "ox<Esc>", "one\n|x\ntwo"),
        ("one\nt|wo", "Ox<Esc>", "one\n|x\ntwo"),
    ]);
}

#[test]
fn objects() {
    check(&[
        ("one tw|o three", "diw", "one | three"),
        ("one tw|o three", "daw", "one |three"),
        ("one tw|o", "daw", "on|e"),
        ("one.t|wo three", "diW", "| three"),
        ("a \"b |c\" d", "ci\"x<Esc>", "a \"|x\" d"),
        ("|a \"b c\" d", "di\"", "a \"|\" d"),
        ("a \"b |c\" d", "da\"", "a | d"),
        ("f(a, (b|), c)", "di(", "f(a, (|), c)"),
        ("f(a|, (b), c)", "dib", "f(|)"),
        ("f(a|, (b), c)", "da(", "|f"),
        ("{\n  a|\n}", "di{", "{|}"),
        ("[a|]", "ci]x<Esc>", "[|x]"),
        ("<a|>", "di<lt>", "<|>"),
        ("no|ne", "di(", "no|ne"),
        ("a 'it|' b", "yi'$p", "a 'it' bi|t"),
    ]);
}

#[test]
fn putting_back_undo_and_repeating() {
    check(&[
        ("|one two", "dwP", "one| two"),
        ("|one two", "yiwwP", "one on|etwo"),
        ("|ab", "xp", "b|a"),
        ("o|ne\ntwo", "yyp", "one\n|one\ntwo"),
        ("one\nt|wo", "yyP", "one\n|two\ntwo"),
        ("o|ne\ntwo", "ddp", "two\n|one"),
        ("|ab", "x3p", "baa|a"),
        ("o|ne\ntwo", "yy2p", "one\n|one\none\ntwo"),
        ("|one two three", "dwu", "|one two three"),
        ("|one two three", "dwdwu<C-r>", "|three"),
        ("|x", "aone two<Esc>u", "|x"),
        ("|one two three", "dw.", "|three"),
        ("|one two three", "cwx<Esc>w.", "x |x three"),
        ("|a\nb", "Ax<BS>y<Esc>j.", "ay\nb|y"),
        ("|abc", "x.u", "|bc"),
        ("|a b c", "cwx<Esc>w.u", "x |b c"),
    ]);
}

#[test]
fn selections() {
    check(&[
        ("|one two", "ved", "| two"),
        ("|one two", "vlly$p", "one twoon|e"),
        ("one| two", "vbd", "|two"),
        ("|one two", "vlcx<Esc>", "|xe two"),
        ("on|e two", "viwd", "| two"),
        ("|one two", "vlod", "|e two"),
        ("|one two", "vll~", "|ONE two"),
        ("|one", "vlrx", "|xxe"),
        ("o|ne\ntwo\nthree", "Vjd", "|three"),
        ("o|ne\ntwo\nthree", "VjJ", "one| two\nthree"),
        ("o|ne\ntwo", "Vy<Esc>jp", "one\ntwo\n|one"),
        ("|one two", "yiwwviwp", "one on|e"),
        ("|one", "v<Esc>x", "|ne"),
        ("|one", "vvx", "|ne"),
    ]);
    let mut editor = with(Keys::Vim, "|one two");
    typing(&mut editor, "vl");
    assert_eq!(editor.mode(), Some(VimMode::Visual));
    let spans = editor.view(40, 1).rows.remove(0).spans;
    let looks: Vec<_> = spans.iter().map(|span| (span.text(), span.look.reverse)).collect();
    assert_eq!(looks, [("on", true), ("e two", false)]);
}

#[test]
fn modes() {
    let mut editor = Editor::new(Keys::Vim);
    assert_eq!(editor.mode(), Some(VimMode::Insert));
    assert_eq!(typing(&mut editor, "one<Esc>"), Handled::Taken);
    assert_eq!(editor.mode(), Some(VimMode::Normal));
    for (key, handled) in [
        ("<Esc>", Handled::Passed),
        ("d<Esc>", Handled::Taken),
        ("q", Handled::Passed),
        ("dq", Handled::Taken),
        ("k", Handled::Passed),
        ("<Down>", Handled::Passed),
        ("<C-c>", Handled::Passed),
        ("<Tab>", Handled::Passed),
        ("<CR>", Handled::Submit),
    ] {
        assert_eq!(typing(&mut editor, key), handled, "{key}");
        assert_eq!(marked(&editor), "on|e", "{key}");
    }
    typing(&mut editor, "A");
    assert_eq!(typing(&mut editor, "<CR>"), Handled::Submit);
    typing(&mut editor, "<Esc>");
    editor.take();
    assert_eq!(editor.mode(), Some(VimMode::Insert));
    editor.set_keys(Keys::Usual);
    assert_eq!(editor.mode(), None);
}

#[test]
fn atoms_are_characters() {
    check(&[
        ("|ab", "<Paste>hx", "|ab"),
        ("|ab", "<Paste>0x", "|ab"),
        ("|ab", "<Paste>0rx", "|[Pasted text #1 +12 lines]ab"),
        ("|ab", "<Paste>0v$~", "|[Pasted text #1 +12 lines]AB"),
        ("|ab", "<Paste>0di[", "|[Pasted text #1 +12 lines]ab"),
    ]);
    let mut editor = with(Keys::Vim, "|ab");
    typing(&mut editor, "<Paste>0yl$p");
    assert_eq!(editor.take().text, format!("{LONG}ab{LONG}"));
}
