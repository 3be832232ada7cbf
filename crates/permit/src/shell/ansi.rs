use super::text::{Read, Reader};

/// Reads the text of a `$'…'` after its first quote, escapes replaced.
pub(super) fn read(reader: &mut Reader<'_, '_>) -> Read<String> {
    let start = reader.at;
    let mut text = String::new();
    loop {
        match reader.take() {
            Some('\'') => return Ok(text),
            Some('\\') => escape(reader, &mut text)?,
            Some(c) => {
                if c == '\n' {
                    reader.inner_newline()?;
                }
                text.push(c);
            }
            None => return Err(reader.unclear_at("an unfinished quote", start)),
        }
    }
}

/// Steps over a text in single quotes, its first quote taken.
pub(super) fn skip_to_quote(reader: &mut Reader<'_, '_>) -> Read<()> {
    let start = reader.at;
    loop {
        match reader.take() {
            Some('\'') => return Ok(()),
            Some('\n') => reader.inner_newline()?,
            Some(_) => {}
            None => return Err(reader.unclear_at("an unfinished quote", start)),
        }
    }
}

fn escape(reader: &mut Reader<'_, '_>, text: &mut String) -> Read<()> {
    let start = reader.at;
    let Some(c) = reader.take() else { return Err(reader.unclear_at("an unfinished quote", start)) };
    let number = match c {
        'x' => digits(reader, 16, 2),
        'u' => digits(reader, 16, 4),
        'U' => digits(reader, 16, 8),
        '0'..='7' => {
            reader.at = start;
            digits(reader, 8, 3)
        }
        _ => {
            match simple(c) {
                Some(c) => text.push(c),
                // Control characters are not worth knowing.
                None if c == 'c' || c == '\n' => {
                    return Err(reader.unclear_at("an escape of a control character", start));
                }
                None => text.extend(['\\', c]),
            }
            return Ok(());
        }
    };
    // A number over 127 is a byte, and alone no character; zero would end the text for the shell.
    let bytes = matches!(c, 'x' | '0'..='7');
    let known = number.filter(|number| *number != 0 && (!bytes || *number < 128)).and_then(char::from_u32);
    let Some(known) = known else {
        return Err(reader.unclear_at("an escape of an unknown character", start));
    };
    text.push(known);
    Ok(())
}

fn simple(c: char) -> Option<char> {
    Some(match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' | 'E' => '\u{1b}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '?' => c,
        _ => return None,
    })
}

fn digits(reader: &mut Reader<'_, '_>, radix: u32, most: usize) -> Option<u32> {
    let text: String = reader.rest().chars().take(most).take_while(|c| c.is_digit(radix)).collect();
    reader.at += text.len();
    u32::from_str_radix(&text, radix).ok()
}
