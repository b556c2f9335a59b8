//! Replays the log of an own session as events, with or without a running host.

use std::io;

use watchbill_core::ids::stable_hash;
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::{OwnEvent, OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnResume, OwnSpec};

use crate::folder::Folder;
use crate::log::{Direction, LogReader, Record};
use watchbill_agents::driver::{Conversation, Driver, LogLine, Refusal};
use watchbill_agents::launch as agents;

/// Folds records into events. The host folds each new record the same way.
pub struct Replay {
    /// The specification of the agent's next process.
    spec: OwnSpec,
    driver: Option<Box<dyn Driver>>,
    /// The agent's own id of the session, and whether its conversation has begun.
    own_id: Option<String>,
    has_talked: bool,
    /// The conversation that the first process of the agent resumed.
    first: Option<OwnResume>,
    /// A process of the agent got a prompt: it may have written the conversation before it said anything.
    has_sent: bool,
    /// A turn has ended: the conversation has something in it.
    has_answered: bool,
    /// Why the agent refused its last start. It has not begun a turn since.
    refused: Option<Conversation>,
    /// How many processes of the agent were started.
    processes: u32,
}

impl Replay {
    /// The fold before the first record.
    pub fn new(spec: &OwnSpec) -> Self {
        Self {
            spec: spec.clone(),
            driver: agents::driver(spec),
            own_id: None,
            has_talked: false,
            first: spec.resume.clone(),
            has_sent: false,
            has_answered: false,
            refused: None,
            processes: 0,
        }
    }

    /// The events of a record.
    pub fn fold(&mut self, at: Timestamp, direction: Direction, bytes: &[u8]) -> Vec<OwnWhat> {
        if direction == Direction::Event {
            let Ok(what) = serde_json::from_slice::<OwnWhat>(bytes) else { return Vec::new() };
            if matches!(what, OwnWhat::Started { .. }) {
                self.process_ended();
                self.processes += 1;
                // A new process of the agent knows nothing of the one before.
                self.driver = agents::driver(&self.spec);
            }
            if matches!(what, OwnWhat::SessionEnded { .. }) {
                self.process_ended();
            }
            return vec![what];
        }
        let text = String::from_utf8_lossy(bytes);
        let line = match direction {
            Direction::Out => LogLine::Out(&text),
            Direction::In => LogLine::In(&text),
            Direction::Err => LogLine::Err(&text),
            Direction::Command | Direction::Event => return Vec::new(),
        };
        let mut events = self.driver.as_mut().map_or_else(Vec::new, |driver| driver.fold(at, line));
        for event in &mut events {
            match event {
                OwnWhat::Request { request } => request.id = self.request_id(&request.id),
                OwnWhat::RequestClosed { request, .. } => *request = self.request_id(request),
                OwnWhat::TurnStart => (self.has_talked, self.refused) = (true, None),
                OwnWhat::TurnEnd { .. } => self.has_answered |= self.has_talked,
                OwnWhat::Prompt { place: PromptPlace::Sent, .. } => self.has_sent = true,
                OwnWhat::Init { session, .. } | OwnWhat::Moved { session } => {
                    self.own_id = Some(session.clone());
                }
                // A later process has the permissions that the session had last, not those of its start.
                OwnWhat::Changed { model, mode } => {
                    self.spec.model = model.clone().or(self.spec.model.take());
                    self.spec.mode = mode.clone().or(self.spec.mode.take());
                }
                _ => {}
            }
        }
        events
    }

    /// The id of a request in this session. Each process of the agent numbers its requests anew.
    fn request_id(&self, id: &str) -> String {
        if self.processes < 2 && !id.contains('/') {
            id.to_owned()
        } else {
            format!("{}/{id}", self.processes)
        }
    }

    /// A command as the driver of the running process takes it: with that process's own id of a request.
    ///
    /// # Errors
    /// When the request is one of an earlier process.
    pub fn for_process(&self, command: &OwnCommand) -> Result<OwnCommand, Refusal> {
        let OwnCommand::Answer { request, decision } = command else { return Ok(command.clone()) };
        let id = request.split_once('/').map_or(&**request, |(_, id)| id);
        if self.request_id(id) != *request {
            return Err(Refusal::Gone("the agent asks this no longer".to_owned()));
        }
        Ok(OwnCommand::Answer { request: id.to_owned(), decision: decision.clone() })
    }

