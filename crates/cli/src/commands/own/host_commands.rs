//! `prompt`, `queue`, `interrupt` and `stop`: commands to the host of an own session.

use anyhow::bail;
use serde::Serialize;
use watchbill_drive::client::{HostClient, send};
use watchbill_drive::folder::Folder;
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::OwnKind;
use watchbill_protocol::roster::TrackedSession;

use super::events::{Printing, each, wait};
use super::resume::go_on;
use super::run::{done, may_prompt};
use super::target::{self, new_id};
use crate::args::{Global, OneSession, Prompt, Queue};
use crate::commands::{emit, prompt as foreign, running, to_json};
use crate::render::local_date_time;
use crate::terminal_text::{Paint, one_line};

/// `prompt --json` of an own session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Prompted<'a> {
    own_id: String,
    prompt_id: &'a str,
    /// The session had ended, and goes on with this prompt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resumed: bool,
    /// `queued`: the host has it, and sends it when the turn and the queue before it are done.
    outcome: &'static str,
    /// Why it waits for the user; as with `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<String>,
}

/// Sends a prompt: to the host of a session, or into the terminal of another one.
///
/// # Errors
/// When it was not sent, or with `--wait` when the turn was not completed.
pub fn prompt(global: &Global, wanted: &Prompt, paint: Paint) -> anyhow::Result<()> {
    let data_dir = target::data_dir(global)?;
    let is_empty = wanted.text.trim().is_empty();
    let mut resumed = false;
    let folder = match target::hosted(&data_dir, &wanted.session)? {
        Some(_) if is_empty => bail!("the prompt is empty"),
        Some(folder) => folder,
        None => {
            let row = target::found_row(global, &wanted.session)?;
            let Some((row, own)) = row.as_ref().and_then(|row| Some((row, row.own_id.as_ref()?))) else {
                if wanted.now || wanted.steer || wanted.wait || wanted.at.is_some() {
                    bail!(
                        "--now, --steer, --at and --wait need a session of your own; this one runs in a terminal"
                    );
                }
                return foreign::prompt(global, wanted);
            };
            if is_empty {
                bail!("the prompt is empty");
            }
            let folder = Folder::of(&data_dir, own)?;
            resumed = target::has_ended(&folder)?;
            if resumed && wanted.at.is_some() {
                bail!("--at needs a session that runs; this one has ended");
            }
            if resumed { goes_on(global, row, &folder)? } else { folder }
        }
    };
    let from = HostClient::connect(&folder)?.hello().next;
    let id = new_id();
    let when = match (wanted.now, wanted.steer) {
        // What waited when the session ended waits on: it goes only if the user says so.
        _ if resumed => PromptWhen::Now,
        (true, _) => PromptWhen::Now,
        (false, true) => PromptWhen::Steer,
        (false, false) => PromptWhen::Queue,
    };
    let is_now = when == PromptWhen::Now;
    let (text, prompt) = (wanted.text.clone(), id.clone());
    let command = match wanted.at {
        Some(until) => OwnCommand::GoOnAt { until: until.to_string(), id: prompt, text },
        None => OwnCommand::Prompt { id: prompt, text, images: Vec::new(), when },
    };
    send(&folder, &format!("prompt-{id}"), &command)?;
    if resumed && !wanted.json {
        emit("the session had ended, and goes on\n")?;
    }
    let queue = waiting(&folder)?;
    let go_on = queue.held_words(&wanted.session, "it goes", "it go").filter(|_| !is_now);
    let go_on = go_on.map(|words| format!("queued, and {words}"));
    let held = queue.held.filter(|_| !is_now);
    if wanted.wait {
        go_on.filter(|_| !wanted.json).map_or(Ok(()), |line| emit(&line))?;
        return done(&wait(&folder, from, &id, Printing { json: wanted.json, paint })?);
    }
    emit(&if wanted.json {
        to_json(&Prompted { own_id: own_id(&folder), prompt_id: &id, resumed, outcome: "queued", held })?
    } else {
        go_on.unwrap_or_else(|| "queued\n".to_owned())
    })
}

/// The folder of an ended session whose host was started again.
fn goes_on(global: &Global, row: &TrackedSession, folder: &Folder) -> anyhow::Result<Folder> {
    if folder.spec()?.kind == OwnKind::Pty {
        let id = one_line(&row.session_id);
        bail!("session {id} has ended; `watchbill resume --pty {id}` goes on with it in a terminal");
    }
    may_prompt()?;
    Ok(go_on(global, row, OwnKind::Stream, false, false)?.0)
}

/// `queue --json`.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Waiting {
    /// Why the prompts wait for the user: `interrupted`, `error`, `limit`, `login`, `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<String>,
    /// Then they go on by themselves, as the user said.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_until: Option<String>,
    prompts: Vec<Queued>,
}

