use rail_sandbox::{Network, Shape};

/// What programs say when the sandbox stopped them, without regard to case. They say the same when something else did.
const WRITING: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "device or resource busy",
    "ebusy",
    "access is denied",
    "errno 13",
    "errno 1]",
    "errno 30",
];

const NETWORK: &[&str] = &[
    "network is unreachable",
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "name or service not known",
    "nodename nor servname",
    "failed to lookup address",
    "unable to resolve",
    "unable to access 'http",
    "eai_again",
    "enotfound",
    "enetunreach",
    "address family not supported",
    "could not connect to server",
    "failed to connect to",
    "socket: ",
    "no address associated with hostname",
];

/// What a model is told of a command that failed in the sandbox and says what programs say when it stops them.
pub(crate) fn told(shape: &Shape, output: &str) -> Option<String> {
    let Shape::Confined { writable, kept, hidden, network } = shape else { return None };
    let output = output.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
    let offline = *network == Network::Off;
    let suspect = says(WRITING) || (offline && says(NETWORK));
    if !suspect {
        return None;
    }
    let places: Vec<String> = writable.iter().map(|place| format!("`{}`", place.display())).collect();
    let places =
        if places.is_empty() { "nowhere".to_owned() } else { format!("only in {}", places.join(", ")) };
    let kept = if kept.is_empty() { "" } else { " (but not what git or rail run or trust there)" };
    let hidden = if hidden.is_empty() { "" } else { ", could not read secrets" };
    let network = if offline { " and had no network" } else { "" };
    Some(format!(
        "it ran in a sandbox: it could write {places}{kept}{hidden}{network}; if that is what stopped it, call again with `dangerouslyDisableSandbox: true`, which asks the user"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sandbox_stopped_is_told() {
        let held = Shape::Confined {
            writable: vec!["/srv".into(), "/tmp".into()],
            kept: Vec::new(),
            hidden: Vec::new(),
            network: Network::Off,
        };
        let online = Shape::Confined {
            writable: Vec::new(),
            kept: Vec::new(),
            hidden: vec!["/s".into()],
            network: Network::On,
        };
        let with_git = Shape::Confined {
            writable: vec!["/srv".into()],
            kept: vec!["/srv/.git/config".into()],
            hidden: Vec::new(),
            network: Network::On,
        };
        let said_git = "it ran in a sandbox: it could write only in `/srv` (but not what git or rail run or trust there); if that is what stopped it, call again with `dangerouslyDisableSandbox: true`, which asks the user";
        let said = "it ran in a sandbox: it could write only in `/srv`, `/tmp` and had no network; if that is what stopped it, call again with `dangerouslyDisableSandbox: true`, which asks the user";
        let said_online = "it ran in a sandbox: it could write nowhere, could not read secrets; if that is what stopped it, call again with `dangerouslyDisableSandbox: true`, which asks the user";
        for (shape, output, expected) in [
            (&held, "touch: cannot touch '/x': Permission denied", Some(said)),
            (&held, "curl: (6) Could not resolve host: example.com", Some(said)),
            (&held, "OSError: [Errno 30] Read-only file system", Some(said)),
            (&held, "error: no such file", None),
            (&online, "curl: (6) Could not resolve host: example.com", None),
            (&online, "EACCES: permission denied, open '/etc/x'", Some(said_online)),
            (&with_git, "could not write config file .git/config: Device or resource busy", Some(said_git)),
            (&Shape::Free, "Permission denied", None),
        ] {
            assert_eq!(told(shape, output).as_deref(), expected, "{output}");
        }
    }
}
