//! The readers of those whom we tell, as judges: the Prometheus client and the OTLP messages for Python, installed once.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rail_testkit::install::{Packages, Wanted, installed, program, python_in};
use serde_json::Value;

/// The installed readers.
pub(crate) struct Judge(PathBuf);

/// The readers, or None when they can't be had here; in CI that is a failure.
pub(crate) fn judge() -> Option<Judge> {
    let test = std::env::current_exe().unwrap();
    // target/debug/deps/test: below the target folder, as all that tests install.
    let target = test.ancestors().nth(3).unwrap();
    let packages = Packages::Python(include_str!("../../tests/judges/requirements.txt"));
    let title = "judges of metrics and traces";
    let wanted = Wanted { title, place: ("judges", "telemetry"), packages, crate_name: "rail-gateway" };
    installed(&wanted, &target.join("tmp")).map(|folder| Judge(python_in(&folder)))
}

impl Judge {
    /// What the Prometheus client reads in this text.
    pub(crate) fn metrics(&self, text: &str) -> Value {
        self.read("metrics", text.as_bytes())
    }

    /// What a collector reads in this body.
    pub(crate) fn traces(&self, body: &[u8]) -> Value {
        self.read("traces", body)
    }

    fn read(&self, what: &str, bytes: &[u8]) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges/judge.py");
        let mut child = program(&self.0);
        let child = child.arg("-B").arg(script).arg(what).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}
