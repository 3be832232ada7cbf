//! Where an image is, as a call names it.

use std::path::PathBuf;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use rail_web::Place;

use crate::words::size;

/// Where an image is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Source<'a> {
    /// A path as it was written.
    Path(String),
    /// The absolute path of a `file:` address.
    File(PathBuf),
    /// On the network.
    Remote(Place),
    /// In the address itself.
    Data(&'a str),
}

impl<'a> Source<'a> {
    /// Reads what a call names.
    ///
    /// # Errors
    /// It is an address that means no image, and what to name instead.
    pub(crate) fn read(written: &'a str) -> Result<Self, String> {
        let written = written.trim();
        let Some((scheme, rest)) = scheme(written) else { return Ok(Self::Path(written.to_owned())) };
        match scheme.to_ascii_lowercase().as_str() {
            "data" => Ok(Self::Data(rest)),
            "file" => file(rest).map(Self::File),
            "http" | "https" => match Place::parse(written) {
                Ok(place) => Ok(Self::Remote(place)),
                Err(why) => Err(why.to_string()),
            },
            // A name may hold a colon; only `//` behind it makes it an address.
            _ if !rest.starts_with("//") => Ok(Self::Path(written.to_owned())),
            other => Err(format!(
                "`{other}:` addresses are not read; name a path, or a `file:`, `http:`, `https:` or `data:` address"
            )),
        }
    }
}

/// What stands before and behind the `:` of an address.
fn scheme(written: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = written.split_once(':')?;
    let letters = scheme.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.'));
    (letters && scheme.starts_with(|c: char| c.is_ascii_alphabetic())).then_some((scheme, rest))
}

/// The path of a `file:` address, which must be on this machine.
fn file(rest: &str) -> Result<PathBuf, String> {
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(authority) => {
            let (host, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(format!(
                    "`file:` addresses of another machine (`{host}`) are not read; copy the file here"
                ));
            }
            path
        }
    };
    let bytes = unescaped(path)
        .ok_or("a `%` in the `file:` address has no two digits behind it; write it as `%25`")?;
    if !bytes.starts_with(b"/") || bytes.contains(&0) {
        return Err("the `file:` address holds no absolute path; write it as `file:///path`".to_owned());
    }
    Ok(path_of(bytes))
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).trim_start_matches('/').to_owned())
}

/// The bytes that a text with `%20` and the like stands for.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        let digit = |at: usize| digits.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        out.push(u8::try_from(digit(0)? * 16 + digit(1)?).ok()?);
        rest = behind;
    }
    Some(out)
}

