//! What the user decides, checked against the request, in the client's words.
//!
//! Source of the words: `hookSpecificOutput` of the `PermissionRequest` hook as client 2.1.329 takes it. Questions and plans
//! count only with `updatedInput`.

use serde_json::{Map, Value, json};

use super::request::{Question, Request, RequestKind};

/// What the user decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Runs the tool this once. For a plan: go on, ask before each edit.
    Allow,
    /// Runs the tool and adds the suggested rules. For a plan: go on, accept edits.
    AllowAlways,
    /// Does not run the tool. The turn goes on, and the model reads the reason.
    Deny(String),
    /// Does not run the tool, and ends the turn. The client drops a reason.
    DenyAndStop,
    /// One answer for each question, in the order of the questions.
    Choose(Vec<Chosen>),
}

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// Options by their place, from 0.
    Options(Vec<usize>),
    /// The user's own words.
    Text(String),
}

/// Why a decision does not fit its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A question has no Allow.
    #[error("it is a question: choose an option (--choose N) or answer with --text")]
    WantsChoice,
    /// Nothing to choose from.
    #[error("it is no question: allow or deny it")]
    NoQuestion,
    /// Too few or too many answers.
    #[error("each of its questions needs one answer")]
    Count,
    /// No option of this number.
    #[error("it has no option of that number")]
    NoOption,
    /// Several options of a question that takes one.
    #[error("the question takes one option only")]
    OneOnly,
    /// An empty answer.
    #[error("the answer is empty")]
    Empty,
    /// No rule is suggested.
    #[error("the client suggests no rule for this request: allow it once")]
    NoRule,
    /// A shape that this version does not know.
    #[error("this version of Watchbill does not know this kind of request: answer in the terminal")]
    Unknown,
}

impl Decision {
    /// The decision as the hook prints it.
    ///
    /// # Errors
    /// When it does not fit the request.
    pub fn hook_output(&self, request: &Request) -> Result<String, Mismatch> {
        let decision = self.in_words_of_client(request)?;
        let output = json!({
            "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision }
        });
        Ok(output.to_string())
    }

    fn in_words_of_client(&self, request: &Request) -> Result<Value, Mismatch> {
        let denied = |reason: &str| json!({ "behavior": "deny", "message": reason });
        Ok(match (self, &request.kind) {
            (_, RequestKind::Unknown) => return Err(Mismatch::Unknown),
            (Self::Deny(reason), _) if reason.trim().is_empty() => denied("The user denied this request."),
            (Self::Deny(reason), _) => denied(reason),
            (Self::DenyAndStop, _) => {
                json!({ "behavior": "deny", "message": "The user stopped the turn.", "interrupt": true })
            }
            (Self::Choose(chosen), RequestKind::Questions(questions)) => {
                json!({ "behavior": "allow", "updatedInput": with_answers(request, questions, chosen)? })
            }
            (Self::Choose(_), _) => return Err(Mismatch::NoQuestion),
            (_, RequestKind::Questions(_)) => return Err(Mismatch::WantsChoice),
            (_, RequestKind::Plan(_)) => json!({
                "behavior": "allow",
                "updatedInput": &*request.input,
                "updatedPermissions": [{ "type": "setMode", "mode": self.mode_after(), "destination": "session" }],
            }),
            (Self::Allow, RequestKind::Permission) => json!({ "behavior": "allow" }),
            (Self::AllowAlways, RequestKind::Permission) if request.always.is_empty() => {
                return Err(Mismatch::NoRule);
            }
            (Self::AllowAlways, RequestKind::Permission) => {
                json!({ "behavior": "allow", "updatedPermissions": &*request.suggestions })
            }
        })
    }

    /// The permission mode after a plan is approved.
    fn mode_after(&self) -> &'static str {
        if *self == Self::AllowAlways { "acceptEdits" } else { "default" }
    }

    /// The decision in words, for the list of answers.
    pub fn in_words(&self, request: &Request) -> String {
        let is_plan = matches!(request.kind, RequestKind::Plan(_));
        match self {
            Self::Allow if is_plan => "approved the plan; each edit is asked".to_owned(),
            Self::AllowAlways if is_plan => "approved the plan; edits are accepted".to_owned(),
            Self::Allow => "allowed once".to_owned(),
            Self::AllowAlways => {
                let rules: Vec<_> =
                    request.always.iter().map(|rule| format!("{} in {}", rule.rule, rule.place)).collect();
                format!("allowed always: {}", rules.join(", "))
            }
            Self::Deny(reason) if reason.trim().is_empty() => "denied".to_owned(),
            Self::Deny(reason) => format!("denied: {reason}"),
            Self::DenyAndStop => "denied, and the turn stopped".to_owned(),
            Self::Choose(chosen) => match &request.kind {
                RequestKind::Questions(questions) => {
                    let answers = questions.iter().zip(chosen);
                    let answers: Vec<_> =
                        answers.filter_map(|(question, chosen)| answer(question, chosen).ok()).collect();
                    format!("answered: {}", answers.join("; "))
                }
                _ => "answered".to_owned(),
            },
        }
    }
}

fn with_answers(request: &Request, questions: &[Question], chosen: &[Chosen]) -> Result<Value, Mismatch> {
    if questions.len() != chosen.len() {
        return Err(Mismatch::Count);
    }
    let mut answers = Map::new();
    for (question, chosen) in questions.iter().zip(chosen) {
        answers.insert(question.text.to_string(), Value::String(answer(question, chosen)?));
    }
    let mut input = (*request.input).clone();
    let fields = input.as_object_mut().ok_or(Mismatch::Unknown)?;
    fields.insert("answers".to_owned(), Value::Object(answers));
    Ok(input)
}

/// The answer as the client takes it: labels joined by `, `, or the text.
fn answer(question: &Question, chosen: &Chosen) -> Result<String, Mismatch> {
    match chosen {
        Chosen::Text(text) if text.trim().is_empty() => Err(Mismatch::Empty),
        Chosen::Text(text) => Ok(text.clone()),
        Chosen::Options(places) if places.is_empty() => Err(Mismatch::Empty),
        Chosen::Options(places) if places.len() > 1 && !question.several => Err(Mismatch::OneOnly),
        Chosen::Options(places) => {
            let label = |place: &usize| question.options.get(*place).map(|option| &*option.label);
            let labels: Option<Vec<&str>> = places.iter().map(label).collect();
            Ok(labels.ok_or(Mismatch::NoOption)?.join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
