//! Tests of reading PDFs, on files written by other programs.

#[cfg(test)]
mod damaged;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod render;
#[cfg(test)]
mod text;

#[cfg(test)]
fn pdfs() -> Option<rail_testkit::Pdfs> {
    rail_testkit::pdfs(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")))
}
