//! `alerts`: when sessions needed the user. `answers`: for each answer the time, the session, the decision and its outcome; below that the text that was shown.

use watchbill_protocol::alert::{PastAlert, PastAlertEnd};
use watchbill_protocol::request::AnswerRecord;

use super::{age_at, local_date_time, short};
use crate::terminal_text::{Paint, Tone, cut, fit, one_line};

/// Lines of the shown text; `--json` has all of it.
const LINES: usize = 3;

/// The answers, oldest first, `width` columns wide.
pub fn render(answers: &[AnswerRecord], width: usize, paint: Paint) -> String {
    if answers.is_empty() {
        return "No request was answered.\n".to_owned();
    }
    answers.iter().map(|answer| one(answer, width, paint)).collect()
}

fn one(answer: &AnswerRecord, width: usize, paint: Paint) -> String {
    let session = short(&answer.session_id);
    let session = paint.tone(Tone::Bold, &fit(&session, session.chars().count().max(8)));
    let at = paint.tone(Tone::Dim, &fit(&local_date_time(&answer.at), 16));
    let words = format!(
        "{}, {} ({})",
        one_line(&answer.decision),
        outcome(&answer.outcome),
        one_line(&answer.surface)
    );
    let mut text = format!("{session}  {at}  {}\n", cut(&words, width.saturating_sub(28)));
    let tool = format!("{}: ", one_line(&answer.tool));
    for line in answer.shown.lines().take(LINES) {
        text.push_str(&format!(
            "    {}\n",
            cut(&format!("{tool}{}", one_line(line)), width.saturating_sub(4))
        ));
    }
    text
}

/// The past alerts, a line each.
pub fn alerts(alerts: &[PastAlert], now: &str, width: usize, paint: Paint) -> String {
    if alerts.is_empty() {
        return "No session needed you in the last seven days.\n".to_owned();
    }
    let line = |alert: &PastAlert| {
        let session = short(&alert.session_id);
        let session = paint.tone(Tone::Bold, &fit(&session, session.chars().count().max(8)));
        let at = paint.tone(Tone::Dim, &fit(&local_date_time(&alert.at), 16));
        let about = alert.about.as_deref().map(|about| format!(": {}", one_line(about))).unwrap_or_default();
        let end = alert.until.as_deref().or((alert.became == PastAlertEnd::Open).then_some(now));
        let took = end.map(|end| format!(" · {}", age_at(end, &alert.at))).unwrap_or_default();
        let became = alert.answer.as_deref().map_or_else(|| became(alert).to_owned(), one_line);
        let words = format!("{}{about} · {became}{took}", needed(&alert.need));
        format!("{session}  {at}  {}\n", cut(&words, width.saturating_sub(28)))
    };
    alerts.iter().map(line).collect()
}

fn needed(need: &str) -> &'static str {
    match need {
        "approval" => "wanted permission",
        "question" => "asked",
        "plan" => "showed a plan",
        "dialog" => "had a dialog open",
        _ => "failed",
    }
}

fn became(alert: &PastAlert) -> &'static str {
    match (alert.became, &*alert.need) {
        (PastAlertEnd::Open, _) => "still open",
        (PastAlertEnd::Unseen, _) => "its end was not seen",
        (PastAlertEnd::WentOn, "error") => "went on",
        (PastAlertEnd::WentOn, _) => "answered",
        (PastAlertEnd::Stopped, _) => "stopped there",
        (PastAlertEnd::Ended, _) => "the session ended",
    }
}

fn outcome(word: &str) -> &'static str {
    match word {
        "sent" => "sent",
        "taken" => "taken by the hook",
        "effect" => "the session went on",
        "no_effect" => "no effect: the session still asks",
        "expired" => "the session has ended",
        "refused" => "nothing was sent",
        "unsent" => "not delivered",
        "lost" => "unknown whether it arrived",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_was_not_seen_has_no_time_that_grows() {
        let alert = |became, until: Option<&str>| PastAlert {
            session_id: "0123456789".to_owned(),
            title: String::new(),
            project: String::new(),
            need: "question".to_owned(),
            about: None,
            at: "2026-11-20T12:00:00.000Z".to_owned(),
            until: until.map(str::to_owned),
            became,
            answer: None,
        };
        let now = "2026-11-20T12:09:00.000Z";
        let all = [
            alert(PastAlertEnd::Open, None),
            alert(PastAlertEnd::Unseen, None),
            alert(PastAlertEnd::WentOn, Some("2026-11-20T12:02:00.000Z")),
        ];
        let text = alerts(&all, now, 80, Paint(false));
        let ends: Vec<_> = text.lines().filter_map(|line| Some(line.split_once("asked")?.1)).collect();
        assert_eq!(ends, [" · still open · 9 min", " · its end was not seen", " · answered · 2 min"]);
    }
}
