//! The terminal itself: how it is taken over, asked and given back.

use std::io::{self, Write, stderr, stdin, stdout};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc;

use crate::screen::Size;
use crate::theme::Theme;

/// Pastes are told from typing, and keys by all that is held with them; terminals that do not know these leave them alone.
const ENTER: &str = "\u{1b}[?2004h\u{1b}[>1u";
const LEAVE: &str = "\u{1b}[<u\u{1b}[?2004l\u{1b}[0m\u{1b}[?25h";
/// Takes back what [`ENTER`] said of keys, which a terminal keeps as often as it is said.
const FORGET: &str = "\u{1b}[<u";
/// How long a terminal may take to say what its background is.
const PATIENCE: Duration = Duration::from_millis(200);

/// Whether the terminal is taken over, for whoever must give it back in haste.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// The interface that has the terminal, or lent it.
static OWNER: Mutex<Option<Owner>> = Mutex::new(None);

/// Whose panics end the interface, and who hears of others.
struct Owner {
    thread: ThreadId,
    broken: mpsc::UnboundedSender<String>,
}

/// What a terminal said of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Said {
    /// The theme for its background, if it said one.
    pub(crate) theme: Option<Theme>,
    /// What the user typed meanwhile.
    pub(crate) typed: String,
    /// Whether the answer is cut: its rest comes as keys.
    pub(crate) is_cut: bool,
}

/// A terminal that was taken over. It is given back when this is dropped.
pub(crate) struct Terminal {
    /// What broke on other threads while it was taken.
    pub(crate) broken: mpsc::UnboundedReceiver<String>,
}

impl Terminal {
    /// Takes the terminal over: keys come one by one, and nothing is echoed.
    ///
    /// # Errors
    /// It is no terminal, or does not let itself be switched.
    pub(crate) fn take() -> io::Result<Self> {
        restore_in_panics();
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let (to, broken) = mpsc::unbounded_channel();
        own(Some(Owner { thread: std::thread::current().id(), broken: to }));
        let taken = Self { broken };
        write(ENTER)?;
        Ok(taken)
    }

    /// Its size.
    ///
    /// # Errors
    /// It does not say.
    pub(crate) fn size(&self) -> io::Result<Size> {
        let (columns, rows) = crossterm::terminal::size()?;
        // A terminal that is still being set up may say that it has none.
        let or = |cells: u16, usual: usize| if cells == 0 { usual } else { usize::from(cells) };
        Ok(Size { columns: or(columns, 80), rows: or(rows, 24) })
    }

    /// Whether its background is light or dark, and what was typed while it was asked. Dark where it does not say in time.
    pub(crate) fn theme(&self) -> Said {
        asked().map_or_else(|_| Said::default(), |answer| background(&answer))
    }

    /// Writes to it.
    ///
    /// # Errors
    /// It is gone.
    pub(crate) fn write(&self, bytes: &str) -> io::Result<()> {
        write(bytes)
    }

    /// Gives it back for a while; [`Terminal::retake`] takes it over again.
    ///
    /// # Errors
    /// It is gone.
    pub(crate) fn lend(&self) -> io::Result<()> {
        give_back()
    }

    /// Takes it over again, whoever had it meanwhile and whatever they did to it.
    ///
    /// # Errors
    /// It is gone.
    pub(crate) fn retake(&self) -> io::Result<()> {
        if TAKEN.swap(true, Ordering::SeqCst) {
            // It was not given back, but a shell may have switched it.
            disable_raw_mode()?;
            write(FORGET)?;
        }
        enable_raw_mode()?;
        write(ENTER)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that is gone needs nothing back.
        let _ = give_back();
        own(None);
        while let Ok(text) = self.broken.try_recv() {
            let _ = writeln!(stderr(), "{text}");
        }
    }
}

/// Stops this program as Ctrl-Z does, until somebody lets it go on.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn suspend() -> io::Result<()> {
    rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
    Ok(())
}

fn give_back() -> io::Result<()> {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let written = write(LEAVE);
    disable_raw_mode()?;
    written
}

fn own(owner: Option<Owner>) {
    *OWNER.lock().unwrap_or_else(PoisonError::into_inner) = owner;
}

/// A panic that ends the interface says what happened on a terminal that can show it. Others end a task, while the interface goes on and tells of them.
fn restore_in_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let elsewhere = {
                let owner = OWNER.lock().unwrap_or_else(PoisonError::into_inner);
                let other = owner.as_ref().filter(|owner| owner.thread != std::thread::current().id());
                other.is_some_and(|owner| owner.broken.send(told(info)).is_ok())
            };
            if elsewhere {
                return;
            }
            if TAKEN.load(Ordering::SeqCst) {
                let _ = write("\r\n");
                let _ = give_back();
            }
            usual(info);
        }));
    });
}

