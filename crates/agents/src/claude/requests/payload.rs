//! Reads a request from a hook payload.
//!
//! Source of the shapes: payloads recorded from client 2.1.329.

use std::sync::Arc;

use serde_json::Value;
use watchbill_core::ids::{Agent, SessionId};
use watchbill_core::requests::request::{
    Choice, Digest, Question, Request, RequestId, RequestKind, SuggestedRule, Via,
};
use watchbill_core::requests::visible::{visible, visible_line};
use watchbill_core::time::Timestamp;

use crate::hooks::parse;

/// The longest summary, in characters.
const SUMMARY: usize = 200;

/// A client's description of a request, the same for hooks and own sessions.
pub struct Asking<'a> {
    /// The name of the request.
    pub id: RequestId,
    /// Who takes the answer.
    pub via: Via,
    /// The session whose turn waits.
    pub session: &'a str,
    /// The type of the subagent that asks; `None` for the session's own turn.
    pub subagent: Option<&'a str>,
    /// The id of that subagent.
    pub subagent_id: Option<&'a str>,
    /// The tool's name.
    pub tool: &'a str,
    /// The tool's input.
    pub input: &'a Value,
    /// The rules of "allow always", as the agent suggests them.
    pub suggestions: &'a Value,
    /// The permission mode of the session.
    pub mode: Option<&'a str>,
    /// The agent's folder, which follows `cd`.
    pub cwd: Option<&'a str>,
    /// The folder of the agent's project, which stays.
    pub project: Option<&'a str>,
    /// Which skill of which server it is about, see [`skill_of`].
    pub skill: Option<String>,
    /// When it asked.
    pub opened_at: Timestamp,
    /// The bytes that are hashed.
    pub payload: &'a [u8],
}

impl Asking<'_> {
    /// The request.
    pub fn request(self) -> Request {
        let kind = kind_of(self.tool, self.input);
        let (mut summary, mut shown) = (summary(self.tool, self.input, &kind), shown(self.input, &kind));
        if let Some(skill) = &self.skill {
            let title = skill.lines().next().unwrap_or_default();
            summary = visible_line(&format!("{}: {title}", self.tool), SUMMARY);
            shown = format!("{}\n\n{shown}", visible(skill));
        }
        Request {
            id: self.id,
            via: self.via,
            session: SessionId::new(self.session),
            subagent: self.subagent.map(Arc::from),
            subagent_id: self.subagent_id.map(Arc::from),
            summary: summary.into(),
            shown: shown.into(),
            always: match kind {
                RequestKind::Permission => standing(self.suggestions, self.project.or(self.cwd)),
                _ => Vec::new(),
            },
            kind,
            tool: self.tool.into(),
            input: self.input.to_string().into(),
            suggestions: self.suggestions.to_string().into(),
            mode: self.mode.map(Arc::from),
            cwd: self.cwd.map(Arc::from),
            project: self.project.map(Arc::from),
            opened_at: self.opened_at,
            digest: Digest::of(self.payload),
            files: None,
            changed: Vec::new(),
            not_compared: Vec::new(),
        }
    }
}

/// Reads a request. `None` for any other event, and for bytes that are no payload. `project`: the agent's folder for project
/// settings, which the payload does not name.
pub fn read_request(
    id: RequestId,
    payload: &[u8],
    project: Option<&str>,
    opened_at: Timestamp,
) -> Option<Request> {
    // The parser refuses JSON nested deeper than 128 levels.
    let fields: Value = serde_json::from_slice(payload).ok()?;
    let text = |name: &str| fields.get(name)?.as_str().filter(|text| !text.is_empty());
    if text("hook_event_name")? != "PermissionRequest" {
        return None;
    }
    let asking = Asking {
        id,
        via: Via::Hook,
        session: text("session_id")?,
        subagent: text("agent_type").filter(|_| text("agent_id").is_some()),
        subagent_id: text("agent_id"),
        tool: text("tool_name")?,
        input: fields.get("tool_input").unwrap_or(&Value::Null),
        suggestions: fields.get("permission_suggestions").unwrap_or(&Value::Null),
        mode: text("permission_mode"),
        cwd: text("cwd"),
        project: project.filter(|folder| !folder.is_empty()),
        skill: skill_of(&fields),
        opened_at,
        payload,
    };
    Some(asking.request())
}

/// Which skill of which server a request is about: its name and server in the first line, then its version, its address, and what
/// the server says of it. `None` for any other request.
///
/// Source: `PermissionRequest` and `can_use_tool` of client 2.1.332. A server can replace a skill, and the version tells which one
/// is meant.
pub fn skill_of(asked: &Value) -> Option<String> {
    let word = |of: &Value, name: &str| {
        of.get(name)?.as_str().filter(|word| !word.is_empty()).map(|word| word.replace('\n', " "))
    };
    let skill = asked.get("mcp_skill").unwrap_or(&Value::Null);
    if word(asked, "tool_kind").as_deref() != Some("mcp_skill") && !skill.is_object() {
        return None;
    }
    let server = asked.get("mcp_server").and_then(|server| word(server, "name"));
    let name = word(skill, "name").unwrap_or_else(|| "without a name".to_owned());
    let server = server.unwrap_or_else(|| "without a name".to_owned());
    let rest = [("version", "version"), ("address", "uri"), ("the server says", "server_description")];
    let rest = rest.iter().filter_map(|(what, field)| Some(format!("\n{what}: {}", word(skill, field)?)));
    Some(format!("skill {name} of the MCP server {server}{}", rest.collect::<String>()))
}

