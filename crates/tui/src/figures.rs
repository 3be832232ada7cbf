//! Numbers as people read them.

use std::time::Duration;

/// A count of tokens: `950`, `12.3k`, `1.2M`.
pub(crate) fn tokens(count: u64) -> String {
    scaled(count, &["", "k", "M", "G"])
}

/// A count of bytes: `950 B`, `12.3 kB`.
pub(crate) fn bytes(count: u64) -> String {
    scaled(count, &[" B", " kB", " MB", " GB"])
}

fn scaled(count: u64, units: &[&str]) -> String {
    let mut whole = count;
    let mut tenths = 0;
    let mut at = 0;
    while whole >= 1000 && at + 1 < units.len() {
        tenths = whole % 1000 / 100;
        whole /= 1000;
        at += 1;
    }
    let unit = units.get(at).copied().unwrap_or_default();
    if at == 0 || whole >= 100 { format!("{whole}{unit}") } else { format!("{whole}.{tenths}{unit}") }
}

/// A price: `$0.0042`, `$1.23`.
pub(crate) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// A time that passed: `0.4s`, `12s`, `3m 05s`, `1h 02m`.
pub(crate) fn time(passed: Duration) -> String {
    let seconds = passed.as_secs();
    match seconds {
        0..=9 => format!("{}.{}s", seconds, passed.subsec_millis() / 100),
        10..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A time that still passes, in whole seconds: a figure that changed with every frame would only flicker.
pub(crate) fn seconds(passed: Duration) -> String {
    let whole = Duration::from_secs(passed.as_secs());
    if whole.as_secs() < 10 { format!("{}s", whole.as_secs()) } else { time(whole) }
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0, 999, 1000, 12_345, 123_456, 1_234_567].map(tokens);
        assert_eq!(texts, ["0", "999", "1.0k", "12.3k", "123k", "1.2M"]);
        assert_eq!([0.0, 0.0042, 1.234].map(dollars), ["$0.00", "$0.0042", "$1.23"]);
        let times = [430, 12_000, 185_000, 3_720_000].map(|ms| time(Duration::from_millis(ms)));
        assert_eq!(times, ["0.4s", "12s", "3m 05s", "1h 02m"]);
        assert_eq!([count(1, "line"), count(3, "line")], ["1 line", "3 lines"]);
        assert_eq!(bytes(2_048), "2.0 kB");
    }
}
