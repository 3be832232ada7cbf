//! Images of the clipboard and of files that are pasted.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use rail_config::Env;
use rail_model::{Part, PartBody};
use rail_sandbox::{Groups, Launch};
use rail_tui::News;

use crate::agent::slash;
use crate::permission::workspace;

/// How long whoever has the clipboard may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the systems have for it; the first that is there and has an image.
const PROGRAMS: &str = r#"
if [ -n "$WAYLAND_DISPLAY" ] && command -v wl-paste >/dev/null; then wl-paste --no-newline --type image/png > "$0" && exit 0; fi
if [ -n "$DISPLAY" ] && command -v xclip >/dev/null; then xclip -selection clipboard -target image/png -out > "$0" && exit 0; fi
if command -v pngpaste >/dev/null; then pngpaste "$0" && exit 0; fi
command -v wl-paste >/dev/null || command -v xclip >/dev/null || command -v pngpaste >/dev/null || exit 7
exit 1
"#;

/// The image in the clipboard.
pub(super) async fn image(env: &Env) -> News {
    let Ok(cwd) = workspace() else { return News::Failed("the working folder is gone".to_owned()) };
    let variables = env.all().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let launch = Launch {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), PROGRAMS.into()],
        env: variables.collect(),
        cwd,
        ..Launch::default()
    };
    let groups = Groups::new();
    let process = match groups.start(launch) {
        Ok(process) => process,
        Err(error) => return News::Failed(error.to_string()),
    };
    let Ok(ended) = tokio::time::timeout(PATIENCE, process.wait()).await else {
        return News::Failed("the clipboard did not answer".to_owned());
    };
    match ended.exit {
        rail_sandbox::Exit::Code(7) => News::Failed(
            "there is no program to read the clipboard: install `wl-clipboard` (Wayland), `xclip` (X11) or `pngpaste` (macOS)".to_owned(),
        ),
        exit if !exit.success() || ended.report.is_empty() => News::Failed("there is no image in the clipboard".to_owned()),
        _ => attached(slash::image_of(&ended.report, Some("clipboard.png".to_owned()))),
    }
}

/// The image of a file whose path was pasted; what is no such file is text.
pub(super) fn file(pasted: &str, env: &Env) -> News {
    let path = pasted.trim().trim_matches(['\'', '"']).replace("\\ ", " ");
    let path = path.strip_prefix("file://").unwrap_or(&path);
    let path = match (path.strip_prefix("~/"), env.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    };
    if !path.is_file() {
        return News::Text(pasted.to_owned());
    }
    match slash::image(&path) {
        Ok(part) => attached(Ok(part)),
        Err(_) => News::Text(pasted.to_owned()),
    }
}

fn attached(part: anyhow::Result<Part>) -> News {
    match part {
        Ok(Part { body: PartBody::Media(media), .. }) => News::Image(media),
        Ok(_) => News::Failed("that is no image".to_owned()),
        Err(error) => News::Failed(format!("the image can't be used: {error:#}")),
    }
}
