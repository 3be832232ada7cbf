//! The user's own editor.

use std::ffi::OsString;
use std::io::Write as _;

use rail_config::Env;
use rail_tui::EditText;

use crate::run::child::{self, Signals};
use crate::run::launch::Launch;

/// Has a text changed in what `VISUAL` or `EDITOR` names, by the shell, since arguments may stand in it.
pub(super) fn edit(env: Env) -> EditText {
    Box::new(move |text| {
        let program = env.get("VISUAL").or(env.get("EDITOR")).unwrap_or("vi").to_owned();
        Box::pin(async move { edited(&program, &text).await.map_err(|why| format!("{program}: {why}")) })
    })
}

async fn edited(program: &str, text: &str) -> Result<String, String> {
    let say = |error: std::io::Error| error.to_string();
    let mut file = tempfile::Builder::new().prefix("rail-").suffix(".md").tempfile().map_err(say)?;
    file.write_all(text.as_bytes()).map_err(say)?;
    let args: Vec<OsString> =
        vec!["-c".into(), format!("{program} \"$0\"").into(), file.path().as_os_str().to_owned()];
    let mut signals = Signals::listen().map_err(say)?;
    let mut child = child::start("/bin/sh".as_ref(), &Launch::default(), &args).map_err(say)?;
    let status = signals.wait(&mut child).await.map_err(say)?;
    if !status.success() {
        return Err(format!("it ended with {status}; the text is as it was"));
    }
    std::fs::read_to_string(file.path()).map_err(say)
}
