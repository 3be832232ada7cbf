//! `docs/models.md`, made from the table.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::super::table::{Place, TABLE};
use super::{dollars, provider, thinks, tools};

/// What is above this line is written by hand.
const LINE: &str =
    "<!-- Below this line: written by `INSTA_UPDATE=always cargo test -p rail-route docs`. -->\n";

#[test]
fn docs_show_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let written = fs::read_to_string(&path).unwrap();
    let (head, _) =
        written.split_once(LINE).unwrap_or_else(|| panic!("{} has lost its line: {LINE}", path.display()));
    let fresh = format!("{head}{LINE}{}", page());
    #[expect(clippy::disallowed_methods, reason = "the switch of all golden files")]
    let is_update = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    if is_update {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(
            written == fresh,
            "docs/models.md is stale; run `INSTA_UPDATE=always cargo test -p rail-route docs` and read the diff"
        );
    }
}

/// Every row, with all that is known of a model that only just matches it, at a server that is not its maker's.
fn page() -> String {
    let mut out = String::from(
        "\n| names | window | output | vision | calls | thinking | price | as of |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let somewhere = provider("compatible");
    for row in TABLE.models.iter().filter(|row| row.holds_at(&Place::of(&somewhere))) {
        let names: Vec<String> = row.names.iter().map(|name| format!("`{}`", name.text())).collect();
        let one =
            row.names.first().map(|name| name.text().replace('*', "").replace('?', "-")).unwrap_or_default();
        let profile = TABLE.profile(&somewhere, &one);
        let vision = if profile.vision { "yes" } else { "" };
        let price = profile.price.as_ref().map(dollars).unwrap_or_default();
        let as_of =
            row.origin.source.as_ref().map(|_| row.origin.as_of.as_ref().unwrap_or(&TABLE.as_of).as_str());
        let (window, output) = (thousands(profile.window), thousands(profile.max_output));
        let (calls, thinking, as_of) =
            (tools(profile.tools), thinks(profile.thinking), as_of.unwrap_or_default());
        writeln!(
            out,
            "| {} | {window} | {output} | {vision} | {calls} | {thinking} | {price} | {as_of} |",
            names.join(", ")
        )
        .unwrap();
    }
    out
}

/// A number as people read it: `262,144`.
fn thousands(number: Option<u64>) -> String {
    let digits = number.map(|number| number.to_string()).unwrap_or_default();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
