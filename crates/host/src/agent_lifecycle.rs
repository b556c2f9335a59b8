//! Starts and ends the agent's process. It starts with the first prompt. The session has ended when all its processes have.

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions};
use watchbill_agents::launch::{self as agents, Launch};
use watchbill_drive::log::{Direction, LogReader};
use watchbill_drive::transcript::complete;
use watchbill_protocol::own::event::{OwnProcess, OwnWhat};
use watchbill_protocol::own::host::{HostCall, HostRequest};
use watchbill_protocol::own::spec::{OwnKind, OwnSize};

use crate::agent::Agent;
use crate::conversation::{self, Conversation};
use crate::orphans;
use crate::processes::{self, Process};
use crate::screen::Screen;
use crate::session::{Exit, Session};
use crate::shutdown_plan::{Act, ShutdownPlan};

/// How long the rest of the agent's output is waited for after its exit. What it left may keep the pipes open for ever.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// How many other starts there are: the conversation as it is, a new one, and one with another id. One of them was the first.
const START_CHOICES: u8 = 2;

/// The size of a terminal before the first view reports one.
const SIZE: OwnSize = OwnSize { rows: 24, cols: 80 };

impl Session {
    /// Reads the log of earlier hosts: prompts that wait, prompts that were sent, the agent's own id of the session.
    pub(super) fn recall(&mut self) -> io::Result<()> {
        let mut reader = LogReader::open(&self.folder.log())?;
        while let Some(record) = reader.next(|_| true)? {
            if record.direction == Direction::Command {
                if let Ok(HostCall { request: HostRequest::Command { command }, .. }) =
                    serde_json::from_slice(&record.bytes)
                {
                    self.queue.recall(&command);
                }
                continue;
            }
            let events = self.replay.fold(record.at, record.direction, &record.bytes);
            self.transcribe(record.n, record.at, &events);
            for event in &events {
                self.queue.note(event);
                self.note(record.at, event);
            }
        }
        self.queue.recalled();
        self.replay.process_ended();
        self.state.turn = false;
        Ok(())
    }

    /// What a host does first: it closes what an earlier host left open, and starts a terminal.
    pub(super) fn begin(&mut self) {
        orphans::end(&self.folder);
        let acts = self.queue.agent_gone();
        self.act(acts);
        self.close_requests();
        if self.spec.kind == OwnKind::Pty {
            self.start_agent();
        }
    }

    /// Starts the agent. If that fails, the session is over.
    pub(super) fn start_agent(&mut self) {
        let started = agents::launch(self.replay.spec()).and_then(|launch| {
            let conversation = conversation::take(&self.folder, self.replay.spec())?;
            let failed = |error| format!("cannot start {}: {}", launch.program, in_words(&error));
            self.spawn(&launch, conversation).map_err(failed)
        });
        match started {
            Ok(agent) => {
                let pid = agent.process.pid;
                (self.state.ready, self.state.interrupted) = (false, None);
                self.work.begins(agent.process);
                self.agent = Some(agent);
                self.event(&OwnWhat::Started { pid });
            }
            Err(text) => {
                self.event(&OwnWhat::Error { text: text.clone(), cause: "start".to_owned(), record: None });
                self.state.exit = Some(Exit { code: None, signal: None, at: self.now() });
                self.state.words.push_back(text);
            }
        }
    }