/// A panic in a line.
fn told(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("something");
    let place =
        info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    format!("a part of rail broke off: {what}{place}; this is a fault of rail")
}

fn write(bytes: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(bytes.as_bytes())?;
    out.flush()
}

/// Asks for the colour of the background, and then what every terminal answers, so that nobody waits for one that does not know the first.
#[expect(clippy::disallowed_methods, reason = "a terminal that does not answer is not waited for")]
fn asked() -> io::Result<Vec<u8>> {
    // A terminal ends its answer as the question ended, and the other end there is (BEL) would be Ctrl-G to whoever takes it for keys.
    write("\u{1b}]11;?\u{1b}\\\u{1b}[c")?;
    let input = stdin();
    let mut answer = Vec::new();
    let begun = Instant::now();
    while !is_whole(&answer) {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        let wait = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        let ready = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&wait))?;
        if ready == 0 {
            break;
        }
        let mut piece = [0; 256];
        match rustix::io::read(&input, &mut piece)? {
            0 => break,
            read => answer.extend(piece.iter().take(read)),
        }
    }
    Ok(answer)
}

/// Whether the answer that every terminal gives is there.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    text.split("\u{1b}[?")
        .skip(1)
        .any(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('c'))
}

/// What a terminal's answers say of its background, and what the user typed among them.
fn background(answer: &[u8]) -> Said {
    const BEGINS: &str = "\u{1b}]11;";
    let text = String::from_utf8_lossy(answer);
    let mut rest = text.as_ref();
    let mut said = Said::default();
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix(BEGINS) {
            let end = behind.find(['\u{7}', '\u{1b}']).unwrap_or(behind.len());
            let (colour, behind) = behind.split_at(end);
            // Half an answer says nothing.
            said.is_cut = behind.is_empty() || behind == "\u{1b}";
            if !said.is_cut {
                said.theme =
                    brightness(colour).map(|bright| if bright > 0.5 { Theme::Light } else { Theme::Dark });
            }
            rest = ["\u{7}", "\u{1b}\\", "\u{1b}"]
                .iter()
                .find_map(|end| behind.strip_prefix(end))
                .unwrap_or(behind);
        } else if let Some(behind) = rest.strip_prefix("\u{1b}[?") {
            rest = behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
            rest = rest.strip_prefix('c').unwrap_or(rest);
        } else if rest.len() > 1 && BEGINS.starts_with(rest) {
            said.is_cut = true;
            rest = "";
        } else {
            if !c.is_control() {
                said.typed.push(c);
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    said
}

/// How bright `rgb:RRRR/GGGG/BBBB` is, from 0 to 1.
fn brightness(colour: &str) -> Option<f64> {
    let parts: Vec<f64> = colour.strip_prefix("rgb:")?.split('/').filter_map(part).collect();
    let [red, green, blue] = parts.as_slice() else { return None };
    Some(0.299 * red + 0.587 * green + 0.114 * blue)
}

fn part(hex: &str) -> Option<f64> {
    let digits = u32::try_from(hex.len()).ok().filter(|digits| (1..=4).contains(digits))?;
    let value = u32::from_str_radix(hex, 16).ok()?;
    Some(f64::from(value) / f64::from(16_u32.pow(digits) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_background_is_read_and_nothing_typed_is_lost() {
        let cases: [(&str, Option<Theme>, &str, bool); 8] = [
            ("\u{1b}]11;rgb:ffff/ffff/ffff\u{7}\u{1b}[?62;4c", Some(Theme::Light), "", false),
            ("\u{1b}]11;rgb:1e1e/1e1e/2e2e\u{1b}\\\u{1b}[?1;2c", Some(Theme::Dark), "", false),
            ("fix\u{1b}]11;rgb:ff/ff/d7\u{7} it\u{1b}[?6c", Some(Theme::Light), "fix it", false),
            ("\u{1b}[?1;2c", None, "", false),
            ("\u{1b}]11;nonsense\u{7}", None, "", false),
            ("a\u{1b}]11;rgb:ffff/ff", None, "a", true),
            ("\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}", None, "", true),
            ("a\u{1b}]1", None, "a", true),
        ];
        for (answer, theme, typed, is_cut) in cases {
            let said = Said { theme, typed: typed.to_owned(), is_cut };
            assert_eq!(background(answer.as_bytes()), said, "{answer:?}");
        }
        assert!(is_whole(b"\x1b[?62;4c") && !is_whole(b"\x1b]11;rgb:ffff/ffff/ffff\x07"));
    }
}
