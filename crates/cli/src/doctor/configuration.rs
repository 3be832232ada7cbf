//! Our own files: which there are, whether they are right, whether the project's count.

use rail_config::{FileFound, Problem, ProjectTrust, Trusted, trust_answer, trust_root, trust_wishes};

use super::Cx;
use super::check::{Check, State};

pub(super) fn files(cx: &Cx) -> Check {
    let found = |found: FileFound| match found {
        FileFound::Read => true,
        // What is wrong with it is told as a problem.
        FileFound::Unreadable => true,
        FileFound::Missing => false,
    };
    let files = cx.checked.files.iter().filter(|file| found(file.found));
    let read: Vec<String> = files.map(|file| format!("{} ({})", cx.shown(&file.path), file.layer)).collect();
    match read.as_slice() {
        [] => Check::skipped("files", "none: what is found in the environment and on this machine counts")
            .with_fix("`rail init` writes one"),
        read => Check::ok("files", read.join("\n")),
    }
}

pub(super) fn judged(cx: &Cx) -> Vec<Check> {
    let check = |state: State| {
        move |problem: &Problem| Check::of_message("settings", state, &cx.with_tilde(&problem.to_string()))
    };
    let mut checks: Vec<Check> = cx.checked.problems.0.iter().map(check(State::Problem)).collect();
    let warnings = cx.checked.warnings.iter().filter(|warning| !told_elsewhere(cx, warning));
    checks.extend(warnings.map(check(State::Warning)));
    if let (Some(loaded), true) = (&cx.checked.loaded, checks.is_empty()) {
        let plural =
            |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let providers = plural(loaded.routing.providers.len(), "provider");
        let chains = plural(loaded.routing.chains.len(), "chain");
        checks.push(Check::ok("settings", format!("valid: {providers}, {chains}")));
    }
    checks
}

/// Whether another check says the same: of the home, of a provider, of trust.
fn told_elsewhere(cx: &Cx, warning: &Problem) -> bool {
    let Some(loaded) = &cx.checked.loaded else { return false };
    let unusable = |why: &String| warning.text.contains(why.as_str());
    (loaded.routing.providers.is_empty() && warning.key == "router")
        || (loaded.places.is_none() && warning.text.starts_with("there is no home folder"))
        || loaded.routing.providers.values().any(|provider| provider.unusable.as_ref().is_some_and(unusable))
        || (warning.origin.layer().is_project() && warning.text.starts_with("ignored, since"))
}

pub(super) fn trust(cx: &Cx) -> Check {
    let Some(root) = trust_root(&cx.inputs.env, &cx.inputs.working_folder) else {
        return Check::skipped("trust", "this folder brings nothing of its own that needs it");
    };
    let shown = cx.shown(&root);
    if cx.checked.trusted == Trusted::Yes {
        return Check::ok("trust", format!("you trust {shown}: what its files say counts in full"));
    }
    let wishes = trust_wishes(&cx.inputs);
    if wishes.is_empty() {
        return Check::skipped("trust", format!("nothing in {shown} needs it"));
    }
    let places = cx.checked.places.as_ref();
    let answer = places.and_then(|places| trust_answer(places, &root).ok()).flatten();
    let declined = answer == Some(Trusted::No) || cx.inputs.trust == ProjectTrust::Untrusted;
    let mut says = format!("{shown} is not trusted, so that this is ignored:");
    for wish in &wishes {
        let key = if wish.key.is_empty() { String::new() } else { format!("{}: ", wish.key) };
        says += &format!("\n{}: {key}it may {}", cx.with_tilde(&wish.origin.to_string()), wish.may);
    }
    // Who said no knows it.
    let state = if declined { State::Skipped } else { State::Warning };
    Check::new("trust", state, says).with_fix("read these files; `rail config trust` trusts the folder")
}

impl Cx {
    /// A text in which the home is `~`.
    pub(super) fn with_tilde(&self, text: &str) -> String {
        let home = self.inputs.env.home().filter(|home| home.parent().is_some());
        match home.and_then(|home| home.to_str()) {
            Some(home) => text.replace(&format!("{}/", home.trim_end_matches('/')), "~/"),
            None => text.to_owned(),
        }
    }
}
