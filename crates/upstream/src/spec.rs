//! What the profile of a model means for the codec and for the repair of its answers.

use std::borrow::Cow;

use rail_model::{Loss, Request};
use rail_repair::Profile;
use rail_route::{ModelProfile, ReasoningBack, Target, Thinks, ToolStyle};
use rail_wire::{ImageLimits, MaxTokensKey, Quirks, TargetSpec, ThinkingStyle};
use serde_json::Number;

/// What the encoder must know of a target.
pub(crate) fn target_spec(target: &Target, profile: &ModelProfile) -> TargetSpec {
    let usual = TargetSpec::new(&target.model);
    TargetSpec {
        max_output: profile.max_output,
        default_max_output: profile.max_output.unwrap_or(u64::MAX).min(usual.default_max_output),
        images: profile.vision.then(ImageLimits::default),
        thinking: thinking(profile.thinking),
        quirks: quirks(profile),
        count_usage: true,
        ..usual
    }
}

/// How a target is told to think, as the encoder says it.
pub(crate) fn thinking(how: Thinks) -> ThinkingStyle {
    match how {
        Thinks::AsAsked => ThinkingStyle::AsAsked,
        Thinks::Budget => ThinkingStyle::Budget,
        Thinks::Adaptive => ThinkingStyle::Adaptive,
        Thinks::Effort => ThinkingStyle::Effort,
        Thinks::Never => ThinkingStyle::Never,
    }
}

fn quirks(profile: &ModelProfile) -> Quirks {
    Quirks {
        max_tokens_key: match profile.max_completion_tokens {
            true => MaxTokensKey::MaxCompletionTokens,
            false => MaxTokensKey::MaxTokens,
        },
        developer_role: profile.developer_role,
        reasoning_back: match profile.reasoning_back {
            ReasoningBack::Never => rail_wire::ReasoningBack::Never,
            ReasoningBack::WhereThereIs => rail_wire::ReasoningBack::WhereThereIs,
            ReasoningBack::Always => rail_wire::ReasoningBack::Always,
        },
        image_in_tool_result: profile.image_in_tool_result,
        custom_tools: profile.custom_tools,
        stream_usage: profile.stream_usage,
        ..Quirks::default()
    }
}

/// What the stages must know of a model; None for one whose calls can be trusted: nothing touches its answers.
pub(crate) fn repair_profile(profile: &ModelProfile) -> Option<Profile> {
    let prompted = match profile.tools {
        ToolStyle::Native | ToolStyle::None => return None,
        ToolStyle::Mixed => false,
        ToolStyle::Prompted => true,
    };
    Some(Profile {
        family: profile.family.clone(),
        starts_in_reasoning: profile.starts_in_reasoning,
        prompted,
        escapes_entities: profile.escapes_entities,
        one_call: profile.small,
    })
}

/// The request as this model is to be asked, and what of it the model can't be told.
pub(crate) fn ask_as<'r>(
    request: &'r Request,
    target: &Target,
    profile: &ModelProfile,
) -> (Cow<'r, Request>, Vec<Loss>) {
    let mut losses = Vec::new();
    let mut asked = match profile.tools {
        ToolStyle::Prompted => Cow::Owned(rail_repair::prompt(request)),
        ToolStyle::Native | ToolStyle::Mixed | ToolStyle::None => Cow::Borrowed(request),
    };
    if profile.no_think {
        rail_repair::no_think(asked.to_mut());
    }
    if profile.fixed_sampling {
        losses.extend(unsampled(&mut asked));
    }
    let heat = asked.sampling.temperature.as_ref().and_then(Number::as_f64);
    if let (Some(heat), Some(most)) = (heat, profile.max_temperature)
        && heat > most
    {
        asked.to_mut().sampling.temperature = Number::from_f64(most);
        losses.push(Loss::new("temperature", format!("{target} takes at most {most}; lowered to that")));
    }
    (asked, losses)
}

/// Takes out what a model with fixed sampling rejects.
fn unsampled(asked: &mut Cow<'_, Request>) -> Vec<Loss> {
    let sampling = &asked.sampling;
    let said = [
        ("temperature", sampling.temperature.is_some()),
        ("top_p", sampling.top_p.is_some()),
        ("top_k", sampling.top_k.is_some()),
        ("frequency_penalty", sampling.frequency_penalty.is_some()),
        ("presence_penalty", sampling.presence_penalty.is_some()),
    ];
    let losses: Vec<Loss> = said
        .into_iter()
        .filter(|(_, said)| *said)
        .map(|(name, _)| Loss::new(name, "this model samples as it sees fit; left out"))
        .collect();
    if !losses.is_empty() {
        let sampling = &mut asked.to_mut().sampling;
        (sampling.temperature, sampling.top_p, sampling.top_k) = (None, None, None);
        (sampling.frequency_penalty, sampling.presence_penalty) = (None, None);
    }
    losses
}

