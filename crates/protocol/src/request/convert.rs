//! Converts requests between the protocol's form and the core's form.

use watchbill_core::ids::SessionId;
use watchbill_core::requests::decision::{Chosen, Decision};
use watchbill_core::requests::open::{Asked, Progress};
use watchbill_core::requests::request::{self, Choice, Question, RequestId, RequestKind, SuggestedRule, Via};
use watchbill_core::time::Timestamp;

use super::{
    Request, RequestAnswer, RequestDecision, RequestOption, RequestQuestion, RequestRule, hex, seen,
};

impl From<&Asked> for Request {
    fn from(asked: &Asked) -> Self {
        let request = &*asked.request;
        let texts = |text: &std::sync::Arc<str>| text.to_string();
        let questions: Vec<_> = match &request.kind {
            RequestKind::Questions(questions) => questions.iter().map(RequestQuestion::from).collect(),
            _ => Vec::new(),
        };
        let (kind, why) = match &request.kind {
            RequestKind::Permission => ("permission", None),
            RequestKind::Questions(_) => ("question", None),
            RequestKind::Plan(_) => ("plan", None),
            RequestKind::Unknown => {
                ("unknown", Some("this version of Watchbill does not know this kind of request"))
            }
        };
        Self {
            id: request.id.to_string(),
            digest: hex(request.digest),
            kind: kind.into(),
            tool: texts(&request.tool),
            subagent: request.subagent.as_ref().map(texts),
            input: serde_json::from_str(&request.input).unwrap_or_default(),
            shown: texts(&request.shown),
            summary: texts(&request.summary),
            options: questions.first().map(|question| question.options.clone()).unwrap_or_default(),
            several: questions.first().filter(|question| question.several).map(|_| true),
            questions,
            always: request.always.iter().map(RequestRule::from).collect(),
            mode: request.mode.as_ref().map(texts),
            opened_at: request.opened_at.to_string(),
            answerable: match request.via {
                _ if why.is_some() => "no",
                Via::Hook => "hook",
                Via::Host => "stream",
            }
            .into(),
            why: why.map(str::to_owned),
            progress: match asked.progress {
                Progress::Open => "open",
                Progress::Sending(_) => "sending",
                Progress::Taken(_) => "taken",
                Progress::Failed(_) => "failed",
            }
            .into(),
            more: asked.more,
            changed_files: request.changed.iter().map(texts).collect(),
            not_compared: request.not_compared.iter().map(texts).collect(),
            times: asked.times,
            refused: asked.refused.as_ref().map(texts),
        }
    }
}

impl Request {
    /// The request as an engine keeps it that got it from the holder of the store. It has all that is shown, and not
    /// what makes the output of the hook process. `None`: the time or the digest cannot be read.
    pub fn asked_by(&self, session: &SessionId) -> Option<Asked> {
        let opened_at = Timestamp::parse(&self.opened_at)?;
        let via = if self.answerable == "stream" { Via::Host } else { Via::Hook };
        let request =
            request::Request { digest: seen(&self.digest).ok()?, ..self.shown_by(session, via, opened_at) };
        let progress = match &*self.progress {
            "sending" => Progress::Sending(opened_at),
            "taken" => Progress::Taken(opened_at),
            "failed" => Progress::Failed(opened_at),
            _ => Progress::Open,
        };
        let refused = self.refused.as_deref().map(Into::into);
        Some(Asked { request: request.into(), progress, more: self.more, times: self.times, refused })
    }

    /// All of the request that is shown. `at`: when it was asked, if it does not say so.
    pub(crate) fn shown_by(&self, session: &SessionId, via: Via, at: Timestamp) -> request::Request {
        let kind = match &*self.kind {
            _ if self.answerable == "no" => RequestKind::Unknown,
            "permission" => RequestKind::Permission,
            "question" if !self.questions.is_empty() => {
                RequestKind::Questions(self.questions.iter().map(Question::from).collect())
            }
            "plan" => RequestKind::Plan(Some((&*self.shown).into())),
            _ => RequestKind::Unknown,
        };
        let rule =
            |one: &RequestRule| SuggestedRule { rule: (&*one.rule).into(), place: (&*one.place).into() };
        request::Request {
            id: RequestId::new(&self.id),
            via,
            session: session.clone(),
            subagent: self.subagent.as_deref().map(Into::into),
            subagent_id: self.subagent.as_deref().map(Into::into),
            tool: (&*self.tool).into(),
            input: self.input.to_string().into(),
            shown: (&*self.shown).into(),
            summary: (&*self.summary).into(),
            kind,
            always: self.always.iter().map(rule).collect(),
            suggestions: "null".into(),
            mode: self.mode.as_deref().map(Into::into),
            cwd: None,
            project: None,
            opened_at: Timestamp::parse(&self.opened_at).unwrap_or(at),
            digest: seen(&self.digest).unwrap_or_default(),
            files: None,
            changed: self.changed_files.iter().map(|path| (&**path).into()).collect(),
            not_compared: self.not_compared.iter().map(|path| (&**path).into()).collect(),
        }
    }
}

impl From<&SuggestedRule> for RequestRule {
    fn from(rule: &SuggestedRule) -> Self {
        Self { rule: rule.rule.to_string(), place: rule.place.to_string() }
    }
}

impl From<&RequestQuestion> for Question {
    fn from(question: &RequestQuestion) -> Self {
        let option = |one: &RequestOption| Choice {
            label: (&*one.label).into(),
            description: one.description.as_deref().map(Into::into),
        };
        Self {
            text: (&*question.question).into(),
            header: question.header.as_deref().map(Into::into),
            options: question.options.iter().map(option).collect(),
            several: question.several,
        }
    }
}

impl From<&Question> for RequestQuestion {
    fn from(question: &Question) -> Self {
        let option = |one: &Choice| RequestOption {
            label: one.label.to_string(),
            description: one.description.as_ref().map(ToString::to_string),
        };
        Self {
            question: question.text.to_string(),
            header: question.header.as_ref().map(ToString::to_string),
            options: question.options.iter().map(option).collect(),
            several: question.several,
        }
    }
}

impl From<RequestDecision> for Decision {
    fn from(decision: RequestDecision) -> Self {
        match decision {
            RequestDecision::Allow => Self::Allow,
            RequestDecision::AllowAlways => Self::AllowAlways,
            RequestDecision::Deny { reason } => Self::Deny(reason),
            RequestDecision::DenyAndStop => Self::DenyAndStop,
            RequestDecision::Choose { answers } => Self::Choose(
                answers
                    .into_iter()
                    .map(|answer| match answer {
                        RequestAnswer::Options(places) => Chosen::Options(places),
                        RequestAnswer::Text(text) => Chosen::Text(text),
                    })
                    .collect(),
            ),
        }
    }
}

impl From<&Decision> for RequestDecision {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::AllowAlways => Self::AllowAlways,
            Decision::Deny(reason) => Self::Deny { reason: reason.clone() },
            Decision::DenyAndStop => Self::DenyAndStop,
            Decision::Choose(answers) => Self::Choose {
                answers: answers
                    .iter()
                    .map(|answer| match answer {
                        Chosen::Options(places) => RequestAnswer::Options(places.clone()),
                        Chosen::Text(text) => RequestAnswer::Text(text.clone()),
                    })
                    .collect(),
            },
        }
    }
}
