//! How targets fared, in a file: for listings, and so that a new process does not begin with a target that is known to fail.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rail_route::{Health, LastError, Target, TargetHealth};
use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::alone::alone;

/// What is older says nothing of today, in seconds.
const OLD: u64 = 7 * 24 * 3600;

/// How a target fared when it was last asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptHealth {
    /// When something last ended there, in unix seconds.
    pub at: u64,
    /// Until when its circuit is open, in unix seconds; None when it was closed.
    pub open_until: Option<u64>,
    /// The share of failures in the last minute before that, 0 to 1.
    pub failure_rate: Option<f64>,
    /// The time to the first content.
    pub latency_ms: Option<u64>,
    /// The last failure.
    pub last_error: Option<LastError>,
}

impl KeptHealth {
    fn new(seen: &TargetHealth, now: u64) -> Self {
        let open_until = match seen.circuit {
            "closed" => None,
            _ => Some(now.saturating_add(seen.open_seconds.unwrap_or_default())),
        };
        Self {
            at: now.saturating_sub(seen.heard_seconds_ago.unwrap_or_default()),
            open_until,
            failure_rate: seen.failure_rate,
            latency_ms: seen.latency_ms,
            last_error: seen.last_error.clone(),
        }
    }

    /// `closed`, `open` or `half-open`, at this unix second.
    pub fn circuit(&self, now: u64) -> &'static str {
        match self.open_until {
            None => "closed",
            Some(until) if until > now => "open",
            Some(_) => "half-open",
        }
    }
}

/// What the processes that asked have seen of targets, by `provider,model`. Of each target the newest counts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HealthFile(BTreeMap<String, KeptHealth>);

impl HealthFile {
    /// What a file holds; nothing when there is none. An entry that this version has no word for is passed over.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(format!("{}: how targets fared can't be read: {error}", path.display()));
            }
        };
        let all: BTreeMap<String, Value> = serde_json::from_str(&text).map_err(|error| {
            let path = path.display();
            format!(
                "{path}: how targets fared is not valid ({error}); it is written anew when they are asked"
            )
        })?;
        let read = |(target, value)| Some((target, serde_json::from_value(value).ok()?));
        Ok(Self(all.into_iter().filter_map(read).collect()))
    }

    /// Adds what was seen at this unix second to a file. What others have seen later stays.
    pub fn save(path: &Path, seen: &[TargetHealth], now: u64) -> Result<(), String> {
        alone(path, || Self::add(path, seen, now))
    }

    fn add(path: &Path, seen: &[TargetHealth], now: u64) -> Result<(), String> {
        // A file that can't be read holds nothing that asking does not bring back.
        let mut all = Self::load(path).unwrap_or_default();
        for seen in seen {
            let (kept, known) = (KeptHealth::new(seen, now), all.0.get(&seen.target));
            if known.is_none_or(|known| known.at <= kept.at) {
                all.0.insert(seen.target.clone(), kept);
            }
        }
        all.0.retain(|_, kept| kept.at.saturating_add(OLD) > now);
        let mut bytes = serde_json::to_vec_pretty(&all.0).unwrap_or_default();
        bytes.push(b'\n');
        replace(path, &bytes, Access::Owner)
            .map_err(|error| format!("{}: how targets fared can't be written: {error}", path.display()))
    }

    /// How a target fared.
    pub fn of(&self, target: &Target) -> Option<&KeptHealth> {
        self.0.get(&target.to_string())
    }

    /// The circuits that are still open, as a plan takes them: `unix` and `now` are the same moment.
    pub fn in_force(&self, unix: u64, now: Instant) -> Health {
        let mut health = Health::default();
        for (name, kept) in &self.0 {
            let left = kept.open_until.and_then(|until| until.checked_sub(unix)).filter(|left| *left > 0);
            if let (Ok(target), Some(left)) = (name.parse(), left) {
                health.open_for(&target, Duration::from_secs(left), now);
            }
        }
        health
    }
}

