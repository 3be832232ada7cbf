use super::form::blanks;
use super::literal::{Literals, constant, number};
use super::scan::{self, End, MAX_NAME, closes, word};
use super::string::{self, Style};
use super::unnamed_key;
use crate::text::args::{Call, Live, Params, Said};
use crate::text::cx::Cx;

/// What arguments without a name may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::text) enum Unnamed {
    /// A call has none.
    Refused,
    /// They must stand for declared parameters.
    Mapped,
    /// It is a call even if nobody can say what they stand for.
    Kept,
}

/// What a call turned out to be; None in place of a call that was given out while it was read.
pub(in crate::text) enum Read {
    Whole(Option<Call>),
    /// The text ended inside it.
    Cut(Option<Call>),
    /// It can't be read as it comes.
    Broken,
}

/// Moves over a dotted name that a bracket follows; None, and the cursor anywhere, when there is none.
pub(in crate::text) async fn name(cx: &mut Cx) -> Option<String> {
    let name = word(cx, b".-").await?;
    (cx.peek().await == Some(b'(')).then_some(name)
}

/// Reads the arguments of a call after its opening bracket, and moves over the closing one.
pub(in crate::text) async fn arguments(
    cx: &mut Cx,
    name: &str,
    format: &'static str,
    unnamed: Unnamed,
) -> Read {
    let params = Params::new(Live::new(name, format));
    let mut arguments = Arguments { params, name, unnamed, seen: Vec::new(), named: false };
    let end = arguments.read(cx).await;
    match end {
        End::Whole => Read::Whole(arguments.params.end(cx)),
        End::Over => {
            let rest = cx.rest().len();
            cx.advance(rest);
            Read::Cut(arguments.params.cut(cx))
        }
        // It is out already, so all that is left is to say that it is not whole.
        End::Broken if arguments.params.is_given() => {
            arguments.params.begin(cx, "", Said::Json);
            Read::Cut(arguments.params.cut(cx))
        }
        End::Broken => Read::Broken,
    }
}

struct Arguments<'a> {
    params: Params,
    name: &'a str,
    unnamed: Unnamed,
    /// The parameters that have a value.
    seen: Vec<String>,
    /// Some had a name.
    named: bool,
}

