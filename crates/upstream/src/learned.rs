//! What targets were found to refuse, and how they count tokens, kept in a file so that each is found once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rail_route::{Calibration, Target};
use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Fix;
use crate::alone::alone;

/// The most that is kept for one target; a server that refuses everything fills no disk.
const MOST: usize = 32;
/// The most of a message that is kept.
const MESSAGE: usize = 500;
/// A factor is written when it has moved by more than this share of what the file has.
const MOVED: f64 = 0.02;

/// One thing that a target was found to refuse.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lesson {
    /// What is done about it.
    pub fix: Fix,
    /// What the target said.
    pub because: String,
    /// When, in unix seconds.
    pub at: u64,
}

/// All that was learned of targets, by `provider,model`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Learned {
    fixes: BTreeMap<String, Vec<Lesson>>,
    calibration: BTreeMap<String, Calibration>,
    /// What others keep in the same file.
    rest: Map<String, Value>,
}

impl Learned {
    /// What was learned of a target, the oldest first.
    pub fn of(&self, target: &Target) -> &[Lesson] {
        self.fixes.get(&target.to_string()).map(Vec::as_slice).unwrap_or_default()
    }

    /// All targets of which something was learned, as `provider,model`, with what.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[Lesson])> {
        self.fixes.iter().map(|(target, lessons)| (target.as_str(), lessons.as_slice()))
    }

    /// How a target counts tokens, as far as its answers have told.
    pub fn calibration(&self, target: &Target) -> Calibration {
        self.calibration.get(&target.to_string()).copied().unwrap_or_default()
    }

    /// What a file holds. One that can't be read is set aside, and the error says so.
    pub fn load(path: &Path) -> Result<Self, String> {
        load(path)
    }

    /// Takes what was heard of a target's tokens, unless more was heard of it already.
    fn hear(&mut self, name: &str, heard: Calibration) {
        if heard.reports() > self.calibration.get(name).map_or(0, Calibration::reports) {
            self.calibration.insert(name.to_owned(), heard);
        }
    }

    /// Reads the file's text. An entry that this version has no word for is passed over.
    fn read(text: &str) -> Result<Self, serde_json::Error> {
        let mut rest: Map<String, Value> = serde_json::from_str(text)?;
        let fixes: BTreeMap<String, Vec<Value>> = match rest.shift_remove("fixes") {
            Some(fixes) => serde_json::from_value(fixes)?,
            None => BTreeMap::new(),
        };
        let known = |lessons: Vec<Value>| {
            lessons.into_iter().filter_map(|lesson| serde_json::from_value(lesson).ok()).collect()
        };
        let calibration: BTreeMap<String, Value> = match rest.shift_remove("calibration") {
            Some(calibration) => serde_json::from_value(calibration)?,
            None => BTreeMap::new(),
        };
        let read = |(target, value)| Some((target, serde_json::from_value(value).ok()?));
        Ok(Self {
            fixes: fixes.into_iter().map(|(target, lessons)| (target, known(lessons))).collect(),
            calibration: calibration.into_iter().filter_map(read).collect(),
            rest,
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut all = Map::new();
        all.insert("fixes".to_owned(), serde_json::to_value(&self.fixes).unwrap_or_default());
        if !self.calibration.is_empty() {
            let calibration = serde_json::to_value(&self.calibration).unwrap_or_default();
            all.insert("calibration".to_owned(), calibration);
        }
        all.extend(self.rest.clone());
        let mut bytes = serde_json::to_vec_pretty(&all).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn add(&mut self, target: &Target, lesson: Lesson) {
        let lessons = self.fixes.entry(target.to_string()).or_default();
        lessons.retain(|known| !same_matter(&known.fix, &lesson.fix));
        if lessons.len() >= MOST {
            lessons.remove(0);
        }
        let because = lesson.because.chars().take(MESSAGE).collect();
        lessons.push(Lesson { because, ..lesson });
    }

    fn forget(&mut self, target: &Target, fix: Option<&Fix>) -> bool {
        let name = target.to_string();
        let Some(lessons) = self.fixes.get_mut(&name) else { return false };
        let before = lessons.len();
        lessons.retain(|lesson| fix.is_some_and(|fix| lesson.fix != *fix));
        let forgotten = lessons.len() != before;
        if lessons.is_empty() {
            self.fixes.remove(&name);
        }
        forgotten
    }
}

/// Whether a new fix makes an older one pointless: of two limits the later one counts.
fn same_matter(old: &Fix, new: &Fix) -> bool {
    let limits = |fix: &Fix| matches!(fix, Fix::MaxOutput { .. });
    let thinks = |fix: &Fix| matches!(fix, Fix::Think { .. });
    let names = |fix: &Fix| matches!(fix, Fix::MaxTokens | Fix::MaxCompletionTokens);
    let layouts = |fix: &Fix| matches!(fix, Fix::Whole | Fix::Streamed);
    old == new || [limits, thinks, names, layouts].iter().any(|matter| matter(old) && matter(new))
}

/// What was learned, in memory and in its file.
///
/// Several processes may share the file. It is the truth: a change reads it, changes it and writes it back, so nobody
/// brings back what another has forgotten.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    path: Option<PathBuf>,
    known: Mutex<Learned>,
    /// What this process heard of targets' tokens, by `provider,model`; the file has it only once it has moved.
    heard: Mutex<BTreeMap<String, Calibration>>,
    /// Held while the file changes, so that requests which only look never wait for a disk.
    writing: Mutex<()>,
}

impl Lessons {
    /// What the file holds; a file that can't be read is set aside, and the second value says so.
    pub(crate) fn at(path: PathBuf) -> (Self, Option<String>) {
        let (known, problem) = match load(&path) {
            Ok(known) => (known, None),
            Err(problem) => (Learned::default(), Some(problem)),
        };
        (Self { path: Some(path), known: Mutex::new(known), ..Self::default() }, problem)
    }

    /// What is known now.
    pub(crate) fn known(&self) -> Learned {
        let mut known = lock(&self.known).clone();
        lock(&self.heard).iter().for_each(|(name, heard)| known.hear(name, *heard));
        known
    }

    /// Hears what a target made of an estimate; true when that is worth writing down.
    pub(crate) fn hear(&self, target: &Target, estimated: u64, reported: u64) -> bool {
        let name = target.to_string();
        let known = lock(&self.known).calibration.get(&name).copied();
        let mut all = lock(&self.heard);
        let heard = all.entry(name).or_default();
        if let Some(known) = known.filter(|known| known.reports() > heard.reports()) {
            *heard = known;
        }
        let before = heard.reports();
        heard.learn(estimated, reported);
        let moved = known.is_none_or(|known| (heard.factor() / known.factor() - 1.0).abs() > MOVED);
        heard.reports() > before && moved
    }

    /// Writes down what was heard.
    pub(crate) fn keep_heard(&self) -> Result<(), String> {
        self.change(|_| {})
    }

    /// What is done about a target's refusals.
    pub(crate) fn fixes(&self, target: &Target) -> Vec<Fix> {
        lock(&self.known).of(target).iter().map(|lesson| lesson.fix.clone()).collect()
    }

    /// Keeps lessons of a target, in memory whatever happens to the file.
    pub(crate) fn learn(&self, target: &Target, lessons: Vec<Lesson>) -> Result<(), String> {
        self.change(|learned| lessons.into_iter().for_each(|lesson| learned.add(target, lesson)))
    }

    /// Forgets a fix of a target, or all of them; false when there was none.
    pub(crate) fn forget(&self, target: &Target, fix: Option<&Fix>) -> Result<bool, String> {
        let mut forgotten = false;
        self.change(|learned| forgotten = learned.forget(target, fix))?;
        Ok(forgotten)
    }

    fn change(&self, change: impl FnOnce(&mut Learned)) -> Result<(), String> {
        let Some(path) = &self.path else {
            change(&mut lock(&self.known));
            return Ok(());
        };
        let _writing = lock(&self.writing);
        alone(path, || self.rewrite(path, change))
    }

    /// Reads the file, changes it and writes it back.
    fn rewrite(&self, path: &Path, change: impl FnOnce(&mut Learned)) -> Result<(), String> {
        let (mut learned, problem) = match load(path) {
            Ok(learned) => (learned, None),
            Err(problem) => (self.known(), Some(problem)),
        };
        change(&mut learned);
        lock(&self.heard).iter().for_each(|(name, heard)| learned.hear(name, *heard));
        let written = replace(path, &learned.write(), Access::Owner);
        *lock(&self.known) = learned;
        match (written, problem) {
            (Err(error), _) => Err(format!("{}: what was learned can't be written: {error}", path.display())),
            (Ok(()), Some(problem)) => Err(problem),
            (Ok(()), None) => Ok(()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves these values whole: each change is one call.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the file; one that is broken gets another name, so that it is neither lost nor in the way.
fn load(path: &Path) -> Result<Learned, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Learned::default()),
        Err(error) => return Err(format!("{}: what was learned can't be read: {error}", path.display())),
    };
    Learned::read(&text).map_err(|error| {
        let mut aside = path.as_os_str().to_owned();
        aside.push(".broken");
        let aside = PathBuf::from(aside);
        let kept = match fs::rename(path, &aside) {
            Ok(()) => format!("it is now {}", aside.display()),
            Err(error) => format!("and can't be moved away: {error}"),
        };
        format!(
            "{}: what was learned is not valid ({error}); {kept}, and learning starts anew",
            path.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn lesson(fix: Fix) -> Lesson {
        Lesson { fix, because: "no such field".to_owned(), at: 1_700_000_000 }
    }

    fn drop(path: &str) -> Fix {
        Fix::Drop { path: path.to_owned() }
    }

    #[test]
    fn processes_that_learn_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/learned.json");
        std::thread::scope(|scope| {
            for process in 0..4 {
                let (lessons, _) = Lessons::at(path.clone());
                scope.spawn(move || {
                    for at in 0..10 {
                        let target = Target::new("p", format!("{process}-{at}"));
                        lessons.learn(&target, vec![lesson(drop("seed"))]).unwrap();
                    }
                });
            }
        });
        assert_eq!(Learned::load(&path).unwrap().all().count(), 40);
    }

    #[test]
    fn lessons_are_kept_merged_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/learned.json");
        let target = Target::new("p", "a/m:1");
        let (one, problem) = Lessons::at(path.clone());
        assert_eq!(problem, None);
        let (other, _) = Lessons::at(path.clone());
        one.learn(&target, vec![lesson(drop("seed")), lesson(Fix::MaxOutput { most: 9 })]).unwrap();
        other.learn(&target, vec![lesson(Fix::MaxOutput { most: 8 })]).unwrap();
        assert_eq!(
            other.fixes(&target),
            [drop("seed"), Fix::MaxOutput { most: 8 }],
            "both processes' lessons"
        );
        assert_eq!(one.forget(&target, Some(&drop("seed"))), Ok(true));
        assert_eq!(one.fixes(&target), [Fix::MaxOutput { most: 8 }]);
        other.learn(&Target::new("p", "b"), vec![lesson(Fix::SystemRole)]).unwrap();
        assert_eq!(
            other.fixes(&target),
            [Fix::MaxOutput { most: 8 }],
            "what one forgot the other does not bring back"
        );
        assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        {
          "fixes": {
            "p,a/m:1": [
              {
                "fix": {
                  "kind": "max-output",
                  "most": 8
                },
                "because": "no such field",
                "at": 1700000000
              }
            ],
            "p,b": [
              {
                "fix": {
                  "kind": "system-role"
                },
                "because": "no such field",
                "at": 1700000000
              }
            ]
          }
        }
        "#);
        assert_eq!(one.forget(&target, None), Ok(true));
        assert_eq!(one.forget(&target, None), Ok(false));
        assert_eq!(one.known().all().map(|(target, _)| target.to_owned()).collect::<Vec<_>>(), ["p,b"]);
    }

    #[test]
    fn a_broken_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        fs::write(&path, "{ half").unwrap();
        let (lessons, problem) = Lessons::at(path.clone());
        assert!(
            problem.is_some_and(|problem| problem.contains("learned.json.broken, and learning starts anew"))
        );
        assert_eq!(fs::read_to_string(folder.path().join("learned.json.broken")).unwrap(), "{ half");
        lessons.learn(&Target::new("p", "m"), vec![lesson(Fix::Whole)]).unwrap();
        let (again, problem) = Lessons::at(path);
        assert_eq!((again.fixes(&Target::new("p", "m")), problem), (vec![Fix::Whole], None));
    }

    #[test]
    fn what_others_keep_and_what_is_not_known_do_no_harm() {
        let text = r#"{"else": {"p,m": 1.07}, "fixes": {"p,m": [
            {"fix": {"kind": "whole"}, "because": "x", "at": 1},
            {"fix": {"kind": "from-the-future"}, "because": "x", "at": 1}
        ]}, "calibration": {"p,m": {"factor": 1.5, "reports": 3}, "p,n": "from the future"}}"#;
        let learned = Learned::read(text).unwrap();
        assert_eq!(learned.of(&Target::new("p", "m")).len(), 1);
        assert_eq!(learned.calibration(&Target::new("p", "m")).apply(100), 150);
        assert_eq!(learned.calibration(&Target::new("p", "n")), Calibration::default());
        let written: Value = serde_json::from_slice(&learned.write()).unwrap();
        assert_eq!(written["else"]["p,m"].to_string(), "1.07");
    }

    #[test]
    fn factors_are_written_when_they_moved_and_shared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("learned.json");
        let target = Target::new("p", "m");
        let factor = |lessons: &Lessons| (lessons.known().calibration(&target).factor() * 100.0).round();
        let (one, _) = Lessons::at(path.clone());
        assert!(!one.hear(&target, 10, 30), "too little to say anything");
        assert!(one.hear(&target, 1_000, 1_000), "the first is written, whatever it says");
        one.keep_heard().unwrap();
        assert!(!one.hear(&target, 1_000, 1_030), "half of the way to 3 % more");
        assert!(one.hear(&target, 1_000, 1_300));
        assert_eq!(factor(&one), 111.0);

        let (other, _) = Lessons::at(path.clone());
        assert_eq!(factor(&other), 100.0, "it was not written yet");
        one.learn(&Target::new("p", "n"), vec![lesson(Fix::Whole)]).unwrap();
        assert_eq!(factor(&one), 111.0, "a change of something else takes it along and loses nothing");
        other.learn(&target, vec![lesson(Fix::Whole)]).unwrap();
        assert_eq!(factor(&other), 111.0, "who has heard less takes what the file has");
        assert!(!other.hear(&target, 1_000, 1_110));
        assert_eq!(Learned::load(&path).unwrap().calibration(&target).reports(), 3);
        let memory = Lessons::default();
        memory.hear(&target, 1_000, 2_000);
        memory.keep_heard().unwrap();
        assert_eq!(factor(&memory), 200.0, "without a file it is known all the same");
    }

    #[test]
    fn a_file_that_can_not_be_written_does_not_stop_learning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file/learned.json");
        fs::write(folder.path().join("file"), "").unwrap();
        let (lessons, _) = Lessons::at(path);
        let target = Target::new("p", "m");
        assert!(lessons.learn(&target, vec![lesson(Fix::Whole)]).is_err());
        assert_eq!(lessons.fixes(&target), [Fix::Whole]);
    }

    #[test]
    fn a_target_that_refuses_everything_fills_no_disk() {
        let lessons = Lessons::default();
        let target = Target::new("p", "m");
        let many = (0..100).map(|at| Lesson { because: "x".repeat(5000), ..lesson(drop(&format!("f{at}"))) });
        lessons.learn(&target, many.collect()).unwrap();
        let known = lessons.known();
        assert_eq!(known.of(&target).len(), MOST);
        assert!(known.of(&target).iter().all(|lesson| lesson.because.len() == MESSAGE));
        assert_eq!(known.of(&target).last().map(|lesson| &lesson.fix), Some(&drop("f99")));
    }
}