#[cfg(test)]
mod tests {
    use rail_route::Circuit;

    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn file() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/health.json");
        (folder, path)
    }

    #[expect(clippy::disallowed_methods, reason = "any moment will do")]
    fn start() -> Instant {
        Instant::now()
    }

    #[test]
    fn the_newest_counts_and_open_circuits_stay_open() {
        let (_folder, path) = file();
        let seconds = Duration::from_secs;
        let (bad, good) = (Target::new("p", "bad"), Target::new("p", "good"));
        let now = start();
        let mut one = Health::default();
        one.refused(&bad, "HTTP 401: wrong key", now);
        one.succeeded(&good, seconds(2), now);
        HealthFile::save(&path, &one.snapshot(now + seconds(10)), NOW + 10).unwrap();

        // Another process asked earlier, and writes later.
        let mut other = Health::default();
        other.succeeded(&bad, seconds(1), now - seconds(100));
        other.failed(&Target::new("p", "third"), "HTTP 503", now);
        HealthFile::save(&path, &other.snapshot(now + seconds(11)), NOW + 11).unwrap();

        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        {
          "p,bad": {
            "at": 1800000000,
            "open_until": 1800000030,
            "failure_rate": 1.0,
            "latency_ms": null,
            "last_error": {
              "class": "refused",
              "text": "HTTP 401: wrong key"
            }
          },
          "p,good": {
            "at": 1800000000,
            "open_until": null,
            "failure_rate": 0.0,
            "latency_ms": 2000,
            "last_error": null
          },
          "p,third": {
            "at": 1800000000,
            "open_until": null,
            "failure_rate": 1.0,
            "latency_ms": null,
            "last_error": {
              "class": "passing",
              "text": "HTTP 503"
            }
          }
        }
        "#);
        let kept = HealthFile::load(&path).unwrap();
        let circuits = |at: u64| [&bad, &good].map(|target| kept.of(target).unwrap().circuit(at));
        assert_eq!(circuits(NOW + 29), ["open", "closed"]);
        assert_eq!(circuits(NOW + 30), ["half-open", "closed"]);
        let plan = kept.in_force(NOW + 20, now);
        assert_eq!(plan.circuit(&bad, now), Circuit::Open(now + seconds(10)));
        assert_eq!(plan.circuit(&good, now), Circuit::Closed);
        assert_eq!(kept.in_force(NOW + 30, now).circuit(&bad, now), Circuit::Closed, "it is over");

        HealthFile::save(&path, &[], NOW + OLD + 1).unwrap();
        assert_eq!(HealthFile::load(&path), Ok(HealthFile::default()), "what is old is forgotten");
    }

    #[test]
    fn processes_that_write_at_once_lose_nothing() {
        let (_folder, path) = file();
        std::thread::scope(|scope| {
            for process in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for at in 0..10 {
                        let mut health = Health::default();
                        health.failed(&Target::new("p", format!("{process}-{at}")), "x", start());
                        HealthFile::save(path, &health.snapshot(start()), NOW).unwrap();
                    }
                });
            }
        });
        assert_eq!(HealthFile::load(&path).unwrap().0.len(), 40);
    }

    #[test]
    fn any_file_will_do() {
        let (_folder, path) = file();
        assert_eq!(HealthFile::load(&path), Ok(HealthFile::default()));
        let (now, target) = (start(), Target::new("p", "m"));
        let mut health = Health::default();
        health.failed(&target, "x", now);
        for (text, problem) in [
            ("{ half", Some("is not valid")),
            (r#"{"p,m": {"from": "the future"}, "no target": {"at": 1, "open_until": 9}}"#, None),
            (r#"{"p,m": {"at": 0, "open_until": 18446744073709551615}}"#, None),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let loaded = HealthFile::load(&path);
            match problem {
                Some(problem) => assert!(loaded.unwrap_err().contains(problem)),
                None => drop(loaded.unwrap().in_force(NOW, now)),
            }
            HealthFile::save(&path, &health.snapshot(now), NOW).unwrap();
            assert_eq!(HealthFile::load(&path).unwrap().of(&target).unwrap().at, NOW);
        }
    }
}
