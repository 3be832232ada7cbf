//! What keys mean in normal and visual mode: a count, a verb, and what it is done to.

use std::iter::Peekable;
use std::str::Chars;

use crate::input::kill::Side;

/// The largest count; what is done so often is bounded.
const MAX_COUNT: usize = 9_999;

/// Keys that mean something.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Command {
    pub(super) count: Option<usize>,
    pub(super) verb: Verb,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Verb {
    Move(Motion),
    Operate(Operator, Target),
    Insert(Place),
    Replace(char),
    ToggleCase,
    Join,
    Put(Side),
    Undo,
    Repeat,
    /// Visual mode, by characters or by lines.
    Select(Extent),
    SelectObject(Object),
    /// The other end of the selection.
    Swap,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Delete,
    Change,
    Yank,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Target {
    Motion(Motion),
    Lines,
    Object(Object),
    Selection,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    Characters,
    Lines,
}

/// Where typing begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Here,
    Behind,
    LineText,
    LineEnd,
    LineBelow,
    LineAbove,
}

/// What a word is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Words {
    /// Letters and digits, or marks.
    Small,
    /// All between blanks.
    Big,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Motion {
    Left,
    Right,
    Up,
    Down,
    Word(Words),
    WordBack(Words),
    WordEnd(Words),
    LineStart,
    LineText,
    LineEnd,
    FirstLine,
    LastLine,
    Find(Find),
    FindAgain,
    FindBack,
}

/// A search for a character in a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Find {
    pub(super) what: char,
    /// On which side of the cursor.
    pub(super) side: Side,
    /// Whether the cursor stops short of it.
    pub(super) is_till: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Object {
    /// With what surrounds it.
    pub(super) is_around: bool,
    pub(super) kind: ObjectKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ObjectKind {
    Word(Words),
    Quoted(char),
    Pair(char, char),
}

/// Why keys are no command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// They are the beginning of one.
    More,
    /// They mean nothing.
    Nothing,
}

type Keys<'a> = Peekable<Chars<'a>>;

/// Reads keys of normal mode.
pub(super) fn normal(keys: &str) -> Result<Command, Stop> {
    let mut keys = keys.chars().peekable();
    let count = number(&mut keys);
    let (verb, inner) = match next(&mut keys)? {
        'd' => operate(Operator::Delete, 'd', &mut keys)?,
        'c' => operate(Operator::Change, 'c', &mut keys)?,
        'y' => operate(Operator::Yank, 'y', &mut keys)?,
        c => (simple(c, &mut keys)?, None),
    };
    let count = match (count, inner) {
        (Some(outer), Some(inner)) => Some((outer * inner).min(MAX_COUNT)),
        (outer, inner) => outer.or(inner),
    };
    Ok(Command { count, verb })
}

/// Reads keys of visual mode.
pub(super) fn visual(keys: &str) -> Result<Command, Stop> {
    let mut keys = keys.chars().peekable();
    let count = number(&mut keys);
    let selected = |operator| Verb::Operate(operator, Target::Selection);
    let verb = match next(&mut keys)? {
        'd' | 'x' => selected(Operator::Delete),
        'c' | 's' => selected(Operator::Change),
        'y' => selected(Operator::Yank),
        'r' => Verb::Replace(next(&mut keys)?),
        '~' => Verb::ToggleCase,
        'J' => Verb::Join,
        'p' | 'P' => Verb::Put(Side::Behind),
        'v' => Verb::Select(Extent::Characters),
        'V' => Verb::Select(Extent::Lines),
        'o' => Verb::Swap,
        c @ ('i' | 'a') => Verb::SelectObject(object(c, &mut keys)?),
        c => Verb::Move(motion(c, &mut keys)?),
    };
    Ok(Command { count, verb })
}

fn operate(operator: Operator, own: char, keys: &mut Keys<'_>) -> Result<(Verb, Option<usize>), Stop> {
    let count = number(keys);
    let target = match next(keys)? {
        c if c == own => Target::Lines,
        c @ ('i' | 'a') => Target::Object(object(c, keys)?),
        c => Target::Motion(motion(c, keys)?),
    };
    Ok((Verb::Operate(operator, target), count))
}

