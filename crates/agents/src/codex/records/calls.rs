//! Tool calls and their results.

use std::borrow::Cow;
use std::fmt::Write as _;

use watchbill_core::tool::{Ask, ToolKind, patch_file};
use watchbill_core::transcript::json::{Cursor, Raw, unescape, unescape_onto};
use watchbill_core::transcript::record::{Denial, ToolResult};

use super::fields::Payload;
use crate::target::{first_of, first_string, one_line, question};

/// Decoded bytes at the beginning of a result that are searched for how the call ended.
const LOOK_AT: usize = 512;

/// The name of a call's tool. A tool of a server has the server's name before it.
pub(super) fn tool<'a>(p: &Payload<'a>) -> Cow<'a, str> {
    let name = p.name.whole().unwrap_or_default();
    match p.namespace.word().filter(|space| space.starts_with("mcp__")) {
        Some(space) => Cow::Owned(format!("{}__{name}", space.trim_end_matches("__"))),
        None => name,
    }
}

/// The input of a call as an object, decoded into `buffer` if need be. In the line it is JSON inside a string, or a text of the
/// tool's own. Other code looks for paths in its fields, so a patch gets its files as a field.
pub(super) fn input<'b>(p: &Payload<'b>, tool: &str, buffer: &'b mut String) -> Raw<'b> {
    let raw = match (p.arguments, p.input) {
        (object @ Raw::Nested(_), _) | (_, object @ Raw::Nested(_)) => return object,
        (Raw::Str(raw), _) | (_, Raw::Str(raw)) => raw,
        _ => return Raw::Absent,
    };
    unescape_onto(buffer, raw, usize::MAX);
    if is_object(buffer) {
        return Raw::Nested(buffer);
    }
    let text = std::mem::take(buffer);
    let key = match ToolKind::of(tool) {
        kind if kind.runs_command() => "code",
        ToolKind::Edit => {
            write_files(&text, buffer);
            "patch"
        }
        _ => "input",
    };
    let begin = if buffer.is_empty() { "{" } else { "," };
    // A string keeps its escapes. It is never written to, so `write!` cannot fail.
    let _ = write!(buffer, "{begin}\"{key}\":\"{raw}\"}}");
    Raw::Nested(buffer)
}

fn is_object(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.peek() == Some(b'{') && cursor.value().is_some() && cursor.peek().is_none()
}

/// The first file of a patch, given as the inside of a JSON string, in one line.
pub(in crate::codex) fn first_file(raw: &str) -> Cow<'static, str> {
    let patch = unescape(raw, LOOK_AT);
    let file = patch.lines().find_map(patch_file).unwrap_or_default();
    Cow::Owned(one_line(file).into_owned())
}

/// Begins an object with the files of a patch.
fn write_files(patch: &str, object: &mut String) {
    object.push_str("{\"files\":[");
    for (n, file) in patch.lines().filter_map(patch_file).enumerate() {
        let comma = if n == 0 { "" } else { "," };
        let _ = write!(object, "{comma}{}", serde_json::Value::from(file));
    }
    object.push(']');
}

/// The file that a call changes or reads: of a patch the first.
pub(super) fn file<'a>(tool: &str, input: Raw<'a>) -> Option<Cow<'a, str>> {
    match ToolKind::of(tool) {
        ToolKind::Edit => first_element(input.get("files")).whole(),
        ToolKind::Read => input.get("path").whole(),
        _ => None,
    }
}

fn first_element(list: Raw<'_>) -> Raw<'_> {
    let mut first = Raw::Absent;
    list.elements(|cursor| {
        first = cursor.value()?;
        None
    });
    first
}

/// What the call acts on, in one line.
pub(in crate::codex) fn target<'a>(tool: &str, input: Raw<'a>) -> Cow<'a, str> {
    let keys: &[&str] = match tool {
        "exec_command" => &["cmd"],
        "shell" | "local_shell" => return command(input.get("command")),
        "shell_command" => &["command"],
        "exec" => &["code"],
        "view_image" => &["path"],
        "spawn_agent" => &["task_name", "message"],
        "write_stdin" => &["chars"],
        "update_plan" => &["explanation"],
        "request_user_input" => return question(input),
        "apply_patch" => {
            return match first_element(input.get("files")) {
                Raw::Str(file) => one_line(file),
                _ => first_string(input),
            };
        }
        _ => &[],
    };
    first_of(keys, input)
}

