//! The installer: puts our handlers into the agent's settings and takes them out again, and changes nothing else.
//!
//! [`install`] and [`uninstall`] turn one text into another. [`mod@file`] reads and writes the file, and `folders`
//! makes its folders. [`change`] does all of it. [`status`] reports.

pub mod change;
pub mod client;
pub mod command;
mod error;
pub mod file;
mod folders;
mod owner;
mod rivals;
pub mod scope;
pub mod status;
mod status_line;
mod text;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

pub use command::{HookCommand, HookTarget, Purpose, quoted};
pub use error::SettingsError;
pub use scope::Scope;
use text::{Container, is_all, last, newline, object, parse, parts, unexpected};
pub use watchbill_agents::install::{ANSWER_EVENT, EVENTS, Event, Version, events_of};
use watchbill_agents::{Agent, OtherForm, hook_traits};

/// One of our handlers in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ours {
    /// The event's name.
    pub event: String,
    /// The command line.
    pub line: String,
    /// The program that it starts.
    pub called: HookTarget,
    /// Whether the agent goes on without waiting for it.
    pub is_async: bool,
    /// Its position: the event's index in `hooks`, the group's in the event, the handler's in the group. `None`: it is in no group.
    at: (usize, usize, Option<usize>),
}

/// The settings with our handlers for all `events`, and no other handlers of ours for the same purpose. `None` stands for a missing file.
///
/// If the right handlers are there already, the text stays unchanged, in any layout.
///
/// # Errors
/// When the text does not have the structure of settings. The caller should leave the file alone then.
pub fn install(
    before: Option<&str>,
    command: &HookCommand,
    events: &[&Event],
) -> Result<String, SettingsError> {
    let hooks = hook_traits(command.agent);
    if command.purpose == Purpose::StatusLine {
        return status_line::install(before, command);
    }
    if let Some(plugin) = hooks.plugin {
        return install_plugin(plugin, before, command, events);
    }
    if hooks.is_plain_json {
        before.map_or(Ok(()), text::check_plain)?;
    }
    install_settings(before, command, events)
}

/// The plugin of this version with its settings. A file of this name that is not ours is left alone.
fn install_plugin(
    plugin: &str,
    before: Option<&str>,
    command: &HookCommand,
    events: &[&Event],
) -> Result<String, SettingsError> {
    let settings = before.map(text::parts);
    if settings.is_some_and(|(head, ..)| head.is_empty()) {
        return Err(SettingsError::NotOurs);
    }
    let settings = install_settings(settings.map(|(_, settings, _)| settings), command, events)?;
    let (head, _, tail) = text::parts(plugin);
    Ok(format!("{head}{settings}{tail}"))
}

fn install_settings(
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
        Some(text) => uninstall(text, command.purpose)?,
        None => None,
    };
    if let (Some(form), Some(there)) = (hook_traits(command.agent).other_form, &text)
        && !has_head(there, form)?
    {
        let (mark, there, _) = parts(there);
        let root = parse(there)?;
        let root = object(there, &root, "settings must be an object")?;
        text = Some(format!("{mark}{}", Container::from(root).append(there, form.head)));
    }
    for event in events {
        text = Some(add(text.as_deref(), command, event)?);
    }
    let text = text.unwrap_or_else(|| "{}\n".to_owned());
    parse(parts(&text).1)?;
    Ok(text)
}

/// The settings without our handlers for this purpose; `None` when the file had been made for them alone.
///
/// # Errors
/// As [`install`].
pub fn uninstall(before: &str, purpose: Purpose) -> Result<Option<String>, SettingsError> {
    if purpose == Purpose::StatusLine {
        return status_line::uninstall(before);
    }
    let (head, text, tail) = parts(before);
    let (mut text, mut in_no_group) = (text.to_owned(), false);
    while let Some(first) = ours_in(&text, purpose)?.into_iter().next() {
        in_no_group |= first.at.2.is_none();
        match take_out(&text, &first)? {
            Some(without) => text = without,
            None => return Ok(None),
        }
    }
    let is_last = |purpose: &Purpose| ours_in(&text, *purpose).is_ok_and(|ours| ours.is_empty());
    if in_no_group && [Purpose::Events, Purpose::Answers, Purpose::Context].iter().all(is_last) {
        match take_out_head(&text)? {
            Some(without) => text = without,
            None => return Ok(None),
        }
    }
    Ok(Some(format!("{head}{text}{tail}")))
}

