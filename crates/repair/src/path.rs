use std::fmt;

/// A place in a call's arguments, written down only when there is something to say about it.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The arguments as a whole, by the name that paths begin with; it may be empty.
    Root(&'a str),
    /// A member of an object.
    Member(&'a Path<'a>, &'a str),
    /// An element of a list.
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Root(""))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(name) => f.write_str(name),
            Self::Member(parent, name) if parent.is_empty() => f.write_str(name),
            Self::Member(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}
