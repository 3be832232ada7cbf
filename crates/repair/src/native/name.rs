//! Names of native calls that came in pieces, or not at all.

use crate::{Catalog, Tool};

/// Puts the pieces of a name together, by what the declared names allow.
pub(super) fn join(pieces: &[String], catalog: &Catalog) -> String {
    let mut name = String::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        name = match next(&name, piece, catalog) {
            Next::Same => continue,
            Next::Joined(joined) => joined,
            Next::Grown => piece.clone(),
            Next::Other if catalog.get(&name).is_some() => continue,
            Next::Other => name + piece,
        };
    }
    name
}

/// Whether a call that begins with this name can only be the call before it, whose name goes on.
pub(super) fn goes_on(name: &str, piece: &str, catalog: &Catalog) -> bool {
    match next(name, piece, catalog) {
        Next::Joined(_) | Next::Grown => true,
        Next::Same | Next::Other => false,
    }
}

/// Whether no declared name has more letters than these: nothing is to come.
pub(super) fn is_settled(name: &str, catalog: &Catalog) -> bool {
    let longer = |tool: &Tool| tool.name.len() > name.len() && tool.name.starts_with(name);
    catalog.is_empty() || (catalog.get(name).is_some() && !catalog.tools().iter().any(longer))
}

/// What a piece does to the name so far.
enum Next {
    Same,
    Joined(String),
    Grown,
    Other,
}

fn next(name: &str, piece: &str, catalog: &Catalog) -> Next {
    if name == piece {
        return Next::Same;
    }
    let joined = [name, piece].concat();
    if catalog.tools().iter().any(|tool| tool.name.starts_with(&joined)) {
        return Next::Joined(joined);
    }
    let declared = |name: &str| catalog.get(name).is_some();
    if piece.starts_with(name) && (declared(piece) || !declared(name)) { Next::Grown } else { Next::Other }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;
    use crate::tests::catalog;
    use serde_json::json;

    #[test]
    fn pieces_become_the_name_that_is_declared() {
        let declared = ["list", "list_dir", "aab", "get_time"].map(|name| (name, Effect::Reads, json!({})));
        let declared = catalog(&declared);
        let table: &[(&[&str], &str)] = &[
            (&["list", "_dir"], "list_dir"),
            (&["list", "list_dir"], "list_dir"),
            (&["li", "li", "list_dir"], "list_dir"),
            (&["get_time", "get_time"], "get_time"),
            (&["get_time", "", "tool"], "get_time"),
            (&["get_time", "get_time<|channel|>"], "get_time"),
            (&["a", "ab"], "aab"),
            (&["functions.li", "st_dir"], "functions.list_dir"),
            (&["functions.li", "functions.list_dir"], "functions.list_dir"),
            (&[], ""),
        ];
        for (pieces, expected) in table {
            let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
            assert_eq!(join(&pieces, &declared), *expected, "{pieces:?}");
        }
        let settled = ["list_dir", "get_time", "list", "get", "x"].map(|name| is_settled(name, &declared));
        assert_eq!(settled, [true, true, false, false, false]);
    }
}