#[cfg(test)]
pub(crate) mod tests {
    use rail_model::{Message, Part, Role, Sampling};
    use serde_json::json;

    use super::*;

    /// A model of which nothing is known but that its calls can be trusted.
    pub(crate) fn plain() -> ModelProfile {
        ModelProfile {
            vision: true,
            tools: ToolStyle::Native,
            developer_role: false,
            image_in_tool_result: true,
            custom_tools: true,
            stream_usage: true,
            ..ModelProfile::default()
        }
    }

    fn request() -> Request {
        let user = Message::new(Role::User, vec![Part::text("hi")]);
        let sampling = Sampling {
            temperature: Some(Number::from(2)),
            top_p: Some(Number::from(1)),
            max_output: Some(100),
            ..Sampling::default()
        };
        Request { messages: vec![user], sampling, ..Request::default() }
    }

    #[test]
    fn profiles_become_specs() {
        let target = Target::new("p", "m");
        let spec = target_spec(&target, &plain());
        assert_eq!((spec.model.as_str(), spec.max_output, spec.default_max_output), ("m", None, 8192));
        assert_eq!(spec.quirks, Quirks { developer_role: false, ..Quirks::default() });
        assert!(spec.images.is_some());

        let odd = ModelProfile {
            max_output: Some(4000),
            vision: false,
            thinking: Thinks::Never,
            max_completion_tokens: true,
            developer_role: true,
            reasoning_back: ReasoningBack::Always,
            image_in_tool_result: false,
            custom_tools: false,
            stream_usage: false,
            ..plain()
        };
        let spec = target_spec(&target, &odd);
        assert_eq!((spec.max_output, spec.default_max_output, spec.images), (Some(4000), 4000, None));
        assert_eq!(spec.thinking, ThinkingStyle::Never);
        let quirks = Quirks {
            max_tokens_key: MaxTokensKey::MaxCompletionTokens,
            developer_role: true,
            reasoning_back: rail_wire::ReasoningBack::Always,
            image_in_tool_result: false,
            custom_tools: false,
            stream_usage: false,
            inject_cache: true,
        };
        assert_eq!(spec.quirks, quirks);
        for (how, style) in [
            (Thinks::AsAsked, ThinkingStyle::AsAsked),
            (Thinks::Budget, ThinkingStyle::Budget),
            (Thinks::Adaptive, ThinkingStyle::Adaptive),
            (Thinks::Effort, ThinkingStyle::Effort),
        ] {
            assert_eq!(thinking(how), style);
        }
    }

    #[test]
    fn only_models_whose_calls_need_it_are_repaired() {
        for (tools, prompted) in [
            (ToolStyle::Native, None),
            (ToolStyle::None, None),
            (ToolStyle::Mixed, Some(false)),
            (ToolStyle::Prompted, Some(true)),
        ] {
            let family = Some("harmony".to_owned());
            let profile =
                ModelProfile { tools, family, escapes_entities: true, starts_in_reasoning: true, ..plain() };
            let expected = prompted.map(|prompted| Profile {
                family: Some("harmony".to_owned()),
                starts_in_reasoning: true,
                prompted,
                escapes_entities: true,
                one_call: false,
            });
            assert_eq!(repair_profile(&profile), expected, "{tools:?}");
        }
    }

    #[test]
    fn requests_are_asked_as_the_model_wants_them() {
        let (request, target) = (request(), Target::new("p", "qwen3-8b"));
        let (same, losses) = ask_as(&request, &target, &plain());
        assert!(matches!(same, Cow::Borrowed(_)) && losses.is_empty());

        let (asked, losses) = ask_as(&request, &target, &ModelProfile { no_think: true, ..plain() });
        assert_eq!(asked.messages[0].parts, [Part::text("/no_think hi")]);
        assert!(losses.is_empty());

        let (asked, losses) = ask_as(&request, &target, &ModelProfile { fixed_sampling: true, ..plain() });
        assert_eq!(asked.sampling, Sampling { max_output: Some(100), ..Sampling::default() });
        assert_eq!(
            losses.iter().map(|loss| loss.path.as_str()).collect::<Vec<_>>(),
            ["temperature", "top_p"]
        );

        let (asked, losses) =
            ask_as(&request, &target, &ModelProfile { max_temperature: Some(1.0), ..plain() });
        assert_eq!(json!(asked.sampling.temperature), json!(1.0));
        assert_eq!(losses.len(), 1);

        let (asked, _) = ask_as(&request, &target, &ModelProfile { tools: ToolStyle::Prompted, ..plain() });
        assert!(asked.tools.is_empty());
    }
}
