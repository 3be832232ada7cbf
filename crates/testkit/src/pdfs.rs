//! PDFs by programs that share nothing with the reader, each with the text that was put into it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::install::{Packages, Wanted, installed, program, python_in};

const LIST: &str = include_str!("../tests/judges/pdfs/requirements.txt");
const SCRIPT: &str = include_str!("../tests/judges/pdfs/make.py");

/// A folder of PDFs.
#[derive(Clone, Debug)]
pub struct Pdfs(PathBuf);

/// The PDFs, or None when they can't be made here, which is told; in CI that is a failure.
///
/// The programs that write them are kept beside this scratch folder of the tests, `CARGO_TARGET_TMPDIR`; the PDFs are made once by
/// each crate that needs them.
pub fn pdfs(scratch: &Path) -> Option<Pdfs> {
    let wanted = Wanted {
        title: "writers of PDFs",
        place: ("judges", "pdfs"),
        packages: Packages::Python(LIST),
        crate_name: "rail-pdf",
    };
    let folder = installed(&wanted, scratch)?;
    Some(Pdfs(made(&folder).unwrap_or_else(|why| panic!("the PDFs can't be made: {why}"))))
}

/// Makes the PDFs, unless they are there: beside the programs, by the script's own text.
fn made(programs: &Path) -> std::io::Result<PathBuf> {
    let lock = fs::File::create(programs.join("made.lock"))?;
    lock.lock()?;
    let (made, script) = (programs.join("made"), programs.join("make.py"));
    if made.join("ready").exists() && fs::read_to_string(&script).is_ok_and(|text| text == SCRIPT) {
        return Ok(made);
    }
    if made.exists() {
        fs::remove_dir_all(&made)?;
    }
    fs::create_dir_all(&made)?;
    fs::write(&script, SCRIPT)?;
    let status = program(python_in(programs)).arg("-B").arg(&script).arg(&made).status()?;
    if !status.success() {
        return Err(std::io::Error::other("its message is above"));
    }
    fs::write(made.join("ready"), "")?;
    Ok(made)
}

impl Pdfs {
    /// Where a PDF is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.pdf"))
    }

    /// The bytes of a PDF.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// What was put into each page of a PDF.
    pub fn said(&self, name: &str) -> Vec<String> {
        let path = self.0.join(format!("{name}.txt"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.split('\u{c}').map(str::to_owned).collect()
    }
}
