//! One request of a client, read from the payload of its `PermissionRequest` hook.
//!
//! Source of the shapes: hook payloads recorded from client 2.1.329.

use std::sync::Arc;

use serde_json::Value;

use crate::ids::{SessionId, stable_hash};
use crate::nesting::{Nesting, nesting};
use crate::time::Timestamp;

use super::visible::{visible, visible_line};

/// The longest summary, in characters.
const SUMMARY: usize = 200;

/// Names one request. The waiting hook process makes it, so it is never used again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Takes the id as its maker wrote it.
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A hash of everything that a request shows. An answer repeats it, so a changed card cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(pub u64);

/// What a request wants from the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestKind {
    /// Permission to use a tool.
    Permission,
    /// Answers to questions, at least one.
    Questions(Vec<Question>),
    /// A verdict on a plan. `None`: the client sent no text.
    Plan(Option<Arc<str>>),
    /// The payload has a shape that this version does not know. Only the terminal can answer it.
    Unknown,
}

/// One question with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The whole question. The client names the answer by it.
    pub text: Arc<str>,
    /// A short heading.
    pub header: Option<Arc<str>>,
    /// The options, in the client's order.
    pub options: Vec<Choice>,
    /// Several options may be chosen.
    pub several: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What the client gets as the answer.
    pub label: Arc<str>,
    /// What it means.
    pub description: Option<Arc<str>>,
}

/// What "allow always" would change, as the client suggests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The rule in the client's notation: `Bash(npm run *)`.
    pub rule: Arc<str>,
    /// Where the client writes it, in words.
    pub place: Arc<str>,
}

/// One open request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// The session whose turn waits.
    pub session: SessionId,
    /// The type of the subagent that asks; `None` for the session's own turn.
    pub subagent: Option<Arc<str>>,
    /// `agent_id` of that subagent.
    pub subagent_id: Option<Arc<str>>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The tool's input, JSON as the client wrote it.
    pub input: Arc<Value>,
    /// The request in one line, with invisible characters drawn.
    pub summary: Arc<str>,
    /// What is wanted.
    pub kind: RequestKind,
    /// The rules of "allow always"; empty where the client suggests none.
    pub always: Vec<Standing>,
    /// `permission_suggestions` as the client wrote it. "Allow always" echoes it.
    pub suggestions: Arc<Value>,
    /// The permission mode of the session.
    pub mode: Option<Arc<str>>,
    /// The client's folder at that moment.
    pub cwd: Option<Arc<str>>,
    /// When the hook process started.
    pub opened_at: Timestamp,
    /// The hash of the payload.
    pub digest: Digest,
}

impl Request {
    /// Reads a request. `None` for any other event, and for bytes that are no payload.
    pub fn from_payload(id: RequestId, payload: &[u8], opened_at: Timestamp) -> Option<Self> {
        if nesting(payload) != Nesting::Closed {
            return None;
        }
        let fields: Value = serde_json::from_slice(payload).ok()?;
        let text =
            |name: &str| fields.get(name)?.as_str().filter(|text| !text.is_empty()).map(Arc::<str>::from);
        if text("hook_event_name")?.as_ref() != "PermissionRequest" {
            return None;
        }
        let tool = text("tool_name")?;
        let input = fields.get("tool_input").cloned().unwrap_or(Value::Null);
        let suggestions = fields.get("permission_suggestions").cloned().unwrap_or(Value::Null);
        let cwd = text("cwd");
        let kind = kind_of(&tool, &input);
        Some(Self {
            id,
            session: SessionId::new(&text("session_id")?),
            subagent: text("agent_type").filter(|_| text("agent_id").is_some()),
            subagent_id: text("agent_id"),
            summary: summary(&tool, &input, &kind).into(),
            always: match kind {
                RequestKind::Permission => standing(&suggestions, cwd.as_deref()),
                _ => Vec::new(),
            },
            kind,
            tool,
            input: Arc::new(input),
            suggestions: Arc::new(suggestions),
            mode: text("permission_mode"),
            cwd,
            opened_at,
            digest: Digest(stable_hash(payload)),
        })
    }

    /// The input as the user reads it: the command, the plan, or the JSON. Invisible characters are drawn.
    pub fn shown_input(&self) -> String {
        match (&self.kind, main_text(&self.input)) {
            (RequestKind::Plan(Some(plan)), _) => visible(plan),
            (_, Some(text)) => visible(text),
            _ => visible(&serde_json::to_string_pretty(&*self.input).unwrap_or_default()),
        }
    }
}

/// The one text that the whole input stands for. `None` where other fields matter as well.
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
        _ if input.is_object() => RequestKind::Permission,
        _ => RequestKind::Unknown,
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
        RequestKind::Plan(_) => "wants a verdict on its plan".to_owned(),
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

/// The suggested rules. Empty where one of them cannot be told whole: nobody allows a rule unseen.
fn standing(suggestions: &Value, cwd: Option<&str>) -> Vec<Standing> {
    let Some(suggestions) = suggestions.as_array() else { return Vec::new() };
    suggestions
        .iter()
        .map(|suggestion| standing_of(suggestion, cwd))
        .collect::<Option<Vec<_>>>()
        .map_or_else(Vec::new, |rules| rules.into_iter().flatten().collect())
}

fn standing_of(suggestion: &Value, cwd: Option<&str>) -> Option<Vec<Standing>> {
    let word = |name: &str| suggestion.get(name)?.as_str();
    let cwd = cwd.unwrap_or(".");
    let place: Arc<str> = match word("destination")? {
        "session" => "this session".into(),
        "localSettings" => format!("{cwd}/.claude/settings.local.json").into(),
        "projectSettings" => format!("{cwd}/.claude/settings.json").into(),
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
    let standing = |rule: String| Standing { rule: visible(&rule).into(), place: Arc::clone(&place) };
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
