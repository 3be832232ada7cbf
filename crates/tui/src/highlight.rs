//! Source code by what its pieces are.

use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::text::{Look, Role, Span, Syntax};

/// Bytes of a line; longer ones are shown plain. They are data or minified, and one of them can take a grammar's expressions a tenth of a second.
const MAX_LINE: usize = 500;
/// What the lines of one text may cost in all; what comes then is shown plain. It is enough for eight thousand lines of usual code.
const MAX_COST: usize = 1_500_000;
/// Grammars that are too slow: the first on any line, the others on lines made to be slow.
const SLOW: &[&str] = &["Lisp", "SystemVerilog", "Typst"];

/// Reading it takes some milliseconds, so it is read for the first code that is shown; grammars are unpacked one by one.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Code of one language, line by line.
#[derive(Clone, Debug)]
pub struct Highlighter {
    grammar: &'static SyntaxReference,
    state: ParseState,
    scopes: ScopeStack,
    cost: usize,
}

impl Highlighter {
    /// For the word behind a fence, the path of a file, or its extension.
    pub fn for_language(name: &str) -> Option<Self> {
        let grammar = grammar(name)?;
        Some(Self { grammar, state: ParseState::new(grammar), scopes: ScopeStack::new(), cost: 0 })
    }

    /// Goes on at another place of the same text.
    pub fn restart(&mut self) {
        self.state = ParseState::new(self.grammar);
        self.scopes = ScopeStack::new();
    }

    /// The next line, without its end.
    pub fn line(&mut self, line: &str) -> Vec<Span> {
        let whole = || vec![Span::new(line, Role::Plain)];
        if line.len() > MAX_LINE || self.cost > MAX_COST {
            return whole();
        }
        // Expressions that go back over a line cost its square.
        self.cost += line.len() + line.len() * line.len() / 16;
        let Ok(ops) = self.state.parse_line(&format!("{line}\n"), &GRAMMARS) else { return whole() };
        let mut pieces = Pieces { line, spans: Vec::new(), from: 0 };
        for (start, op) in &ops {
            pieces.until(*start, role(&self.scopes));
            // Only a broken grammar takes away more than it gave.
            if self.scopes.apply(op).is_err() {
                self.scopes = ScopeStack::new();
            }
        }
        pieces.until(line.len(), role(&self.scopes));
        pieces.spans.into_iter().map(|(text, look)| Span::new(text, look)).collect()
    }
}

/// A line as it is cut.
struct Pieces<'a> {
    line: &'a str,
    spans: Vec<(String, Look)>,
    from: usize,
}

impl Pieces<'_> {
    fn until(&mut self, end: usize, role: Role) {
        let end = end.min(self.line.len());
        let Some(text) = self.line.get(self.from..end).filter(|text| !text.is_empty()) else { return };
        self.from = end;
        match self.spans.last_mut() {
            Some((last, look)) if look.role == role => last.push_str(text),
            _ => self.spans.push((text.to_owned(), role.into())),
        }
    }
}

/// Names that people write behind a fence or give to files, and that no grammar has.
const ALIASES: &[(&str, &str)] = &[
    ("apache", "htaccess"),
    ("assembly", "asm"),
    ("batch", "bat"),
    ("console", "sh"),
    ("csharp", "cs"),
    ("cu", "cpp"),
    ("cuda", "cpp"),
    ("docker", "Dockerfile"),
    ("fortran", "f90"),
    ("fsharp", "fs"),
    ("golang", "go"),
    ("hlsl", "glsl"),
    ("json5", "json"),
    ("jsonc", "json"),
    ("jsonl", "json"),
    ("jsx", "js"),
    ("mdx", "md"),
    ("mysql", "sql"),
    ("objc", "m"),
    ("objectivec", "m"),
    ("pgsql", "sql"),
    ("postgresql", "sql"),
    ("python3", "py"),
    ("sh-session", "sh"),
    ("shell", "sh"),
    ("shell-session", "sh"),
    ("sqlite", "sql"),
    ("starlark", "py"),
    ("systemd", "ini"),
];

fn grammar(name: &str) -> Option<&'static SyntaxReference> {
    let name = name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty())?;
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let found = known(name).or_else(|| known(extension?))?;
    let is_code = found.name != "Plain Text" && !SLOW.contains(&found.name.as_str());
    is_code.then_some(found)
}

