//! What must hold of any bytes that come from the web.

use rail_web::{EngineKind, Kind, Page, Place, Raw};

/// What servers say of a body, right or wrong.
const TYPES: &[&str] = &[
    "text/html",
    "",
    "text/html; charset=gbk",
    "text/html; charset=utf-16le",
    "text/html; charset=iso-2022-jp",
    "text/html; charset=x-user-defined",
    "text/plain",
    "application/json",
];

/// Reads the input as a page, of a type that its first byte says, and as an answer of each engine.
pub fn web(input: &[u8]) {
    for engine in [EngineKind::Brave, EngineKind::Tavily, EngineKind::Searxng] {
        for found in engine.results(input).unwrap_or_default() {
            assert!(!found.title.contains('\n') && !found.description.contains('\n'), "{found:?}");
        }
    }
    let Some((&how, bytes)) = input.split_first() else { return };
    let content_type = TYPES[usize::from(how) % TYPES.len()];
    let most = if how & 0x80 == 0 { 100_000 } else { usize::from(how & 0x78) };
    let place = Place::parse("https://docs.example/a/b?c").expect("it is an address");
    let raw = Raw { bytes, sent: bytes.len(), cut: false, content_type };
    let page = Page::read(&place, &raw, most);
    assert!(page.text.chars().count() <= most, "{:?}: {} bytes", page.kind, page.text.len());
    let is_text = matches!(page.kind, Kind::Html | Kind::Text);
    assert!(is_text || page.text.is_empty(), "what is no text has none");
    for said in [&page.title, &page.description].into_iter().flatten() {
        assert!(said.chars().count() <= 300 && !said.contains(char::is_control), "{said:?}");
    }
    let whole = Page::read(&place, &raw, usize::MAX);
    assert!(whole.text.starts_with(&page.text), "a bound only cuts");
}