/// The bytes of a `data:` address, from behind its `:`, of which there may be so many. What they are, they tell themselves: the type that
/// the address claims counts for nothing.
///
/// # Errors
/// It is not in base64, or too long.
pub(crate) fn data(rest: &str, at_most: u64) -> Result<Vec<u8>, String> {
    let (head, data) = rest.split_once(',').ok_or("the `data:` address has no `,` before its data")?;
    if !head.split(';').skip(1).any(|word| word.trim().eq_ignore_ascii_case("base64")) {
        return Err("the `data:` address is not in base64; write it as `data:image/png;base64,…`".to_owned());
    }
    let too_long = || {
        format!(
            "the image in the `data:` address has more than the {} that are read; raise ‹max_bytes_mb›",
            size(at_most)
        )
    };
    // Three bytes are four letters: what is longer is not even decoded.
    if data.len() as u64 / 4 > at_most.div_ceil(3).saturating_add(1) {
        return Err(too_long());
    }
    let letters: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let letters = String::from_utf8(
        unescaped(&letters).ok_or("a `%` in the `data:` address has no two digits behind it")?,
    )
    .map_err(|_| "the `data:` address holds letters that base64 has not".to_owned())?;
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let letters = letters.replace('-', "+").replace('_', "/");
    let bytes = GeneralPurpose::new(&STANDARD, lenient)
        .decode(&letters)
        .map_err(|error| format!("what stands in the `data:` address is no base64: {error}"))?;
    if bytes.len() as u64 > at_most { Err(too_long()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_of_a_source() {
        let shown = |written: &str| match Source::read(written) {
            Ok(Source::Path(path)) => format!("path {path}"),
            Ok(Source::File(path)) => format!("file {}", path.display()),
            Ok(Source::Remote(place)) => format!("host {}", place.host()),
            Ok(Source::Data(rest)) => format!("data {rest}"),
            Err(why) => format!("error {why}"),
        };
        let elsewhere =
            "error `file:` addresses of another machine (`host`) are not read; copy the file here";
        let relative = "error the `file:` address holds no absolute path; write it as `file:///path`";
        for (written, expected) in [
            (" a.png ", "path a.png"),
            ("~/a.png", "path ~/a.png"),
            ("/x/a b.png", "path /x/a b.png"),
            ("12:30.png", "path 12:30.png"),
            ("shot: one.png", "path shot: one.png"),
            ("file:///x/a%20b%C3%A4.png", "file /x/a bä.png"),
            ("FILE://localhost/x/a.png?v=1#top", "file /x/a.png"),
            ("file:/x/a.png", "file /x/a.png"),
            ("file://host/x.png", elsewhere),
            (
                "file://x.png",
                "error `file:` addresses of another machine (`x.png`) are not read; copy the file here",
            ),
            ("file:x.png", relative),
            ("file:///a%00b", relative),
            (
                "file:///a%2",
                "error a `%` in the `file:` address has no two digits behind it; write it as `%25`",
            ),
            ("https://Example.COM:8443/a.png", "host example.com"),
            ("http://h.example./a", "host h.example"),
            ("http://[::1]:80/a", "host ::1"),
            ("http://good.example\\@evil.example/", "host good.example"),
            ("http://0x7f.1/a", "host 127.0.0.1"),
            ("data:image/png;base64,AAAA", "data image/png;base64,AAAA"),
            (
                "ftp://h/a",
                "error `ftp:` addresses are not read; name a path, or a `file:`, `http:`, `https:` or `data:` address",
            ),
        ] {
            assert_eq!(shown(written), expected, "{written}");
        }
    }

    #[test]
    fn data_addresses() {
        let read = |rest: &str| match data(rest, 6) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(why) => format!("error {why}"),
        };
        let too_long = "error the image in the `data:` address has more than the 6 bytes that are read; raise ‹max_bytes_mb›";
        for (rest, expected) in [
            ("image/png;base64,aGVsbG8=", "hello"),
            ("image/png;base64,aGVsbG8", "hello"),
            ("image/png;charset=x; BASE64,aGVs\nbG8%3D", "hello"),
            (";base64,", ""),
            ("image/png;base64,aGVsbG8h", "hello!"),
            ("image/png;base64,aGVsbG8hIQ==", too_long),
            (&format!(";base64,{}", "A".repeat(1000)), too_long),
            (
                "image/png,hello",
                "error the `data:` address is not in base64; write it as `data:image/png;base64,…`",
            ),
            ("image/png;base64", "error the `data:` address has no `,` before its data"),
            (
                ";base64,a?b=",
                "error what stands in the `data:` address is no base64: Invalid symbol 63, offset 1.",
            ),
        ] {
            assert_eq!(read(rest), expected, "{rest}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read_without_harm(written in "\\PC{0,60}", at_most in 0_u64..50) {
            if let Ok(Source::File(path)) = Source::read(&written) {
                prop_assert!(path.is_absolute());
            }
            if let Ok(bytes) = data(&written, at_most) {
                prop_assert!(bytes.len() as u64 <= at_most);
            }
        }

        #[test]
        fn what_was_encoded_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
            prop_assert_eq!(data(&format!("x;base64,{text}"), 64), Ok(bytes));
        }

        #[test]
        fn a_file_address_says_its_path(name in "[a-zA-Z0-9äö _.-]{1,12}") {
            let escaped: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let written = format!("file:///{escaped}");
            prop_assert_eq!(Source::read(&written), Ok(Source::File(PathBuf::from(format!("/{name}")))));
        }
    }
}
