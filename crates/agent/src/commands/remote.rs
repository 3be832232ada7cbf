//! Commands whose text comes from elsewhere: the prompts of MCP servers.

use std::collections::BTreeMap;

use rail_model::Part;
use rail_proto::OfferedCommand;
use rail_tool::BoxFuture;

use super::words;

/// A prompt of an MCP server as a command, `/server:prompt (MCP)` or `/mcp__server__prompt`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteCommand {
    /// The server's name.
    pub server: String,
    /// The prompt's name, as the server has it.
    pub prompt: String,
    /// What it does, in the server's words.
    pub description: String,
    /// What it takes, in order.
    pub arguments: Vec<RemoteArgument>,
}

/// Something that a prompt takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteArgument {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the prompt can do without it.
    pub need: Need,
}

/// Whether something must be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Need {
    /// It may be left out.
    #[default]
    Optional,
    /// It must be given.
    Required,
}

/// Who knows the texts of prompts.
pub trait Remotes: Send + Sync {
    /// The text of a prompt with its arguments, as parts of a message of the user's.
    ///
    /// # Errors
    /// Why there is none, in a sentence for the user.
    fn text<'a>(
        &'a self,
        command: &'a RemoteCommand,
        arguments: &'a BTreeMap<String, String>,
    ) -> BoxFuture<'a, Result<Vec<Part>, String>>;
}

impl RemoteCommand {
    /// Its name as it is listed, `server:prompt (MCP)`.
    pub fn listed(&self) -> String {
        format!("{}:{} (MCP)", self.server, self.prompt)
    }

    /// Its name in one word, `mcp__server__prompt`; what can't stand in a word is `_`.
    pub fn word(&self) -> String {
        format!("mcp__{}__{}", in_word(&self.server), in_word(&self.prompt))
    }

    /// What may be typed behind the name: `<needed>` and `[other]`.
    pub fn hint(&self) -> String {
        let each = self.arguments.iter().map(|argument| match argument.need {
            Need::Required => format!("<{}>", argument.name),
            Need::Optional => format!("[{}]", argument.name),
        });
        each.collect::<Vec<_>>().join(" ")
    }

    /// It as front ends list it.
    pub(crate) fn offered(&self) -> OfferedCommand {
        OfferedCommand {
            name: self.listed(),
            word: self.word(),
            hint: self.hint(),
            help: self.description.clone(),
        }
    }

    /// The arguments in what was typed: `name=value` is the one of that name, other words are the rest in order, and the last one takes
    /// all that is left. Quotes keep words together as in a shell.
    ///
    /// # Errors
    /// One that is needed is not there, or there is nothing that could be meant.
    pub fn arguments(&self, typed: &str) -> Result<BTreeMap<String, String>, String> {
        let mut given = BTreeMap::new();
        let mut others = Vec::new();
        for word in words(typed) {
            let known = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
            match word.split_once('=').filter(|(name, _)| known(name) && !given.contains_key(*name)) {
                Some((name, value)) => drop(given.insert(name.to_owned(), value.to_owned())),
                None => others.push(word),
            }
        }
        let free: Vec<&RemoteArgument> =
            self.arguments.iter().filter(|argument| !given.contains_key(&argument.name)).collect();
        let listed = self.listed();
        if let (Some(first), true) = (others.first(), free.is_empty()) {
            return Err(format!("`/{listed}` takes no `{first}`; {}", self.takes()));
        }
        let mut others = others.into_iter();
        let last = free.len().saturating_sub(1);
        for (at, argument) in free.into_iter().enumerate() {
            let value = if at == last {
                let rest: Vec<String> = others.by_ref().collect();
                (!rest.is_empty()).then(|| rest.join(" "))
            } else {
                others.next()
            };
            match (value, argument.need) {
                (Some(value), _) => drop(given.insert(argument.name.clone(), value)),
                (None, Need::Optional) => {}
                (None, Need::Required) => {
                    let what =
                        argument.description.as_ref().map(|what| format!(" ({what})")).unwrap_or_default();
                    return Err(format!("`/{listed}` needs `{}`{what}; {}", argument.name, self.takes()));
                }
            }
        }
        Ok(given)
    }

    /// Its text, with the arguments in what was typed.
    ///
    /// # Errors
    /// An argument is missing or too many, or whoever knows the text has none.
    pub async fn text(&self, typed: &str, remotes: &dyn Remotes) -> Result<Vec<Part>, String> {
        remotes.text(self, &self.arguments(typed)?).await
    }

