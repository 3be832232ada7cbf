//! Names of servers. A tool is called `mcp__SERVER__TOOL`, so that a name must not be able to look like another server's.

/// Longer names leave no room for the tool's own: APIs take 64 characters.
const LONGEST: usize = 40;

/// The name as it stands in the names of tools: whatever an API refuses is `_`.
pub fn plain_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// Why a server can't have this name, and what to do; None when it can.
pub fn wrong_name(name: &str) -> Option<String> {
    let plain = plain_name(name);
    let problem = if name.is_empty() {
        "a server needs a name"
    } else if name.chars().any(char::is_control) {
        "a server's name holds no control characters"
    } else if name.contains(['/', '\\']) || name.contains("..") {
        "a server's name is no path"
    } else if name.chars().count() > LONGEST {
        "a server's name has at most 40 characters"
    } else if !plain.contains(|c: char| c.is_ascii_alphanumeric()) {
        "a server's name holds letters or digits of ASCII"
    } else if plain.contains("__") || plain.starts_with('_') || plain.ends_with('_') {
        // A rule for `mcp__git__*` must not reach the tools of a server `git__evil`.
        "tools are called `mcp__SERVER__TOOL`, so that a name can't begin or end with `_` or another sign, or hold two of them in a row"
    } else {
        return None;
    };
    Some(format!("{problem}; take a name of letters, digits, `-` and `_`"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_can_be_and_names_that_can_not() {
        for good in ["git", "a b", "a_b", "my-server.2", "G1"] {
            assert_eq!(wrong_name(good), None, "{good}");
        }
        let long = "x".repeat(41);
        for bad in [
            "",
            "..",
            "a/b",
            "a\\b",
            "a..b",
            "a\nb",
            "\u{1b}[2J",
            "a__b",
            "a. b",
            "_a",
            "a!",
            "天气",
            "--",
            &long,
        ] {
            assert!(wrong_name(bad).is_some(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_tool_names_one_server(name in ".{0,12}", other in "[a-z_-]{1,6}", tool in "[a-z_]{1,6}") {
            if wrong_name(&name).is_none() && wrong_name(&other).is_none() {
                let called = format!("mcp__{}__{tool}", plain_name(&name));
                let prefix = format!("mcp__{other}__");
                // One server's prefix covers another's tools only where the two collide.
                prop_assert!(!called.starts_with(&prefix) || plain_name(&name) == other);
            }
        }
    }
}
