//! What the roles of text look like on a terminal.

use crate::text::{Look, Role, Syntax};

/// A set of colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Theme {
    /// For dark backgrounds.
    #[default]
    Dark,
    /// For light backgrounds.
    Light,
    /// Told apart by brightness, blue and orange, never by red and green; for either background.
    Safe,
    /// No colour: bold, dim, underline and reverse alone.
    Plain,
}

impl Theme {
    /// All of them, as they are listed.
    pub const ALL: &'static [Self] = &[Self::Dark, Self::Light, Self::Safe, Self::Plain];

    /// Its name, as it is configured.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Safe => "colour-blind",
            Self::Plain => "no-colour",
        }
    }

    /// The theme of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|theme| theme.name() == name)
    }

    /// What it is for, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Dark => "for dark backgrounds",
            Self::Light => "for light backgrounds",
            Self::Safe => "blue and orange instead of green and red, on any background",
            Self::Plain => "no colour at all",
        }
    }

    /// The sequence that switches a terminal from no look at all to this one; empty where there is nothing to switch.
    pub fn sgr(self, look: Look) -> String {
        let Look { role, bold, italic, underline, strike, reverse } = look;
        let mut codes: Vec<String> = Vec::new();
        let flags = [(bold, "1"), (italic, "3"), (underline, "4"), (reverse, "7"), (strike, "9")];
        codes.extend(flags.into_iter().filter(|(on, _)| *on).map(|(_, code)| code.to_owned()));
        let paint = self.paint(role);
        codes.extend(paint.extra.map(str::to_owned));
        codes.extend(paint.front.map(|colour| format!("38;5;{colour}")));
        codes.extend(paint.back.map(|colour| format!("48;5;{colour}")));
        if codes.is_empty() { String::new() } else { format!("\u{1b}[{}m", codes.join(";")) }
    }

    fn paint(self, role: Role) -> Paint {
        match self {
            Self::Dark => dark(role),
            Self::Light => light(role),
            Self::Safe => safe(role),
            Self::Plain => plain(role),
        }
    }
}

/// A colour of the text, one behind it, and what marks it where colours do not.
#[derive(Default)]
struct Paint {
    front: Option<u8>,
    back: Option<u8>,
    extra: Option<&'static str>,
}

fn front(colour: u8) -> Paint {
    Paint { front: Some(colour), ..Paint::default() }
}

fn on(front: u8, back: u8) -> Paint {
    Paint { front: Some(front), back: Some(back), extra: None }
}

fn dark(role: Role) -> Paint {
    match role {
        Role::Plain => Paint::default(),
        Role::Faint | Role::Number | Role::Quote => front(245),
        Role::Accent | Role::Heading => front(80),
        Role::User => on(255, 237),
        Role::Link => front(75),
        Role::Code => front(180),
        Role::Good => front(114),
        Role::Warning => front(221),
        Role::Bad => front(203),
        Role::Added => on(157, 22),
        Role::Removed => on(217, 52),
        Role::AddedWord => on(231, 28),
        Role::RemovedWord => on(231, 88),
        Role::Syntax(syntax) => front(match syntax {
            Syntax::Keyword => 176,
            Syntax::Type => 80,
            Syntax::Function => 75,
            Syntax::String => 150,
            Syntax::Constant => 216,
            Syntax::Comment => 245,
            Syntax::Name => 252,
            Syntax::Mark => 250,
        }),
    }
}

fn light(role: Role) -> Paint {
    match role {
        Role::Plain => Paint::default(),
        Role::Faint | Role::Number | Role::Quote => front(242),
        Role::Accent | Role::Heading => front(25),
        Role::User => on(232, 254),
        Role::Link => front(26),
        Role::Code => front(94),
        Role::Good => front(28),
        Role::Warning => front(130),
        Role::Bad => front(160),
        Role::Added => on(22, 194),
        Role::Removed => on(88, 224),
        Role::AddedWord => on(22, 157),
        Role::RemovedWord => on(88, 217),
        Role::Syntax(syntax) => front(match syntax {
            Syntax::Keyword => 90,
            Syntax::Type => 30,
            Syntax::Function => 26,
            Syntax::String => 64,
            Syntax::Constant => 130,
            Syntax::Comment => 242,
            Syntax::Name => 236,
            Syntax::Mark => 238,
        }),
    }
}

/// Blue (33) and orange (208) differ in brightness and hue for every common kind of colour vision.
fn safe(role: Role) -> Paint {
    match role {
        Role::Plain => Paint::default(),
        Role::Faint | Role::Number | Role::Quote => front(244),
        Role::Accent | Role::Heading | Role::Good | Role::Added | Role::Link => front(33),
        Role::User => Paint { extra: Some("1"), ..Paint::default() },
        Role::Code => Paint { extra: Some("1"), ..Paint::default() },
        Role::Warning | Role::Bad | Role::Removed => front(208),
        Role::AddedWord => Paint { front: Some(33), back: None, extra: Some("1;4") },
        Role::RemovedWord => Paint { front: Some(208), back: None, extra: Some("1;4") },
        Role::Syntax(syntax) => match syntax {
            Syntax::Keyword => Paint { extra: Some("1"), ..Paint::default() },
            Syntax::Comment => front(244),
            Syntax::String | Syntax::Constant => front(33),
            Syntax::Type | Syntax::Function | Syntax::Name | Syntax::Mark => Paint::default(),
        },
    }
}

fn plain(role: Role) -> Paint {
    let extra = match role {
        Role::Accent | Role::Heading | Role::User | Role::Warning | Role::Bad => Some("1"),
        Role::AddedWord | Role::RemovedWord | Role::Link => Some("4"),
        // Dim is no colour, and tells what is suggested from what is typed.
        Role::Faint | Role::Quote | Role::Number => Some("2"),
        Role::Plain | Role::Code | Role::Good | Role::Added | Role::Removed | Role::Syntax(_) => None,
    };
    Paint { extra, ..Paint::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_sequences() {
        let cases = [
            (Theme::Dark, Look::of(Role::Plain), ""),
            (Theme::Dark, Look::of(Role::Plain).bold(), "\u{1b}[1m"),
            (Theme::Dark, Look::of(Role::Added), "\u{1b}[38;5;157;48;5;22m"),
            (Theme::Plain, Look::of(Role::Added), ""),
            (Theme::Plain, Look::of(Role::Faint), "\u{1b}[2m"),
            (Theme::Plain, Look::of(Role::AddedWord), "\u{1b}[4m"),
            (Theme::Safe, Look::of(Role::RemovedWord), "\u{1b}[1;4;38;5;208m"),
        ];
        for (theme, look, sequence) in cases {
            assert_eq!(theme.sgr(look), sequence);
        }
    }

    #[test]
    fn themes_are_found_by_name() {
        for theme in Theme::ALL {
            assert_eq!(Theme::named(theme.name()), Some(*theme));
        }
    }
}
