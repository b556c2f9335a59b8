//! What a session left open: to-dos, the last failing check, a question, and what the last answer says is still to come.

use serde::{Deserialize, Serialize};

use super::plain::{cut, squeezed};
use super::signals::{SessionRows, Turn, Turns, command_of, is_to_do};
use crate::history::rows::{Activity, BatchOrigin, BatchStatus, CallOutcome};

/// The most open ends.
const MAX_ITEMS: usize = 6;
/// The most tasks of a session. Those after them are not told.
const MOST_TASKS: usize = 200;
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

/// What the turns so far left open. Its size has a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenEnds {
    /// The open to-dos of the newest list.
    list: Vec<String>,
    /// The tasks by number, from 1. A closed one is empty.
    tasks: Vec<String>,
    /// Checks that failed and did not pass since, by their kinds. The newest is the last one.
    failing: Vec<(String, String)>,
    /// What the last answer says is still to come.
    said: Vec<String>,
    /// The question at its end, while nothing was asked since.
    question: Option<String>,
    /// The request of the last turn, if that did not finish.
    unfinished: Option<String>,
}

/// The open ends of these rows.
pub fn open_ends(rows: &SessionRows) -> Vec<String> {
    let mut open = OpenEnds::default();
    Turns::of(rows).all().for_each(|turn| open.follow(&turn));
    open.told()
}

impl OpenEnds {
    /// Takes in a turn that follows those so far.
    pub(super) fn follow(&mut self, turn: &Turn<'_>) {
        let batch = turn.batch;
        if batch.origin.is_none_or(BatchOrigin::is_request) {
            self.question = None;
        }
        turn.own_calls().for_each(|call| self.take_to_dos(call));
        turn.calls.iter().for_each(|call| self.take_check(call));
        if let Some((_, answer)) = &batch.response {
            (self.said, self.question) = said(answer);
        }
        let stopped = batch
            .ended
            .as_ref()
            .is_some_and(|ended| matches!(ended.status, BatchStatus::Interrupted | BatchStatus::Failed));
        let prompt = batch.prompt.as_ref().filter(|_| stopped && !batch.private);
        self.unfinished = prompt.map(|prompt| shortened(&format!("unfinished: {prompt}")));
    }

    /// The open ends, each once: to-dos, the last failing check, what the last answer says, the last turn if it did not finish.
    pub(super) fn told(&self) -> Vec<String> {
        let failing = self.failing.last().map(|(_, failing)| failing);
        let ends = self.list.iter().chain(&self.tasks).chain(failing).chain(&self.said);
        let mut told: Vec<String> = Vec::new();
        for end in ends.chain(&self.question).chain(&self.unfinished).filter(|end| !end.is_empty()) {
            if !told.contains(end) && told.len() < MAX_ITEMS {
                told.push(end.clone());
            }
        }
        told
    }

    /// Takes in a call that keeps to-dos. The agent numbers its tasks from 1 (Claude Code 2.1.329).
    fn take_to_dos(&mut self, call: &Activity) {
        if !is_to_do(call) || call.outcome != Some(CallOutcome::Ok) {
            return;
        }
        // A long input is stored cut, and says nothing.
        let input = call.input.as_deref().and_then(|input| sonic_rs::from_str::<ToDos>(input).ok());
        let input = input.unwrap_or_default();
        let is_closed = |status: &str| matches!(status, "completed" | "deleted");
        match call.tool.as_deref() {
            Some("TodoWrite") => {
                let open = input.todos.iter().filter(|one| !is_closed(&one.status));
                self.list = open.map(|one| shortened(&one.content)).take(MAX_ITEMS).collect();
            }
            Some("TaskCreate") if self.tasks.len() < MOST_TASKS => {
                self.tasks.push(shortened(call.target.as_deref().unwrap_or_default()));
            }
            _ => {
                let number = input.task.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let task = number.and_then(|number| self.tasks.get_mut(number));
                if let Some(task) = task.filter(|_| is_closed(&input.status)) {
                    task.clear();
                }
            }
        }
    }

    /// Takes in a call that may be a check. The kind of a check is the first two words of its command.
    fn take_check(&mut self, call: &Activity) {
        let Some(command) = command_of(call).filter(|command| is_check(command)) else { return };
        let kind = cut(&command.split_whitespace().take(2).collect::<Vec<_>>().join(" "), LONGEST);
        let failing = match call.outcome {
            Some(CallOutcome::Ok) => None,
            Some(CallOutcome::Error) if !super::secrets::has_secret(command) => {
                let error = call.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
                Some(shortened(&format!("`{}` fails{error}", cut(command, 60))))
            }
            _ => return,
        };
        self.failing.retain(|(known, _)| *known != kind);
        self.failing.extend(failing.map(|failing| (kind, failing)));
        if self.failing.len() > MAX_ITEMS {
            self.failing.remove(0);
        }
    }
}

fn shortened(end: &str) -> String {
    cut(&squeezed(end), LONGEST)
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

/// Whether a command tests, checks or builds.
pub(super) fn is_check(command: &str) -> bool {
    ["test", "check", "build", "lint"].iter().any(|word| command.contains(word))
}

/// What an answer says is open: points of a list of open things, unchecked boxes, sentences about what comes; and the question at
/// its end.
fn said(answer: &str) -> (Vec<String>, Option<String>) {
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
    let ends = ends.iter().map(|end| shortened(end)).filter(|end| !end.is_empty()).take(MAX_ITEMS).collect();
    (ends, question.map(shortened))
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
