use super::lex::{Position, is_variable};
use super::text::{Dialect, Read, Reader};
use super::{Assignment, Place, Simple, Word, Wrapper, influence};

/// Words that end a list of commands.
const CLOSERS: &[&str] = &["then", "do", "done", "fi", "elif", "else", "esac", "}"];
/// Words with a meaning of their own where a command begins.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "select", "function", "coproc", "{", "}", "!", "[[", "]]",
];

impl Reader<'_, '_> {
    /// Reads commands up to what ends them, which is left.
    pub(super) fn list(&mut self) -> Read<()> {
        loop {
            self.newlines()?;
            if self.at_closer() {
                return Ok(());
            }
            let first = self.found.commands.len();
            self.and_or()?;
            self.blanks()?;
            if self.looks_at("&") {
                self.bump();
                self.each_from(first, |simple| simple.place.background = true);
            } else if self.looks_at(";") && !self.at_closer() {
                self.bump();
                self.semicolons += 1;
            } else if !self.looks_at("\n") && !self.at_closer() {
                return Err(self.unclear("a word or sign that does not belong there"));
            }
        }
    }

    fn and_or(&mut self) -> Read<()> {
        loop {
            self.pipeline()?;
            self.blanks()?;
            if !self.eat("&&") && !self.eat("||") {
                return Ok(());
            }
            self.newlines()?;
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        while self.keyword("!") {
            self.blanks()?;
        }
        if self.keyword("time") {
            return self.timed();
        }
        let whole = self.found.commands.len();
        let mut before = None;
        loop {
            let first = self.found.commands.len();
            self.command()?;
            if let Some(before) = before.filter(|before| *before < first) {
                self.each_from(first, |simple| {
                    simple.place.piped_from = simple.place.piped_from.or(Some(before))
                });
            }
            self.blanks()?;
            if !self.looks_at("|") || self.looks_at("||") {
                break;
            }
            if !self.eat("|&") {
                self.bump();
            }
            self.newlines()?;
            before = Some(first);
        }
        if before.is_some() {
            self.each_from(whole, |simple| simple.place.subshell = true);
        }
        Ok(())
    }

    /// `time` before a pipe.
    fn timed(&mut self) -> Read<()> {
        let index = self.reserve()?;
        self.blanks()?;
        for option in ["-p", "--"] {
            if self.keyword(option) {
                self.blanks()?;
            }
        }
        self.set(index, |simple| simple.words = vec![Word::Literal("time".to_owned())]);
        let mut place = self.place.clone();
        place.wrappers.push(Wrapper { program: "time".to_owned(), adds_arguments: false });
        self.placed(place, |reader| reader.pipeline())
    }

    /// Reads one command, compound or simple.
    fn command(&mut self) -> Read<()> {
        self.blanks()?;
        if self.compound()? {
            return self.redirects_of_compound();
        }
        if self.keyword("function") {
            return self.function_by_keyword();
        }
        self.simple()
    }

    fn redirects_of_compound(&mut self) -> Read<()> {
        let index = self.reserve()?;
        let start = self.at;
        self.blanks()?;
        let mut any = false;
        while self.redirect(index)? {
            any = true;
            self.blanks()?;
        }
        let source = self.source(start..self.at);
        self.set(index, |simple| simple.source = source);
        let empty = self.found.commands.get(index).is_none_or(|simple| simple.redirects.is_empty());
        // A substitution in a target comes after this one, which then stays.
        if (!any || empty) && self.found.commands.len() == index + 1 {
            self.found.commands.pop();
            self.inputs.remove(&index);
        }
        Ok(())
    }

    fn function_by_keyword(&mut self) -> Read<()> {
        self.blanks()?;
        let name = self.word(Position::Argument)?;
        let Some(name) = name.plain().filter(|name| !name.is_empty()) else {
            return Err(self.unclear("a function without a plain name"));
        };
        self.blanks()?;
        if self.eat("(") {
            self.blanks()?;
            if !self.eat(")") {
                return Err(self.unclear("a function of an unknown form"));
            }
        }
        self.function(name)
    }

    /// Reads the body of a function.
    fn function(&mut self, name: String) -> Read<()> {
        if RESERVED.contains(&name.as_str()) {
            return Err(self.unclear("a function with a reserved name"));
        }
        self.newlines()?;
        let place =
            Place { functions: [self.place.functions.clone(), vec![name]].concat(), ..self.place.clone() };
        self.placed(place, |reader| match reader.compound()? {
            true => reader.redirects_of_compound(),
            false => Err(reader.unclear("a function without a body")),
        })
    }

    /// Reads a program with its words, assignments and redirections.
    fn simple(&mut self) -> Read<()> {
        let index = self.reserve()?;
        let start = self.at;
        let mut simple = Simple::default();
        let mut end = start;
        loop {
            self.blanks()?;
            if self.redirect(index)? {
                end = self.at;
                continue;
            }
            let position = match simple.words.first() {
                None => Position::Command,
                Some(word) if word.literal().is_some_and(influence::declares) => Position::Declared,
                Some(_) => Position::Argument,
            };
            let raw = self.word(position)?;
            if raw.pieces.is_empty() {
                break;
            }
            if raw.text.starts_with('{') && raw.text.ends_with('}') && matches!(self.peek(), Some('<' | '>'))
            {
                // `{a[1]}>x` sets a variable, and is no word.
                return Err(self.unclear_at("a redirection of an unknown form", start));
            }
            end = self.at;
            match (&raw.assigns, position) {
                (Some(assigns), Position::Command) => {
                    let value = raw.value();
                    self.evaluates_nothing(&raw)?;
                    simple.assignments.push(Assignment { name: assigns.name.clone(), value });
                }
                _ => {
                    if simple.words.is_empty() && simple.assignments.is_empty() && self.at_brackets() {
                        return self.function_by_brackets(index, raw.plain());
                    }
                    let Some(words) = raw.words() else {
                        return Err(self.unclear("braces that make too many words, or uncertain ones,"));
                    };
                    if words.len() > 1 && self.dialect == Dialect::Other {
                        return Err(self.unclear_at("braces, which not every shell expands,", start));
                    }
                    simple.words.extend(words);
                    if simple.words.first().and_then(Word::literal).is_some_and(influence::evaluates) {
                        self.evaluates_nothing(&raw)?;
                    }
                }
            }
        }
        let source = self.source(start..end);
        if end == start {
            return Err(self.unclear("a place where a command is missing"));
        }
        self.set(index, |filled| {
            filled.words = simple.words;
            filled.assignments = simple.assignments;
            filled.source = source;
        });
        self.certain(index)?;
        self.unroll(index)
    }

    /// `NAME ()`, the name just read.
    fn function_by_brackets(&mut self, index: usize, name: Option<String>) -> Read<()> {
        let Some(name) = name.filter(|_| self.found.commands.len() == index + 1) else {
            return Err(self.unclear("a function without a plain name"));
        };
        self.blanks()?;
        self.bump();
        self.blanks()?;
        if !self.eat(")") {
            return Err(self.unclear("a bracket that does not belong there"));
        }
        self.found.commands.pop();
        self.function(name)
    }

    fn at_brackets(&self) -> bool {
        self.coming().find(|c| !matches!(c, ' ' | '\t')) == Some('(')
    }

    /// A program's name that looks like a word of the grammar was written to be misread.
    pub(super) fn certain(&self, index: usize) -> Read<()> {
        let Some(simple) = self.found.commands.get(index) else { return Ok(()) };
        let program = simple.words.first().and_then(Word::literal);
        if program.is_some_and(|program| RESERVED.contains(&program)) {
            return Err(self.unclear_at("a reserved word in quotes", simple.source.start));
        }
        let holds = |word: &Word| matches!(word, Word::Literal(text) | Word::Pattern(text) if influence::holds_command(text));
        if program.is_some_and(influence::evaluates) && simple.words.iter().any(holds) {
            return Err(
                self.unclear_at("a text that is evaluated again, with a command in it,", simple.source.start)
            );
        }
        Ok(())
    }

    /// Whether commands end here.
    pub(super) fn at_closer(&self) -> bool {
        self.peek().is_none()
            || self.looks_at(")")
            || self.looks_at(";;")
            || self.looks_at(";&")
            || CLOSERS.iter().any(|closer| self.at_keyword(closer))
    }

    /// Steps over spaces and comments, at the beginning of a word or sign.
    pub(super) fn blanks(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => {
                    self.bump();
                }
                Some('#') => {
                    self.bump();
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += length;
                }
                Some(_) | None => return Ok(()),
            }
        }
    }

    /// Steps over spaces and line ends, and reads the here-documents that begin there.
    pub(super) fn newlines(&mut self) -> Read<()> {
        loop {
            self.blanks()?;
            if !self.eat("\n") {
                return Ok(());
            }
            if self.outer_pending > 0 {
                return Err(self.unclear("a line end in a substitution after `<<`"));
            }
            self.documents()?;
        }
    }

    pub(super) fn set(&mut self, index: usize, change: impl FnOnce(&mut Simple)) {
        if let Some(simple) = self.found.commands.get_mut(index) {
            change(simple);
        }
    }

    fn each_from(&mut self, first: usize, change: impl Fn(&mut Simple)) {
        self.found.commands.iter_mut().skip(first).for_each(change);
    }

    /// A variable that a loop sets.
    pub(super) fn loop_variable(&mut self) -> Read<String> {
        self.blanks()?;
        let start = self.at;
        let name = self.name();
        if !is_variable(&name) {
            return Err(self.unclear_at("a loop without a variable", start));
        }
        if influence::changes_what_runs(&name) {
            return Err(self.unclear_at("a loop over a variable that changes what runs", start));
        }
        Ok(name)
    }
}
