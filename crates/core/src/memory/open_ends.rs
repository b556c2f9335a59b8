//! What a session left open: to-dos, the last failing check, a question, and what the last answer says is still to come.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::plain::{cut, squeezed};
use super::signals::{SessionRows, command_of, is_to_do};
use crate::history::rows::{Activity, BatchOrigin, BatchStatus, CallOutcome};

/// The most open ends.
const MAX_ITEMS: usize = 6;
/// Longest open end, in characters.
const LONGEST: usize = 120;

/// Words in the line above a list of what is still to come.
const OPEN_LEADS: &[&str] = &[
    "what is left",
    "what's left",
    "left to do",
    "next step",
    "what is next",
    "what's next",
    "remaining",
    "remains",
    "todo",
    "to-do",
    "open question",
    "open point",
    "open issue",
    "open end",
    "still open",
    "still missing",
    "still to",
    "not done",
    "not yet",
    "pending",
    "follow-up",
    "follow up",
    "unfinished",
];
/// A line or sentence with one of these says that nothing is open, or is about the past.
const CLOSED: &[&str] = &[
    "nothing",
    "no remaining",
    "all remaining",
    "no longer",
    "no need",
    "don't need",
    "do not need",
    "doesn't need",
    "none ",
    "is gone",
    "so i ",
    "let me know",
    "if you have",
    "completed",
];
/// A sentence that begins so is about what comes.
const OPEN_STARTS: &[&str] = &[
    "next,",
    "next:",
    "next i ",
    "next step",
    "remaining:",
    "todo:",
    "to do:",
    "left:",
    "open:",
    "follow-up:",
    "please ",
    "you should ",
    "you must ",
    "once you ",
    "before merging",
    "before deploying",
    "before releasing",
];
/// A sentence with one of these is about what comes.
const OPEN_WORDS: &[&str] = &[
    "still need ",
    "still needs ",
    "still have to ",
    "still has to ",
    "still must ",
    "still to be ",
    "still missing",
    "still fail",
    "remains to ",
    "remain to ",
    "left to do",
    "is left",
    "are left",
    "not yet ",
    "as a follow-up",
    "needs to be ",
    "need to be ",
    "someone needs to ",
    "you need to ",
    "you'll need to ",
    "you will need to ",
    "you have to ",
    "i'll ",
    "i will ",
];
/// Questions that only close an answer.
const POLITE: &[&str] = &["anything else", "is there anything", "make sense?"];

/// The open ends, each once: to-dos, the last failing check, what the last answer says, the last unfinished turn.
pub fn open_ends(rows: &SessionRows) -> Vec<String> {
    let mut ends = to_dos(&rows.calls);
    ends.extend(failing_check(&rows.calls));
    let newest =
        rows.batches.iter().enumerate().rev().find_map(|(at, batch)| Some((at, batch.response.as_ref()?)));
    if let Some((at, (_, answer))) = newest {
        let is_request = |origin: Option<BatchOrigin>| origin.is_none_or(BatchOrigin::is_request);
        let answered = rows.batches[at + 1..].iter().any(|batch| is_request(batch.origin));
        ends.extend(said(answer, !answered));
    }
    if let Some(batch) = rows.batches.last()
        && !batch.private
        && let (Some(prompt), Some(ended)) = (&batch.prompt, &batch.ended)
        && matches!(ended.status, BatchStatus::Interrupted | BatchStatus::Failed)
    {
        ends.push(format!("unfinished: {prompt}"));
    }
    let mut told: Vec<String> = Vec::new();
    for end in ends.iter().map(|end| cut(&squeezed(end), LONGEST)).filter(|end| !end.is_empty()) {
        if !told.contains(&end) && told.len() < MAX_ITEMS {
            told.push(end);
        }
    }
    told
}

/// What a call says about to-dos.
#[derive(Deserialize, Default)]
struct ToDos {
    #[serde(default)]
    todos: Vec<ToDo>,
    #[serde(default, rename = "taskId")]
    task: String,
    #[serde(default)]
    status: String,
}

#[derive(Deserialize)]
struct ToDo {
    #[serde(default)]
    content: String,
    #[serde(default)]
    status: String,
}

