/// A message that has the form of a command. Whether there is such a command, [`Commands`](super::Commands) knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlashCommand {
    /// What stands behind the slash, up to the first space.
    pub name: String,
    /// What stands behind the name, without spaces around it.
    pub args: String,
    /// Whether ` (MCP)` stands behind the name: a prompt of an MCP server is meant.
    pub is_mcp: bool,
}

/// What stands behind the name of a prompt of an MCP server.
const MCP: &str = "(MCP)";

/// Reads a message as a command: a slash, a name, and what the command is given.
///
/// A path such as `/etc/hosts` has that form too: it is a command only if one of that name exists.
pub fn parse(text: &str) -> Option<SlashCommand> {
    let rest = text.trim_start().strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, args) = rest.split_at_checked(end)?;
    let begins = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let named = name.chars().all(|c| c.is_alphanumeric() || "_-:./".contains(c));
    let args = args.trim();
    let behind =
        args.strip_prefix(MCP).filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
    (begins && named).then(|| SlashCommand {
        name: name.to_owned(),
        args: behind.unwrap_or(args).trim().to_owned(),
        is_mcp: behind.is_some(),
    })
}

impl SlashCommand {
    /// Whether it is rather a path than a command that was mistyped.
    pub fn is_like_a_path(&self) -> bool {
        self.name.contains(['/', '.'])
    }
}

/// Splits what a command is given into words, as a shell does: quotes keep words together, a backslash keeps the next character.
pub fn words(args: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut open, mut quote) = (String::new(), false, None);
    let mut chars = args.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            ('\\', None | Some('"')) => {
                word.push(chars.next().unwrap_or('\\'));
                open = true;
            }
            ('"' | '\'', None) => {
                quote = Some(c);
                open = true;
            }
            (c, None) if c.is_whitespace() => {
                if std::mem::take(&mut open) {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => {
                word.push(c);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_are_told_from_text() {
        for (text, expected) in [
            ("/help", Some(("help", ""))),
            ("  /compact  keep the plan \n", Some(("compact", "keep the plan"))),
            ("/review\nline one\nline two", Some(("review", "line one\nline two"))),
            ("/git:commit fix", Some(("git:commit", "fix"))),
            ("/etc/hosts is wrong", Some(("etc/hosts", "is wrong"))),
            ("/mcp__git__log 3", Some(("mcp__git__log", "3"))),
            ("/über x", Some(("über", "x"))),
            ("/", None),
            ("/ help", None),
            ("//help", None),
            ("/* comment */", None),
            ("/-x", None),
            ("/a,b", None),
            ("help", None),
            ("see /help", None),
            ("", None),
        ] {
            let found = parse(text);
            let found = found.as_ref().map(|found| (found.name.as_str(), found.args.as_str()));
            assert_eq!(found, expected, "{text:?}");
        }
        for (text, expected) in [
            ("/git:log (MCP) a b", ("git:log", "a b", true)),
            ("/git:log  (MCP)", ("git:log", "", true)),
            ("/git:log (MCP)x", ("git:log", "(MCP)x", false)),
            ("/git:log x (MCP)", ("git:log", "x (MCP)", false)),
            ("/mcp__git__log a", ("mcp__git__log", "a", false)),
        ] {
            let found = parse(text).unwrap();
            assert_eq!((found.name.as_str(), found.args.as_str(), found.is_mcp), expected, "{text:?}");
        }
        assert!(parse("/etc/hosts").unwrap().is_like_a_path());
        assert!(!parse("/hlep").unwrap().is_like_a_path());
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (args, expected) in [
            ("", &[][..]),
            ("  a  b\tc\n", &["a", "b", "c"]),
            ("\"fix the bug\" high", &["fix the bug", "high"]),
            ("'it''s' \"a\\\"b\" c\\ d", &["its", "a\"b", "c d"]),
            ("'' x", &["", "x"]),
            ("it's open", &["its open"]),
            ("end\\", &["end\\"]),
            ("'a\\b'", &["a\\b"]),
        ] {
            assert_eq!(words(args), expected, "{args:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([/ a-z:.\\n'\"\\\\é-]|[(]MCP[)] ?){0,24}") {
            let _ = words(&text);
            if let Some(command) = parse(&text) {
                prop_assert!(!command.name.contains(char::is_whitespace));
                let mark = if command.is_mcp { "(MCP) " } else { "" };
                let again = parse(&format!("/{} {mark}{}", command.name, command.args));
                prop_assert_eq!(again, Some(command));
            }
        }

        #[test]
        fn quoted_words_come_back(list in proptest::collection::vec("[^\"\\\\]{0,8}", 0..5)) {
            let quoted: Vec<String> = list.iter().map(|word| ["\"", word, "\""].concat()).collect();
            prop_assert_eq!(words(&quoted.join(" ")), list);
        }
    }
}
