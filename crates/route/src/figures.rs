//! Figures as people read them in reasons.

/// A number with a comma every three digits: `72,340`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things: `1 image`, `2 images`.
pub(crate) fn count(number: usize, one: &str) -> String {
    counted(number as u64, one)
}

/// A number of tokens: `1 token`, `72,340 tokens`.
pub(crate) fn tokens(number: u64) -> String {
    counted(number, "token")
}

fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A place in a list: `1st`, `2nd`, `11th`.
pub(crate) fn ordinal(place: usize) -> String {
    let ending = match (place % 10, place % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{place}{ending}")
}

/// An amount of money: whole cents, and four digits where cents say nothing.
pub(crate) fn dollars(amount: f64) -> String {
    if amount == 0.0 || amount.abs() >= 0.01 { format!("${amount:.2}") } else { format!("${amount:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_for_people() {
        let numbers = [0, 7, 999, 1_000, 72_340, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "7", "999", "1,000", "72,340", "1,234,567"]);
        let places = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal);
        assert_eq!(places, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]);
        assert_eq!(
            [0.0, 0.123, 0.01, 0.0042, 12.5].map(dollars),
            ["$0.00", "$0.12", "$0.01", "$0.0042", "$12.50"]
        );
        assert_eq!(
            [0, 1, 2_000].map(|number| count(number, "image")),
            ["0 images", "1 image", "2,000 images"]
        );
    }
}
