//! Questions to the user: whether a call may be done, and what the model wants to know.

use std::path::Path;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, PermissionOption, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use rail_proto::{
    About, Answer, Choice, Choices, Chosen, Doing, Lasting, Leave, PermissionAsk, Pick, Picked,
};

use crate::calls;
use crate::client::{Client, Unanswered};
use crate::form;

const ONCE: &str = "allow-once";
const ALWAYS: &str = "allow-always";
const REJECT: &str = "reject-once";

/// The question whether a call may be done.
pub(crate) fn permission(
    session: &str,
    ask: &PermissionAsk,
    cwd: &Path,
    current: &dyn Fn(&Path) -> Option<String>,
) -> RequestPermissionRequest {
    let title = calls::titled(&ask.tool);
    // What edits change is seen in the editor's own texts; a patch of several files only the agent has read.
    let mut content = match ask.tool.as_str() {
        "apply_patch" if !ask.changes.is_empty() => ask.changes.iter().flat_map(calls::changes).collect(),
        _ => calls::wanted(title, &ask.input, cwd, current),
    };
    content.insert(0, calls::said(explained(ask)));
    let fields = ToolCallUpdateFields::new()
        .title(calls::title(title, &ask.input, cwd))
        .kind(calls::kind(title))
        .status(ToolCallStatus::Pending)
        .content(content)
        .locations(calls::locations(&ask.input, cwd))
        .raw_input(ask.input.clone());
    let option = |id: &str, name: String, kind| PermissionOption::new(id.to_owned(), name, kind);
    let mut options = vec![option(ONCE, "Allow once".to_owned(), PermissionOptionKind::AllowOnce)];
    // The narrowest comes first; nobody is to allow more than they looked at.
    for (at, offer) in lasting(ask).iter().enumerate() {
        let name = format!("Always allow {} in this project", offer.rules.join(", "));
        options.push(option(&always(at), name, PermissionOptionKind::AllowAlways));
    }
    options.push(option(REJECT, "Reject".to_owned(), PermissionOptionKind::RejectOnce));
    RequestPermissionRequest::new(session.to_owned(), ToolCallUpdate::new(ask.id.clone(), fields), options)
}

/// What can be allowed for longer.
fn lasting(ask: &PermissionAsk) -> &[Leave] {
    if ask.always_asks { &[] } else { &ask.offers }
}

/// The id of the option that takes an offer.
fn always(at: usize) -> String {
    if at == 0 { ALWAYS.to_owned() } else { format!("{ALWAYS}-{}", at + 1) }
}

/// Why it is asked, and all that would be done.
fn explained(ask: &PermissionAsk) -> String {
    let line = |doing: &Doing| match doing {
        Doing::Reads(path) => format!("- reads `{path}`"),
        Doing::Writes(path) => format!("- writes `{path}`"),
        Doing::Runs(command) => format!("- runs\n\n{}", calls::fenced(command, "sh")),
        Doing::Speaks(host) => format!("- speaks with `{host}`"),
        Doing::Foreign => format!("- uses `{}`, a tool of somebody else", ask.tool),
    };
    let doing: Vec<String> = ask.doing.iter().map(line).collect();
    if doing.is_empty() { ask.why.clone() } else { format!("{}\n\n{}", ask.why, doing.join("\n")) }
}

/// What the answer comes to. Whatever is no clear yes is a no.
pub(crate) fn permitted(ask: &PermissionAsk, said: Result<RequestPermissionResponse, Unanswered>) -> Answer {
    let nobody = |why: String| Answer::Nobody { why: Some(why) };
    let selected = match said {
        Ok(response) => match response.outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
            // Closed without a word.
            _ => return Answer::No { why: None },
        },
        Err(Unanswered::Gone) => return nobody("the client is gone".to_owned()),
        // A client that does not ask anybody is like a script: the way to allow it is told.
        Err(Unanswered::Refused(_)) => return Answer::Nobody { why: None },
        Err(unreadable @ Unanswered::Unreadable(_)) => return nobody(unreadable.to_string()),
    };
    match selected.as_str() {
        ONCE => Answer::Once,
        REJECT => Answer::No { why: None },
        other => match (0..lasting(ask).len()).find(|at| always(*at) == other) {
            Some(at) => Answer::Offer { at, lasting: Lasting::Always },
            None => nobody("the answer could not be understood".to_owned()),
        },
    }
}

/// Whether a client can show forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Forms {
    /// It can.
    Shown,
    /// It can't.
    Unknown,
}

/// Asks what the model wants to know: by a form where there are any, else, if it is one choice, as a permission.
pub(crate) async fn choose(
    client: &Client,
    session: &str,
    id: &str,
    choices: &Choices,
    forms: Forms,
) -> Chosen {
    match (&choices.about, choices.questions.as_slice()) {
        (About::LeavePlan { .. } | About::EnterPlan, [choice]) => {
            picked(client, session, id, choices, choice).await
        }
        (_, _) if forms == Forms::Shown => form::asked(client, session, id, choices).await,
        (About::Question, [choice]) if choice.pick == Pick::One => {
            picked(client, session, id, choices, choice).await
        }
        (About::Question | About::LeavePlan { .. } | About::EnterPlan, _) => Chosen::Nobody,
    }
}

async fn picked(client: &Client, session: &str, id: &str, choices: &Choices, choice: &Choice) -> Chosen {
    let request = as_permission(session, id, choices, choice);
    let said: Result<RequestPermissionResponse, _> =
        client.request(CLIENT_METHOD_NAMES.session_request_permission, &request).await;
    chosen(choice, said)
}

