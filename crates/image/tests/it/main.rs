//! Tests of measuring and shrinking, on images made here.

#[cfg(test)]
mod measure;
#[cfg(test)]
mod never_panics;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod shrink;