impl Waiting {
    /// Why the prompts wait, and what lets them go on. `None` if nothing holds them.
    fn held_words(&self, session: &str, goes: &str, go: &str) -> Option<String> {
        let (cause, session) = (one_line(self.held.as_ref()?), one_line(session));
        Some(match &self.held_until {
            Some(until) => format!(
                "held until {}, when {goes} on; `watchbill queue {session} --go-on` does not wait\n",
                local_date_time(until)
            ),
            None => format!("held ({cause}): `watchbill queue {session} --go-on` lets {go} on\n"),
        })
    }
}

#[derive(Serialize)]
struct Queued {
    id: String,
    text: String,
}

/// Shows the queued prompts of a session, takes them back, or lets them go on.
///
/// # Errors
/// When the session has ended, or its host refuses.
pub fn queue(global: &Global, wanted: &Queue) -> anyhow::Result<()> {
    let folder = target::folder(global, &wanted.session, true)?;
    let act = match (wanted.clear, wanted.go_on) {
        (true, _) => Some(OwnCommand::ClearQueue),
        (false, true) => Some(OwnCommand::ReleaseQueue),
        (false, false) => None,
    };
    let before = waiting(&folder)?.prompts.len();
    if let Some(command) = act {
        send(&folder, &new_id(), &command)?;
    }
    let waiting = waiting(&folder)?;
    if wanted.json {
        return emit(&to_json(&waiting)?);
    }
    let mut text: String = waiting.prompts.iter().map(|prompt| one_line(&prompt.text) + "\n").collect();
    match waiting.held_words(&wanted.session, "they go", "them go") {
        // The agent has them by now, or gets them one after another.
        _ if wanted.go_on && before > 0 => text = format!("{} on\n", plural_goes(before)),
        _ if waiting.prompts.is_empty() => text.push_str("nothing is queued\n"),
        Some(words) => text.push_str(&words),
        None => {}
    }
    emit(&text)
}

fn plural_goes(prompts: usize) -> String {
    if prompts == 1 { "1 prompt goes".to_owned() } else { format!("{prompts} prompts go") }
}

/// The queue, by the log.
fn waiting(folder: &Folder) -> anyhow::Result<Waiting> {
    let spec = folder.spec()?;
    let mut waiting = Waiting::default();
    watchbill_drive::replay::read(folder, &spec, 0, &mut |events| {
        for event in events {
            match event.what {
                OwnWhat::Prompt { id, text, place, .. } => {
                    waiting.prompts.retain(|prompt| prompt.id != id);
                    if place == PromptPlace::Queued {
                        waiting.prompts.push(Queued { id, text });
                    }
                }
                OwnWhat::QueueHeld { held, cause, until } => {
                    waiting.held_until = until;
                    waiting.held = held.then(|| cause.unwrap_or_else(|| "interrupted".to_owned()));
                }
                _ => {}
            }
        }
        true
    })?;
    Ok(waiting)
}

/// Ends the running turn.
///
/// # Errors
/// When the session has ended, or its host refuses.
pub fn interrupt(global: &Global, wanted: &OneSession) -> anyhow::Result<()> {
    let folder = target::folder(global, &wanted.session, true)?;
    send(&folder, &new_id(), &OwnCommand::Interrupt)?;
    let own = own_id(&folder);
    running::await_row(global, |row| row.own_id.as_ref() == Some(&own), |row| row.state != "working");
    say(&folder, wanted.json, "interrupted", "interrupted; queued prompts wait\n")
}

/// Ends the session, and waits until nothing of it is left.
///
/// # Errors
/// When its host refuses, or does not end.
pub fn stop(global: &Global, wanted: &OneSession) -> anyhow::Result<()> {
    let folder = match target::folder(global, &wanted.session, false) {
        Ok(folder) if target::has_ended(&folder)? => {
            return say(&folder, wanted.json, "ended", "the session has ended before\n");
        }
        other => other?,
    };
    let from = HostClient::connect(&folder)?.hello().next;
    send(&folder, &new_id(), &OwnCommand::Stop)?;
    let mut ended = false;
    let followed = each(&folder, from, &mut |event| {
        ended |= matches!(event.what, OwnWhat::SessionEnded { .. });
        !ended
    });
    // A host that was quicker than this program has ended in order too.
    if !ended && !target::has_ended(&folder)? {
        followed?;
        bail!("the host of the session does not end");
    }
    say(&folder, wanted.json, "ended", "ended\n")
}

/// Says what was done.
fn say(folder: &Folder, json: bool, outcome: &str, words: &str) -> anyhow::Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Done<'a> {
        own_id: String,
        outcome: &'a str,
    }
    emit(&if json { to_json(&Done { own_id: own_id(folder), outcome })? } else { words.to_owned() })
}

fn own_id(folder: &Folder) -> String {
    folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
