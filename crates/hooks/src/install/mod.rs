//! The installer: our handlers into the agent's settings and out again, and nothing else of them touched.
//!
//! [`install`] and [`uninstall`] turn one text into another; [`mod@file`] reads and writes, folders are made for it, [`change`]
//! does all of it; [`status`] looks.

pub mod change;
pub mod client;
pub mod command;
mod error;
pub mod events;
pub mod file;
mod folders;
mod owner;
pub mod scope;
pub mod status;
mod text;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

pub use command::{Called, HookCommand, quoted};
pub use error::SettingsError;
pub use events::{EVENTS, Event, Version, events_of};
pub use scope::Scope;
use text::{Container, newline, parse, unexpected};

/// What our handlers in settings look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ours {
    /// The event's name.
    pub event: String,
    /// The command line.
    pub line: String,
    /// What it starts.
    pub called: Called,
    /// Whether the agent goes on without waiting.
    pub is_async: bool,
    /// Where it stands: the event's place in `hooks`, the group's place in the event, the handler's in the group.
    at: (usize, usize, usize),
}

/// The settings with our handlers for all `events`, and no other handlers of ours. `None` stands for a file that is not there.
///
/// Where everything is as it should be the text stays as it is, however it is laid out.
///
/// # Errors
/// When the text is not what settings are; it should be left alone then.
pub fn install(
    before: Option<&str>,
    command: &HookCommand,
    events: &[&Event],
) -> Result<String, SettingsError> {
    if let Some(text) = before
        && is_installed(text, command, events)?
    {
        return Ok(text.to_owned());
    }
    let mut text = match before {
        Some(text) => uninstall(text)?,
        None => None,
    };
    for event in events {
        text = Some(add(text.as_deref(), command, event)?);
    }
    let text = text.unwrap_or_else(|| "{}\n".to_owned());
    parse(without_mark(&text).1)?;
    Ok(text)
}

/// The settings without any handler of ours; `None` when the file was made for them alone.
///
/// # Errors
/// As [`install`].
pub fn uninstall(before: &str) -> Result<Option<String>, SettingsError> {
    let (mark, text) = without_mark(before);
    let mut text = text.to_owned();
    while let Some(first) = ours_in(&text)?.into_iter().next() {
        match take_out(&text, &first)? {
            Some(without) => text = without,
            None => return Ok(None),
        }
    }
    Ok(Some(format!("{mark}{text}")))
}

/// The events to be asked for in these settings. Where the client cannot be asked for its version, those that were installed
/// for a version that was named stay.
pub fn events_for(client: Option<Version>, before: Option<&str>) -> Vec<&'static Event> {
    let there = match (client, before) {
        (None, Some(text)) => find_ours(text).unwrap_or_default(),
        _ => Vec::new(),
    };
    let wanted = |event: &&Event| {
        events_of(client).any(|known| known == *event) || there.iter().any(|ours| ours.event == event.name)
    };
    EVENTS.iter().filter(wanted).collect()
}

/// Whether our handlers are there, all of them, as they should be, and no others of ours.
///
/// # Errors
/// As [`install`].
pub fn is_installed(text: &str, command: &HookCommand, events: &[&Event]) -> Result<bool, SettingsError> {
    let ours = find_ours(text)?;
    let line = command.line();
    let fits = |event: &&&Event| {
        ours.iter().any(|o| o.event == event.name && o.line == line && o.is_async != event.waits)
    };
    Ok(ours.len() == events.len() && events.iter().filter(fits).count() == events.len())
}

/// Our handlers in settings, of whatever version.
///
/// # Errors
/// As [`install`].
pub fn find_ours(text: &str) -> Result<Vec<Ours>, SettingsError> {
    ours_in(without_mark(text).1)
}

/// The byte order mark that some editors write, and the rest.
fn without_mark(text: &str) -> (&str, &str) {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split_at(text.len() - rest.len())
}

fn ours_in(text: &str) -> Result<Vec<Ours>, SettingsError> {
    let root = parse(text)?;
    let mut found = Vec::new();
    let Some((_, hooks)) = hooks_of(text, object(text, &root, "settings are an object")?)? else {
        return Ok(found);
    };
    for (e, property) in hooks.properties.iter().enumerate() {
        let Value::Array(groups) = &property.value else { continue };
        for (g, group) in groups.elements.iter().enumerate() {
            let Some((_, handlers)) = handlers_of(group) else { continue };
            for (h, handler) in handlers.elements.iter().enumerate() {
                if let Some((line, called, is_async)) = ours(handler) {
                    let event = property.name.as_str().to_owned();
                    found.push(Ours { event, line, called, is_async, at: (e, g, h) });
                }
            }
        }
    }
    Ok(found)
}

