//! The check of a reply. What does not fit the question is refused: one finding at a time, a summary as a whole.

use sonic_rs::{JsonContainerTrait, JsonValueTrait, Value};

use super::{Job, MOST_FINDINGS, SYSTEM};
use crate::memory::kind::{Importance, MemoryKind};
use crate::memory::likeness::likeness;
use crate::memory::plain::{cut, is_order, is_suspect, plain_line, squeezed};
use crate::memory::secrets::has_secret;
use crate::memory::signals::{FindingParts, SessionRows, Signal, Turns};
use crate::memory::summary::{FIELD, Summary};
use crate::nesting::{Nesting, nesting};

/// The most bytes of a reply that are looked at, from its end.
const LONGEST_REPLY: usize = 8 << 10;
/// A finding of fewer words says nothing later.
const LEAST_WORDS: usize = 4;
/// From this likeness on, a text repeats another one.
const ALIKE: f64 = 0.6;

/// The fields of a reply about a session.
pub(super) const FIELDS: [&str; 6] =
    ["title", "request", "investigated", "learned", "completed", "next_steps"];
/// Longest title, in characters.
pub(super) const TITLE: usize = 60;
/// The most words of a field.
const WORDS: usize = 60;

/// Why a finding, or a whole reply, is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refused {
    /// There is no JSON object with a list of findings.
    NoJson,
    /// A field is missing or has another value than the schema allows.
    OtherForm,
    /// It names a file that the turn does not have.
    InventedFile,
    /// It names an activity that the turn does not have.
    InventedEvidence,
    /// It may hold a secret.
    Secret,
    /// It says too little.
    Short,
    /// It repeats the instruction, another finding, or what the agent was told.
    Repeated,
    /// One more than was asked for.
    TooMany,
}

impl Refused {
    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoJson => "the reply has no JSON of the form that was asked for",
            Self::OtherForm => "a field has another form",
            Self::InventedFile => "names a file that the turn does not have",
            Self::InventedEvidence => "names an activity that the turn does not have",
            Self::Secret => "may hold a secret",
            Self::Short => "says too little",
            Self::Repeated => "repeats what was said before",
            Self::TooMany => "is one more than was asked for",
        }
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checked {
    /// The findings. Each is a proposal.
    pub found: Vec<Signal>,
    /// What was refused.
    pub refused: Vec<Refused>,
}

/// Checks a reply to the question about a turn of these rows. `told` are the lines that the agent of the session was told: a model
/// must not learn them again.
pub fn check(project: u64, rows: &SessionRows, job: &Job, reply: &str, told: &[String]) -> Checked {
    let mut checked = Checked::default();
    let Some(list) = findings(reply) else {
        checked.refused.push(Refused::NoJson);
        return checked;
    };
    for (n, value) in list.as_array().into_iter().flatten().enumerate() {
        let finding =
            if n < MOST_FINDINGS { finding(project, rows, job, value) } else { Err(Refused::TooMany) };
        match finding {
            Ok(signal) => {
                let before = checked.found.iter().map(|known| &*known.text);
                let known = before.chain(told.iter().map(String::as_str)).chain(SYSTEM.split(". "));
                if known.into_iter().any(|known| likeness(known, &signal.text) >= ALIKE) {
                    checked.refused.push(Refused::Repeated);
                } else {
                    checked.found.push(signal);
                }
            }
            Err(refused) => checked.refused.push(refused),
        }
        if n >= MOST_FINDINGS {
            break;
        }
    }
    checked.found.sort_by_key(|signal| signal.id);
    checked
}

/// The title and the summary in a reply to the question about a session. A line that may steer its reader is left empty: agents see
/// these lines too.
///
/// # Errors
/// When the reply has another form, may hold a secret, or says nothing.
pub fn check_summary(reply: &str) -> Result<(String, Summary), Refused> {
    let is_summary = |object: &Value| object.get("title").is_some().then(|| object.clone());
    let object = last_object(reply, is_summary).ok_or(Refused::NoJson)?;
    let field = |name: &str| {
        let told = object.get(name).and_then(|field| field.as_str()).ok_or(Refused::OtherForm)?;
        let line = squeezed(told);
        if has_secret(told) || has_secret(&line) {
            return Err(Refused::Secret);
        }
        let line = line.split(' ').take(WORDS).collect::<Vec<_>>().join(" ");
        // `is_order` would refuse most lines: they name work as an order does.
        let is_told = line.chars().any(char::is_alphanumeric) && !is_suspect(&line);
        Ok(if is_told { cut(&line, FIELD) } else { String::new() })
    };
    let [title, request, investigated, learned, completed, next_steps] = FIELDS.map(field);
    let title = title?.trim_matches(['"', '\'', '.', ' ']).to_owned();
    let list = |text: String| if text.is_empty() { Vec::new() } else { vec![text] };
    let summary = Summary {
        request: request?,
        investigated: investigated?,
        learned: list(learned?),
        completed: completed?,
        next_steps: list(next_steps?),
    };
    if summary == Summary::default() {
        return Err(Refused::Short);
    }
    Ok((cut(&title, TITLE), summary))
}