/// One choice as a question whose options are those of the choice.
fn as_permission(session: &str, id: &str, choices: &Choices, choice: &Choice) -> RequestPermissionRequest {
    let mut content = Vec::new();
    let kind = match &choices.about {
        About::LeavePlan { plan } => {
            content.push(calls::said(plan.clone()));
            ToolKind::SwitchMode
        }
        About::EnterPlan => ToolKind::SwitchMode,
        About::Question => ToolKind::Other,
    };
    let said: Vec<String> = choice
        .options
        .iter()
        .filter(|option| !option.description.is_empty())
        .map(|option| format!("- **{}**: {}", option.label, option.description))
        .collect();
    content.extend((!said.is_empty()).then(|| calls::said(said.join("\n"))));
    let fields = ToolCallUpdateFields::new()
        .title(choice.question.clone())
        .kind(kind)
        .status(ToolCallStatus::Pending)
        .content(content);
    let last = choice.options.len().saturating_sub(1);
    let options = choice.options.iter().enumerate().map(|(at, option)| {
        // Of what is about plans the last option is the one that leaves all as it is.
        let is_no = at == last && choices.about != About::Question;
        let kind = if is_no { PermissionOptionKind::RejectOnce } else { PermissionOptionKind::AllowOnce };
        PermissionOption::new(format!("option-{at}"), option.label.clone(), kind)
    });
    let options = options.collect();
    RequestPermissionRequest::new(session.to_owned(), ToolCallUpdate::new(id.to_owned(), fields), options)
}

fn chosen(choice: &Choice, said: Result<RequestPermissionResponse, Unanswered>) -> Chosen {
    let Ok(response) = said else { return Chosen::Nobody };
    let RequestPermissionOutcome::Selected(selected) = response.outcome else {
        return Chosen::Dismissed { said: None };
    };
    let id = selected.option_id.to_string();
    let at =
        id.strip_prefix("option-").and_then(|at| at.parse().ok()).filter(|at| *at < choice.options.len());
    match at {
        Some(at) => Chosen::Answered { answers: vec![Picked::option(at)] },
        None => Chosen::Dismissed { said: None },
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::{Error, SelectedPermissionOutcome};
    use rail_proto::ChoiceOption;
    use serde_json::json;

    use super::*;

    fn ask(always_asks: bool) -> PermissionAsk {
        PermissionAsk {
            id: "c1".to_owned(),
            tool: "bash".to_owned(),
            input: json!({"command": "touch a"}),
            doing: vec![Doing::Runs("touch a".to_owned())],
            changes: Vec::new(),
            why: "it runs a command".to_owned(),
            always_asks,
            offers: vec![leave("Bash(touch a)"), leave("Bash(touch:*)")],
            without_anybody: String::new(),
        }
    }

    fn leave(rule: &str) -> Leave {
        Leave { rules: vec![rule.to_owned()], says: String::new() }
    }

    fn selected(id: &str) -> Result<RequestPermissionResponse, Unanswered> {
        let outcome = SelectedPermissionOutcome::new(id.to_owned());
        Ok(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(outcome)))
    }

    #[test]
    fn a_question_shows_what_would_be_done_and_names_the_narrowest_rule() {
        let request = permission("s", &ask(false), Path::new("/srv"), &|_| None);
        insta::assert_snapshot!(serde_json::to_string_pretty(&request).unwrap());
    }

    #[test]
    fn what_always_asks_has_no_always() {
        let request = permission("s", &ask(true), Path::new("/srv"), &|_| None);
        let ids: Vec<String> = request.options.iter().map(|option| option.option_id.to_string()).collect();
        assert_eq!(ids, [ONCE, REJECT]);
        assert!(matches!(permitted(&ask(true), selected(ALWAYS)), Answer::Nobody { .. }));
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        let ask = ask(false);
        assert_eq!(permitted(&ask, selected(ONCE)), Answer::Once);
        assert_eq!(permitted(&ask, selected(ALWAYS)), Answer::Offer { at: 0, lasting: Lasting::Always });
        assert_eq!(
            permitted(&ask, selected("allow-always-2")),
            Answer::Offer { at: 1, lasting: Lasting::Always }
        );
        assert_eq!(permitted(&ask, selected(REJECT)), Answer::No { why: None });
        assert_eq!(
            permitted(&ask, Err(Unanswered::Refused(Error::method_not_found()))),
            Answer::Nobody { why: None }
        );
        let closed = RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
        assert_eq!(permitted(&ask, Ok(closed)), Answer::No { why: None });
        let unreadable = Unanswered::Unreadable("x".to_owned());
        for odd in [selected("sure"), selected("allow-always-3"), Err(Unanswered::Gone), Err(unreadable)] {
            assert!(matches!(permitted(&ask, odd), Answer::Nobody { why: Some(_) }));
        }
    }

    #[test]
    fn a_plan_is_approved_by_its_options() {
        let option = |label: &str| ChoiceOption { label: label.to_owned(), description: String::new() };
        let choice = Choice {
            question: "Go ahead?".to_owned(),
            header: String::new(),
            options: vec![option("Yes"), option("No")],
            pick: Pick::One,
        };
        let choices = Choices {
            about: About::LeavePlan { plan: "1. all".to_owned() },
            questions: vec![choice.clone()],
        };
        let request = as_permission("s", "c", &choices, &choice);
        let kinds: Vec<PermissionOptionKind> = request.options.iter().map(|option| option.kind).collect();
        assert_eq!(kinds, [PermissionOptionKind::AllowOnce, PermissionOptionKind::RejectOnce]);
        assert_eq!(
            chosen(&choice, selected("option-0")),
            Chosen::Answered { answers: vec![Picked::option(0)] }
        );
        assert_eq!(chosen(&choice, selected("option-9")), Chosen::Dismissed { said: None });
        assert_eq!(chosen(&choice, Err(Unanswered::Gone)), Chosen::Nobody);
    }
}
