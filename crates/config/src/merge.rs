//! Adds what another configuration says to one that is there, and changes nothing that it says already.

use toml_edit::{DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value};

use crate::way::Way;

/// What became of adding one configuration to another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// The text: that of the first, remarks included, with what was added.
    pub toml: String,
    /// The keys that were added.
    pub added: Vec<String>,
    /// The keys that both have with different values: the first one's stays.
    pub kept: Vec<String>,
}

/// Adds all that is missing. A provider, an MCP server and a model's profile is added as a whole or not at all, so that a key
/// never gets to another's address.
pub fn add_missing(existing: &str, more: &str) -> Result<Merged, toml_edit::TomlError> {
    // Some editors of Windows begin a file with it.
    let existing = existing.strip_prefix('\u{feff}').unwrap_or(existing);
    let mut into: DocumentMut = existing.parse()?;
    let mut from: DocumentMut = more.parse()?;
    unplace(from.as_table_mut());
    let mut merged = Merged::default();
    table(into.as_table_mut(), from.as_table(), &Way::default(), &mut merged);
    merged.toml = into.to_string();
    if existing.is_empty() {
        merged.toml = merged.toml.trim_start_matches('\n').to_owned();
    }
    Ok(merged)
}

fn table(into: &mut dyn TableLike, from: &dyn TableLike, way: &Way, merged: &mut Merged) {
    for (key, item) in from.iter() {
        let way = way.to(key);
        let Some(there) = into.get_mut(key) else {
            if names(&way, item, merged) == Names::Told {
                merged.added.push(way.to_string());
            }
            into.insert(key, item.clone());
            continue;
        };
        if is_same(there, item) {
            continue;
        }
        match (there.as_table_like_mut(), item.as_table_like()) {
            (Some(into), Some(from)) if !is_one_thing(&way) => table(into, from, &way, merged),
            (Some(_), _) | (None, _) => list(there, item, &way, merged),
        }
    }
}

/// Whether the sections inside were told, or the whole is to be.
#[derive(PartialEq, Eq)]
enum Names {
    Inner,
    Told,
}

/// A section of named things is told by their names.
fn names(way: &Way, item: &Item, merged: &mut Merged) -> Names {
    let holds_things = matches!(way.keys().as_slice(), ["providers"] | ["mcp", "servers"] | ["mcp"]);
    match item.as_table_like().filter(|_| holds_things) {
        Some(table) => {
            for (key, item) in table.iter() {
                let way = way.to(key);
                if names(&way, item, merged) == Names::Told {
                    merged.added.push(way.to_string());
                }
            }
            Names::Inner
        }
        None => Names::Told,
    }
}

/// A list of tables gets those that it has not; of anything else the first stays.
fn list(there: &mut Item, item: &Item, way: &Way, merged: &mut Merged) {
    let (Some(there), Some(more)) = (there.as_array_of_tables_mut(), item.as_array_of_tables()) else {
        return merged.kept.push(way.to_string());
    };
    for table in more.iter() {
        let plain = inline(table);
        if !there.iter().any(|known| inline(known) == plain) {
            merged.added.push(way.at(there.len()).to_string());
            there.push(table.clone());
        }
    }
}

/// Whether this is added as a whole or not at all.
fn is_one_thing(way: &Way) -> bool {
    matches!(way.keys().as_slice(), ["providers", _] | ["mcp", "servers", _] | ["models", _])
}

fn is_same(one: &Item, other: &Item) -> bool {
    let plain = |item: &Item| item.clone().into_value().ok().map(plain);
    plain(one) == plain(other)
}

fn inline(table: &Table) -> String {
    plain(Value::InlineTable(table.clone().into_inline_table()))
}

/// A value without its remarks and blanks, its keys in order.
fn plain(value: Value) -> String {
    match value {
        Value::InlineTable(table) => {
            let mut pairs: Vec<(String, String)> =
                table.into_iter().map(|(key, value)| (key.to_string(), plain(value))).collect();
            pairs.sort();
            let sorted: InlineTable = pairs.into_iter().collect();
            sorted.to_string()
        }
        Value::Array(list) => {
            let items: Vec<String> = list.into_iter().map(plain).collect();
            format!("[{}]", items.join(","))
        }
        Value::String(text) => format!("{:?}", text.into_value()),
        Value::Integer(number) => number.into_value().to_string(),
        Value::Float(number) => number.into_value().to_string(),
        Value::Boolean(value) => value.into_value().to_string(),
        Value::Datetime(value) => value.into_value().to_string(),
    }
}

