//! A record of the log as a value.

use serde_json::Value;
use watchbill_protocol::own::event::OwnWhat;

use super::failure::failure;
use super::json::object;
use crate::driver::LogLine;

/// A record, read.
pub(crate) enum Line<'a> {
    /// The agent wrote it.
    Out(&'a str, Value),
    /// It was written to the agent.
    In(&'a str, Value),
    /// It is no JSON object.
    Broken(OwnWhat),
    /// It says nothing: an empty line, or standard error.
    Silent,
}

/// Reads a record. `agent` is the agent's name.
pub(crate) fn read<'a>(line: LogLine<'a>, agent: &str) -> Line<'a> {
    let (text, writer) = match line {
        LogLine::Out("") | LogLine::In("") | LogLine::Err(_) => return Line::Silent,
        LogLine::Out(text) => (text, agent),
        LogLine::In(text) => (text, "Watchbill"),
    };
    match object(text, writer) {
        Err(why) => Line::Broken(failure("protocol", why)),
        Ok(value) if matches!(line, LogLine::Out(_)) => Line::Out(text, value),
        Ok(value) => Line::In(text, value),
    }
}