/// Whether settings have what an agent wants beside its hooks, in any words.
fn has_head(text: &str, form: &OtherForm) -> Result<bool, SettingsError> {
    let text = parts(text).1;
    let root = parse(text)?;
    let root = object(text, &root, "settings must be an object")?;
    Ok(form.head.split('"').nth(1).is_some_and(|name| last(root, name).is_some()))
}

/// Removes what was written beside the hooks; `None` when the file had been made for it.
fn take_out_head(text: &str) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let root = object(text, &root, "settings must be an object")?;
    let is_head = |property: &ObjectProp<'_>| {
        let forms = Agent::ALL.into_iter().filter_map(|agent| hook_traits(agent).other_form);
        forms.into_iter().any(|form| &text[property.start()..property.end()] == form.head)
    };
    let container = Container::from(root);
    Ok(match root.properties.iter().position(is_head) {
        None => Some(text.to_owned()),
        Some(at) if container.was_made_for(text, at) && is_all(text, root) => None,
        Some(at) => Some(container.remove(text, at)),
    })
}

/// The events of handlers for a purpose. None: the agent has no such handlers.
pub fn wanted_events(
    command: &HookCommand,
    client: Option<Version>,
    before: Option<&str>,
) -> Vec<&'static Event> {
    let hooks = hook_traits(command.agent);
    match command.purpose {
        Purpose::Events => events_for(command.agent, client, before),
        Purpose::Answers => hooks.answer_event.into_iter().collect(),
        Purpose::Context => hooks.context_events.iter().collect(),
        Purpose::StatusLine => Vec::new(),
    }
}

/// The events to install for in these settings. If the agent's version is unknown, events that were installed for a
/// named version stay.
pub fn events_for(agent: Agent, client: Option<Version>, before: Option<&str>) -> Vec<&'static Event> {
    let events = hook_traits(agent).events;
    let there = match (client, before) {
        (None, Some(text)) => find_ours(text, Purpose::Events).unwrap_or_default(),
        _ => Vec::new(),
    };
    let wanted = |event: &&Event| {
        events_of(events, client).any(|known| known == *event)
            || there.iter().any(|ours| ours.event == event.name)
    };
    events.iter().filter(wanted).collect()
}

/// Whether an agent has a status line that Watchbill can draw on this system.
pub fn takes_status_line(agent: Agent) -> bool {
    !cfg!(windows) && hook_traits(agent).status_line.is_some()
}

/// The program of our status line in settings, if they have one.
///
/// # Errors
/// As [`install`].
pub fn status_line(text: &str) -> Result<Option<HookTarget>, SettingsError> {
    Ok(status_line::find(text)?.map(|found| found.called))
}

/// Whether exactly our handlers for these events are there, each as this version writes it.
///
/// # Errors
/// As [`install`].
pub fn is_installed(text: &str, command: &HookCommand, events: &[&Event]) -> Result<bool, SettingsError> {
    let ours = find_ours(text, command.purpose)?;
    let line = command.line();
    let fits = |event: &&&Event| {
        ours.iter().any(|o| o.event == event.name && o.line == line && o.is_async != event.waits)
    };
    let form = hook_traits(command.agent).other_form;
    let is_whole = form.map_or(Ok(true), |form| has_head(text, form))?;
    Ok(is_whole && ours.len() == events.len() && events.iter().filter(fits).count() == events.len())
}

/// Our handlers in settings for this purpose, of any version.
///
/// # Errors
/// As [`install`].
pub fn find_ours(text: &str, purpose: Purpose) -> Result<Vec<Ours>, SettingsError> {
    ours_in(parts(text).1, purpose)
}

fn ours_in(text: &str, purpose: Purpose) -> Result<Vec<Ours>, SettingsError> {
    let root = parse(text)?;
    let mut found = Vec::new();
    let Some((_, hooks)) = hooks_of(text, object(text, &root, "settings must be an object")?)? else {
        return Ok(found);
    };
    for (e, property) in hooks.properties.iter().enumerate() {
        let Value::Array(groups) = &property.value else { continue };
        for (g, group) in groups.elements.iter().enumerate() {
            let mut see = |h, handler| {
                if let Some((line, called, is_async)) =
                    ours(handler).filter(|(_, called, _)| called.purpose == purpose)
                {
                    let event = property.name.as_str().to_owned();
                    found.push(Ours { event, line, called, is_async, at: (e, g, h) });
                }
            };
            match handlers_of(group) {
                Some((_, handlers)) => {
                    handlers.elements.iter().enumerate().for_each(|(h, handler)| see(Some(h), handler));
                }
                None => see(None, group),
            }
        }
    }
    Ok(found)
}

