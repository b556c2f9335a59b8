//! The user's decision, checked against the request.

use super::request::{Question, Request, RequestKind};

/// The user's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Runs the tool this once. For a plan: go on, ask before each edit.
    Allow,
    /// Runs the tool and adds the suggested rules. For a plan: go on, accept edits.
    AllowAlways,
    /// Does not run the tool. The turn goes on, and the model reads the reason.
    Deny(String),
    /// Does not run the tool, and ends the turn. The agent drops a reason.
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
    /// The agent's hook neither stops the turn nor adds rules.
    #[error(
        "the agent takes only \"allow once\" or \"deny\" from here: choose one, or answer in the terminal"
    )]
    OnlyOnce,
    /// A shape that this version does not know.
    #[error("this version of Watchbill does not know this kind of request: answer in the terminal")]
    Unknown,
}

impl Decision {
    /// Whether it fits the request.
    ///
    /// # Errors
    /// When it does not.
    pub fn check(&self, request: &Request) -> Result<(), Mismatch> {
        match (self, &request.kind) {
            (_, RequestKind::Unknown) => Err(Mismatch::Unknown),
            (Self::Choose(chosen), RequestKind::Questions(questions)) => answers(questions, chosen).map(drop),
            (Self::Choose(_), _) => Err(Mismatch::NoQuestion),
            (Self::Allow | Self::AllowAlways, RequestKind::Questions(_)) => Err(Mismatch::WantsChoice),
            (Self::AllowAlways, RequestKind::Permission) if request.always.is_empty() => {
                Err(Mismatch::NoRule)
            }
            _ => Ok(()),
        }
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

/// The answers as the agent takes them, each with the text of its question.
///
/// # Errors
/// When a question has no fitting answer.
pub fn answers<'q>(questions: &'q [Question], chosen: &[Chosen]) -> Result<Vec<(&'q str, String)>, Mismatch> {
    if questions.len() != chosen.len() {
        return Err(Mismatch::Count);
    }
    let pairs = questions.iter().zip(chosen);
    pairs.map(|(question, chosen)| Ok((&*question.text, answer(question, chosen)?))).collect()
}

/// The answer as the agent takes it: labels joined by `, `, or the text.
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