/// Forgets where tables stood in their own file, so that each stands behind its neighbours in the other, after a blank line.
fn unplace(table: &mut Table) {
    table.set_position(None);
    let prefix = table.decor().prefix().and_then(RawString::as_str).unwrap_or("\n").to_owned();
    if !prefix.starts_with('\n') {
        table.decor_mut().set_prefix(format!("\n{prefix}"));
    }
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => unplace(table),
            Item::ArrayOfTables(list) => list.iter_mut().for_each(unplace),
            Item::None | Item::Value(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_missing_is_added_and_nothing_is_changed() {
        let existing = "# mine\n[providers.a] # the first\nprotocol = \"gemini\"\nbase_url = \"http://a\"\n\n\
             [router]\ndefault = \"a,1\" # good\n\n[router.options]\nstickiness = \"off\"\n\n\
             [[router.rules]]\nname = \"x\"\nchain = \"a,1\"\n# the end\n";
        let more = "# From elsewhere.\n\n[providers.a]\nprotocol = \"gemini\"\nbase_url = \"http://evil\"\nkey = \"env:K\"\n\n\
             [providers.b]\n# its own\nprotocol = \"gemini\"\nbase_url = \"http://b\"\n\n[router]\ndefault = \"b,1\"\ncoding = \"b,2\"\n\n\
             [[router.rules]]\nchain = 'a,1'\nname = \"x\"\n\n[[router.rules]]\nname = \"y\"\nchain = \"b,1\"\n\n[aliases]\nopus = \"b,1\"\n";
        let merged = add_missing(existing, more).unwrap();
        insta::assert_snapshot!(merged.toml, @r#"
        # mine
        [providers.a] # the first
        protocol = "gemini"
        base_url = "http://a"

        [providers.b]
        # its own
        protocol = "gemini"
        base_url = "http://b"

        [router]
        default = "a,1" # good
        coding = "b,2"

        [router.options]
        stickiness = "off"

        [[router.rules]]
        name = "x"
        chain = "a,1"

        [[router.rules]]
        name = "y"
        chain = "b,1"

        [aliases]
        opus = "b,1"
        # the end
        "#);
        assert_eq!(merged.added, ["providers.b", "router.coding", "router.rules[1]", "aliases"]);
        assert_eq!(merged.kept, ["providers.a", "router.default"]);
        assert_eq!(add_missing(&merged.toml, more).unwrap().toml, merged.toml);
    }

    #[test]
    fn other_forms_of_tables() {
        for (existing, more, expected) in [
            ("", "[router]\ndefault = \"a,1\"\n", "[router]\ndefault = \"a,1\"\n"),
            (
                "router.default = \"a,1\"",
                "[router]\ncoding = \"b,1\"\n",
                "router.default = \"a,1\"\nrouter.coding = \"b,1\"\n",
            ),
            (
                "router = { default = \"a,1\" }\n",
                "[router]\ncoding = \"b,1\"\n",
                "router = { default = \"a,1\" , coding = \"b,1\"}\n",
            ),
            (
                "[router.options]\nstickiness = \"off\"\n",
                "[router]\ncoding = \"b,1\"\n",
                "[router]\ncoding = \"b,1\"\n[router.options]\nstickiness = \"off\"\n",
            ),
            ("router = 5\n", "[router]\ncoding = \"b,1\"\n", "router = 5\n"),
            (
                "[hooks]\nStop = [{ hooks = [] }]\n",
                "[[hooks.Stop]]\nhooks = [{ command = \"x\" }]\n",
                "[hooks]\nStop = [{ hooks = [] }]\n",
            ),
        ] {
            assert_eq!(add_missing(existing, more).unwrap().toml, expected, "{existing}");
        }
        assert!(add_missing("x = ", "").is_err());
    }

    proptest! {
        #[test]
        fn what_was_there_stays_and_what_comes_of_it_is_toml(one in config(), other in config()) {
            let merged = add_missing(&one, &other).unwrap();
            let before: toml::Table = toml::from_str(&one).unwrap();
            let after: toml::Table = toml::from_str(&merged.toml).unwrap();
            prop_assert!(holds(&toml::Value::Table(after), &toml::Value::Table(before)), "{}", merged.toml);
            let mut rest = merged.toml.as_str();
            for line in one.lines() {
                let at = rest.find(line);
                prop_assert!(at.is_some(), "{line}\n\n{}", merged.toml);
                rest = &rest[at.unwrap() + line.len()..];
            }
            prop_assert_eq!(&add_missing(&merged.toml, &other).unwrap().toml, &merged.toml);
        }
    }

    /// Whether all of the first is in the second as it was.
    fn holds(all: &toml::Value, part: &toml::Value) -> bool {
        match (all, part) {
            (toml::Value::Table(all), toml::Value::Table(part)) => {
                part.iter().all(|(key, value)| all.get(key).is_some_and(|there| holds(there, value)))
            }
            (toml::Value::Array(all), toml::Value::Array(part)) => all.starts_with(part),
            (all, part) => all == part,
        }
    }

    fn config() -> impl Strategy<Value = String> {
        let parts = [
            "[providers.a]\nprotocol = \"gemini\"\n",
            "# second\n[providers.\"b.c\"] # x\nkey = \"env:K\"\nmodels = [\n  \"m\", # one\n]\n",
            "[router]\ndefault = 'a,1'\n",
            "[router.options]\nlong_context_threshold = 1_000\n",
            "[[router.rules]]\nname = \"x\"\n",
            "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"a\"\n",
            "[mcp.servers.x]\ncommand = \"c\"\n",
            "[mcp]\nservers.y = { command = \"d\" }\n",
            "[permissions]\nallow = [\"A\"]\n",
        ];
        let number = 0..3_u8;
        proptest::collection::vec((proptest::sample::select(parts.to_vec()), number), 0..6).prop_map(
            |chosen| {
                let mut text = String::new();
                for (part, number) in chosen {
                    let part = part
                        .replace("\"a\"", &format!("\"a{number}\""))
                        .replace("'a,1'", &format!("'a,{number}'"));
                    if format!("{text}{part}").parse::<DocumentMut>().is_ok() {
                        text.push_str(&part);
                    }
                }
                text
            },
        )
    }
}
