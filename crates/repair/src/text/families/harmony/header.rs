use super::{CHANNEL, MESSAGE};
use crate::Catalog;
use crate::text::cx::Cx;

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Channel {
    Analysis,
    Commentary,
    Final,
}

/// What the header of a message says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Heading {
    pub(super) channel: Option<Channel>,
    /// The function it is for; None when it is for people.
    pub(super) recipient: Option<String>,
    /// It ended with the token that should end it.
    pub(super) marked: bool,
}

const CONSTRAIN: &str = "<|constrain|>";

/// No header is longer.
const LONGEST: usize = 512;

/// Moves over a header and what ends it. None when it is none.
pub(super) async fn read(cx: &mut Cx) -> Option<Heading> {
    let from = cx.at();
    loop {
        let at = cx.at();
        if cx.take(MESSAGE).await {
            return Some(Heading { marked: true, ..parse(cx.slice(from, at), &cx.catalog) });
        }
        if at - from >= LONGEST {
            return None;
        }
        if cx.take_any(&[CHANNEL, CONSTRAIN]).await {
            continue;
        }
        match cx.peek().await? {
            b'{' => {
                let heading = parse(cx.slice(from, at), &cx.catalog);
                return heading.recipient.is_some().then_some(heading);
            }
            byte if may_stand(byte) => cx.step(),
            _ => return None,
        }
    }
}

fn may_stand(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.' | b'=' | b':' | b'/')
}

/// Reads the words of a header. The last of each kind counts, because models that lose their way begin anew.
fn parse(text: &str, catalog: &Catalog) -> Heading {
    let mut heading = Heading::default();
    let mut stray = None;
    let text = text.replace(CHANNEL, " ").replace(CONSTRAIN, " =");
    for word in text.split_whitespace() {
        if word.starts_with('=') {
            continue;
        }
        let (word, recipient) = match word.split_once("to=") {
            Some((word, recipient)) => (word, Some(recipient)),
            None => (word, None),
        };
        let word = word.strip_prefix("assistant").unwrap_or(word);
        match word {
            "analysis" => heading.channel = Some(Channel::Analysis),
            "commentary" => heading.channel = Some(Channel::Commentary),
            "final" => heading.channel = Some(Channel::Final),
            word if catalog.get(word).is_some() => stray = Some(word.to_owned()),
            _ => {}
        }
        match recipient {
            Some("" | "assistant" | "user" | "all" | "system") => heading.recipient = None,
            Some(recipient) => heading.recipient = Some(recipient.to_owned()),
            None => {}
        }
    }
    heading.recipient = heading.recipient.or(stray);
    heading
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Tool;

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        catalog.add(Tool::new("bash", None));
        catalog
    }

    #[test]
    fn a_header_says_what_the_message_is_and_whom_it_is_for() {
        let table = [
            ("analysis", Some(Channel::Analysis), None),
            ("commentary to=functions.f <|constrain|>json", Some(Channel::Commentary), Some("functions.f")),
            ("assistant to=functions.f<|channel|>commentary", Some(Channel::Commentary), Some("functions.f")),
            ("commentary to=functions.f<|constrain|>bash", Some(Channel::Commentary), Some("functions.f")),
            ("analysis to=python code", Some(Channel::Analysis), Some("python")),
            ("commentaryto=f", Some(Channel::Commentary), Some("f")),
            ("commentary to=assistant<|channel|>analysis", Some(Channel::Analysis), None),
            ("assistant<|channel|>bash<|channel|>commentary", Some(Channel::Commentary), Some("bash")),
            ("assistant", None, None),
            ("assistantfinal", Some(Channel::Final), None),
            ("", None, None),
        ];
        for (text, channel, recipient) in table {
            let expected = Heading { channel, recipient: recipient.map(str::to_owned), marked: false };
            assert_eq!(parse(text, &catalog()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_header_can_be_read(text in "([a-z= .]|to=|assistant|<\\|channel\\|>|<\\|constrain\\|>|\\PC){0,40}") {
            parse(&text, &catalog());
        }
    }
}