/// The line of a handler, if it is one of ours, what it starts, and whether the agent goes on without waiting.
fn ours(handler: &Value<'_>) -> Option<(String, Called, bool)> {
    let Value::Object(handler) = handler else { return None };
    let Value::StringLit(line) = &last(handler, "command")?.value else { return None };
    let mut line = line.value.to_string();
    let called = match last(handler, "args").map(|p| &p.value) {
        Some(Value::Array(args)) if !args.elements.is_empty() => {
            let args: Option<Vec<&str>> = args.elements.iter().map(text_of).collect();
            let args = args?;
            let called = command::called_with(&line, &args)?;
            line = std::iter::once(&*line).chain(args).map(quoted).collect::<Vec<_>>().join(" ");
            called
        }
        _ => command::called_by(&line)?,
    };
    let is_async =
        last(handler, "async").is_some_and(|p| matches!(&p.value, Value::BooleanLit(b) if b.value));
    Some((line, called, is_async))
}

fn text_of<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match value {
        Value::StringLit(text) => Some(&text.value),
        _ => None,
    }
}

/// Takes one handler out, and with it whatever was made for it.
fn take_out(text: &str, handler: &Ours) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let root = object(text, &root, "settings are an object")?;
    let Some((h, hooks)) = hooks_of(text, root)? else { return Ok(Some(text.to_owned())) };
    let (e, g, in_group) = handler.at;
    let Value::Array(groups) = &hooks.properties[e].value else { return Ok(Some(text.to_owned())) };
    let Some((_, handlers)) = handlers_of(&groups.elements[g]) else { return Ok(Some(text.to_owned())) };
    let groups = Container::from(groups);
    let new = if handlers.elements.len() > 1 {
        Container::from(handlers).remove(text, in_group)
    } else if !groups.was_made_for(text, g) {
        groups.remove(text, g)
    } else if !Container::from(hooks).was_made_for(text, e) {
        Container::from(hooks).remove(text, e)
    } else if !Container::from(root).was_made_for(text, h) || !is_all(text, root) {
        Container::from(root).remove(text, h)
    } else {
        return Ok(None);
    };
    Ok(Some(new))
}

fn is_all(text: &str, root: &Object<'_>) -> bool {
    text[..root.start()].trim().is_empty() && text[root.end()..].trim().is_empty()
}

/// Adds the handler for one event, in a group of its own.
fn add(before: Option<&str>, command: &HookCommand, event: &Event) -> Result<String, SettingsError> {
    let group = format!("{{ \"hooks\": [{}] }}", command.handler(event));
    let (mark, text) = without_mark(before.unwrap_or_default());
    let nl = newline(text);
    let unit = unit_of_indent(text);
    let list = |depth: usize| {
        let (outer, inner) = (unit.repeat(depth), unit.repeat(depth + 1));
        format!("\"{}\": [{nl}{inner}{group}{nl}{outer}]", event.name)
    };
    let hooks = || format!("\"hooks\": {{{nl}{}{}{nl}{unit}}}", unit.repeat(2), list(2));
    if before.is_none() {
        return Ok(format!("{{{nl}{unit}{}{nl}}}{nl}", hooks()));
    }
    let root = parse(text)?;
    let root = object(text, &root, "settings are an object")?;
    let new = match hooks_of(text, root)? {
        None => Container::from(root).append(text, &hooks()),
        Some((_, found)) => match last(found, event.name) {
            None => Container::from(found).append(text, &list(2)),
            Some(property) => Container::from(array(text, property)?).append(text, &group),
        },
    };
    Ok(format!("{mark}{new}"))
}

/// The `hooks` of settings, and their place in them. Of two the agent takes the last.
fn hooks_of<'v, 't>(
    text: &str,
    root: &'v Object<'t>,
) -> Result<Option<(usize, &'v Object<'t>)>, SettingsError> {
    let Some(at) = root.properties.iter().rposition(|property| property.name.as_str() == "hooks") else {
        return Ok(None);
    };
    Ok(Some((at, object(text, &root.properties[at].value, "hooks are an object, by event")?)))
}

fn handlers_of<'v, 't>(group: &'v Value<'t>) -> Option<(usize, &'v Array<'t>)> {
    let Value::Object(group) = group else { return None };
    let at = group.properties.iter().rposition(|property| property.name.as_str() == "hooks")?;
    match &group.properties[at].value {
        Value::Array(handlers) => Some((at, handlers)),
        _ => None,
    }
}

fn last<'v, 't>(object: &'v Object<'t>, name: &str) -> Option<&'v ObjectProp<'t>> {
    object.properties.iter().rfind(|property| property.name.as_str() == name)
}

fn object<'v, 't>(text: &str, value: &'v Value<'t>, what: &str) -> Result<&'v Object<'t>, SettingsError> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(unexpected(text, other, what)),
    }
}

fn array<'v, 't>(text: &str, property: &'v ObjectProp<'t>) -> Result<&'v Array<'t>, SettingsError> {
    match &property.value {
        Value::Array(array) => Ok(array),
        other => Err(unexpected(text, other, "an event has a list of groups")),
    }
}

/// What the settings are indented by: the white space before their first property, else two blanks.
fn unit_of_indent(text: &str) -> String {
    let first = parse(text).ok().and_then(|root| match root {
        Value::Object(root) => root.properties.first().map(Ranged::start),
        _ => None,
    });
    let line = first.and_then(|at| Some(&text[text[..at].rfind('\n')? + 1..at]));
    let blank = |line: &&str| !line.is_empty() && line.len() <= 8 && line.trim().is_empty();
    line.filter(blank).unwrap_or("  ").to_owned()
}
