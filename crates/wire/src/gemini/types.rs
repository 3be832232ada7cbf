//! The protocol's JSON. Fields that are listed and never taken are there for their two spellings, `camelCase` and `snake_case`.

use rail_model::Json;
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};

use crate::shape::{Count, Str, wire};

wire! {
    struct Call<'a> proto {
        model: String,
        system_instruction as "systemInstruction": Content<'a>,
        contents: Many<Content<'a>>,
        tools: Many<Tool>,
        tool_config as "toolConfig": ToolConfig,
        generation_config as "generationConfig": GenerationConfig,
        generate_content_request as "generateContentRequest": Json,
        safety_settings as "safetySettings": Value,
        cached_content as "cachedContent": Value,
        service_tier as "serviceTier": Value,
        continuation_token as "continuationToken": Value,
        model_armor_config as "modelArmorConfig": Value,
    }
    struct Content<'a> proto { role: String, parts: Many<Piece<'a>> }
    // One shape for all kinds of parts; the rare ones are boxed, because every frame of a stream moves one.
    struct Piece<'a> proto {
        text: Str<'a>,
        thought: bool,
        thought_signature as "thoughtSignature": Str<'a>,
        function_call as "functionCall": Box<Called>,
        function_response as "functionResponse": Box<Response<'a>>,
        inline_data as "inlineData": Box<Blob<'a>>,
        file_data as "fileData": Box<FileRef>,
        executable_code as "executableCode": Box<Value>,
        code_execution_result as "codeExecutionResult": Box<Value>,
        tool_call as "toolCall": Box<Value>,
        tool_response as "toolResponse": Box<Value>,
        video_metadata as "videoMetadata": Box<Value>,
        media_resolution as "mediaResolution": Box<Value>,
        media_processing as "mediaProcessing": Box<Value>,
        part_metadata as "partMetadata": Box<Value>,
        audio_transcription as "audioTranscription": Box<Value>,
        speech_metadata as "speechMetadata": Box<Value>,
    }
    struct Called proto {
        id: String,
        name: String,
        args: Json,
        partial_args as "partialArgs": Value,
        will_continue as "willContinue": Value,
    }
    struct Response<'a> proto {
        id: String,
        name: String,
        response: Json,
        parts: Vec<Piece<'a>>,
        will_continue as "willContinue": Value,
        scheduling: Value,
    }
    struct Blob<'a> proto { mime_type as "mimeType": String, data: Str<'a>, display_name as "displayName": String }
    struct FileRef proto { mime_type as "mimeType": String, file_uri as "fileUri": String, display_name as "displayName": String }
    struct Tool proto {
        function_declarations as "functionDeclarations": Many<Declaration>,
        google_search as "googleSearch": Value,
        google_search_retrieval as "googleSearchRetrieval": Value,
        google_maps as "googleMaps": Value,
        code_execution as "codeExecution": Value,
        url_context as "urlContext": Value,
        file_search as "fileSearch": Value,
        computer_use as "computerUse": Value,
        enterprise_web_search as "enterpriseWebSearch": Value,
        parallel_ai_search as "parallelAiSearch": Value,
        exa_ai_search as "exaAiSearch": Value,
        mcp_servers as "mcpServers": Value,
    }
    struct Declaration proto {
        name: String,
        description: String,
        parameters: Json,
        parameters_json_schema as "parametersJsonSchema": Json,
        response: Value,
        response_json_schema as "responseJsonSchema": Value,
    }
    struct ToolConfig proto {
        function_calling_config as "functionCallingConfig": Calling,
        retrieval_config as "retrievalConfig": Value,
        include_server_side_tool_invocations as "includeServerSideToolInvocations": Value,
    }
    struct Calling proto {
        mode: String,
        allowed_function_names as "allowedFunctionNames": Vec<String>,
        stream_function_call_arguments as "streamFunctionCallArguments": Value,
    }
    struct GenerationConfig proto {
        temperature: Number,
        top_p as "topP": Number,
        top_k as "topK": Number,
        candidate_count as "candidateCount": Count,
        max_output_tokens as "maxOutputTokens": Count,
        stop_sequences as "stopSequences": Vec<String>,
        presence_penalty as "presencePenalty": Number,
        frequency_penalty as "frequencyPenalty": Number,
        seed: Number,
        response_logprobs as "responseLogprobs": bool,
        logprobs: Count,
        response_mime_type as "responseMimeType": String,
        response_schema as "responseSchema": Json,
        response_json_schema as "responseJsonSchema": Json,
        thinking_config as "thinkingConfig": ThinkingConfig,
        response_modalities as "responseModalities": Value,
        response_format as "responseFormat": Value,
        media_resolution as "mediaResolution": Value,
        speech_config as "speechConfig": Value,
        image_config as "imageConfig": Value,
        routing_config as "routingConfig": Value,
        model_config as "modelConfig": Value,
        audio_timestamp as "audioTimestamp": Value,
        audio_transcription_config as "audioTranscriptionConfig": Value,
        translation_config as "translationConfig": Value,
        enable_affective_dialog as "enableAffectiveDialog": Value,
        enable_enhanced_civic_answers as "enableEnhancedCivicAnswers": Value,
    }
    struct ThinkingConfig proto {
        include_thoughts as "includeThoughts": bool,
        thinking_budget as "thinkingBudget": Number,
        thinking_level as "thinkingLevel": String,
    }
}