/// A handler's line, its program, and whether the agent goes on without waiting; `None` if it is not ours.
fn ours(handler: &Value<'_>) -> Option<(String, HookTarget, bool)> {
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

/// Removes one handler, and the containers that were made for it.
fn take_out(text: &str, handler: &Ours) -> Result<Option<String>, SettingsError> {
    let root = parse(text)?;
    let root = object(text, &root, "settings must be an object")?;
    let Some((h, hooks)) = hooks_of(text, root)? else { return Ok(Some(text.to_owned())) };
    let (e, g, in_group) = handler.at;
    let Value::Array(groups) = &hooks.properties[e].value else { return Ok(Some(text.to_owned())) };
    let beside =
        in_group.zip(handlers_of(&groups.elements[g])).filter(|(_, (_, all))| all.elements.len() > 1);
    let groups = Container::from(groups);
    let new = if let Some((in_group, (_, handlers))) = beside {
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

/// Adds the handler for one event, in a group of its own.
fn add(before: Option<&str>, command: &HookCommand, event: &Event) -> Result<String, SettingsError> {
    let form = hook_traits(command.agent).other_form;
    let matcher = event.matcher.map(|tools| format!("\"matcher\": \"{tools}\", ")).unwrap_or_default();
    let group = match form {
        Some(_) => format!("{{ {matcher}{} }}", command.handler(event)),
        None => format!("{{ {matcher}\"hooks\": [{{ {} }}] }}", command.handler(event)),
    };
    let (mark, text, _) = parts(before.unwrap_or_default());
    let nl = newline(text);
    let unit = unit_of_indent(text);
    let list = |depth: usize| {
        let (outer, inner) = (unit.repeat(depth), unit.repeat(depth + 1));
        format!("\"{}\": [{nl}{inner}{group}{nl}{outer}]", event.name)
    };
    let hooks = || format!("\"hooks\": {{{nl}{}{}{nl}{unit}}}", unit.repeat(2), list(2));
    if before.is_none() {
        let head = form.map(|form| format!(",{nl}{unit}{}", form.head)).unwrap_or_default();
        return Ok(format!("{{{nl}{unit}{}{head}{nl}}}{nl}", hooks()));
    }
    let root = parse(text)?;
    let root = object(text, &root, "settings must be an object")?;
    let new = match hooks_of(text, root)? {
        None => Container::from(root).append(text, &hooks()),
        Some((_, found)) => match last(found, event.name) {
            None => Container::from(found).append(text, &list(2)),
            Some(property) => Container::from(array(text, property)?).append(text, &group),
        },
    };
    Ok(format!("{mark}{new}"))
}

/// The `hooks` of settings, and their index. If there are two, the agent uses the last.
fn hooks_of<'v, 't>(
    text: &str,
    root: &'v Object<'t>,
) -> Result<Option<(usize, &'v Object<'t>)>, SettingsError> {
    let Some(at) = root.properties.iter().rposition(|property| property.name.as_str() == "hooks") else {
        return Ok(None);
    };
    Ok(Some((
        at,
        object(text, &root.properties[at].value, "`hooks` must be an object with a key for each event")?,
    )))
}

fn handlers_of<'v, 't>(group: &'v Value<'t>) -> Option<(usize, &'v Array<'t>)> {
    let Value::Object(group) = group else { return None };
    let at = group.properties.iter().rposition(|property| property.name.as_str() == "hooks")?;
    match &group.properties[at].value {
        Value::Array(handlers) => Some((at, handlers)),
        _ => None,
    }
}

fn array<'v, 't>(text: &str, property: &'v ObjectProp<'t>) -> Result<&'v Array<'t>, SettingsError> {
    match &property.value {
        Value::Array(array) => Ok(array),
        other => Err(unexpected(text, other, "an event must have a list of groups")),
    }
}

/// The settings' unit of indentation: the white space before the first property, else two blanks.
fn unit_of_indent(text: &str) -> String {
    let first = parse(text).ok().and_then(|root| match root {
        Value::Object(root) => root.properties.first().map(Ranged::start),
        _ => None,
    });
    let line = first.and_then(|at| Some(&text[text[..at].rfind('\n')? + 1..at]));
    let blank = |line: &&str| !line.is_empty() && line.len() <= 8 && line.trim().is_empty();
    line.filter(blank).unwrap_or("  ").to_owned()
}
