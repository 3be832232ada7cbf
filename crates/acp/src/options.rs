//! What can be chosen for a session: the permission mode and the model.

use agent_client_protocol_schema::v1::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode,
    SessionModeState,
};
use rail_proto::Mode;

use crate::port::Facts;

/// The option for the mode.
pub(crate) const MODE: &str = "mode";
/// The option for the model.
pub(crate) const MODEL: &str = "model";
/// The model that routing decides on.
const AUTO: &str = "auto";

const MODES: [Mode; 4] = [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::Bypass];

/// The word for a mode.
pub(crate) fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "accept-edits",
        Mode::Plan => "plan",
        Mode::Bypass => "bypass",
    }
}

fn said(mode: Mode) -> (&'static str, &'static str) {
    match mode {
        Mode::Default => ("Default", "Asks before it writes, runs or uses the network"),
        Mode::AcceptEdits => ("Accept edits", "Edits files of the workspace without asking"),
        Mode::Plan => ("Plan", "Only reads, until you approve a plan"),
        Mode::Bypass => ("Bypass", "Asks about nothing; hard denials still hold"),
    }
}

/// The modes that can be chosen.
fn offered(facts: &Facts) -> impl Iterator<Item = Mode> {
    let bypass = facts.bypass_refused.is_none() || facts.mode == Mode::Bypass;
    MODES.into_iter().filter(move |mode| *mode != Mode::Bypass || bypass)
}

/// The mode of a word, if it may be chosen.
///
/// # Errors
/// Why it may not.
pub(crate) fn mode(id: &str, facts: &Facts) -> Result<Mode, String> {
    let Some(mode) = MODES.into_iter().find(|mode| word(*mode) == id) else {
        return Err(format!("there is no mode `{id}`"));
    };
    match &facts.bypass_refused {
        Some(why) if mode == Mode::Bypass => Err(why.clone()),
        Some(_) | None => Ok(mode),
    }
}

/// The model of a value, if there is one.
///
/// # Errors
/// That there is none.
pub(crate) fn model(value: &str, facts: &Facts) -> Result<String, String> {
    if value == AUTO {
        return Ok(String::new());
    }
    let known = facts.models.iter().any(|model| model == value) || facts.model == value;
    if known { Ok(value.to_owned()) } else { Err(format!("there is no model `{value}` here")) }
}

/// The modes, and the one in force.
pub(crate) fn modes(facts: &Facts) -> SessionModeState {
    let mode = |mode| {
        let (name, says) = said(mode);
        SessionMode::new(word(mode), name).description(says.to_owned())
    };
    SessionModeState::new(word(facts.mode), offered(facts).map(mode).collect())
}

/// All options with their values.
pub(crate) fn all(facts: &Facts) -> Vec<SessionConfigOption> {
    let mode = |mode| {
        let (name, says) = said(mode);
        SessionConfigSelectOption::new(word(mode), name).description(says.to_owned())
    };
    let modes: Vec<SessionConfigSelectOption> = offered(facts).map(mode).collect();
    let mode = SessionConfigOption::select(MODE, "Mode", word(facts.mode), modes)
        .category(SessionConfigOptionCategory::Mode);
    let routed = SessionConfigSelectOption::new(AUTO, "Auto")
        .description("The model that suits each request, as the configuration routes it".to_owned());
    let own = (!facts.model.is_empty() && !facts.models.contains(&facts.model)).then(|| facts.model.clone());
    let named = own.iter().chain(&facts.models).filter(|model| !model.is_empty());
    let models: Vec<SessionConfigSelectOption> = std::iter::once(routed)
        .chain(named.map(|model| SessionConfigSelectOption::new(model.clone(), model.clone())))
        .collect();
    let current = if facts.model.is_empty() { AUTO.to_owned() } else { facts.model.clone() };
    let model = SessionConfigOption::select(MODEL, "Model", current, models)
        .category(SessionConfigOptionCategory::Model);
    vec![mode, model]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bypass_is_offered_only_where_it_is_allowed() {
        let free = Facts { models: vec!["one,big".to_owned()], ..Facts::default() };
        let held = Facts { bypass_refused: Some("as root".to_owned()), ..free.clone() };
        let ids = |facts: &Facts| -> Vec<String> {
            modes(facts).available_modes.iter().map(|mode| mode.id.to_string()).collect()
        };
        assert_eq!(ids(&free), ["default", "accept-edits", "plan", "bypass"]);
        assert_eq!(ids(&held), ["default", "accept-edits", "plan"]);
        assert_eq!(mode("bypass", &held), Err("as root".to_owned()));
        assert_eq!(mode("bypass", &free), Ok(Mode::Bypass));
        assert!(mode("yolo", &free).is_err());
        assert_eq!(model("auto", &free), Ok(String::new()));
        assert_eq!(model("one,big", &free), Ok("one,big".to_owned()));
        assert!(model("two", &free).is_err());
    }
}
