use std::path::{Path, PathBuf};

use rail_model::{PartBody, ToolCall};

use super::stages::Made;
use crate::{Session, Spoken};

/// What stands before the name of the file that keeps a whole output.
const KEPT: &str = "the whole output is in `";

/// The file that keeps the whole of an output of which a part was left out, as its text names it.
pub fn kept_in(text: &str) -> Option<&str> {
    let (_, after) = text.split_once(KEPT)?;
    let (file, _) = after.split_once('`')?;
    Some(file)
}

/// Cuts a text that is too long for the model in the middle, keeps it whole in the session's folder, and says where.
pub(super) fn truncate(mut made: Made, call: &ToolCall, within: (&Session, &Spoken)) -> Made {
    for (at, part) in made.parts.iter_mut().enumerate() {
        if let PartBody::Text(text) = &mut part.body {
            *text = bounded(std::mem::take(text), at, call, within);
        }
    }
    made
}

/// The same for one text, which is the part of this number of the call's result.
pub(super) fn bounded(
    text: String,
    part: usize,
    call: &ToolCall,
    (session, spoken): (&Session, &Spoken),
) -> String {
    let (chars, at_most) = (text.chars().count(), session.limits.output_chars);
    if chars <= at_most {
        return text;
    }
    let kept = keep(&unused(session, &format!("{}-{part}", file_name(call.id.as_str()))), &text, spoken);
    cut(&text, chars, at_most, &kept)
}

/// A file that is not there yet: some models count their calls from the beginning in every answer, and what an earlier result named
/// must stay what it was.
fn unused(session: &Session, name: &str) -> PathBuf {
    let folder = session.folder.join("outputs");
    let names =
        (1_u64..).map(|nth| if nth == 1 { format!("{name}.txt") } else { format!("{name}-{nth}.txt") });
    let mut files = names.map(|name| folder.join(name));
    files.find(|file| !file.exists()).unwrap_or(folder)
}

/// Where the whole text is, or why it is nowhere.
fn keep(file: &Path, text: &str, spoken: &Spoken) -> String {
    match rail_stdx::replace(file, text.as_bytes(), rail_stdx::Access::Owner) {
        Ok(()) => format!(
            "{KEPT}{}`: read it in parts with `{}`, or search it with `{}`",
            file.display(),
            spoken.tool("read_file"),
            spoken.tool("grep"),
        ),
        Err(error) => format!("it could not be kept as a whole ({error}): ask again for less at a time"),
    }
}

fn cut(text: &str, chars: usize, at_most: usize, kept: &str) -> String {
    let head = at_most.div_ceil(2);
    let tail = at_most - head;
    let end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let start = text.char_indices().nth(chars - tail).map_or(text.len(), |(at, _)| at);
    let (first, last) = (text.get(..end).unwrap_or_default(), text.get(start..).unwrap_or_default());
    format!("{first}\n\n[{} characters are left out here; {kept}]\n\n{last}", chars - at_most)
}

/// A call's id as a file name: whoever gave it may have put anything in it.
fn file_name(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = id.chars().take(80).map(safe).collect();
    if name.is_empty() { "call".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_model::{CallId, CallKind, Part};

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: CallId::Given(id.to_owned()),
            name: String::new(),
            arguments: String::new(),
            kind: CallKind::Function,
        }
    }

    fn made(text: impl Into<String>) -> Made {
        Made { parts: vec![Part::text(text)], display: None, notes: Vec::new() }
    }

    fn session(folder: &Path, output_chars: usize) -> Session {
        let mut session = Session::new(folder.to_owned(), folder.to_owned());
        session.limits.output_chars = output_chars;
        session
    }

    #[test]
    fn a_long_text_is_cut_in_the_middle_and_kept_whole() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), 10);
        let output = truncate(made("0123456789äöü"), &call("../a/b"), (&session, &Spoken::default()));
        let file = folder.path().join("outputs/___a_b-0.txt");
        let expected = format!(
            "01234\n\n[3 characters are left out here; the whole output is in `{}`: read it in parts with `read_file`, or search it with `grep`]\n\n89äöü",
            file.display()
        );
        assert_eq!(kept_in(&expected), file.to_str());
        assert_eq!(output.parts, made(expected).parts);
        assert_eq!(std::fs::read_to_string(file).unwrap(), "0123456789äöü");
    }

    #[test]
    fn a_call_with_the_id_of_an_earlier_one_does_not_take_its_output() {
        let folder = tempfile::tempdir().unwrap();
        let session = session(folder.path(), 4);
        for text in ["first one", "second one"] {
            truncate(made(text), &call("call_0"), (&session, &Spoken::default()));
        }
        let kept = |name: &str| std::fs::read_to_string(folder.path().join("outputs").join(name)).unwrap();
        assert_eq!([kept("call_0-0.txt"), kept("call_0-0-2.txt")], ["first one", "second one"]);
    }

    #[test]
    fn a_text_that_fits_stays() {
        let folder = tempfile::tempdir().unwrap();
        let output =
            truncate(made("0123456789"), &call("a"), (&session(folder.path(), 10), &Spoken::default()));
        assert_eq!(output.parts, made("0123456789").parts);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_text_that_can_t_be_kept_is_cut_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("outputs"), "").unwrap();
        let output =
            truncate(made("0123456789ab"), &call("a"), (&session(folder.path(), 4), &Spoken::default()));
        let text = output.parts[0].as_text().unwrap();
        assert!(
            text.starts_with("01\n\n[8 characters are left out here; it could not be kept as a whole ("),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn head_and_tail_are_the_text_s_own(text in ".{0,80}", at_most in 1_usize..40) {
            let folder = tempfile::tempdir().unwrap();
            let output = truncate(made(text.clone()), &call("a"), (&session(folder.path(), at_most), &Spoken::default()));
            let shown = output.parts[0].as_text().unwrap().to_owned();
            if text.chars().count() <= at_most {
                prop_assert_eq!(shown, text);
            } else {
                let head: String = text.chars().take(at_most.div_ceil(2)).collect();
                let tail: String = text.chars().skip(text.chars().count() - at_most / 2).collect();
                prop_assert!(shown.starts_with(&head) && shown.ends_with(&tail));
            }
        }
    }
}
