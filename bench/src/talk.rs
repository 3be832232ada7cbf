//! Requests as coding clients send them: tools with schemas, and a conversation of calls and results, of any size.

use rail_model::{
    CallId, CallKind, Extras, Json, Message, Part, PartBody, Request, Role, ToolCall, ToolDecl, ToolKind,
    ToolResult,
};
use rail_wire::{HttpCall, Protocol, TargetSpec};
use serde_json::{Value, json};

/// How large a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Size {
    pub(crate) name: &'static str,
    pub(crate) bytes: usize,
    /// How many tools it declares.
    pub(crate) tools: usize,
}

pub(crate) const SMALL: Size = Size { name: "200 B", bytes: 200, tools: 0 };
pub(crate) const USUAL: Size = Size { name: "12 KB", bytes: 12_000, tools: 8 };
pub(crate) const LARGE: Size = Size { name: "200 KB", bytes: 200_000, tools: 60 };
pub(crate) const HUGE: Size = Size { name: "1 MB", bytes: 1_000_000, tools: 60 };

/// A request of about this size in a protocol's own form, for a model of this name.
pub(crate) fn call(protocol: &Protocol, size: Size, model: &str, stream: bool) -> HttpCall {
    let spec = TargetSpec::new(model);
    let mut request = request(size);
    request.stream = stream;
    let mut encoded = protocol.outbound.encode_request(&request, &spec).call;
    let mut turn = 0;
    while encoded.body.len() < size.bytes {
        let missing = size.bytes - encoded.body.len();
        if size.tools == 0 {
            let more = Part::text(PROSE.repeat(missing.div_ceil(PROSE.len())));
            request.messages = vec![Message::new(Role::User, vec![more])];
            return protocol.outbound.encode_request(&request, &spec).call;
        }
        // Results of a few thousand bytes, as files and commands give them.
        let lines = (missing / 2 / CODE.len()).clamp(1, 40);
        add_turn(&mut request, turn, lines);
        turn += 1;
        encoded = protocol.outbound.encode_request(&request, &spec).call;
    }
    encoded
}

const PROSE: &str = "Why is it so? ";
const CODE: &str = "    if let Some(value) = items.get(\"total\") { println!(\"{value:>8}\\t|\"); }\n\
    // The sum is taken once, so that a long list is read only here.\n\
    let total: u64 = items.iter().map(|item| item.price * item.count).sum();\n";

fn request(size: Size) -> Request {
    let mut request = Request::default();
    request.sampling.max_output = Some(1024);
    request.messages.push(Message::new(Role::User, vec![Part::text("Why is the total wrong?")]));
    if size.tools > 0 {
        request.system = vec![Part::text(SYSTEM.repeat(size.tools / 4))];
        request.tools = (0..size.tools).map(tool).collect();
    }
    request
}

const SYSTEM: &str = "You help with software in this folder. Read before you write, and say what you did.\n\
    - Keep answers short; name files as `path:line`.\n- Run the tests after each change.\n\n";

/// The model reads a file, and is given it.
fn add_turn(request: &mut Request, turn: usize, lines: usize) {
    let (id, kind) = (CallId::Given(format!("toolu_01{turn:020}")), CallKind::Function);
    let arguments = format!(r#"{{"file_path":"/src/parts/file_{turn}.rs","offset":{turn},"limit":2000}}"#);
    let call = ToolCall { id: id.clone(), name: "read_file_0".into(), arguments, kind };
    let said = vec![
        Part::text("I look at the next file to see where the sum is taken."),
        Part::new(PartBody::ToolCall(call)),
    ];
    request.messages.push(Message::new(Role::Assistant, said));
    let content = vec![Part::text(CODE.repeat(lines))];
    let result = ToolResult { id, name: None, content, is_error: None, kind };
    request.messages.push(Message::new(Role::User, vec![Part::new(PartBody::ToolResult(result))]));
}

/// A tool of about one kilobyte, as coding clients and MCP servers declare them.
fn tool(number: usize) -> ToolDecl {
    const KINDS: &[fn() -> (&'static str, Value)] = &[read_file, edit_file, search, task];
    let (name, parameters) = KINDS.get(number % KINDS.len()).map_or_else(read_file, |kind| kind());
    ToolDecl {
        name: format!("{name}_{number}"),
        description: Some(DESCRIPTION.to_owned()),
        kind: ToolKind::Function { parameters: Some(Json::from(parameters)) },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    }
}

const DESCRIPTION: &str = "Does one thing to the files of this project, and says what it did.\n\nUsage:\n\
    - The path must be absolute, not relative.\n- By default it reads up to 2000 lines from the beginning.\n\
    - Lines longer than 2000 characters are cut.\n- The result has line numbers, as in `cat -n`.";

fn read_file() -> (&'static str, Value) {
    let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {
        "file_path": {"type": "string", "description": "The absolute path of the file to read"},
        "offset": {"type": "number", "description": "The line to start from. Only for files too large to read at once"},
        "limit": {"type": "number", "description": "How many lines to read. Only for files too large to read at once"}
    }, "required": ["file_path"], "additionalProperties": false});
    ("read_file", schema)
}

fn edit_file() -> (&'static str, Value) {
    let edit = json!({"type": "object", "properties": {
        "old_string": {"type": "string", "description": "The text to replace"},
        "new_string": {"type": "string", "description": "The text to replace it with"},
        "replace_all": {"type": "boolean", "default": false, "description": "Replace every place where it stands"}
    }, "required": ["old_string", "new_string"], "additionalProperties": false});
    let schema = json!({"type": "object", "properties": {
        "file_path": {"type": "string", "description": "The absolute path of the file to change"},
        "edits": {"type": "array", "items": edit, "minItems": 1, "description": "What to change, one after the other"}
    }, "required": ["file_path", "edits"], "additionalProperties": false});
    ("edit_file", schema)
}

fn search() -> (&'static str, Value) {
    let schema = json!({"type": "object", "properties": {
        "pattern": {"type": "string", "description": "The regular expression to look for"},
        "path": {"type": "string", "description": "The file or folder to look in"},
        "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"]},
        "-A": {"type": "integer", "minimum": 0}, "-B": {"type": "integer", "minimum": 0},
        "-i": {"type": "boolean", "description": "Upper and lower case are the same"},
        "head_limit": {"type": "integer", "minimum": 0, "description": "Only so many lines of output"}
    }, "required": ["pattern"]});
    ("search", schema)
}

fn task() -> (&'static str, Value) {
    let schema = json!({"type": "object", "properties": {
        "description": {"type": "string", "description": "The task in three to five words"},
        "prompt": {"type": "string", "description": "The task for the one who does it"},
        "todos": {"type": "array", "items": {"type": "object", "properties": {
            "content": {"type": "string", "minLength": 1},
            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
        }, "required": ["content", "status"]}},
        "timeout": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 600_000}, {"type": "null"}]}
    }, "required": ["description", "prompt"]});
    ("task", schema)
}