    /// Whether a name means it; `marked` says whether ` (MCP)` stood behind it.
    pub(super) fn is_meant(&self, name: &str, marked: bool) -> bool {
        let whole = name == self.word()
            || name.strip_prefix(&self.server).and_then(|rest| rest.strip_prefix(':')) == Some(&self.prompt);
        whole || (marked && name == self.prompt)
    }

    fn takes(&self) -> String {
        match self.arguments.as_slice() {
            [] => "type it alone".to_owned(),
            [..] => format!("type `/{} {}`", self.word(), self.hint()),
        }
    }
}

/// A name in which only letters, digits, `-` and `_` stand.
fn in_word(name: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    name.chars().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn command(arguments: &[(&str, Need)]) -> RemoteCommand {
        let argument = |(name, need): &(&str, Need)| RemoteArgument {
            name: (*name).to_owned(),
            description: (*need == Need::Required).then(|| format!("the {name}")),
            need: *need,
        };
        RemoteCommand {
            server: "git".to_owned(),
            prompt: "log".to_owned(),
            description: String::new(),
            arguments: arguments.iter().map(argument).collect(),
        }
    }

    #[test]
    fn arguments_are_found_by_name_and_by_place() {
        use Need::{Optional, Required};
        let two = command(&[("file", Required), ("since", Optional)]);
        for (typed, expected) in [
            ("a.rs", Ok("file=a.rs")),
            ("a.rs yesterday", Ok("file=a.rs since=yesterday")),
            ("a.rs two days ago", Ok("file=a.rs since=two days ago")),
            ("'my file.rs' \"two days\"", Ok("file=my file.rs since=two days")),
            ("since=today a.rs", Ok("file=a.rs since=today")),
            ("file=a=b.rs", Ok("file=a=b.rs")),
            ("other=x", Ok("file=other=x")),
            ("file=a file=b", Ok("file=a since=file=b")),
            ("\"\"", Ok("file=")),
            ("", Err("`/git:log (MCP)` needs `file` (the file); type `/mcp__git__log <file> [since]`")),
            (
                "since=x",
                Err("`/git:log (MCP)` needs `file` (the file); type `/mcp__git__log <file> [since]`"),
            ),
            ("file=a since=b c", Err("`/git:log (MCP)` takes no `c`; type `/mcp__git__log <file> [since]`")),
        ] {
            let found = two.arguments(typed).map(|found| {
                let each: Vec<String> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
                each.join(" ")
            });
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{typed:?}");
        }
        let none = command(&[]);
        assert_eq!(none.arguments(" "), Ok(BTreeMap::new()));
        assert_eq!(none.arguments("x"), Err("`/git:log (MCP)` takes no `x`; type it alone".to_owned()));
    }

    #[test]
    fn a_name_can_be_typed_in_several_ways() {
        let odd = RemoteCommand { server: "my.srv".to_owned(), prompt: "a b".to_owned(), ..command(&[]) };
        assert_eq!((odd.listed().as_str(), odd.word().as_str()), ("my.srv:a b (MCP)", "mcp__my_srv__a_b"));
        let plain = command(&[]);
        for (name, marked, expected) in [
            ("git:log", true, true),
            ("git:log", false, true),
            ("mcp__git__log", false, true),
            ("log", true, true),
            ("log", false, false),
            ("git", true, false),
            ("gitt:log", true, false),
        ] {
            assert_eq!(plain.is_meant(name, marked), expected, "{name} {marked}");
        }
    }

    proptest! {
        #[test]
        fn quoted_arguments_come_back(values in proptest::collection::vec("[^\"\\\\=]{0,8}", 0..4)) {
            let names = ["a", "b", "c", "d"];
            let list: Vec<(&str, Need)> = names.iter().take(values.len()).map(|name| (*name, Need::Required)).collect();
            let quoted: Vec<String> = values.iter().map(|value| ["\"", value, "\""].concat()).collect();
            let expected = names.iter().map(|name| (*name).to_owned()).zip(values).collect();
            prop_assert_eq!(command(&list).arguments(&quoted.join(" ")), Ok(expected));
        }

        #[test]
        fn any_text_is_taken_or_refused(typed in "[a-c= '\"\\\\é]{0,20}") {
            let list = [("a", Need::Required), ("b", Need::Optional)];
            if let Ok(given) = command(&list).arguments(&typed) {
                prop_assert!(given.contains_key("a"));
                prop_assert!(given.keys().all(|name| name == "a" || name == "b"));
            }
        }
    }
}