    fn spawn(&mut self, launch: &Launch, conversation: Option<Conversation>) -> io::Result<Agent> {
        let cwd = self.cwd().to_owned();
        if !cwd.is_dir() {
            let text = format!("the folder {} does not exist", cwd.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        if self.spec.kind == OwnKind::Pty {
            self.state.outputs = 1;
            let screen = Screen::new(self.spec.size.unwrap_or(SIZE));
            let size = screen.size();
            self.screen = Some(screen);
            Agent::on_terminal(launch, &cwd, conversation, size, &self.inputs)
        } else {
            self.state.outputs = 2;
            Agent::on_pipes(launch, &cwd, conversation, &self.inputs)
        }
    }

    /// The agent says that it cannot go on, before it was ready: another process has the conversation, or the user is not logged in. It
    /// would wait for ever, and hold what it has opened.
    pub(super) fn not_started(&mut self, why: &str) {
        let is_starting = self.agent.is_some() && !self.state.ready && self.state.exit.is_none();
        if is_starting && self.state.ending.is_none() && self.replay.start_refusal().is_none() {
            self.state.words.push_back(why.to_owned());
            self.state.ending = Some(ShutdownPlan::new(false, false));
        }
    }

    /// Takes note of children that have ended: the agent, and what it left. Each is named, so that no child is taken from a thread
    /// that waits for it.
    pub(super) fn reap(&mut self) {
        let agent = self.agent.as_ref().and_then(|agent| processes::pid_of(agent.process));
        for pid in agent.into_iter().chain(processes::ended_children()) {
            let Ok(Some((_, status))) = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG) else {
                continue;
            };
            if Some(pid) == agent && self.state.exit.is_none() {
                self.state.exit = Some(Exit {
                    code: status.exit_status(),
                    signal: status.terminating_signal(),
                    at: self.now(),
                });
            }
        }
    }

    /// Begins the end. `why`: why it comes, if the user has not asked for it.
    pub(super) fn end(&mut self, why: Option<&str>) {
        self.state.asked |= why.is_none();
        self.state.words.extend(why.map(str::to_owned));
        if self.state.ending.is_none() {
            let is_terminal = self.spec.kind == OwnKind::Pty;
            self.state.ending = Some(ShutdownPlan::new(is_terminal, self.state.turn));
        }
    }

    /// The log cannot be written: everything is killed, and no event is sent.
    pub(super) fn give_up(&mut self) {
        for process in self.work.processes() {
            let _ = processes::signal(process, Signal::KILL);
        }
        self.state.is_over = true;
    }

    /// Carries the end on, asked for or not.
    pub(super) fn go_on_ending(&mut self) {
        if self.state.is_over || (self.state.ending.is_none() && self.state.exit.is_none()) {
            return;
        }
        self.reap();
        let agent_runs = self.agent.is_some() && self.state.exit.is_none();
        if !agent_runs {
            self.close_agent();
            if !self.output_is_whole() {
                return;
            }
        }
        let left = self.work.processes();
        self.tell_left(&left);
        let (now, turn) = (self.now(), self.state.turn);
        let mut gives_up = false;
        while let Some(act) =
            self.state.ending.as_mut().and_then(|ending| ending.next(now, agent_runs, !left.is_empty(), turn))
        {
            gives_up |= act == Act::GiveUp;
            self.carry_out_end(act, &left);
            if gives_up {
                break;
            }
        }
        if !agent_runs && (left.is_empty() || gives_up) {
            self.finish(gives_up);
        }
    }

    /// Starts the agent again, if it ended because the conversation is not as this start had it. No prompt was given to it.
    pub(super) fn starts_over(&mut self) -> bool {
        let is_over = self.state.exit.is_some() && self.state.outputs == 0;
        let wanted = is_over && self.state.ending.is_none() && self.replay.start_refusal().is_some();
        if !wanted || self.state.started_over == START_CHOICES {
            return false;
        }
        self.state.started_over += 1;
        (self.agent, self.state.exit) = (None, None);
        self.state.words.clear();
        self.replay.process_ended();
        self.start_agent();
        true
    }

    /// The agent is gone: its prompts and requests are closed, once.
    fn close_agent(&mut self) {
        if self.agent.is_none() || !self.output_is_whole() {
            return;
        }
        // This closes the terminal too: what the agent left there gets SIGHUP.
        self.agent = None;
        let acts = self.queue.agent_gone();
        self.act(acts);
        self.close_requests();
    }

    fn close_requests(&mut self) {
        let open: Vec<_> = self.summary.fold.ask_ids().map(ToString::to_string).collect();
        for request in open {
            self.event(&OwnWhat::RequestClosed { request, by: "ended".to_owned() });
        }
    }

    pub(super) fn output_is_whole(&self) -> bool {
        let waited = self.state.exit.is_none_or(|exit| self.now() >= exit.at + LAST_OUTPUT);
        self.state.outputs == 0 || waited
    }

    fn tell_left(&mut self, left: &[Process]) {
        if self.work.has_changed(left) {
            let left: Vec<OwnProcess> = left.iter().map(|process| processes::shown(*process)).collect();
            self.event(&OwnWhat::Ending { left });
        }
    }

    fn carry_out_end(&mut self, act: Act, left: &[Process]) {
        let agent: Vec<Process> = self.agent.iter().map(|agent| agent.process).collect();
        let send = |to: &[Process], signals: &[Signal]| {
            for process in to {
                for signal in signals {
                    if let Err(error) = processes::signal(*process, *signal) {
                        tracing::warn!(%error, pid = process.pid, "a process cannot be ended");
                    }
                }
            }
        };
        // A stopped process takes no other signal before it is continued.
        match act {
            Act::Interrupt => self.interrupt(),
            Act::CloseInput => {
                if let Some(agent) = self.agent.as_mut() {
                    agent.close_input();
                }
                send(&agent, &[Signal::CONT]);
            }
            Act::HangUp => send(&agent, &[Signal::HUP, Signal::CONT]),
            Act::Terminate => send(&agent, &[Signal::TERM, Signal::CONT]),
            Act::TerminateLeft => send(left, &[Signal::TERM, Signal::CONT]),
            Act::Kill | Act::KillLeft => send(left, &[Signal::KILL]),
            Act::GiveUp => self.state.words.push_back("some processes could not be ended".to_owned()),
        }
    }

    /// Keeps what the session was, for programs that show it.
    fn keep_summary(&mut self) {
        if self.folder.spec_file().exists()
            && let Err(error) = self.summary.keep(&self.folder, self.log.length())
        {
            tracing::warn!(%error, "the summary is not kept: readers of the session read its log");
        }
    }

    /// Keeps the last screen as a picture.
    fn keep_screen(&mut self) {
        if let Some(screen) = self.screen.as_mut()
            && self.folder.spec_file().exists()
            && let Err(error) = std::fs::write(self.folder.screen(), screen.draw())
        {
            tracing::warn!(%error, "the last screen is not kept");
        }
    }

    /// The last event.
    fn finish(&mut self, gave_up: bool) {
        self.keep_screen();
        // Before the last event: who hears of that reads what is there.
        let exit = self.state.exit;
        let was_cut = exit.is_some_and(|exit| exit.code != Some(0));
        if let Err(error) = complete(&self.folder, &self.spec, was_cut) {
            tracing::warn!(%error, "what the agent's transcript lacks is not written");
        }
        let failed = was_cut && !self.state.asked;
        let words: Vec<String> = self.state.words.drain(..).collect();
        let says_words = (failed || gave_up || !self.state.asked) && !words.is_empty();
        self.event(&OwnWhat::SessionEnded {
            code: exit.and_then(|exit| exit.code),
            signal: exit.and_then(|exit| exit.signal),
            asked: self.state.asked,
            words: says_words.then(|| words.join("\n")),
        });
        self.sync();
        self.keep_summary();
        self.state.is_over = true;
    }
}

/// Why the system does not start a process. Its own words for a limit name no limit.
fn in_words(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => "too many files are open (see `ulimit -n`)".to_owned(),
        Some(Errno::AGAIN) => {
            "this user has as many processes as the system allows (see `ulimit -u`)".to_owned()
        }
        Some(Errno::NOSPC) => "the disk is full".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_the_system_is_named() {
        let words = |errno: Errno| in_words(&errno.into());
        assert!(words(Errno::MFILE).contains("ulimit -n"));
        assert!(words(Errno::AGAIN).contains("ulimit -u"));
        assert_eq!(words(Errno::NOSPC), "the disk is full");
        assert!(words(Errno::ACCESS).contains("ermission denied"));
    }
}