fn known(name: &str) -> Option<&'static SyntaxReference> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    GRAMMARS.find_syntax_by_token(alias.map_or(name, |(_, name)| *name))
}

/// What scopes mean, by the beginning of their names; the first that fits counts, so the special ones come first.
const MEANINGS: &[(&str, Role)] = &[
    ("comment", Role::Syntax(Syntax::Comment)),
    ("punctuation.definition.comment", Role::Syntax(Syntax::Comment)),
    ("punctuation.definition.string", Role::Syntax(Syntax::String)),
    ("punctuation.definition.inserted", Role::Added),
    ("punctuation.definition.deleted", Role::Removed),
    ("punctuation.definition.from-file", Role::Faint),
    ("punctuation.definition.to-file", Role::Faint),
    ("punctuation.definition.range.diff", Role::Faint),
    ("punctuation", Role::Syntax(Syntax::Mark)),
    ("string", Role::Syntax(Syntax::String)),
    ("constant", Role::Syntax(Syntax::Constant)),
    ("keyword.operator.word", Role::Syntax(Syntax::Keyword)),
    ("keyword.operator.logical.python", Role::Syntax(Syntax::Keyword)),
    ("keyword.operator.expression", Role::Syntax(Syntax::Keyword)),
    ("keyword.operator.new", Role::Syntax(Syntax::Keyword)),
    ("keyword.operator", Role::Syntax(Syntax::Mark)),
    ("keyword", Role::Syntax(Syntax::Keyword)),
    ("storage", Role::Syntax(Syntax::Keyword)),
    ("entity.name.function", Role::Syntax(Syntax::Function)),
    ("entity.name.constant", Role::Syntax(Syntax::Constant)),
    ("entity.name.tag", Role::Syntax(Syntax::Keyword)),
    ("entity.name", Role::Syntax(Syntax::Type)),
    ("entity.other.inherited-class", Role::Syntax(Syntax::Type)),
    ("entity.other.attribute-name", Role::Syntax(Syntax::Name)),
    ("variable.function", Role::Syntax(Syntax::Function)),
    ("variable.language", Role::Syntax(Syntax::Keyword)),
    ("variable", Role::Syntax(Syntax::Name)),
    ("support.function", Role::Syntax(Syntax::Function)),
    ("support.macro", Role::Syntax(Syntax::Function)),
    ("support.constant", Role::Syntax(Syntax::Constant)),
    ("support.type.property-name", Role::Syntax(Syntax::Name)),
    ("support", Role::Syntax(Syntax::Type)),
    ("meta.annotation", Role::Syntax(Syntax::Name)),
    ("markup.inserted", Role::Added),
    ("markup.deleted", Role::Removed),
    ("markup.heading", Role::Heading),
    ("markup.raw", Role::Code),
    ("meta.diff.header", Role::Faint),
    ("meta.diff.range", Role::Faint),
];

static SCOPES: LazyLock<Vec<(Scope, Role)>> = LazyLock::new(|| {
    MEANINGS.iter().filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role))).collect()
});

