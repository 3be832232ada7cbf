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

/// The first moment of a day in UTC, in unix seconds: `2026-03-01`. None for what is no day, or one before 1970.
pub fn unix_of_date(text: &str) -> Option<u64> {
    let mut parts = text.split('-').map(|part| {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u64>().ok().filter(|_| is_number && part.len() <= 4)
    });
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year_from_march = if month > 2 { year } else { year.checked_sub(1)? };
    let leap_days = year_from_march / 4 - year_from_march / 100 + year_from_march / 400;
    let days = 365 * year_from_march + leap_days + (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let unix = days.checked_sub(DAYS_BEFORE_1970)? * 86_400;
    // A day that its month does not have is another day when it is written again.
    (date(unix) == format!("{year:04}-{month:02}-{day:02}")).then_some(unix)
}

/// The calendar repeats after 400 years.
const CYCLE: u64 = 146_097;
/// From the 1st of March of the year 0, so that a leap day is the last of its year.
const DAYS_BEFORE_1970: u64 = 719_468;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        for text in [
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-1",
            "2026-01-01-01",
            "",
            "1969-12-31",
            "+026-01-01",
            "0-1-1",
            "x",
        ] {
            assert_eq!(unix_of_date(text), None, "{text}");
        }
        assert_eq!(unix_of_date("2026-3-1"), unix_of_date("2026-03-01"));
        // Whatever stands in a file, there is an answer.
        assert!(!date(u64::MAX).is_empty());
    }

    proptest! {
        #[test]
        fn a_day_is_read_as_it_is_written(unix in 0..253_402_300_800u64) {
            prop_assert_eq!(unix_of_date(&date(unix)), Some(unix / 86_400 * 86_400));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9-]{0,12}|.*") {
            let _ = unix_of_date(&text);
        }
    }
}
