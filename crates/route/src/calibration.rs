use serde::{Deserialize, Serialize};

/// How far a report moves the factor.
const WEIGHT: f64 = 0.2;
/// The factor stays within these: a provider that reports less or more counts something else than tokens.
const RANGE: (f64, f64) = (0.5, 2.0);
/// Below this many estimated tokens a template's own words weigh more than the text, so that a report says nothing.
const LEAST: u64 = 200;

/// What a target's own tokenizer makes of our estimates: a factor that is learned from the usage it reports.
///
/// It moves a fifth of the way to each report, and a report that is out of range counts as the range's end, so that one odd
/// answer (a cached prompt that is not told, a truncated count) does little.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What estimates are multiplied with; 1 until the first report. None when nothing was learned.
    factor: Option<f64>,
    /// Reports that counted.
    reports: u32,
}

impl Calibration {
    /// Learns from one answer: what was estimated before, and all input that the target reported.
    pub fn learn(&mut self, estimated: u64, reported: u64) {
        if estimated < LEAST || reported == 0 {
            return;
        }
        let seen = clamp(reported as f64 / estimated as f64);
        // The first reports weigh more, or a target would need dozens of answers to be known.
        let weight = WEIGHT.max(1.0 / (f64::from(self.reports) + 1.0));
        let old = self.factor();
        self.factor = Some(clamp(old + weight * (seen - old)));
        self.reports = self.reports.saturating_add(1);
    }

    /// The tokens that the target will count.
    pub fn apply(&self, estimated: u64) -> u64 {
        (estimated as f64 * self.factor()).ceil() as u64
    }

    /// What estimates are multiplied with.
    pub fn factor(&self) -> f64 {
        // What was stored may have been edited.
        clamp(self.factor.unwrap_or(1.0))
    }

    /// How many reports it has learned from.
    pub fn reports(&self) -> u32 {
        self.reports
    }
}

fn clamp(factor: f64) -> f64 {
    if factor.is_finite() { factor.clamp(RANGE.0, RANGE.1) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn learned(reports: &[(u64, u64)]) -> Calibration {
        let mut calibration = Calibration::default();
        reports.iter().for_each(|(estimated, reported)| calibration.learn(*estimated, *reported));
        calibration
    }

    #[test]
    fn the_factor_follows_the_reports() {
        for (reports, factor) in [
            (&[][..], 1.0),
            (&[(1000, 1300)], 1.3),
            (&[(1000, 1300), (2000, 2600)], 1.3),
            (&[(1000, 1300), (1000, 1100)], 1.2),
            (&[(1000, 1300); 9], 1.3),
            (&[(1000, 9000)], 2.0),
            (&[(1000, 1)], 0.5),
            (&[(100, 1000), (1000, 0)], 1.0),
        ] {
            let found = learned(reports).factor();
            assert!((found - factor).abs() < 1e-9, "{reports:?}: {found}");
        }
    }

    #[test]
    fn one_odd_report_does_little() {
        let mut reports = vec![(10_000, 12_000); 20];
        reports.push((10_000, 10));
        let factor = learned(&reports).factor();
        assert!((1.0..1.2).contains(&factor), "{factor}");
        reports.extend(vec![(10_000, 12_000); 15]);
        assert!((learned(&reports).factor() - 1.2).abs() < 0.01);
    }

    #[test]
    fn it_is_written_and_read() {
        let calibration = learned(&[(1000, 1250)]);
        let text = serde_json::to_string(&calibration).unwrap();
        assert_eq!(text, r#"{"factor":1.25,"reports":1}"#);
        assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), calibration);
        assert_eq!(calibration.apply(1000), 1250);
        assert_eq!(Calibration::default().apply(7), 7);
        let edited: Calibration = serde_json::from_str(r#"{"factor":99.0,"reports":1}"#).unwrap();
        assert_eq!(edited.apply(10), 20);
    }

    proptest! {
        #[test]
        fn any_reports_keep_it_in_range(reports: Vec<(u64, u64)>) {
            let factor = learned(&reports).factor();
            prop_assert!((RANGE.0..=RANGE.1).contains(&factor));
        }
    }
}