/// What a piece of code is: the innermost scope that means something to us.
fn role(scopes: &ScopeStack) -> Role {
    let meaning = |scope: &Scope| SCOPES.iter().find(|(name, _)| name.is_prefix_of(*scope));
    scopes.as_slice().iter().rev().find_map(meaning).map_or(Role::Plain, |(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each piece behind what it is.
    fn shown(language: &str, code: &str) -> String {
        let mut highlighter = Highlighter::for_language(language).unwrap();
        let piece = |span: &Span| match span.look.role {
            Role::Syntax(syntax) => format!("{syntax:?}⟨{}⟩", span.text()),
            Role::Plain => span.text().to_owned(),
            role => format!("{role:?}⟨{}⟩", span.text()),
        };
        let line = |line: &str| highlighter.line(line).iter().map(piece).collect::<String>();
        code.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn code_of_usual_languages() {
        insta::assert_snapshot!(shown("rust", "/* a\nb */ pub fn f(x: &str) -> u32 { g(\"s\", 1) } // c"), @r#"
        Comment⟨/* a⟩
        Comment⟨b */⟩ Keyword⟨pub⟩ Keyword⟨fn⟩ Function⟨f⟩Mark⟨(⟩Name⟨x⟩Mark⟨:⟩ Mark⟨&⟩Keyword⟨str⟩Mark⟨)⟩ Mark⟨->⟩ Keyword⟨u32⟩ Mark⟨{⟩ Function⟨g⟩Mark⟨(⟩String⟨"s"⟩Mark⟨,⟩ Constant⟨1⟩Mark⟨)⟩ Mark⟨}⟩ Comment⟨// c⟩
        "#);
        insta::assert_snapshot!(shown("py", "@deco\ndef f(a, b=None):\n    return not a.b(f'{a}') # c"), @"
        Mark⟨@⟩Name⟨deco⟩
        Keyword⟨def⟩ Function⟨f⟩Mark⟨(⟩Name⟨a⟩Mark⟨,⟩ Name⟨b⟩Mark⟨=⟩Constant⟨None⟩Mark⟨):⟩
            Keyword⟨return⟩ Keyword⟨not⟩ aMark⟨.⟩Function⟨b⟩Mark⟨(⟩Keyword⟨f⟩String⟨'⟩Mark⟨{⟩aMark⟨}⟩String⟨'⟩Mark⟨)⟩ Comment⟨# c⟩
        ");
        insta::assert_snapshot!(shown("ts", "const a: Foo = new Foo<string>(`x${b}`);"), @"Keyword⟨const⟩ Name⟨a⟩Mark⟨:⟩ Type⟨Foo⟩ Mark⟨=⟩ Keyword⟨new⟩ Function⟨Foo⟩Mark⟨<⟩Type⟨string⟩Mark⟨>⟩(String⟨`x⟩Mark⟨${⟩Name⟨b⟩Mark⟨}⟩String⟨`⟩)Mark⟨;⟩");
        insta::assert_snapshot!(shown("sh", "for f in *.rs; do echo \"$f\" | grep -v x; done"), @r#"Keyword⟨for⟩ f Keyword⟨in⟩ Mark⟨*⟩.rsMark⟨;⟩ Keyword⟨do⟩ Function⟨echo⟩ String⟨"⟩Mark⟨$⟩Name⟨f⟩String⟨"⟩ Mark⟨|⟩ Function⟨grep⟩Mark⟨ -⟩Name⟨v⟩ xMark⟨;⟩ Keyword⟨done⟩"#);
        insta::assert_snapshot!(shown("toml", "[a.b]\nkey = \"v\" # c"), @r#"
        Mark⟨[⟩Type⟨a⟩Mark⟨.⟩Type⟨b⟩Mark⟨]⟩
        Keyword⟨key⟩ Mark⟨=⟩ String⟨"v"⟩ Comment⟨# c⟩
        "#);
        insta::assert_snapshot!(shown("json", "{\"a\": [1, true]}"), @r#"Mark⟨{⟩String⟨"a"⟩Mark⟨:⟩ Mark⟨[⟩Constant⟨1⟩Mark⟨,⟩ Constant⟨true⟩Mark⟨]}⟩"#);
        insta::assert_snapshot!(shown("diff", "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same"), @"
        Faint⟨--- a⟩
        Faint⟨+++ b⟩
        Faint⟨@@ -1 +1 @@⟩
        Removed⟨-old⟩
        Added⟨+new⟩
         same
        ");
    }

    #[test]
    fn a_language_has_many_names() {
        for name in ["rust", "Rust", "rs", "src/main.rs", "C:\\src\\a.rs"] {
            assert_eq!(grammar(name).map(|grammar| grammar.name.as_str()), Some("Rust"), "{name}");
        }
        for (alias, _) in ALIASES {
            assert!(grammar(alias).is_some(), "{alias}");
        }
        for name in ["Makefile", "Dockerfile", "CMakeLists.txt", "bash", "c++", "tsx", "yml", "a/b.test.ts"] {
            assert!(grammar(name).is_some(), "{name}");
        }
        for name in ["", "text", "txt", "notes.txt", "nonsense", "src/", "sv", "lisp"] {
            assert!(grammar(name).is_none(), "{name}");
        }
    }

    #[test]
    fn too_long_lines_and_too_much_code_are_plain() {
        let mut highlighter = Highlighter::for_language("json").unwrap();
        assert_eq!(highlighter.line(&"1,".repeat(MAX_LINE)).len(), 1);
        assert!(highlighter.line("[1]").len() > 1);
        let line = "1,".repeat(MAX_LINE / 2);
        let coloured = (0..500).take_while(|_| highlighter.line(&line).len() > 1).count();
        assert!((10..200).contains(&coloured), "{coloured}");
        assert_eq!(highlighter.line("[1]").len(), 1);
    }
}