wire! {
    struct Answer<'a> keep {
        candidates: Vec<Candidate<'a>>,
        usage_metadata as "usageMetadata": Tokens,
        model_version as "modelVersion": Str<'a>,
        create_time as "createTime": Str<'a>,
        response_id as "responseId": Str<'a>,
        prompt_feedback as "promptFeedback": Json,
        error: Json,
    }
    struct Candidate<'a> keep {
        content: Content<'a>,
        finish_reason as "finishReason": Str<'a>,
        index: Count,
        logprobs_result as "logprobsResult": Logprobs,
    }
    struct Tokens keep {
        prompt as "promptTokenCount": Count,
        cached as "cachedContentTokenCount": Count,
        candidates as "candidatesTokenCount": Count,
        thoughts as "thoughtsTokenCount": Count,
        tool_use as "toolUsePromptTokenCount": Count,
        total as "totalTokenCount": Count,
        prompt_details as "promptTokensDetails": Json,
        cache_details as "cacheTokensDetails": Json,
        candidates_details as "candidatesTokensDetails": Json,
        tool_use_details as "toolUsePromptTokensDetails": Json,
        traffic_type as "trafficType": Json,
        service_tier as "serviceTier": Json,
    }
    struct Logprobs keep { chosen as "chosenCandidates": Vec<Chosen>, top as "topCandidates": Vec<Top> }
    struct Top keep { candidates: Vec<Chosen> }
    struct Chosen keep { token: String, log_probability as "logProbability": Number }
    struct Feedback drop { block_reason as "blockReason": String }
    struct CountAnswer keep { total_tokens as "totalTokens": Count, cached as "cachedContentTokenCount": Count }
}

wire! {
    struct EmbedCall<'a> proto {
        model: String,
        content: Content<'a>,
        requests: Vec<EmbedCall<'a>>,
        task_type as "taskType": String,
        title: String,
        output_dimensionality as "outputDimensionality": Count,
        config as "embedContentConfig": EmbedConfig,
    }
    struct EmbedConfig proto {
        task_type as "taskType": String,
        title: String,
        output_dimensionality as "outputDimensionality": Count,
        auto_truncate as "autoTruncate": Value,
        document_ocr as "documentOcr": Value,
        audio_track_extraction as "audioTrackExtraction": Value,
    }
    struct EmbedAnswer keep {
        embedding: Vector,
        embeddings: Vec<Vector>,
        usage_metadata as "usageMetadata": Tokens,
    }
    struct Vector keep { values: Vec<Number> }
}

/// A list, where a single element may also stand alone.
#[derive(Clone, Debug)]
pub(super) enum Many<T> {
    One(Box<T>),
    List(Vec<T>),
}

impl<T> Many<T> {
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::One(_))
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![*one],
            Self::List(list) => list,
        }
    }

    /// The list as it was spelled; one that has grown is a list.
    pub(super) fn spelled(mut list: Vec<T>, alone: bool) -> Self {
        match list.pop() {
            Some(one) if alone && list.is_empty() => Self::One(Box::new(one)),
            Some(last) => {
                list.push(last);
                Self::List(list)
            }
            None => Self::List(list),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::value::MapAccessDeserializer;
        use serde::de::{MapAccess, SeqAccess, Visitor};
        struct Reader<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Many<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an array")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| Many::One(Box::new(one)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(Many::List(list))
            }
        }
        deserializer.deserialize_any(Reader(std::marker::PhantomData))
    }
}

impl<T: Serialize> Serialize for Many<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(one) => one.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
        }
    }
}