/// What is no operator.
fn simple(c: char, keys: &mut Keys<'_>) -> Result<Verb, Stop> {
    let over = |operator, motion| Verb::Operate(operator, Target::Motion(motion));
    Ok(match c {
        'i' => Verb::Insert(Place::Here),
        'a' => Verb::Insert(Place::Behind),
        'I' => Verb::Insert(Place::LineText),
        'A' => Verb::Insert(Place::LineEnd),
        'o' => Verb::Insert(Place::LineBelow),
        'O' => Verb::Insert(Place::LineAbove),
        'x' => over(Operator::Delete, Motion::Right),
        'X' => over(Operator::Delete, Motion::Left),
        'D' => over(Operator::Delete, Motion::LineEnd),
        'C' => over(Operator::Change, Motion::LineEnd),
        's' => over(Operator::Change, Motion::Right),
        'S' => Verb::Operate(Operator::Change, Target::Lines),
        'Y' => Verb::Operate(Operator::Yank, Target::Lines),
        'r' => Verb::Replace(next(keys)?),
        '~' => Verb::ToggleCase,
        'J' => Verb::Join,
        'p' => Verb::Put(Side::Behind),
        'P' => Verb::Put(Side::Before),
        'u' => Verb::Undo,
        '.' => Verb::Repeat,
        'v' => Verb::Select(Extent::Characters),
        'V' => Verb::Select(Extent::Lines),
        c => Verb::Move(motion(c, keys)?),
    })
}

fn motion(c: char, keys: &mut Keys<'_>) -> Result<Motion, Stop> {
    Ok(match c {
        'h' => Motion::Left,
        'l' | ' ' => Motion::Right,
        'k' => Motion::Up,
        'j' => Motion::Down,
        'w' => Motion::Word(Words::Small),
        'W' => Motion::Word(Words::Big),
        'b' => Motion::WordBack(Words::Small),
        'B' => Motion::WordBack(Words::Big),
        'e' => Motion::WordEnd(Words::Small),
        'E' => Motion::WordEnd(Words::Big),
        '0' => Motion::LineStart,
        '^' => Motion::LineText,
        '$' => Motion::LineEnd,
        'G' => Motion::LastLine,
        'g' if next(keys)? == 'g' => Motion::FirstLine,
        'f' | 't' => Motion::Find(Find { what: next(keys)?, side: Side::Behind, is_till: c == 't' }),
        'F' | 'T' => Motion::Find(Find { what: next(keys)?, side: Side::Before, is_till: c == 'T' }),
        ';' => Motion::FindAgain,
        ',' => Motion::FindBack,
        _ => return Err(Stop::Nothing),
    })
}

fn object(c: char, keys: &mut Keys<'_>) -> Result<Object, Stop> {
    let kind = match next(keys)? {
        'w' => ObjectKind::Word(Words::Small),
        'W' => ObjectKind::Word(Words::Big),
        quote @ ('"' | '\'' | '`') => ObjectKind::Quoted(quote),
        '(' | ')' | 'b' => ObjectKind::Pair('(', ')'),
        '{' | '}' | 'B' => ObjectKind::Pair('{', '}'),
        '[' | ']' => ObjectKind::Pair('[', ']'),
        '<' | '>' => ObjectKind::Pair('<', '>'),
        _ => return Err(Stop::Nothing),
    };
    Ok(Object { is_around: c == 'a', kind })
}

fn next(keys: &mut Keys<'_>) -> Result<char, Stop> {
    keys.next().ok_or(Stop::More)
}

/// A count, which does not begin with a zero: that is a motion.
fn number(keys: &mut Keys<'_>) -> Option<usize> {
    keys.peek().filter(|c| **c != '0')?;
    let mut count = None;
    while let Some(digit) = keys.peek().and_then(|c| c.to_digit(10)) {
        count = Some((count.unwrap_or(0) * 10 + digit as usize).min(MAX_COUNT));
        keys.next();
    }
    count
}