/// Whether a hook process with this payload waits for an answer.
///
/// A subagent's does not: Claude Code opens its dialog only after the hook has ended (seen in 2.1.329), so a hook that waits
/// would hide it from the user.
pub fn waits_for_answer(agent: Agent, payload: &[u8]) -> bool {
    read_request(RequestId::new(""), payload, None, Timestamp::default()).is_some()
        && parse(agent, payload).is_ok_and(|event| event.agent_id.is_none())
}

/// The input as the user reads it: the command, the plan, or the JSON. Invisible characters are drawn.
fn shown(input: &Value, kind: &RequestKind) -> String {
    match (kind, main_text(input)) {
        (RequestKind::Plan(Some(plan)), _) => visible(plan),
        (_, Some(text)) => visible(text),
        _ => visible(&serde_json::to_string_pretty(input).unwrap_or_default()),
    }
}

/// The command, if nothing else in the input matters. `None` where other fields matter as well.
fn main_text(input: &Value) -> Option<&str> {
    let fields = input.as_object()?;
    let matters = |name: &&String| !matches!(name.as_str(), "command" | "description" | "timeout");
    if fields.keys().any(|name| matters(&name)) {
        return None;
    }
    fields.get("command")?.as_str()
}

fn kind_of(tool: &str, input: &Value) -> RequestKind {
    match tool {
        "AskUserQuestion" => questions(input).map_or(RequestKind::Unknown, RequestKind::Questions),
        "ExitPlanMode" if input.is_object() => {
            RequestKind::Plan(input.get("plan").and_then(Value::as_str).map(Arc::from))
        }
        "ExitPlanMode" => RequestKind::Unknown,
        // Nothing is shown, so nothing can be allowed.
        _ if has_no_command(tool, input) => RequestKind::Unknown,
        _ if input.is_object() => RequestKind::Permission,
        _ => RequestKind::Unknown,
    }
}

/// Whether a tool that runs a command names none.
fn has_no_command(tool: &str, input: &Value) -> bool {
    match input.get("command") {
        Some(Value::String(command)) => command.trim().is_empty(),
        Some(_) => false,
        None => tool == "Bash",
    }
}

/// `None` where any part is missing: half a question is never shown.
fn questions(input: &Value) -> Option<Vec<Question>> {
    let questions = input.get("questions")?.as_array()?.iter().map(question).collect::<Option<Vec<_>>>()?;
    let mut texts: Vec<_> = questions.iter().map(|question| &question.text).collect();
    texts.sort_unstable();
    texts.dedup();
    // The answers are named by the texts.
    (!questions.is_empty() && texts.len() == questions.len()).then_some(questions)
}

fn question(value: &Value) -> Option<Question> {
    let text = |value: &Value, name: &str| value.get(name)?.as_str().map(Arc::<str>::from);
    let option = |value: &Value| {
        Some(Choice { label: text(value, "label")?, description: text(value, "description") })
    };
    Some(Question {
        text: text(value, "question")?,
        header: text(value, "header"),
        options: value.get("options")?.as_array()?.iter().map(option).collect::<Option<_>>()?,
        several: value.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
    })
}

fn summary(tool: &str, input: &Value, kind: &RequestKind) -> String {
    let text = match kind {
        RequestKind::Questions(questions) => format!("asks: {}", questions[0].text),
        RequestKind::Plan(_) => "asks for approval of its plan".to_owned(),
        RequestKind::Permission | RequestKind::Unknown => {
            let about = ["command", "file_path", "notebook_path", "url", "query", "path"];
            match about.iter().find_map(|name| input.get(name)?.as_str()) {
                Some(about) => format!("{tool}: {about}"),
                None => tool.to_owned(),
            }
        }
    };
    visible_line(&text, SUMMARY)
}

/// The suggested rules. Empty if one of them cannot be shown whole: the user must see each rule before allowing it.
fn standing(suggestions: &Value, project: Option<&str>) -> Vec<SuggestedRule> {
    let Some(suggestions) = suggestions.as_array() else { return Vec::new() };
    suggestions
        .iter()
        .map(|suggestion| standing_of(suggestion, project))
        .collect::<Option<Vec<_>>>()
        .map_or_else(Vec::new, |rules| rules.into_iter().flatten().collect())
}

fn standing_of(suggestion: &Value, project: Option<&str>) -> Option<Vec<SuggestedRule>> {
    let word = |name: &str| suggestion.get(name)?.as_str();
    let project = project.unwrap_or(".");
    let place: Arc<str> = match word("destination")? {
        "session" => "this session".into(),
        "localSettings" => format!("{project}/.claude/settings.local.json").into(),
        "projectSettings" => format!("{project}/.claude/settings.json").into(),
        "userSettings" => "the user settings of Claude Code".into(),
        _ => return None,
    };
    let rules = match word("type")? {
        "addRules" if word("behavior") == Some("allow") => {
            suggestion.get("rules")?.as_array()?.iter().map(rule_text).collect::<Option<Vec<_>>>()?
        }
        "addDirectories" => suggestion
            .get("directories")?
            .as_array()?
            .iter()
            .map(|folder| Some(format!("work in {}", folder.as_str()?)))
            .collect::<Option<Vec<_>>>()?,
        "setMode" => vec![format!("permission mode {}", word("mode")?)],
        _ => return None,
    };
    let standing = |rule: String| SuggestedRule { rule: visible(&rule).into(), place: Arc::clone(&place) };
    Some(rules.into_iter().map(standing).collect())
}

fn rule_text(rule: &Value) -> Option<String> {
    let tool = rule.get("toolName")?.as_str()?;
    match rule.get("ruleContent") {
        None => Some(tool.to_owned()),
        Some(content) => Some(format!("{tool}({})", content.as_str()?)),
    }
}

#[cfg(test)]
mod tests;
