use super::fuzzy::fuzzy;

/// A command that can be typed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandInfo {
    /// Its name, without the slash.
    pub name: String,
    /// What it is given, such as `[model]`; may be empty.
    pub hint: String,
    /// What it does, in a line.
    pub help: String,
}

/// A command that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandHit {
    /// Which one of the commands.
    pub index: usize,
    /// Where the characters of the query are in its name, in bytes; none if a word of its help was found.
    pub positions: Vec<usize>,
}

/// Finds commands: those whose name begins with the query, then those whose name has its characters, then those whose help has a word that
/// begins with it. No query finds all, in their order.
pub fn search_commands(query: &str, commands: &[CommandInfo]) -> Vec<CommandHit> {
    let small = query.to_lowercase();
    let found = |(index, command): (usize, &CommandInfo)| {
        if query.is_empty() {
            return Some(((0, 0, 0), CommandHit { index, positions: Vec::new() }));
        }
        let name = command.name.to_lowercase();
        if let Some(found) = fuzzy(&name, &small) {
            let tier = if name.starts_with(&small) { 0 } else { 1 };
            return Some((
                (tier, -found.score, name.len()),
                CommandHit { index, positions: found.positions },
            ));
        }
        let help = command.help.to_lowercase();
        let mut words = help.split(|c: char| !c.is_alphanumeric());
        let is_helped = words.any(|word| word.starts_with(&small));
        is_helped.then_some(((2, 0, 0), CommandHit { index, positions: Vec::new() }))
    };
    let mut hits: Vec<_> = commands.iter().enumerate().filter_map(found).collect();
    hits.sort_by_key(|(rank, _)| *rank);
    hits.into_iter().map(|(_, hit)| hit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_helps() {
        let commands: Vec<_> = [
            ("compact", "Sum the conversation up"),
            ("model", "Choose the model"),
            ("mcp", "Servers and what they offer"),
            ("permissions", "Rules for commands"),
            ("usage", "What the models cost"),
        ]
        .map(|(name, help)| CommandInfo { name: name.into(), help: help.into(), ..CommandInfo::default() })
        .into();
        let found = |query: &str| -> Vec<_> {
            search_commands(query, &commands).iter().map(|hit| commands[hit.index].name.as_str()).collect()
        };
        assert_eq!(found(""), ["compact", "model", "mcp", "permissions", "usage"]);
        assert_eq!(found("m"), ["mcp", "model", "compact", "permissions", "usage"]);
        assert_eq!(found("mo"), ["model", "permissions", "usage"]);
        assert_eq!(found("MCP"), ["mcp"]);
        assert_eq!(found("cost"), ["usage"]);
        assert_eq!(found("x"), Vec::<&str>::new());
        assert_eq!(search_commands("mdl", &commands)[0].positions, [0, 2, 4]);
    }
}