fn finding(project: u64, rows: &SessionRows, job: &Job, value: &Value) -> Result<Signal, Refused> {
    let word = |name: &str| value.get(name).and_then(|field| field.as_str()).ok_or(Refused::OtherForm);
    let kind = word("type")?;
    let kind =
        MemoryKind::OF_MODEL.into_iter().find(|known| known.as_str() == kind).ok_or(Refused::OtherForm)?;
    let importance = match word("importance")? {
        "high" if !job.is_investigation => Importance::High,
        "high" | "medium" => Importance::Medium,
        _ => return Err(Refused::OtherForm),
    };
    let path = match word("file")? {
        "" => None,
        file => Some(job.files.iter().find(|known| *known == file).ok_or(Refused::InventedFile)?.clone()),
    };
    let evidence = value.get("evidence").and_then(|field| field.as_array()).ok_or(Refused::OtherForm)?;
    let mut labels = Vec::new();
    for name in evidence.iter() {
        let name = name.as_str().ok_or(Refused::OtherForm)?;
        let at = job.labels.iter().position(|label| label.name == name).ok_or(Refused::InventedEvidence)?;
        labels.push(at);
    }
    labels.sort_unstable();
    labels.dedup();
    let first = *labels.first().ok_or(Refused::OtherForm)?;
    let told = word("text")?;
    if has_secret(told) {
        return Err(Refused::Secret);
    }
    let text = plain_line(told);
    if text.split(' ').count() < LEAST_WORDS {
        return Err(Refused::Short);
    }
    if text.split(' ').any(|word| is_invented_path(word, job)) {
        return Err(Refused::InventedFile);
    }
    let turn = Turns::of(rows).turn(&job.batch).ok_or(Refused::InventedEvidence)?;
    let suspect = is_suspect(&text) || is_order(&text) || turn.has_foreign_text();
    let parts = FindingParts {
        path,
        importance,
        suspect,
        byte: job.labels[first].byte.or(turn.batch.offset),
        ..FindingParts::new(kind, text, turn.batch)
    };
    let signal = parts.signal(project).ok_or(Refused::Secret)?;
    Ok(Signal { times: labels.len() as u64, ..signal })
}

/// Whether a word looks like a path and the question does not have it.
fn is_invented_path(word: &str, job: &Job) -> bool {
    let path = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_path = path.contains('/')
        && !path.contains("//")
        && name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && (1..=5).contains(&end.len()));
    is_path && !job.user.contains(path)
}

/// The list of findings in the last JSON object of a reply.
fn findings(reply: &str) -> Option<Value> {
    last_object(reply, |object| object.get("memories").filter(|list| list.is_array()).cloned())
}

/// What is wanted of the last JSON object of a reply that has it.
fn last_object(reply: &str, wanted: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let reply = &reply[reply.ceil_char_boundary(reply.len().saturating_sub(LONGEST_REPLY))..];
    // Thoughts come first. Some servers leave their opening tag out, and a cut reply lacks the closing one.
    let reply = reply.rsplit_once("</think>").map_or(reply, |(_, rest)| rest);
    let reply = reply.split_once("<think>").map_or(reply, |(before, _)| before);
    let (mut from, mut last) = (0, None);
    while let Some(begin) = reply[from..].find('{').map(|at| from + at) {
        from = match object_end(&reply[begin..]) {
            Some(len) => {
                let text = &reply[begin..begin + len];
                let is_flat = nesting(text.as_bytes()) == Nesting::Closed;
                let object = is_flat.then(|| sonic_rs::from_str::<Value>(text).ok()).flatten();
                let found = object.as_ref().and_then(&wanted);
                let is_found = found.is_some();
                last = found.or(last);
                if is_found { begin + len } else { begin + 1 }
            }
            None => begin + 1,
        };
    }
    last
}

/// The length of the JSON object with which a text begins, if its brackets close.
fn object_end(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && byte == b'}' && !in_string {
            return Some(at + 1);
        }
    }
    None
}
