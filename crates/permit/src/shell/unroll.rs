use super::redirect::Input;
use super::text::{Dialect, Read, Reader};
use super::wrapped::{Inner, wrapped};
use super::{Assignment, Place, Simple, Unclear, Word, Wrapper, program_name};

/// How many words that may be none are followed.
const MAX_VANISHING: usize = 16;

impl Reader<'_, '_> {
    /// Adds what the command with this index runs besides itself.
    pub(super) fn unroll(&mut self, index: usize) -> Read<()> {
        let Some(simple) = self.found.commands.get(index).cloned() else { return Ok(()) };
        let vanishing = simple.words.iter().take_while(|word| word.may_vanish()).count();
        if vanishing > 0
            && let (Some(Word::Dynamic { text, .. }), Some(rest)) =
                (simple.words.first(), simple.words.get(vanishing..))
        {
            // An empty variable leaves the next word to be the program.
            let wrapper = Wrapper { program: text.clone(), adds_arguments: false };
            self.deeper(|reader| reader.add(index, &simple, wrapper, rest.to_vec(), Vec::new()))?;
        }
        let program = simple.words.first().and_then(program_name).unwrap_or_default().to_owned();
        let mut words = simple.words.clone();
        for _ in 0..MAX_VANISHING {
            let all = wrapped(&words, self.dialect).map_err(|what| Unclear { what, at: excerpt(&simple) })?;
            let first = all.iter().find_map(|inner| inner.vanishes_at(words.len()));
            for inner in all {
                self.inner(index, &simple, &program, inner)?;
            }
            match first {
                // `env $x -- rm`: an empty variable leaves the next word to be an option.
                Some(first) => words.remove(first),
                None => return Ok(()),
            };
        }
        Err(Unclear { what: "many words that may be none".to_owned(), at: excerpt(&simple) })
    }

    fn inner(&mut self, index: usize, simple: &Simple, program: &str, inner: Inner) -> Read<()> {
        let wrapper = |adds_arguments| Wrapper { program: program.to_owned(), adds_arguments };
        match inner {
            Inner::Words { words, assignments, adds } => {
                self.deeper(|reader| reader.add(index, simple, wrapper(adds), words, assignments))
            }
            Inner::Text { text, dialect, lasts } => {
                let mut place = inside(&simple.place, wrapper(program == "alias"), !lasts);
                // Another shell does not know them.
                place.loops.clear();
                self.nested(&text, place, dialect, simple.source.clone())
            }
            Inner::Unknown => Ok(()),
            Inner::Input(dialect) => self.feed(index, simple, wrapper(false), dialect),
        }
    }

    /// Adds a command that another runs.
    fn add(
        &mut self,
        outer: usize,
        simple: &Simple,
        wrapper: Wrapper,
        words: Vec<Word>,
        assignments: Vec<Assignment>,
    ) -> Read<()> {
        if words.is_empty() {
            return Ok(());
        }
        let child = !matches!(wrapper.program.as_str(), "command" | "builtin" | "exec")
            && !wrapper.program.starts_with('$');
        let index = self.reserve()?;
        let place = inside(&simple.place, wrapper, child);
        let source = simple.source.clone();
        self.set(index, |inner| *inner = Simple { words, assignments, source, place, ..Simple::default() });
        if let Some(input) = self.inputs.get(&outer).cloned() {
            self.inputs.insert(index, input);
        }
        self.certain(index)?;
        // The wrapper goes on without a first word that may be none.
        let vanishes = self
            .found
            .commands
            .get(index)
            .and_then(|inner| inner.words.first())
            .is_some_and(Word::may_vanish);
        if vanishes { Ok(()) } else { self.unroll(index) }
    }

    /// A shell that reads its script from its input: known if that stands in the command.
    fn feed(&mut self, index: usize, simple: &Simple, wrapper: Wrapper, dialect: Dialect) -> Read<()> {
        let mut place = inside(&simple.place, wrapper, true);
        place.loops.clear();
        match self.inputs.get(&index).cloned() {
            Some(Input::Document(number)) => {
                if let Some(document) = self.pending.get_mut(number) {
                    document.feeds = Some((place, dialect));
                }
                Ok(())
            }
            Some(Input::Text(Word::Literal(text))) => {
                self.nested(&text, place, dialect, simple.source.clone())
            }
            Some(Input::Text(Word::Pattern(_) | Word::Dynamic { .. })) => Err(Unclear {
                what: "a script that is known only when it runs".to_owned(),
                at: excerpt(simple),
            }),
            None => Ok(()),
        }
    }
}

fn inside(place: &Place, wrapper: Wrapper, subshell: bool) -> Place {
    let mut place = place.clone();
    place.wrappers.push(wrapper);
    place.subshell |= subshell;
    place
}

fn excerpt(simple: &Simple) -> String {
    let words: Vec<String> = simple.words.iter().map(Word::shown).collect();
    words.join(" ").chars().take(40).collect()
}
