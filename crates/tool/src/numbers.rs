//! Numbers and lengths as they are said to a model.

/// A length in bytes as people say it.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    }
    let (mut tenths, mut unit) = (u128::from(bytes) * 10 / 1024, "KiB");
    for next in UNITS.iter().skip(1) {
        if tenths < 10_240 {
            break;
        }
        (tenths, unit) = (tenths / 1024, next);
    }
    match (tenths / 10, tenths % 10) {
        (whole, 1..) if whole < 10 => format!("{whole}.{} {unit}", tenths % 10),
        (whole, _) => format!("{whole} {unit}"),
    }
}

/// A number with a comma before every three digits.
pub fn digits(number: u64) -> String {
    let plain = number.to_string();
    let mut out = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(digits), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn lengths_are_said_shortly() {
        let said = [0, 1, 1023, 1024, 1536, 10_240, 262_144, 3_932_160, 1 << 30, u64::MAX].map(size);
        let expected = [
            "0 bytes",
            "1 byte",
            "1023 bytes",
            "1 KiB",
            "1.5 KiB",
            "10 KiB",
            "256 KiB",
            "3.7 MiB",
            "1 GiB",
            "16383 PiB",
        ];
        assert_eq!(said, expected);
    }
}
