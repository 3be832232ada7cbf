//! What the tour shows of what happens.

use std::fmt::Write;

use rail_proto::{FileChange, Mark, NoteKind, PermissionAsk, Reason, SessionEvent, Shown, ToolEnd};

/// Lines of an output that are shown.
const SHOWN: usize = 6;

/// Tells events in lines with a word in front.
#[derive(Default)]
pub(super) struct Told {
    said: String,
}

impl Told {
    /// What is shown of an event, if anything is.
    pub(super) fn event(&mut self, event: &SessionEvent) -> Option<String> {
        match event {
            SessionEvent::Routed(routed) => {
                let kind = routed.virtual_model.as_deref().unwrap_or("by name");
                Some(line("route", &format!("{kind} request: {} answers", routed.target)))
            }
            SessionEvent::Note { kind: NoteKind::Failover, text } => Some(line("failover", text)),
            SessionEvent::Note { kind: NoteKind::Repair, text } => Some(line("mended", text)),
            SessionEvent::Note { kind: NoteKind::Guard, text } => Some(line("note", text)),
            SessionEvent::Text { text, .. } => {
                self.said.push_str(text);
                None
            }
            SessionEvent::Said { .. } => {
                let said = std::mem::take(&mut self.said);
                (!said.trim().is_empty()).then(|| line("model", said.trim()))
            }
            SessionEvent::ToolStart(start) => {
                let what = start.input.as_object().and_then(|input| {
                    ["command", "file_path", "path"].iter().find_map(|key| input.get(*key)?.as_str())
                });
                Some(line("tool", &format!("{} {}", start.title, what.unwrap_or_default())))
            }
            SessionEvent::ToolEnd(end) => Some(ended(end)),
            SessionEvent::Permission(PermissionAsk { why, .. }) => Some(line("asked", why)),
            SessionEvent::Done(done) if done.reason == Reason::Answered => {
                Some(line("done", &format!("{} answers of models, {} ms", done.turns, done.duration_ms)))
            }
            SessionEvent::Done(done) => Some(line("failed", &done.text)),
            SessionEvent::Restored(restored) => {
                let what = match &restored.refused {
                    Some(why) => format!("nothing was undone: {why}"),
                    None => format!("restored {}", restored.files.join(", ")),
                };
                Some(line("undo", &what))
            }
            _ => None,
        }
    }
}

fn ended(end: &ToolEnd) -> String {
    if let Some(Shown::Diff { files, .. }) = &end.shown {
        return files.iter().map(diff).collect();
    }
    let texts: Vec<&str> = end.result.content.iter().filter_map(rail_model::Part::as_text).collect();
    let text = texts.join("\n");
    let word = if end.success { "" } else { "refused" };
    let shown: Vec<&str> = text.lines().take(SHOWN).collect();
    line(word, &shown.join("\n"))
}

fn diff(file: &FileChange) -> String {
    let mut out = String::new();
    for hunk in &file.hunks {
        for changed in &hunk.lines {
            let mark = match changed.mark {
                Mark::Same => ' ',
                Mark::Added => '+',
                Mark::Removed => '-',
            };
            // Writing to a string can't fail.
            let _ = writeln!(out, "         {mark} {}", changed.text);
        }
    }
    out
}

/// A text with a word in front of its first line, and room in front of the others.
fn line(word: &str, text: &str) -> String {
    let mut out = String::new();
    for (at, line) in text.lines().enumerate() {
        let _ = writeln!(out, "{:<8} {line}", if at == 0 { word } else { "" });
    }
    out
}