    /// The process of the agent is gone. A conversation that has begun goes on under the id that the agent gave it.
    pub fn process_ended(&mut self) {
        let refusal = self.start_refusal();
        match (self.refused, refusal) {
            // The agent has a file of the conversation without a prompt in it: it was killed between the two. Nothing is lost with it.
            (Some(before), Some(now)) if before != now => {
                self.spec.session = another_id(&self.spec.session);
                self.spec.resume.clone_from(&self.first);
                // This is asked more than once for a process, and what that one said counts once.
                self.driver = agents::driver(&self.spec);
            }
            (_, Some(Conversation::Exists)) => self.has_talked = true,
            (_, Some(Conversation::Missing)) => self.spec.resume.clone_from(&self.first),
            (_, None) => {}
        }
        self.refused = refusal.or(self.refused);
        if std::mem::take(&mut self.has_talked) {
            let session = self.own_id.clone().unwrap_or_else(|| self.spec.session.clone());
            self.spec.resume = Some(OwnResume { session, fork: false });
        }
    }

    /// Why the agent refused its start, if another start can succeed. A host or the agent was killed at the beginning of the
    /// conversation, so the log does not show whether the agent had stored it. `Exists`: it had, and the next start resumes it.
    /// `Missing`: it had not, and the next start makes a new one. After both, the next start makes one with another id. `None` also
    /// if the conversation is older than the session, or is lost.
    pub fn start_refusal(&self) -> Option<Conversation> {
        let goes_on = self.spec.resume.as_ref().is_some_and(|resume| !resume.fork);
        match self.driver.as_ref()?.start_refusal()? {
            Conversation::Exists => (self.has_sent && !goes_on).then_some(Conversation::Exists),
            Conversation::Missing => {
                (self.spec.resume != self.first && !self.has_answered).then_some(Conversation::Missing)
            }
        }
    }

    /// The specification of the agent's next process.
    pub fn spec(&self) -> &OwnSpec {
        &self.spec
    }

    /// The driver, for what only a host does.
    pub fn driver(&mut self) -> Option<&mut (dyn Driver + 'static)> {
        self.driver.as_deref_mut()
    }
}

/// The id of a conversation that takes the place of one. Each host derives the same.
fn another_id(id: &str) -> String {
    // A UUID stays one.
    let rest = id.get(8..).unwrap_or_default();
    format!("{:08x}{rest}", stable_hash(id.as_bytes()) & 0xffff_ffff)
}

/// The events of a record, as readers get them.
pub fn numbered(n: u64, at: Timestamp, events: Vec<OwnWhat>) -> Vec<OwnEvent> {
    let at = at.to_string();
    events.into_iter().map(|what| OwnEvent { n, at: at.clone(), what }).collect()
}

/// Reads the log of a session, and passes the events of the records from `from` on to `sink`, those of one record at a time,
/// until `sink` gives `false`. For a session whose host has ended.
///
/// # Errors
/// When the log cannot be read.
pub fn read(
    folder: &Folder,
    spec: &OwnSpec,
    from: u64,
    sink: &mut dyn FnMut(Vec<OwnEvent>) -> bool,
) -> io::Result<()> {
    each(folder, spec, &mut |n, at, events| n < from || sink(numbered(n, at, events)))
}

/// Passes the events of each record that has some on to `sink`, with its number and time, until `sink` gives `false`.
pub(crate) fn each(
    folder: &Folder,
    spec: &OwnSpec,
    sink: &mut dyn FnMut(u64, Timestamp, Vec<OwnWhat>) -> bool,
) -> io::Result<()> {
    let mut reader = match LogReader::open(&folder.log()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let mut replay = Replay::new(spec);
    while let Some(Record { n, at, direction, bytes }) =
        reader.next(|direction| direction != Direction::Command)?
    {
        let events = replay.fold(at, direction, &bytes);
        if !events.is_empty() && !sink(n, at, events) {
            break;
        }
    }
    Ok(())
}
