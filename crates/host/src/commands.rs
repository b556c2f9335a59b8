//! Carries out the commands that readers send to the session.

use std::fs::File;
use std::time::Duration;

use watchbill_agents::driver::Refusal;
use watchbill_core::time::Timestamp;
use watchbill_drive::log::Direction;
use watchbill_drive::pictures;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::event::{NO_REACTION, OwnWhat, PromptPlace};
use watchbill_protocol::own::host::MAX_CALL_ID_BYTES;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind};

use crate::agent::Agent;
use crate::prompt_queue::Act;
use crate::session::{Session, wall_clock};

/// How far away the time may be at which a queue goes on.
const LONGEST_HOLD: Duration = Duration::from_secs(31 * 86_400);
/// How often such a queue looks at the time. A wait does not count the time in which the machine sleeps.
const HOLD_LOOK: Duration = Duration::from_secs(300);

/// How long an interrupted turn may go on before readers are told. Agents take half a second at most (measured).
const REACTION: Duration = Duration::from_secs(5);

/// The time at which a queue goes on, and how long that is from now.
fn time_of(until: &str) -> Option<(Timestamp, Duration)> {
    let until = Timestamp::parse(until)?;
    let left = u64::try_from(until.since(wall_clock()).0).unwrap_or(0);
    Some((until, Duration::from_millis(left)))
}

/// The time since the machine started, also while it slept. Setting the clock does not change it.
fn since_boot() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

impl Session {
    /// Carries out a command. One that was sent before has its old answer, and no effect.
    pub(super) fn command(&mut self, id: &str, command: &OwnCommand, line: &[u8]) -> Result<(), ApiError> {
        if let Some(answer) = self.answered.to(id) {
            return answer;
        }
        let answer = self.check(command).and_then(|()| {
            // Typed text may be a password, and need not survive a crash.
            let is_typed = matches!(
                command,
                OwnCommand::Type { .. } | OwnCommand::Paste { .. } | OwnCommand::Resize { .. }
            );
            if !is_typed {
                self.append(Direction::Command, line);
                self.sync();
            }
            self.carry_out(command)
        });
        self.answered.add(id, &answer);
        answer
    }

