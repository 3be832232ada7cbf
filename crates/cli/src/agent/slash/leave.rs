//! What a command of the user's own may do without asking, in a session that is open already.

use rail_permit::Rule;
use rail_proto::{Answer, PermissionAsk};

/// Rules that hold until a task ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Leave(Vec<String>);

impl Leave {
    pub(crate) fn new(rules: &[Rule]) -> Self {
        Self(rules.iter().map(|rule| rule.text.clone()).collect())
    }

    /// The answer to a question that these rules decide. The judge says with it which rules would allow the call; so it is allowed
    /// where each of them says no more than one of ours. What is always asked about is not.
    pub(crate) fn answer(&self, ask: &PermissionAsk) -> Option<Answer> {
        let covered = |rule: &String| self.0.iter().any(|own| covers(own, rule));
        let decides = |rules: &Vec<String>| !rules.is_empty() && rules.iter().all(covered);
        let decided = !ask.always_asks && ask.offers.iter().any(|offer| decides(&offer.rules));
        decided.then_some(Answer::Once)
    }
}

/// Whether a rule allows all that another one does: the same, a whole tool, or a shorter prefix of commands.
fn covers(own: &str, other: &str) -> bool {
    let (own, other) = (parts(own), parts(other));
    let tool = own.0.eq_ignore_ascii_case(other.0);
    tool && match (own.1, other.1) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(own), Some(other)) => {
            own == other
                || own.strip_suffix(":*").is_some_and(|prefix| {
                    let rest = other.strip_prefix(prefix);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
                })
        }
    }
}

fn parts(rule: &str) -> (&str, Option<&str>) {
    match rule.trim().strip_suffix(')').and_then(|rule| rule.split_once('(')) {
        Some((tool, what)) => (tool, Some(what)),
        None => (rule.trim(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_rule_covers_what_it_says_and_no_more() {
        for (own, other, expected) in [
            ("Bash(git add:*)", "Bash(git add:*)", true),
            ("Bash(git:*)", "Bash(git add:*)", true),
            ("Bash", "Bash(rm:*)", true),
            ("Bash(git:*)", "Bash(gitk:*)", false),
            ("Bash(git add:*)", "Bash(git:*)", false),
            ("Bash(git)", "Bash(git add:*)", false),
            ("Bash(git:*)", "Bash", false),
            ("Edit", "Bash(rm:*)", false),
            ("Edit(src/**)", "Edit(src/a.rs)", false),
        ] {
            assert_eq!(covers(own, other), expected, "{own} {other}");
        }
    }
}
