//! Answers of a terminal that come when nobody waits for them any more, and so look like keys.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

/// How such an answer begins, as keys: Alt-] and then these.
const BEGINS: &str = "11;rgb:";
/// How many keys an answer has at most.
const LONGEST: usize = 48;

/// Takes late answers about the background out of what is typed.
#[derive(Default)]
pub(crate) struct Late {
    state: State,
    /// Keys that may be the beginning of an answer.
    held: Vec<Event>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// Keys are keys.
    #[default]
    Keys,
    /// They may begin an answer.
    Begins,
    /// They are of an answer, so many until now.
    Answer(usize),
    /// They may be its end, which was cut in two.
    Ends,
}

impl Late {
    /// The same in the middle of an answer whose beginning was heard.
    pub(crate) fn cut() -> Self {
        Self { state: State::Answer(0), held: Vec::new() }
    }

    /// What was typed, with this event.
    pub(crate) fn event(&mut self, event: Event) -> Vec<Event> {
        let key = if let Event::Key(key) = &event { *key } else { return self.passes(event) };
        let plain = if let (KeyCode::Char(c), false) = (key.code, is_held(&key)) { Some(c) } else { None };
        match self.state {
            State::Keys if is(&key, ']', KeyModifiers::ALT) => {
                self.state = State::Begins;
                self.held.push(event);
                Vec::new()
            }
            State::Begins if plain.is_some_and(|c| BEGINS.chars().nth(self.held.len() - 1) == Some(c)) => {
                self.held.push(event);
                if self.held.len() > BEGINS.len() {
                    self.held.clear();
                    self.state = State::Answer(0);
                }
                Vec::new()
            }
            State::Answer(_) if is(&key, 'g', KeyModifiers::CONTROL) || is(&key, '\\', KeyModifiers::ALT) => {
                self.state = State::Keys;
                Vec::new()
            }
            State::Answer(_) if key.code == KeyCode::Esc => {
                self.state = State::Ends;
                Vec::new()
            }
            State::Answer(many)
                if many < LONGEST
                    && (plain.is_some_and(is_of_answer) || is(&key, ']', KeyModifiers::ALT)) =>
            {
                self.state = State::Answer(many + 1);
                Vec::new()
            }
            State::Ends if plain == Some('\\') => {
                self.state = State::Keys;
                Vec::new()
            }
            _ => self.passes(event),
        }
    }

    /// What was typed, when nothing came for a while: nobody types the beginning of an answer, but its first keys.
    pub(crate) fn rest(&mut self) -> Vec<Event> {
        if !matches!(self.state, State::Answer(_)) {
            self.state = State::Keys;
        }
        std::mem::take(&mut self.held)
    }

    fn passes(&mut self, event: Event) -> Vec<Event> {
        self.state = State::Keys;
        let mut typed = std::mem::take(&mut self.held);
        typed.push(event);
        typed
    }
}

fn is_of_answer(c: char) -> bool {
    c.is_ascii_hexdigit() || "]1;rgb:/".contains(c)
}

fn is_held(key: &KeyEvent) -> bool {
    key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::CONTROL)
}

fn is(key: &KeyEvent, c: char, held: KeyModifiers) -> bool {
    key.code == KeyCode::Char(c) && key.modifiers == held
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys as a terminal library makes them of bytes.
    fn keys(bytes: &str) -> Vec<Event> {
        let mut keys = Vec::new();
        let mut held = KeyModifiers::NONE;
        let mut rest = bytes.chars().peekable();
        while let Some(c) = rest.next() {
            let code = match c {
                '\u{1b}' if rest.peek().is_some_and(|next| *next != '|') => {
                    held = KeyModifiers::ALT;
                    continue;
                }
                '\u{1b}' => KeyCode::Esc,
                '|' => continue,
                '\u{7}' => {
                    held = KeyModifiers::CONTROL;
                    KeyCode::Char('g')
                }
                c => KeyCode::Char(c),
            };
            keys.push(Event::Key(KeyEvent::new(code, std::mem::replace(&mut held, KeyModifiers::NONE))));
        }
        keys
    }

    #[test]
    fn late_answers_are_no_keys_and_keys_are_no_answers() {
        // What comes, `|` where it is cut, and what was typed.
        let cases = [
            ("\u{1b}]11;rgb:1e1e/1e1e/2e2e\u{7}", ""),
            ("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\", ""),
            ("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}|\\so", "so"),
            ("fix\u{1b}]11;rgb:1e1e/1e1e/2e2e\u{7} it", "fix it"),
            ("\u{1b}]11;rgb:1e1e/|1e1e/2e2e\u{7}x", "x"),
            ("\u{1b}]", "\u{1b}]"),
            ("\u{1b}]1 of 2", "\u{1b}]1 of 2"),
            ("\u{1b}]\u{1b}]", "\u{1b}]\u{1b}]"),
            ("\u{7}\u{1b}\\", "\u{7}\u{1b}\\"),
            ("\u{1b}]11;rgb:ff zoo", " zoo"),
        ];
        for (bytes, typed) in cases {
            let mut late = Late::default();
            let mut passed: Vec<Event> = keys(bytes).into_iter().flat_map(|key| late.event(key)).collect();
            passed.extend(late.rest());
            assert_eq!(passed, keys(typed), "{bytes:?}");
        }
        let mut late = Late::cut();
        let rest = keys("1e/2e2e\u{1b}\\go on");
        let passed: Vec<Event> = rest.into_iter().flat_map(|key| late.event(key)).collect();
        assert_eq!(passed, keys("go on"));
        // Keys that only began like an answer do not wait for others.
        assert_eq!(keys("\u{1b}]1").into_iter().flat_map(|key| late.event(key)).count(), 0);
        assert_eq!(late.rest(), keys("\u{1b}]1"));
    }
}
