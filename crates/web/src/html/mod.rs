//! HTML to Markdown, in one pass and without a tree.
//!
//! A page can be as deep and as broken as it likes: nothing here recurses, what is kept open is bounded, and each token costs the same.
//! Scripts, styles, navigation and what a reader would not see are left out.

mod block;
mod inline;
mod table;
mod tag;
mod walk;

use url::Url;
use walk::{Keep, Walk};

/// A page as Markdown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Markdown {
    /// What `<title>` says.
    pub title: Option<String>,
    /// What the page says of itself in its head.
    pub description: Option<String>,
    /// Its text.
    pub text: String,
    /// Whether there was more than is given.
    pub cut: bool,
}

/// The text of a page as Markdown, of so many characters at most. Links are made whole from the page's own address.
pub fn markdown(html: &str, base: &Url, max_chars: usize) -> Markdown {
    let walked = Walk::over(html, base, max_chars, Keep::Main);
    // Something that is left out and never ends would take the rest of the page with it.
    if walked.left_open && walked.page.text.chars().count() < FEW {
        return Walk::over(html, base, max_chars, Keep::All).page;
    }
    walked.page
}

/// Text without tags and with the characters that entities stand for, in one line.
pub fn plain(html: &str) -> String {
    let nowhere = Url::parse("about:blank");
    let told = match nowhere {
        Ok(base) => Walk::over(html, &base, usize::MAX, Keep::Words).page.text,
        Err(_) => html.to_owned(),
    };
    told.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters that are less than a page of any use has.
const FEW: usize = 200;

/// The most characters of what a page says of itself: it stands before its text, and outside of what bounds that.
const BRIEF: usize = 300;

/// A page's words about itself in one short line.
fn in_brief(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    // Each word has a character at least.
    let line = words.take(BRIEF).collect::<Vec<_>>().join(" ");
    Some(line.chars().take(BRIEF).collect()).filter(|line: &String| !line.is_empty())
}
