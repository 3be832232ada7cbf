//! The page that a browser shows at the end of a login.

/// How a login looks from the browser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shown<'a> {
    /// It came back.
    Back { server: &'a str },
    /// It was refused, for this reason.
    Denied { server: &'a str, reason: &'a str },
    /// It is not the one that is waited for.
    Unfit { why: &'a str },
}

/// The whole page. Nothing in it is loaded, run or taken as markup.
pub(super) fn page(shown: Shown<'_>) -> String {
    let (title, text) = match shown {
        Shown::Back { server } => (
            "Logged in",
            format!("{server} knows you now. You can close this window and go back to Switchrail."),
        ),
        Shown::Denied { server, reason } => {
            ("Not logged in", format!("{server} can't be used yet: {reason}."))
        }
        Shown::Unfit { why } => ("Not this login", format!("Nothing was done: {why}.")),
    };
    let text = escaped(&text);
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1><p>{text}</p></html>\n"
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_that_is_said_becomes_markup(said in "(\\PC|[<>&\"']|<script>|</p>){0,40}") {
            let markup = |page: &str| page.matches(['<', '>', '"', '\'']).count();
            let plain = page(Shown::Denied { server: "s", reason: "" });
            let shown = page(Shown::Denied { server: "s", reason: &said });
            prop_assert_eq!(markup(&shown), markup(&plain));
        }
    }
}