/// The open to-dos: those of the newest list, and tasks. The agent numbers its tasks from 1 (Claude Code 2.1.329).
fn to_dos(calls: &[Activity]) -> Vec<String> {
    let (mut list, mut tasks) = (Vec::new(), Vec::new());
    for call in calls.iter().filter(|call| is_to_do(call) && call.outcome == Some(CallOutcome::Ok)) {
        // A long input is stored cut, and says nothing.
        let input = call
            .input
            .as_deref()
            .and_then(|input| sonic_rs::from_str::<ToDos>(input).ok())
            .unwrap_or_default();
        let is_closed = |status: &str| matches!(status, "completed" | "deleted");
        match call.tool.as_deref() {
            Some("TodoWrite") => {
                list = input
                    .todos
                    .into_iter()
                    .filter(|one| !is_closed(&one.status))
                    .map(|one| one.content)
                    .collect();
            }
            Some("TaskCreate") => tasks.push(call.target.clone().unwrap_or_default()),
            _ => {
                let number = input.task.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                if let (Some(task), true) =
                    (number.and_then(|number| tasks.get_mut(number)), is_closed(&input.status))
                {
                    task.clear();
                }
            }
        }
    }
    list.extend(tasks);
    list
}

/// Whether a command tests, checks or builds.
pub(super) fn is_check(command: &str) -> bool {
    ["test", "check", "build", "lint"].iter().any(|word| command.contains(word))
}

/// The newest check that failed, unless one of its kind passed later. The kind is the first two words of the command.
fn failing_check(calls: &[Activity]) -> Option<String> {
    let mut newest: BTreeMap<Vec<&str>, (usize, Option<String>)> = BTreeMap::new();
    for (at, call) in calls.iter().enumerate() {
        let Some(command) = command_of(call).filter(|command| is_check(command)) else { continue };
        let failed = match call.outcome {
            Some(CallOutcome::Ok) => None,
            Some(CallOutcome::Error) if !super::secrets::has_secret(command) => {
                let error = call.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
                Some(format!("`{}` fails{error}", cut(command, 60)))
            }
            _ => continue,
        };
        newest.insert(command.split_whitespace().take(2).collect(), (at, failed));
    }
    newest.into_values().filter_map(|(at, failed)| Some((at, failed?))).max().map(|(_, failed)| failed)
}

/// What an answer says is open: points of a list of open things, unchecked boxes, sentences about what comes, and the question at
/// its end, if it is `unanswered`.
fn said(answer: &str, unanswered: bool) -> Vec<String> {
    let answer = answer.replace('’', "'");
    let (mut ends, mut in_code, mut in_open_list, mut last) = (Vec::new(), false, false, "");
    for line in answer.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.starts_with("```") {
            (in_code, last) = (!in_code, "");
            continue;
        }
        if in_code {
            continue;
        }
        let is_heading =
            line.starts_with('#') || line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
        if let Some(point) = point(line) {
            match point.strip_prefix("[ ]") {
                Some(open) => ends.push(open.to_owned()),
                None if in_open_list && !point.starts_with("[x]") && !point.ends_with("(done)") => {
                    ends.push(point.to_owned())
                }
                None => {}
            }
            last = "";
        } else if is_heading || line.ends_with(':') {
            let lead = sentences(line).pop().unwrap_or(line).to_lowercase();
            let is_whole = matches!(lead.trim_matches(['#', '*', ':', ' ']), "to do" | "next");
            in_open_list = (is_whole || has(&lead, OPEN_LEADS)) && !has(&lead, CLOSED);
            last = "";
        } else {
            in_open_list = false;
            ends.extend(
                sentences(line)
                    .into_iter()
                    .filter(|sentence| is_about_what_comes(sentence))
                    .map(str::to_owned),
            );
            last = line;
        }
    }
    let question = sentences(last)
        .pop()
        .filter(|sentence| sentence.ends_with('?') && !has(&sentence.to_lowercase(), POLITE));
    ends.extend(question.filter(|_| unanswered).map(str::to_owned));
    ends
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The text of a point of a list.
fn point(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet));
    let numbered =
        || line.split_once(['.', ')']).filter(|(n, _)| n.parse::<u8>().is_ok()).map(|(_, point)| point);
    bullet.or_else(numbered).map(str::trim)
}

/// The sentences of a line.
fn sentences(line: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut from = 0;
    for (at, _) in line.match_indices(['.', '!', '?']) {
        if line[at + 1..].starts_with(' ') {
            all.push(line[from..=at].trim());
            from = at + 1;
        }
    }
    all.push(line[from..].trim());
    all.retain(|sentence| !sentence.is_empty());
    all
}

fn is_about_what_comes(sentence: &str) -> bool {
    // What the answer quotes is not about this work.
    let own: String = sentence.split('"').step_by(2).collect::<String>().to_lowercase();
    let open = OPEN_STARTS.iter().any(|start| own.starts_with(start)) || has(&own, OPEN_WORDS);
    let not_yet = own.trim_end_matches(['.', '!']).ends_with(" yet") && has(&own, &[" not ", "n't "]);
    (open || not_yet) && !has(&own, CLOSED) && !own.ends_with('?')
}
