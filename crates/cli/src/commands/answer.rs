//! `answer` and `answers`: the user's decision on a request, and the list of decisions.

use anyhow::{Context, bail};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::socket::access::EngineAccess;
use watchbill_engine::{Millis, Timestamp};
use watchbill_protocol::request::{AnswerCall, Request, RequestAnswer, RequestDecision};

use super::{emit, holder, settings, to_json, width};
use crate::args::{Answer, Global};
use crate::render;
use crate::terminal_text::{Paint, one_line};

/// A request that opened this shortly before the command, or after it, is not the one that the user looked at: the one before was
/// decided elsewhere just now.
const UNSEEN: Millis = Millis(1_000);

/// Answers the request that a session shows.
///
/// # Errors
/// When nothing is asked, another request than the named one is, the decision does not fit, or this program may not answer.
pub fn answer(global: &Global, wanted: &Answer) -> anyhow::Result<()> {
    let began = SystemClock.now();
    let mut client = holder::connect(global, "answer")?;
    let session = client.why(&wanted.session)?.session_id;
    let roster = client.roster(true)?;
    let row = roster.sessions.into_iter().find(|row| row.session_id == session);
    let Some(request) = row.and_then(|row| row.request) else {
        bail!("session {} asks nothing that can be answered from here", one_line(&session))
    };
    if let Some(id) = wanted.request.as_ref().filter(|id| **id != request.id) {
        bail!("request {} is not open; the session asks {} now", one_line(id), one_line(&request.id));
    }
    if let Some(why) = &request.why {
        bail!("the request cannot be answered from here: {}", one_line(why));
    }
    let decision = decision(wanted, &request)?;
    let unseen_since = began - UNSEEN;
    if wanted.request.is_none() && Timestamp::parse(&request.opened_at).is_none_or(|at| at > unseen_since) {
        if !wanted.json {
            emit(&format!("{}\n", request.shown.trim_end()))?;
        }
        bail!(
            "nothing was answered: the session asked this just now: {}; to answer it, repeat the command with --request {}",
            one_line(&request.summary),
            one_line(&request.id)
        );
    }
    let call = AnswerCall { session, request_id: request.id, seen: request.digest, decision };
    let given = client.answer(&call)?;
    emit(&if wanted.json {
        to_json(&given)?
    } else {
        let again = match request.times {
            0 | 1 => String::new(),
            times => format!(" (asked {times} times with the same input)"),
        };
        let rest = match &request.not_compared[..] {
            [] => String::new(),
            rest => format!("these files were not compared: {}\n", one_line(&rest.join(", "))),
        };
        format!("{}\n{rest}{}{again}\n", request.shown.trim_end(), one_line(&given.decision))
    })
}

/// The decision that the options name.
fn decision(wanted: &Answer, request: &Request) -> anyhow::Result<RequestDecision> {
    if wanted.allow {
        return Ok(RequestDecision::Allow);
    }
    if wanted.always {
        return Ok(RequestDecision::AllowAlways);
    }
    if wanted.stop {
        return Ok(RequestDecision::DenyAndStop);
    }
    if let Some(reason) = &wanted.deny {
        return Ok(RequestDecision::Deny { reason: reason.clone() });
    }
    let options = wanted.choose.iter().map(|list| options(list)).collect::<anyhow::Result<Vec<_>>>()?;
    let texts = wanted.text.iter().cloned().map(RequestAnswer::Text);
    let answers: Vec<_> = options.into_iter().chain(texts).collect();
    if answers.len() != request.questions.len().max(1) {
        bail!(
            "the request has {} questions; answer each with one --choose or --text",
            request.questions.len()
        );
    }
    Ok(RequestDecision::Choose { answers })
}

/// `2` or `1,3`: options by their number, from 1.
fn options(list: &str) -> anyhow::Result<RequestAnswer> {
    let place = |number: &str| number.trim().parse::<usize>().ok()?.checked_sub(1);
    let places: Option<Vec<usize>> = list.split(',').map(place).collect();
    let places =
        places.with_context(|| format!("`{}` does not name options; write 2, or 1,3", one_line(list)))?;
    Ok(RequestAnswer::Options(places))
}

/// Lists the answers that were given.
///
/// # Errors
/// When the store cannot be read.
pub fn answers(
    global: &Global,
    since: Option<watchbill_engine::Timestamp>,
    json: bool,
    paint: Paint,
) -> anyhow::Result<()> {
    let settings = settings(global)?;
    let stored = watchbill_engine::answers::list(&settings, since)?;
    emit(&if json { to_json(&stored)? } else { render::answers::render(&stored, width(), paint) })
}
