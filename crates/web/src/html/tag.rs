use std::collections::BTreeMap;

use html5gum::{HtmlString, Spanned};

/// What an opening tag says besides its name.
pub(super) type Attributes = BTreeMap<HtmlString, Spanned<HtmlString, ()>>;

pub(super) fn attribute(attributes: &Attributes, name: &[u8]) -> Option<String> {
    attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

pub(super) fn role(attributes: &Attributes, wanted: &str) -> bool {
    attribute(attributes, b"role").is_some_and(|role| role.eq_ignore_ascii_case(wanted))
}

/// Whether a browser would not show it.
pub(super) fn is_hidden(attributes: &Attributes) -> bool {
    let style = attribute(attributes, b"style").unwrap_or_default().to_ascii_lowercase();
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
    let invisible = ["display:none", "visibility:hidden", "font-size:0", "opacity:0"];
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([';', '!', 'p', 'e', 'r', '%']);
    attributes.contains_key(&b"hidden"[..])
        || attribute(attributes, b"aria-hidden").is_some_and(|hidden| hidden == "true")
        || invisible.iter().any(|word| style.split(word).skip(1).any(ends))
}

/// The language that a block of code says it is in.
pub(super) fn language(attributes: &Attributes) -> String {
    let classes = attribute(attributes, b"class").unwrap_or_default();
    let found = classes.split_whitespace().find_map(|class| {
        class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")).map(str::to_owned)
    });
    let plain =
        |name: &String| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '_' | '#' | '.'));
    found.filter(plain).filter(|name| name.len() <= 30).unwrap_or_default()
}

pub(super) fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"source"
            | b"track"
            | b"wbr"
            | b"param"
    )
}

/// Whether it stands on lines of its own.
pub(super) fn is_block(name: &[u8]) -> bool {
    matches!(
        name,
        b"address"
            | b"article"
            | b"aside"
            | b"body"
            | b"center"
            | b"dd"
            | b"details"
            | b"dialog"
            | b"dir"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figcaption"
            | b"figure"
            | b"footer"
            | b"form"
            | b"header"
            | b"hgroup"
            | b"html"
            | b"legend"
            | b"main"
            | b"nav"
            | b"option"
            | b"p"
            | b"search"
            | b"section"
            | b"summary"
    )
}