impl Arguments<'_> {
    async fn read(&mut self, cx: &mut Cx) -> End {
        let mut comma = true;
        loop {
            blanks(cx).await;
            match cx.peek().await {
                // Behind a comma more was to come, and nobody may take the rest for the whole.
                None if comma && !self.seen.is_empty() => return self.open_end(cx, ""),
                None => return End::Over,
                Some(b')') => {
                    cx.advance(1);
                    return End::Whole;
                }
                Some(_) if !comma => return End::Broken,
                Some(_) => {}
            }
            match self.argument(cx).await {
                End::Whole => {}
                end @ (End::Over | End::Broken) => return end,
            }
            blanks(cx).await;
            comma = cx.take(",").await;
        }
    }

    /// The text is over within the value of this parameter.
    fn open_end(&mut self, cx: &mut Cx, key: &str) -> End {
        self.params.begin(cx, key, Said::Json);
        End::Over
    }

    async fn argument(&mut self, cx: &mut Cx) -> End {
        let begun = cx.at();
        if let Some(key) = word(cx, b"").await {
            let prefix = matches!(cx.peek().await, Some(b'"' | b'\''));
            if !prefix {
                blanks(cx).await;
                match cx.peek().await {
                    None => return self.open_end(cx, &key),
                    Some(b'=') => {
                        cx.advance(1);
                        blanks(cx).await;
                        self.named = true;
                        return self.value(cx, key).await;
                    }
                    Some(_) => {}
                }
            }
            cx.rewind(begun);
        }
        // A dict may hold all arguments, or be one.
        if self.named || self.unnamed == Unnamed::Refused || matches!(cx.peek().await, Some(b'{' | b'*')) {
            return End::Broken;
        }
        match cx.tool(self.name).and_then(|tool| unnamed_key(tool, self.seen.len())) {
            Some(key) => self.value(cx, key).await,
            None => End::Broken,
        }
    }

    async fn value(&mut self, cx: &mut Cx, key: String) -> End {
        if self.seen.contains(&key) {
            return End::Broken;
        }
        let end = match cx.peek().await {
            None => return self.open_end(cx, &key),
            Some(b'[' | b'{' | b'(') => self.container(cx, &key).await,
            Some(_) => match scan::style(cx).await {
                Some((style, opener)) => self.strings(cx, &key, style, opener).await,
                None => self.scalar(cx, &key).await,
            },
        };
        self.seen.push(key);
        end
    }

    async fn scalar(&mut self, cx: &mut Cx, key: &str) -> End {
        let from = cx.at();
        while let Some(byte) = cx.peek().await {
            let is_part = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b'-');
            if !is_part || cx.at() - from > MAX_NAME {
                break;
            }
            cx.advance(1);
        }
        let spelled = cx.slice(from, cx.at());
        match constant(spelled).or_else(|| number(spelled)) {
            Some(value) => self.params.member(cx, key, &value),
            None if cx.is_over().await => return self.open_end(cx, key),
            None => return End::Broken,
        }
        End::Whole
    }

    async fn container(&mut self, cx: &mut Cx, key: &str) -> End {
        let from = cx.at();
        match scan::container(cx).await {
            End::Whole => {}
            End::Over => return self.open_end(cx, key),
            End::Broken => return End::Broken,
        }
        let text = cx.slice(from, cx.at());
        let mut literals = Literals::new(text, None);
        match literals.value().filter(|_| literals.rest().is_empty()) {
            Some(value) => {
                self.params.member(cx, key, &value);
                End::Whole
            }
            None => End::Broken,
        }
    }

    /// String literals side by side, given out as they come.
    async fn strings(&mut self, cx: &mut Cx, key: &str, mut style: Style, mut opener: usize) -> End {
        self.params.begin(cx, key, Said::String);
        loop {
            cx.advance(opener);
            match self.string(cx, style).await {
                End::Whole => {}
                end @ (End::Over | End::Broken) => return end,
            }
            let after = cx.at();
            blanks(cx).await;
            match scan::style(cx).await {
                Some(next) => (style, opener) = next,
                None => {
                    cx.rewind(after);
                    self.params.end_value(cx);
                    return End::Whole;
                }
            }
        }
    }

    async fn string(&mut self, cx: &mut Cx, style: Style) -> End {
        loop {
            let rest = cx.rest();
            let is_special = |byte: &u8| {
                *byte == style.quote || *byte == b'\\' || style.format && matches!(byte, b'{' | b'}')
            };
            let plain = rest.bytes().position(|byte| is_special(&byte)).unwrap_or(rest.len());
            if plain > 0 {
                let text = rest.get(..plain).unwrap_or_default().to_owned();
                self.params.text(cx, &text);
                cx.advance(plain);
            }
            let Some(byte) = cx.peek().await else { return End::Over };
            if !is_special(&byte) {
                continue;
            }
            let end = match byte {
                b'\\' => self.escape(cx, style).await,
                b'{' | b'}' => self.brace(cx).await,
                _ => {
                    if closes(cx, style, self.unnamed_so_far(), self.params.is_given()).await {
                        cx.advance(style.closer());
                        return End::Whole;
                    }
                    // Once it is out, the string can only go on; before, the whole call is read again with care.
                    if !style.triple && !self.params.is_given() {
                        return End::Broken;
                    }
                    self.verbatim(cx, 1)
                }
            };
            match end {
                End::Whole => {}
                End::Over | End::Broken => return end,
            }
        }
    }

    fn unnamed_so_far(&self) -> bool {
        !self.named
    }

    fn verbatim(&mut self, cx: &mut Cx, bytes: usize) -> End {
        let text = cx.rest().get(..bytes).unwrap_or_default().to_owned();
        self.params.text(cx, &text);
        cx.advance(bytes);
        End::Whole
    }

    async fn escape(&mut self, cx: &mut Cx, style: Style) -> End {
        let Some(kind) = cx.peek_at(1).await else { return End::Over };
        if style.raw {
            let quote = kind == style.quote || kind == b'\\';
            return self.verbatim(cx, if quote { 2 } else { 1 });
        }
        match kind {
            b'\r' => drop(cx.peek_at(2).await),
            b'0'..=b'7' => {
                if matches!(cx.peek_at(2).await, Some(b'0'..=b'7')) {
                    cx.peek_at(3).await;
                }
            }
            b'x' | b'u' | b'U' => {
                let length = 2 + string::hex_digits(kind);
                cx.peek_at(length - 1).await;
                if string::hex_code(cx.rest()).is_some_and(|(code, _)| string::is_high(code))
                    && cx.peek_at(length).await == Some(b'\\')
                {
                    cx.peek_at(2 * length - 1).await;
                }
            }
            _ => {}
        }
        let mut meaning = String::new();
        let length = string::escape(cx.rest(), &mut meaning);
        self.params.text(cx, &meaning);
        cx.advance(length);
        End::Whole
    }

    async fn brace(&mut self, cx: &mut Cx) -> End {
        if cx.peek_at(1).await.is_none() {
            return End::Over;
        }
        let mut meaning = String::new();
        match string::brace(cx.rest(), &mut meaning) {
            Some(length) => {
                self.params.text(cx, &meaning);
                cx.advance(length);
                End::Whole
            }
            None => End::Broken,
        }
    }
}
