use super::lex::Position;
use super::text::{Dialect, Read, Reader};
use super::word::Raw;
use super::{Loop, Place, Word};

impl Reader<'_, '_> {
    /// Reads a compound command without its redirections, if one is next.
    pub(super) fn compound(&mut self) -> Read<bool> {
        if self.looks_at("((") {
            self.counted()?;
        } else if self.eat("(") {
            let place = Place { subshell: true, ..self.place.clone() };
            self.placed(place, |reader| reader.list())?;
            self.close(")")?;
        } else if self.keyword("{") {
            self.body("}")?;
        } else if self.keyword("if") {
            self.branches()?;
        } else if self.keyword("while") || self.keyword("until") {
            self.body("do")?;
            self.body("done")?;
        } else if self.keyword("for") {
            let variable = self.loops()?;
            self.loop_body(variable)?;
        } else if self.keyword("select") {
            // What it stands for is what somebody types.
            let variable = self.loops()?;
            self.loop_body(variable.map(|variable| Loop { words: Vec::new(), ..variable }))?;
        } else if self.keyword("case") {
            self.case()?;
        } else if self.keyword("[[") {
            self.test()?;
        } else if self.at_keyword("coproc") {
            return Err(self.unclear("a coprocess"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads commands and the word that ends them.
    fn body(&mut self, end: &str) -> Read<()> {
        self.deeper(|reader| reader.list())?;
        self.close(end)
    }

    fn close(&mut self, end: &str) -> Read<()> {
        let found = if end == ")" { self.eat(end) } else { self.keyword(end) };
        match found {
            true => Ok(()),
            false => Err(self.unclear(&format!("a missing `{end}`"))),
        }
    }

    fn branches(&mut self) -> Read<()> {
        self.body("then")?;
        loop {
            self.deeper(|reader| reader.list())?;
            if self.keyword("elif") {
                self.body("then")?;
            } else if self.keyword("else") {
                return self.body("fi");
            } else {
                return self.close("fi");
            }
        }
    }

    /// `((…))`
    fn counted(&mut self) -> Read<()> {
        let start = self.at;
        if self.dialect == Dialect::Other {
            return Err(self.unclear("brackets that are arithmetic to some shells only"));
        }
        let index = self.reserve()?;
        self.eat("((");
        self.arithmetic()?;
        let text = self.slice(start..self.at).to_owned();
        let source = self.source(start..self.at);
        self.set(index, |simple| {
            simple.words = vec![Word::Literal("((".to_owned()), Word::Dynamic { text, known: String::new() }];
            simple.source = source;
        });
        Ok(())
    }

    /// Reads the head of a loop; None for one that counts.
    fn loops(&mut self) -> Read<Option<Loop>> {
        self.blanks()?;
        let mut variable = None;
        if self.eat("((") {
            if self.dialect == Dialect::Other {
                return Err(self.unclear("a loop that not every shell knows"));
            }
            self.expression(Some(';'))?;
            self.close_sign(";")?;
            self.expression(Some(';'))?;
            self.close_sign(";")?;
            self.expression(None)?;
            self.close_sign("))")?;
            self.blanks()?;
            self.eat(";");
        } else {
            let name = self.loop_variable()?;
            self.newlines()?;
            let words = if self.keyword("in") {
                self.loop_words()?
            } else {
                self.eat(";");
                Vec::new()
            };
            variable = Some(Loop { name, words });
        }
        self.newlines()?;
        Ok(variable)
    }

    fn loop_body(&mut self, variable: Option<Loop>) -> Read<()> {
        let mut place = self.place.clone();
        place.loops.extend(variable);
        self.placed(place, |reader| {
            if reader.keyword("{") {
                return reader.body("}");
            }
            reader.close("do")?;
            reader.body("done")
        })
    }

    fn close_sign(&mut self, sign: &str) -> Read<()> {
        match self.eat(sign) {
            true => Ok(()),
            false => Err(self.unclear(&format!("a missing `{sign}`"))),
        }
    }

    fn loop_words(&mut self) -> Read<Vec<Word>> {
        let mut words = Some(Vec::new());
        loop {
            self.blanks()?;
            if self.eat(";") || self.looks_at("\n") {
                return Ok(words.unwrap_or_default());
            }
            let raw = self.some_word(Position::Argument)?;
            match (raw.words(), &mut words) {
                (Some(more), Some(words)) => words.extend(more),
                (None, _) | (_, None) => words = None,
            }
        }
    }

    /// Reads a word that must be there.
    fn some_word(&mut self, position: Position) -> Read<Raw> {
        let raw = self.deeper(|reader| reader.word(position))?;
        match raw.pieces.is_empty() {
            true => Err(self.unclear("a place where a word is missing")),
            false => Ok(raw),
        }
    }

    fn case(&mut self) -> Read<()> {
        self.blanks()?;
        self.some_word(Position::Argument)?;
        self.newlines()?;
        self.close("in")?;
        loop {
            self.newlines()?;
            if self.keyword("esac") {
                return Ok(());
            }
            self.eat("(");
            loop {
                self.blanks()?;
                self.some_word(Position::Argument)?;
                self.blanks()?;
                if !self.eat("|") {
                    break;
                }
            }
            self.close(")")?;
            self.deeper(|reader| reader.list())?;
            if !self.eat(";;&") && !self.eat(";;") && !self.eat(";&") {
                return self.close("esac");
            }
        }
    }

    /// `[[ … ]]`
    fn test(&mut self) -> Read<()> {
        let start = self.at;
        if self.dialect == Dialect::Other {
            return Err(self.unclear("a `[[`, which not every shell knows,"));
        }
        let index = self.reserve()?;
        let mut words = vec![Word::Literal("[[".to_owned())];
        let mut open = 0_usize;
        loop {
            self.newlines()?;
            if self.keyword("]]") {
                break;
            }
            let matches = words.last().and_then(Word::literal) == Some("=~");
            let sign = ["&&", "||", "(", ")", "<", ">"].into_iter().find(|sign| self.looks_at(sign));
            let process = self.looks_at("<(") || self.looks_at(">(");
            if let Some(sign) = sign.filter(|_| !process && !matches) {
                match sign {
                    "(" => open += 1,
                    ")" if open == 0 => return Err(self.unclear("a bracket that does not belong there")),
                    ")" => open -= 1,
                    _ => {}
                }
                self.eat(sign);
                words.push(Word::Literal(sign.to_owned()));
                continue;
            }
            let word = self.some_word(if matches { Position::Expression } else { Position::Argument })?;
            self.evaluates_nothing(&word)?;
            words.push(word.word());
        }
        words.push(Word::Literal("]]".to_owned()));
        let source = self.source(start.saturating_sub(2)..self.at);
        self.set(index, |simple| {
            simple.words = words;
            simple.source = source;
        });
        Ok(())
    }
}