    /// Refuses a command that can be refused before anything is written.
    fn check(&self, command: &OwnCommand) -> Result<(), ApiError> {
        let for_terminal =
            matches!(command, OwnCommand::Type { .. } | OwnCommand::Paste { .. } | OwnCommand::Resize { .. });
        let for_both = matches!(command, OwnCommand::Stop | OwnCommand::Interrupt);
        let is_terminal = self.spec.kind == OwnKind::Pty;
        if !for_both && for_terminal != is_terminal {
            let why = if is_terminal {
                "the session runs in a terminal: type or paste into it"
            } else {
                "the session has no terminal: send a prompt"
            };
            return Err(ApiError::new(ErrorCode::Invalid, why));
        }
        let is_ending = self.state.ending.is_some() || self.state.exit.is_some();
        if is_ending && !matches!(command, OwnCommand::Stop) {
            return Err(ApiError::new(ErrorCode::Conflict, "the agent has ended, or is being ended"));
        }
        if let OwnCommand::GoOnAt { until, id, text } = command {
            match time_of(until) {
                None => return Err(ApiError::new(ErrorCode::Invalid, "the time is not in RFC 3339")),
                Some((_, Duration::ZERO)) => {
                    return Err(ApiError::new(ErrorCode::Invalid, "the time is over"));
                }
                Some((_, left)) if left > LONGEST_HOLD => {
                    return Err(ApiError::new(ErrorCode::Invalid, "the time is more than 31 days away"));
                }
                Some(_) => {}
            }
            if text.is_empty() && self.queue.is_empty() {
                return Err(ApiError::new(ErrorCode::Conflict, "no prompt waits"));
            }
            if id.len() > MAX_CALL_ID_BYTES {
                return Err(ApiError::new(ErrorCode::Invalid, "the id of the prompt is too long"));
            }
            self.queue.has_room(id, text, &[])?;
        }
        if let OwnCommand::Prompt { id, text, images, .. } = command {
            if id.len() > MAX_CALL_ID_BYTES {
                return Err(ApiError::new(ErrorCode::Invalid, "the id of the prompt is too long"));
            }
            self.queue.has_room(id, text, images)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, command: &OwnCommand) -> Result<(), ApiError> {
        match command {
            OwnCommand::Prompt { id, text, images, when } => {
                let acts = self.queue.take(id, text, images, *when, self.is_busy());
                self.act(acts);
                Ok(())
            }
            OwnCommand::Unqueue { id } => {
                // What the agent has queued itself, its driver may take back.
                let Some(acts) = self.queue.unqueue(id) else {
                    return self.give_driver(command).map_err(refused);
                };
                self.act(acts);
                Ok(())
            }
            OwnCommand::ClearQueue => {
                let acts = self.queue.clear();
                self.act(acts);
                Ok(())
            }
            OwnCommand::ReleaseQueue => {
                let acts = self.queue.release();
                self.act(acts);
                Ok(())
            }
            OwnCommand::GoOnAt { until, id, text } => {
                // It was checked before it was written down. By now it may be over.
                let (until, left) = time_of(until).unwrap_or_default();
                // Held before the prompt is there, so that it does not slip through.
                let held = self.queue.hold_until(until);
                let queued = match text.is_empty() {
                    true => Vec::new(),
                    false => self.queue.take(id, text, &[], PromptWhen::Queue, self.is_busy()),
                };
                self.state.go_on_at = Some(since_boot() + left);
                self.act(held);
                self.act(queued);
                Ok(())
            }
            OwnCommand::Interrupt => {
                // Held before the turn has ended, so that no prompt slips through.
                let acts = self.queue.hold("interrupted");
                self.act(acts);
                self.interrupt();
                Ok(())
            }
            OwnCommand::Stop => {
                self.end(None);
                Ok(())
            }
            OwnCommand::Answer { .. } | OwnCommand::SetModel { .. } | OwnCommand::SetMode { .. } => {
                self.give_driver(command).map_err(refused)
            }
            OwnCommand::Type { .. } | OwnCommand::Paste { .. } | OwnCommand::Resize { .. } => {
                let (Some(agent), Some(screen)) = (self.agent.as_mut(), self.screen.as_mut()) else {
                    return Err(ApiError::new(ErrorCode::Conflict, "no program runs in the terminal"));
                };
                screen.give(command, agent)
            }
        }
    }

    /// Ends the running turn.
    pub(super) fn interrupt(&mut self) {
        if self.spec.kind == OwnKind::Pty {
            // Agents take Escape for it, a shell Ctrl-C. It is typed once.
            let key = if self.spec.agent == OwnAgent::Shell { b"\x03" } else { b"\x1b" };
            if let Some(agent) = &self.agent {
                agent.write(key.to_vec());
            }
            return;
        }
        if self.agent.is_none() || !self.is_busy() {
            return;
        }
        match self.give_driver(&OwnCommand::Interrupt) {
            Ok(()) => {
                self.queue.interrupting();
                self.state.interrupted.get_or_insert(self.now());
            }
            Err(refusal) => {
                self.event(&OwnWhat::Error {
                    text: refusal.to_string(),
                    cause: "command".to_owned(),
                    record: None,
                });
            }
        }
    }

    /// How long until an interrupted turn that still runs is reported.
    pub(super) fn reaction_due(&self) -> Option<Duration> {
        Some((self.state.interrupted? + REACTION).saturating_sub(self.now()))
    }

    /// How long until the queue goes on at its time, or until this is asked again, because the machine may sleep meanwhile.
    pub(super) fn queue_due(&self) -> Option<Duration> {
        self.queue.until()?;
        Some(self.state.go_on_at?.saturating_sub(since_boot()).min(HOLD_LOOK))
    }

    /// Reports a turn that goes on although it was interrupted, once for each interrupt.
    fn look_at_reaction(&mut self) {
        if self.reaction_due() != Some(Duration::ZERO) {
            return;
        }
        self.state.interrupted = None;
        if self.is_busy() && self.state.ending.is_none() {
            let text = "the agent does not react to the interrupt: wait, or stop the session".to_owned();
            self.event(&OwnWhat::Error { text, cause: NO_REACTION.to_owned(), record: None });
        }
    }

    /// A turn runs, or a prompt is on its way to the agent.
    fn is_busy(&self) -> bool {
        self.state.turn || self.queue.any_sent()
    }

    /// Lets the driver write a command to the agent.
    fn give_driver(&mut self, command: &OwnCommand) -> Result<(), Refusal> {
        let none = || Refusal::Gone("the agent does not run yet: it starts with the first prompt".to_owned());
        if self.agent.is_none() {
            return Err(none());
        }
        if self.agent.as_ref().is_some_and(Agent::is_full) {
            return Err(Refusal::Gone("the agent reads no input: wait, or stop the session".to_owned()));
        }
        let command = self.replay.for_process(command)?;
        let pictures = pictures::open(&self.folder, &command)?;
        let lines = self.replay.driver().ok_or_else(none)?.command(&command)?;
        for line in lines {
            self.write_line(&line, &pictures);
        }
        Ok(())
    }

    /// Writes one line to the log, then to the agent. The agent gets the `pictures` in the place of their names.
    fn write_line(&mut self, line: &str, pictures: &[(String, File)]) {
        if self.agent.as_ref().is_some_and(Agent::is_full) {
            return self.tell_cut("the agent reads no answers to what it asks Watchbill: they were left out");
        }
        self.append(Direction::In, line.as_bytes());
        if let Some(agent) = &self.agent {
            let mut rest = line;
            while let Some((before, file, after)) = pictures::next(rest, pictures) {
                agent.write(before.as_bytes().to_vec());
                agent.write_file(file);
                rest = after;
            }
            let mut bytes = Vec::with_capacity(rest.len() + 1);
            bytes.extend_from_slice(rest.as_bytes());
            bytes.push(b'\n');
            agent.write(bytes);
        }
    }

    /// Gives a prompt to the agent.
    pub(super) fn hand(&mut self, command: OwnCommand) {
        let refusal = self.give_driver(&command).err();
        let OwnCommand::Prompt { id, text, images, when } = &command else { return };
        let told = |place| OwnWhat::Prompt {
            id: id.clone(),
            text: text.clone(),
            images: u32::try_from(images.len()).unwrap_or(u32::MAX),
            place,
        };
        match refusal {
            None if self.queue.place(id) == Some(PromptPlace::Queued) => self.event(&told(PromptPlace::Sent)),
            None => {}
            // Into the running turn it does not go: it is the next one.
            Some(_) if *when == PromptWhen::Steer => self.queue.put_back(command),
            Some(refusal) => {
                let dropped = told(PromptPlace::Dropped);
                self.event(&dropped);
                self.event(&OwnWhat::Error {
                    text: refusal.to_string(),
                    cause: "command".to_owned(),
                    record: None,
                });
            }
        }
    }

    /// Does all due work: lines of the driver, the next prompt, the start of the agent, the end.
    pub(super) fn settle(&mut self) {
        if self.queue_due() == Some(Duration::ZERO) {
            let acts = self.queue.release();
            self.act(acts);
        }
        while !self.state.is_over {
            let due = self.replay.driver().map(watchbill_agents::driver::Driver::due).unwrap_or_default();
            if self.agent.is_some() && !due.is_empty() {
                due.iter().for_each(|line| self.write_line(line, &[]));
                continue;
            }
            if self.starts_over() {
                continue;
            }
            if self.state.ending.is_some() || self.state.exit.is_some() {
                break;
            }
            let is_idle = self.replay.driver().is_some_and(|driver| driver.is_idle());
            if self.agent.is_some() && is_idle {
                let Some(prompt) = self.queue.next() else { break };
                self.act(vec![Act::Hand(prompt)]);
                continue;
            }
            if self.agent.is_none() && self.queue.has_work() {
                self.start_agent();
                continue;
            }
            break;
        }
        self.look_at_reaction();
        if self.state.ending.is_none() {
            self.work.look(self.now(), self.state.turn);
        }
        self.go_on_ending();
    }
}

/// A refusal as readers get it.
fn refused(refusal: Refusal) -> ApiError {
    let code = match refusal {
        Refusal::Unsupported(_) => ErrorCode::Unsupported,
        Refusal::Gone(_) => ErrorCode::Conflict,
    };
    ApiError::new(code, refusal.to_string())
}
