//! Whole texts and the lines they become. `INSTA_UPDATE=always` writes what they become now.

use rail_tui::markdown::render;

use crate::look;

fn check(name: &str, source: &str, width: usize) {
    let settings = || {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../fixtures/markdown");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings
    };
    settings().bind(|| insta::assert_snapshot!(name, look::lines(&render(source, width))));
}

#[test]
fn text() {
    check("text", include_str!("../fixtures/markdown/text.md"), 80);
}

#[test]
fn links() {
    check("links", include_str!("../fixtures/markdown/links.md"), 80);
}

#[test]
fn lists() {
    check("lists", include_str!("../fixtures/markdown/lists.md"), 80);
}

#[test]
fn quotes() {
    check("quotes", include_str!("../fixtures/markdown/quotes.md"), 80);
}

#[test]
fn code() {
    check("code", include_str!("../fixtures/markdown/code.md"), 80);
}

#[test]
fn html() {
    check("html", include_str!("../fixtures/markdown/html.md"), 80);
}

#[test]
fn a_usual_answer() {
    check("streams", include_str!("../fixtures/markdown/streams.md"), 80);
}

#[test]
fn tables_by_width() {
    for width in [80, 50, 20] {
        check(&format!("tables-{width}"), include_str!("../fixtures/markdown/tables.md"), width);
    }
}
