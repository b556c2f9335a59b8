//! `answer` and `answers`: the user's decision on a request, and the list of decisions.

use anyhow::{Context, bail};
use watchbill_engine::answers::answer_by_host;
use watchbill_engine::archive::with_archive;
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::handle::real_sources;
use watchbill_engine::{Millis, Timestamp};
use watchbill_protocol::request::{AnswerCall, Request, RequestAnswer, RequestDecision};
use watchbill_protocol::roster::TrackedSession;

use super::own::found_row;
use super::{emit, holder, running, settings, to_json, width};
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
    let mut client = holder::connect(global, "answer");
    let row = match &mut client {
        Ok(client) => {
            let session = client.why(&wanted.session)?.session_id;
            client.roster(true)?.sessions.into_iter().find(|row| row.session_id == session)
        }
        Err(_) => found_row(global, &wanted.session)?,
    };
    // The host of an own session takes the answer itself.
    let is_stream = row.as_ref().is_some_and(|row| row.own.as_deref() == Some("stream"));
    if !is_stream && let Err(error) = client {
        return Err(error);
    }
    let session = row.as_ref().map_or_else(|| wanted.session.clone(), |row| row.session_id.clone());
    let waits = row.as_ref().is_some_and(|row| {
        row.state == "waiting_for_approval" || row.state_kind.as_deref() == Some("dialog")
    });
    let Some(request) = row.and_then(|row| row.request) else {
        let id = one_line(&session);
        if waits {
            bail!(
                "session {id} waits in its terminal, and no hook asks: answer there; `watchbill focus {id}` shows it"
            );
        }
        bail!("session {id} asks nothing that can be answered from here")
    };
    if let Some(id) = wanted.request.as_ref().filter(|id| **id != request.id) {
        bail!("request {} is not open; the session asks {} now", one_line(id), one_line(&request.id));
    }
    if let Some(why) = &request.why {
        bail!("the request cannot be answered from here: {}", one_line(why));
    }
    if !wanted.decides() {
        return emit(&if wanted.json { to_json(&request)? } else { question(&request) });
    }
    let decision = decision(wanted, &request)?;
    let unseen_since = began - UNSEEN;
    if wanted.request.is_none() && Timestamp::parse(&request.opened_at).is_none_or(|at| at > unseen_since) {
        if !wanted.json {
            emit(&text_of(&request))?;
        }
        bail!(
            "nothing was answered: the session asked this just now: {}; to answer it, repeat the command with --request {}",
            one_line(&request.summary),
            one_line(&request.id)
        );
    }
    let call = AnswerCall {
        session: session.clone(),
        request_id: request.id.clone(),
        seen: request.digest.clone(),
        decision,
    };
    let given = match &mut client {
        Ok(client) => client.answer(&call).map_err(anyhow::Error::from),
        Err(_) => {
            let settings = settings(global)?;
            let world = with_archive(real_sources(), &settings);
            answer_by_host(settings, world, &call).map_err(anyhow::Error::from)
        }
    };
    let given = given.map_err(|error| with_options(error, &request))?;
    let is_over = |row: &TrackedSession| row.request.as_ref().is_none_or(|now| now.id != request.id);
    running::await_row(global, |row| row.session_id == session, is_over);
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
        format!("{}{rest}{}{again}\n", text_of(&request), one_line(&given.decision))
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
    let options = wanted.choose.iter().map(|list| options(list)).collect::<anyhow::Result<Vec<_>>>();
    let options = options.map_err(|error| with_options(error, request))?;
    let texts = wanted.text.iter().cloned().map(RequestAnswer::Text);
    let answers: Vec<_> = options.into_iter().chain(texts).collect();
    if answers.len() != request.questions.len().max(1) {
        let wrong = anyhow::anyhow!(
            "the request has {} questions; answer each with one --choose or --text",
            request.questions.len()
        );
        return Err(with_options(wrong, request));
    }
    Ok(RequestDecision::Choose { answers })
}

/// What is asked, as the user reads it: questions with their numbered options, anything else whole.
fn text_of(request: &Request) -> String {
    if request.questions.is_empty() {
        return format!("{}\n", request.shown.trim_end());
    }
    let mut text = String::new();
    for question in &request.questions {
        text += &format!("{}\n", one_line(&question.question));
        for (number, option) in (1..).zip(&question.options) {
            let about = option.description.as_deref().map(|about| format!("  {}", one_line(about)));
            text += &format!("  {number}  {}{}\n", one_line(&option.label), about.unwrap_or_default());
        }
    }
    text
}

/// The same, and how it is answered.
fn question(request: &Request) -> String {
    let how = match &*request.kind {
        "question" if request.questions.len() > 1 => "answer each with --choose N or --text TEXT, or --deny",
        "question" => "answer with --choose N, --text TEXT or --deny",
        _ if request.always.is_empty() => "answer with --allow, --deny or --stop",
        _ => "answer with --allow, --always, --deny or --stop",
    };
    format!("{}{how}\n", text_of(request))
}

/// A refusal, with the options that there are.
fn with_options(error: anyhow::Error, request: &Request) -> anyhow::Error {
    let options = request.questions.iter().map(|question| {
        let options =
            (1..).zip(&question.options).map(|(number, option)| format!("{number} {}", option.label));
        format!("{} {}", question.question, options.collect::<Vec<_>>().join(", "))
    });
    let options: Vec<_> = options.collect();
    if options.is_empty() { error } else { anyhow::anyhow!("{error}. The options: {}", options.join("; ")) }
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
