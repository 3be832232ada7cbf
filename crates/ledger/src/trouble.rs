/// Why a database did not do what it was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    /// It can't be reached, or is not able now; later it may be.
    Away(String),
    /// It does not take what it was given, and never will.
    Rejected(String),
    /// A live key has this name already.
    Taken,
}

impl Trouble {
    /// What happened, in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Away(problem) | Self::Rejected(problem) => problem,
            Self::Taken => "a key of this name is there already".to_owned(),
        }
    }
}
