use rail_model::ProtocolId;

/// What a protocol demands of a request, as data.
///
/// Begin with [`Rules::strict`] and loosen what the protocol allows: `Rules { prefill: true, ..Rules::strict(ID) }`.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whose rules.
    pub protocol: ProtocolId,
    /// The longest tool name.
    pub name_max: usize,
    /// What a tool name may hold besides letters, digits, `_` and `-`.
    pub name_extra: &'static str,
    /// A tool name begins with a letter or `_`.
    pub name_letter_first: bool,
    /// The longest call id.
    pub id_max: usize,
    /// Call ids may hold any character; otherwise letters, digits, `_` and `-`.
    pub any_id: bool,
    /// Where tool results stand.
    pub results: Results,
    /// Neighbouring assistant messages are one turn, whose results follow the last of them; otherwise each has its own.
    pub joined_turns: bool,
    /// A result may stand anywhere after its call. Requests of the protocol's own clients may use this; others are put in order.
    pub results_anywhere: bool,
    /// A result names its tool.
    pub results_named: bool,
    /// Request fields which say that the server keeps earlier messages. With one of them, or after a part we have no
    /// word for, a result may answer a call we can't see.
    pub stored_history: &'static [&'static str],
    /// Free-text tools exist; otherwise they become functions with one string.
    pub custom_tools: bool,
    /// Tool results may hold images and documents (the target's quirks may forbid it still).
    pub media_in_results: bool,
    /// A result can say that its tool failed; otherwise its text must say so.
    pub error_results: bool,
    /// Assistant messages may hold images and other media.
    pub assistant_media: bool,
    /// Texts and messages may be empty. Only kept for the protocol's own clients: servers that claim compatibility differ here.
    pub empty_text: bool,
    /// How the decoder marks a text that came as a bare string: a result's may be empty, where an empty block may not.
    pub bare_text: Option<&'static str>,
    /// Instructions may stand in the middle of the conversation; otherwise they become marked user text.
    pub system_midway: bool,
    /// The conversation may end with the assistant's words, which the model goes on from.
    pub prefill: bool,
    /// The first message must be the user's.
    pub user_first: bool,
    /// Reasoning is only taken back with a seal of its issuer.
    pub sealed_thinking: bool,
    /// The least thinking budget, where there is one that must stay below the output limit.
    pub budget_min: Option<u64>,
    /// How many cache marks there may be; 0 where the protocol has none.
    pub cache_marks: usize,
    /// Takes the billing line that Claude Code puts first; elsewhere it would only spoil the cache.
    pub attribution: bool,
    /// Fields that the encoder carries over from a sibling protocol, so no losses: (origin, key). Below the top level the
    /// key is led by its level: `system.`, `messages.`, `content.`, `tools.`, `thinking.`, `cache_control.`.
    /// `content.file_id` says that the two share uploaded files.
    pub carried: &'static [(&'static str, &'static str)],
}

impl Rules {
    /// The narrowest rules: what fits these fits every protocol.
    pub const fn strict(protocol: ProtocolId) -> Self {
        Self {
            protocol,
            name_max: 64,
            name_extra: "",
            name_letter_first: false,
            id_max: 40,
            any_id: false,
            results: Results::InUserMessage,
            joined_turns: false,
            results_anywhere: false,
            results_named: false,
            stored_history: &[],
            custom_tools: false,
            media_in_results: false,
            error_results: false,
            assistant_media: false,
            empty_text: false,
            bare_text: None,
            system_midway: false,
            prefill: false,
            user_first: true,
            sealed_thinking: false,
            budget_min: None,
            cache_marks: 0,
            attribution: false,
            carried: &[],
        }
    }
}

/// Where tool results stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// At the head of the user message that follows the calls.
    InUserMessage,
    /// Each in a message of its own, right after the calls.
    OwnMessages,
}
