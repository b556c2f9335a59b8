//! One agent on pipes with its driver: the rig of the tests speaks to it. It is no host: it has no queue, no log and no socket.
//!
//! Standard input: the specification as a line of JSON, then commands. Standard output: events, and `{"refused":…}` for a
//! command that could not be carried out. The last line tells whether a replay of all records gives the same events.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a test program: its output is what it tells")]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use watchbill_agents::driver::{Driver, LogLine};
use watchbill_agents::launch::{driver, launch};
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::OwnSpec;

enum Input {
    Record(Record),
    Command(String),
    CommandsEnd,
    AgentEnd,
}

#[derive(Clone)]
enum Record {
    Out(String),
    In(String),
    Err(String),
}

impl Record {
    fn line(&self) -> LogLine<'_> {
        match self {
            Self::Out(line) => LogLine::Out(line),
            Self::In(line) => LogLine::In(line),
            Self::Err(line) => LogLine::Err(line),
        }
    }
}

struct Talk {
    driver: Box<dyn Driver>,
    agent: Option<ChildStdin>,
    records: Vec<Record>,
    events: Vec<OwnWhat>,
}

impl Talk {
    fn fold(&mut self, record: Record) -> Result<(), Box<dyn Error>> {
        let events = self.driver.fold(Timestamp::from_millis(0), record.line());
        for event in &events {
            println!("{}", serde_json::to_string(event)?);
        }
        self.events.extend(events);
        self.records.push(record);
        for line in self.driver.due() {
            self.write(line)?;
        }
        Ok(())
    }

    fn write(&mut self, line: String) -> Result<(), Box<dyn Error>> {
        if let Some(agent) = &mut self.agent {
            // An agent that has ended is told by its output.
            let _ = writeln!(agent, "{line}").and_then(|()| agent.flush());
        }
        self.fold(Record::In(line))
    }

    fn command(&mut self, line: &str) -> Result<(), Box<dyn Error>> {
        match self.driver.command(&serde_json::from_str::<OwnCommand>(line)?) {
            Ok(lines) => lines.into_iter().try_for_each(|line| self.write(line)),
            Err(refusal) => {
                println!("{}", serde_json::json!({ "refused": refusal.to_string() }));
                Ok(())
            }
        }
    }
}

fn read(from: impl Read + Send + 'static, to: Sender<Input>, input: fn(String) -> Input, end: Option<Input>) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let _ = to.send(input(line));
        }
        if let Some(end) = end {
            let _ = to.send(end);
        }
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut first = String::new();
    std::io::stdin().read_line(&mut first)?;
    let spec: OwnSpec = serde_json::from_str(&first)?;
    let start = launch(&spec)?;
    let mut child = Command::new(&start.program)
        .args(&start.args)
        .envs(start.env)
        .current_dir(&spec.cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (to, inputs) = channel();
    let (out, err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    read(out, to.clone(), |line| Input::Record(Record::Out(line)), Some(Input::AgentEnd));
    read(err, to.clone(), |line| Input::Record(Record::Err(line)), None);
    read(std::io::stdin(), to, Input::Command, Some(Input::CommandsEnd));
    let new = || driver(&spec).ok_or("this is no agent on pipes");
    let mut talk =
        Talk { driver: new()?, agent: child.stdin.take(), records: Vec::new(), events: Vec::new() };
    for line in talk.driver.due() {
        talk.write(line)?;
    }
    for input in inputs {
        match input {
            Input::Record(record) => talk.fold(record)?,
            Input::Command(line) => talk.command(&line)?,
            Input::CommandsEnd => drop(talk.agent.take()),
            Input::AgentEnd => break,
        }
    }
    let code = child.wait()?.code();
    let mut again = new()?;
    let fold = |record: &Record| again.fold(Timestamp::from_millis(0), record.line());
    let replayed: Vec<_> = talk.records.iter().flat_map(fold).collect();
    println!("{}", serde_json::json!({ "ended": code, "replayed": replayed == talk.events }));
    Ok(())
}