/// A command as a list of words: those behind `bash -lc`, or all.
fn command(list: Raw<'_>) -> Cow<'_, str> {
    let mut words = Vec::new();
    list.elements(|cursor| {
        words.extend(cursor.value()?.word());
        Some(())
    });
    match words.as_slice() {
        [_, "-lc" | "-c", script, ..] => one_line(script),
        words => Cow::Owned(one_line(&words.join(" ")).into_owned()),
    }
}

/// What the call can mean without a result. A command that stays in its sandbox needs no permission in most modes.
pub(super) fn ask(tool: &str, input: Raw<'_>) -> Ask {
    match Ask::of(tool, false) {
        Ask::Tool if ToolKind::of(tool).runs_command() && !leaves_sandbox(input) => Ask::Edit,
        ask => ask,
    }
}

fn leaves_sandbox(input: Raw<'_>) -> bool {
    let permissions = input.get("sandbox_permissions").word();
    permissions.is_some_and(|word| word != "use_default")
        || input.get("with_escalated_permissions").is_true()
        // Code that calls other tools.
        || input.get("code").word().is_some_and(|code| code.contains("require_escalated"))
}

/// A result, and what stands beside its text.
pub(super) struct Output<'a> {
    pub result: ToolResult<'a>,
    /// The text, or a list of texts.
    pub text: Raw<'a>,
    /// The user stopped the call; it may have run.
    pub stopped: bool,
}

/// A call's result. Older clients wrote an object inside the string; it is decoded into `buffer`.
pub(super) fn output<'b>(p: &Payload<'b>, buffer: &'b mut String) -> Output<'b> {
    let (mut text, mut exit_code) = (p.output, None);
    if let Raw::Str(raw) = p.output
        && raw.starts_with("{\\\"output\\\"")
    {
        unescape_onto(buffer, raw, usize::MAX);
        if is_object(buffer) {
            let object = Raw::Nested(buffer);
            text = object.get("output");
            exit_code = object.get("metadata").get("exit_code").number();
        }
    }
    let end = end_of(&beginning(text));
    let failed = exit_code.map(|code| code != 0).unwrap_or(end.failed);
    let result = ToolResult {
        id: p.call_id.whole().unwrap_or_default(),
        is_error: failed || end.denied.is_some(),
        succeeded: None,
        denied: end.denied,
        denied_by_text: true,
        background_task: None,
        async_agent: None,
    };
    Output { result, text, stopped: end.stopped }
}

fn beginning(text: Raw<'_>) -> Cow<'_, str> {
    match text {
        Raw::Str(raw) => unescape(raw, LOOK_AT),
        list => first_element(list).get("text").text(LOOK_AT).unwrap_or_default(),
    }
}

/// The process that goes on after a result, by the lines that the client writes before the tool's own text.
pub(super) fn running_process(text: Raw<'_>) -> Option<u64> {
    let text = beginning(text);
    let mut clients = text.lines().take_while(|line| !line.starts_with("Output:"));
    clients.find_map(|line| line.strip_prefix("Process running with session ID ")?.trim().parse().ok())
}

/// How a call ended.
#[derive(Default)]
struct End {
    failed: bool,
    denied: Option<Denial>,
    stopped: bool,
}

/// How a call ended, by the lines that the client writes before the tool's own text. A tool cannot write them itself: its
/// text follows a line of the client.
fn end_of(text: &str) -> End {
    let stopped = End { failed: true, denied: Some(Denial::User), stopped: true };
    if text.trim() == "aborted" || text.starts_with("aborted by user") {
        return stopped;
    }
    if text.len() < LOOK_AT && text.trim_end().ends_with("rejected by user") && text.lines().count() == 1 {
        return End { stopped: false, ..stopped };
    }
    if text.starts_with("approval policy is Never; reject command") {
        return End { failed: true, denied: Some(Denial::Policy), stopped: false };
    }
    let fails = [
        "exec_command failed",
        "unsupported call",
        "failed to parse",
        "apply_patch verification failed",
        "execution error",
        "write_stdin failed",
    ];
    if fails.iter().any(|begin| text.starts_with(begin)) {
        return End { failed: true, ..End::default() };
    }
    let clients =
        ["Chunk ID: ", "Wall time: ", "Exit code: ", "Process ", "Command: ", "Original token count: "];
    for line in text.lines() {
        if line.starts_with("aborted by user") {
            return stopped;
        }
        let code = line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code "));
        if let Some(code) = code {
            return End { failed: code.trim() != "0", ..End::default() };
        }
        if !clients.iter().any(|begin| line.starts_with(begin)) {
            break;
        }
    }
    End::default()
}

/// What a search of the web looked for.
pub(super) fn web_target(action: Raw<'_>) -> Cow<'_, str> {
    ["query", "url", "pattern"]
        .iter()
        .find_map(|key| action.get(key).word())
        .map_or(Cow::Borrowed(""), |raw| one_line(raw))
}
