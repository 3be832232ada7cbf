/// The day of a moment in unix seconds, in UTC: `2026-03-01`.
pub fn date(unix: u64) -> String {
    let days = unix / 86_400 + DAYS_BEFORE_1970;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    // The leap days that have passed are taken out, so that every year has 365.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, the months' lengths repeat every five months.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = cycle * 400 + year + month / 10;
    format!("{year:04}-{:02}-{day:02}", (month + 2) % 12 + 1)
}

/// The calendar repeats after 400 years.
const CYCLE: u64 = 146_097;
/// From the 1st of March of the year 0, so that a leap day is the last of its year.
const DAYS_BEFORE_1970: u64 = 719_468;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (unix, expected) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_704_067_199, "2023-12-31"),
            (1_709_164_800, "2024-02-29"),
            (1_767_225_600, "2026-01-01"),
            (1_774_915_200, "2026-03-31"),
            (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
        ] {
            assert_eq!(date(unix), expected, "{unix}");
        }
        // Whatever stands in a file, there is an answer.
        assert!(!date(u64::MAX).is_empty());
    }
}
