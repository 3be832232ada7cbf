use std::collections::BTreeSet;

use rail_model::{Extras, Loss, ProtocolId};

/// Where a codec keeps the answers beside the first one.
pub(crate) const OTHER_CHOICES: &str = "choices[1..]";

/// So many are told of one answer: who answers decides how many there are.
const MOST: usize = 1000;

/// The losses of one answer, each told once however often it happens in a stream.
#[derive(Default, Debug)]
pub(crate) struct Told {
    seen: BTreeSet<String>,
    losses: Vec<Loss>,
}

impl Told {
    /// Names a loss, unless this path was named before.
    pub(crate) fn once(&mut self, path: impl Into<String>, reason: &str) {
        let path = path.into();
        if self.seen.len() < MOST && !self.seen.contains(&path) {
            self.losses.push(Loss::new(path.clone(), reason));
            self.seen.insert(path);
        }
    }

    /// Names what `extras` say and `protocol` can't.
    pub(crate) fn extras(&mut self, protocol: ProtocolId, path: &str, extras: &Extras) {
        if extras.is_empty() {
            return;
        }
        for key in extras.lost_on(protocol) {
            if key == OTHER_CHOICES {
                self.once(key, "only the first of several answers is carried");
                continue;
            }
            // When an answer was made is in its HTTP head too; to name it with every answer would hide what matters.
            if path.is_empty() && key == "created" {
                continue;
            }
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            self.once(path, &format!("{protocol} can't say it; left out"));
        }
    }

    /// The losses since the last call.
    pub(crate) fn take(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }
}
