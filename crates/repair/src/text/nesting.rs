/// Tells, byte by byte, how far a JSON value in text goes.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Nesting {
    depth: usize,
    quoted: bool,
    escaped: bool,
    /// The last byte ended a line.
    broke: bool,
}

impl Nesting {
    /// Takes the next byte; whether the value goes on behind it.
    pub(super) fn pass(&mut self, byte: u8) -> bool {
        // Nobody leaves a line of JSON empty, so something in it was no JSON, and what follows must not depend on that.
        if byte == b'\n' && self.broke {
            return false;
        }
        self.broke = byte == b'\n';
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            b'{' | b'[' if !self.quoted => self.depth += 1,
            b'}' | b']' if !self.quoted => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth > 0
    }
}

#[cfg(test)]
mod tests {
    use super::Nesting;

    #[test]
    fn a_value_goes_as_far_as_its_brackets() {
        for (value, rest) in [
            ("{}", " a"),
            ("{\"a\": [1, {}]}", " b"),
            ("[{\"a\": \"]}\"}]", " c"),
            ("{\"a\": \"\\\"}\"}", " d"),
            ("{\"a\": 1,\n\"b\": 2}", "\n"),
            ("{\"a\": \"it\n\n", "{\"b\"}"),
        ] {
            let mut nesting = Nesting::default();
            let text = format!("{value}{rest}");
            let length = text.bytes().take_while(|byte| nesting.pass(*byte)).count() + 1;
            assert_eq!(&text[..length], value);
        }
    }
}
