//! Names that every model's API takes, and texts of a bounded length.

use sha2::{Digest, Sha256};

/// The longest name of a tool that every API takes.
const LONGEST: usize = 64;
/// Digits of the hash that tells apart what would be the same.
const TAIL: usize = 8;
/// What stands for a server's questions to models where its tools' names stand.
const SAMPLING: &str = "sampling";

/// The beginning of a text, at most so many characters, with a mark where something is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The same in one line, and with nothing in it that moves a terminal.
pub(crate) fn line(text: &str, most: usize) -> String {
    cut(&text.replace(|c: char| c.is_control(), " "), most)
}

/// A name with nothing in it that a model's API refuses.
pub(crate) fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// The name that a model calls a tool by, `mcp__server__tool`, if `taken` has no such name yet; otherwise, and where it is too long, with a
/// tail that tells it from others.
pub fn tool_name(server: &str, tool: &str, taken: impl Fn(&str) -> bool) -> String {
    let name = format!("mcp__{}__{}", plain(server), plain(tool));
    if name.len() <= LONGEST && !taken(&name) && name != sampling_name(server) {
        return name;
    }
    tailed(&name, &format!("{server}\0{tool}"))
}

/// What the names of all tools of a server begin with.
pub(crate) fn beginning(server: &str) -> String {
    format!("mcp__{}__", plain(server)).chars().take(LONGEST - TAIL - 1).collect()
}

/// The name under which a server needs leave to ask a model. No tool of it has that name.
pub fn sampling_name(server: &str) -> String {
    let name = format!("mcp__{}__{SAMPLING}", plain(server));
    if name.len() <= LONGEST { name } else { tailed(&name, &format!("{server}\0\0{SAMPLING}")) }
}

/// A name that is told from others by what it is made of.
fn tailed(name: &str, of: &str) -> String {
    let hash = Sha256::digest(of);
    let tail: String = hash.iter().take(TAIL / 2).map(|byte| format!("{byte:02x}")).collect();
    let kept: String = name.chars().take(LONGEST - TAIL - 1).collect();
    format!("{kept}_{tail}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_tool_has_the_name_that_questions_to_models_need_leave_under() {
        for server in ["x", "a b", &"long".repeat(30)] {
            assert_ne!(tool_name(server, "sampling", |_| false), sampling_name(server));
        }
        assert_eq!(sampling_name("x"), "mcp__x__sampling");
    }

    #[test]
    fn names_fit_every_api() {
        let free = |_: &str| false;
        assert_eq!(tool_name("my server", "a/b.c", free), "mcp__my_server__a_b_c");
        assert_eq!(tool_name("s", "t", |name| name == "mcp__s__t"), "mcp__s__t_12dce344");
        let long = tool_name("server", &"x".repeat(80), free);
        assert_eq!((long.len(), long.starts_with("mcp__server__xxx")), (64, true));
        assert_ne!(long, tool_name("server", &"x".repeat(81), free));
    }

    proptest! {
        #[test]
        fn any_name_becomes_one_that_fits(server in ".{0,80}", tool in ".{0,80}", taken: bool) {
            let name = tool_name(&server, &tool, |_| taken);
            prop_assert!(name.len() <= LONGEST && name.starts_with(&beginning(&server)));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        }
    }
}
