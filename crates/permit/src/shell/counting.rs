use super::text::CONTINUED;
use super::{Script, Simple, Word, program_name};

/// Comparisons of `[[` that take both sides for arithmetic.
const COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Whether a command counts with values that come from a file or another program.
///
/// A shell evaluates such a value once more, and a value such as `a[$(rm x)]` has a command in it that nobody could judge.
pub fn counts_unknown(command: &str, script: &Script) -> bool {
    let program =
        |simple: &Simple| simple.words.first().and_then(program_name).unwrap_or_default().to_owned();
    let compares = |simple: &Simple| {
        let literals = simple.words.iter().filter_map(Word::literal);
        program(simple) == "[[" && literals.into_iter().any(|word| COMPARISONS.contains(&word))
    };
    let command = command.replace(CONTINUED, "");
    let counts = command.contains("((")
        || script.commands.iter().any(|simple| compares(simple) || program(simple) == "let");
    let takes = |simple: &Simple| matches!(program(simple).as_str(), "read" | "mapfile" | "readarray");
    let substituted = command.contains('`') || command.replace("$((", "").contains("$(");
    counts && (substituted || script.commands.iter().any(takes))
}

#[cfg(test)]
mod tests {
    use super::counts_unknown;
    use crate::shell::read;

    #[test]
    fn values_from_elsewhere_are_not_counted_with() {
        for (command, expected) in [
            ("while read n; do echo $((n)); done < x", true),
            ("while read -r n; do (( t += n )); done < x", true),
            ("while read -r n; do [[ $n -gt 3 ]]; done < x", true),
            ("for i in $(cat x); do echo $((i)); done", true),
            ("n=`cat x`; let n", true),
            ("n=$(cat x); (( n ))", true),
            ("mapfile a < x; echo $((a))", true),
            ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); done", false),
            ("while read -r n; do [ $n -gt 3 ]; done < x", false),
            ("while read -r n; do [[ $n == a ]]; done < x", false),
            ("n=$(ls | wc -l); echo $n", false),
            ("for ((i = 0; i < 3; i++)); do echo $i; done", false),
        ] {
            assert_eq!(counts_unknown(command, &read(command).unwrap()), expected, "{command}");
        }
    }
}
