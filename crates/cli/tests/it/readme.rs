//! What the README shows is what the binary says.

use std::fs;
use std::path::Path;

use crate::home::Home;

#[test]
fn the_route_that_the_readme_explains() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let file = |name: &str| root.join("examples").join(name).to_str().unwrap().to_owned();
    let (config, request) = (file("config.toml"), file("claude-code-request.json"));
    let home = Home::new().set("DASHSCOPE_API_KEY", "a").set("MODELSCOPE_API_KEY", "b");
    let said = home.said(&["--config", &config, "route", "explain", "--request", &request], "");
    assert!(readme.contains(&format!("{said}```")), "README.md does not show this:\n{said}");
}
