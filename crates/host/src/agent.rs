//! The process of the agent: its pipes or its terminal, and the threads that read and write them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{InputModes, OptionalActions, Winsize};
use watchbill_agents::driver::SHORTENED;
use watchbill_agents::launch::Launch;
use watchbill_drive::host_process::NAME;
use watchbill_drive::log::Direction;
use watchbill_hooks::shorten::Shortener;
use watchbill_protocol::own::spec::OwnSize;

use crate::conversation::Conversation;
use crate::environment::environment;
use crate::exec;
use crate::input::{Input, Room};
use crate::limits;
use crate::processes::{self, Process};

/// What a piece of input takes beside its bytes.
const PER_PIECE: usize = 64;

/// The running agent.
pub struct Agent {
    /// Its process.
    pub process: Process,
    /// The conversation that it has for itself.
    _conversation: Option<Conversation>,
    input: Option<Sender<Piece>>,
    /// The bytes that wait in `input`.
    unread: Arc<AtomicUsize>,
    terminal: Option<Master>,
}

/// A piece of input for the agent.
enum Piece {
    Bytes(Vec<u8>),
    /// A picture.
    File(File),
    /// The agent needs a moment between two of them.
    Pause(Duration),
}

/// The host's end of the terminal.
struct Master {
    file: File,
    size: OwnSize,
    /// Closed to end the thread that reads.
    _stop: OwnedFd,
}

impl Agent {
    /// Starts an agent on pipes.
    ///
    /// # Errors
    /// When the system refuses. If the program does not exist, the process starts, says so, and ends with 127.
    pub fn on_pipes(
        launch: &Launch,
        cwd: &Path,
        conversation: Option<Conversation>,
        inputs: &SyncSender<Input>,
    ) -> io::Result<Self> {
        let mut command = command(launch, cwd, exec::PIPES);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let (stdout, stderr) =
            (child.stdout.take().ok_or_else(missing)?, child.stderr.take().ok_or_else(missing)?);
        let (input, pieces) = channel();
        let (unread, room) = (Arc::<AtomicUsize>::default(), Arc::<Room>::default());
        let (waits, err_room) = (Arc::clone(&unread), Arc::clone(&room));
        thread("writer", move || write(stdin, &pieces, &waits))?;
        let (out, err) = (inputs.clone(), inputs.clone());
        thread("output", move || lines(stdout, Direction::Out, &room, &out))?;
        thread("errors", move || lines(stderr, Direction::Err, &err_room, &err))?;
        Ok(Self {
            process: started(child.id()),
            _conversation: conversation,
            input: Some(input),
            unread,
            terminal: None,
        })
    }

    /// Starts a program on a terminal.
    ///
    /// # Errors
    /// When the system refuses, for example because it has no terminal left.
    pub fn on_terminal(
        launch: &Launch,
        cwd: &Path,
        conversation: Option<Conversation>,
        size: OwnSize,
        inputs: &SyncSender<Input>,
    ) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags)?;
        rustix::pty::grantpt(&master)?;
        rustix::pty::unlockpt(&master)?;
        let other = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
        rustix::termios::tcsetwinsize(&master, winsize(size))?;
        let mut modes = rustix::termios::tcgetattr(&other)?;
        modes.input_modes |= InputModes::IUTF8;
        rustix::termios::tcsetattr(&other, OptionalActions::Now, &modes)?;
        let mut command = command(launch, cwd, exec::TERMINAL);
        command.stdin(other.try_clone()?).stdout(other.try_clone()?).stderr(other);
        let child = command.spawn()?;
        // The command holds the agent's end of the terminal: it must be gone, or the terminal never ends.
        drop(command);
        let file = File::from(master);
        let (stopped, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let (input, pieces) = channel();
        let (reads, writes, tell) = (file.try_clone()?, file.try_clone()?, inputs.clone());
        let unread = Arc::<AtomicUsize>::default();
        let waits = Arc::clone(&unread);
        thread("writer", move || write(writes, &pieces, &waits))?;
        thread("terminal", move || output(reads, &stopped, &tell))?;
        let terminal = Some(Master { file, size, _stop: stop });
        let process = started(child.id());
        Ok(Self { process, _conversation: conversation, input: Some(input), unread, terminal })
    }

    /// Whether it reads so little of its input that nothing more is written to it.
    pub fn is_full(&self) -> bool {
        self.unread.load(Ordering::Acquire) > limits::UNREAD_INPUT
    }

    /// Writes to the agent. Never waits. Ask [`Agent::is_full`] before: what is written now is kept.
    pub fn write(&self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            self.unread.fetch_add(bytes.len() + PER_PIECE, Ordering::AcqRel);
            // The thread has ended if the agent reads no more. Its end says so.
            let _ = input.send(Piece::Bytes(bytes));
        }
    }

    /// Writes what a file holds.
    pub fn write_file(&self, file: File) {
        if let Some(input) = &self.input {
            let _ = input.send(Piece::File(file));
        }
    }

    /// Waits before the next bytes are written.
    pub fn pause(&self, time: Duration) {
        if let Some(input) = &self.input {
            let _ = input.send(Piece::Pause(time));
        }
    }

    /// Closes its standard input after the last written byte.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Gives the terminal another size. The same size again changes nothing, so that the program does not draw again.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn resize(&mut self, size: OwnSize) -> io::Result<()> {
        let Some(master) = self.terminal.as_mut().filter(|master| master.size != size) else { return Ok(()) };
        rustix::termios::tcsetwinsize(&master.file, winsize(size))?;
        master.size = size;
        Ok(())
    }
}

fn command(launch: &Launch, cwd: &Path, kind: &str) -> Command {
    // Names the running program also when its file was replaced or removed.
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).args([exec::WORD, kind, &std::process::id().to_string(), &launch.program]);
    command.args(&launch.args).current_dir(cwd).env_clear();
    command.envs(environment(std::env::vars_os(), launch, kind == exec::TERMINAL));
    command
}

/// The child exists until the host takes note of its end, so its start time can be read.
fn started(pid: u32) -> Process {
    processes::look(pid).unwrap_or(Process { pid, start: 0 })
}

fn winsize(size: OwnSize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 }
}

fn thread(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(run).map(drop)
}

/// Writes pieces in their order, until the host closes the input or the agent reads no more.
fn write(mut to: impl Write, pieces: &Receiver<Piece>, unread: &AtomicUsize) {
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => {
                if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
                    return;
                }
                unread.fetch_sub(bytes.len() + PER_PIECE, Ordering::AcqRel);
            }
            Piece::File(mut file) => {
                // A picture that comes twice is one open file.
                if file.rewind().and_then(|()| io::copy(&mut file, &mut to)).is_err() {
                    return;
                }
            }
            Piece::Pause(time) => std::thread::sleep(time),
        }
    }
}

/// Passes lines on. One that is too long is shortened, or else cut.
fn lines(from: impl Read, direction: Direction, room: &Arc<Room>, inputs: &SyncSender<Input>) {
    let longest = if direction == Direction::Out { limits::LINE } else { limits::BROKEN_LINE };
    let mut from = BufReader::new(from);
    loop {
        let mut bytes = Vec::new();
        let read = from.by_ref().take(longest as u64).read_until(b'\n', &mut bytes);
        if read.is_err() || bytes.is_empty() {
            break;
        }
        let mut is_cut = false;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if bytes.len() == longest {
            is_cut = true;
            let whole = if direction == Direction::Out && bytes.starts_with(b"{") {
                shortened(&bytes, &mut from)
            } else {
                let _ = from.skip_until(b'\n');
                None
            };
            bytes.truncate(limits::BROKEN_LINE);
            bytes.shrink_to_fit();
            bytes = whole.unwrap_or(bytes);
        }
        let share = room.share(bytes.len());
        if inputs.send(Input::Line { direction, bytes, is_cut, share }).is_err() {
            return;
        }
    }
    let _ = inputs.send(Input::Closed);
}

/// A line that is too long, read to its end: its long texts are cut, and it says so. `None` if it is no whole object.
fn shortened(begin: &[u8], rest: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut shortener = Shortener::within(limits::SHORTENED);
    shortener.push(begin);
    loop {
        let part = rest.fill_buf().ok().filter(|part| !part.is_empty())?;
        let end = part.iter().position(|byte| *byte == b'\n');
        shortener.push(&part[..end.unwrap_or(part.len())]);
        let read = end.map_or(part.len(), |end| end + 1);
        rest.consume(read);
        if end.is_some() {
            break;
        }
    }
    if !shortener.has_ended() {
        return None;
    }
    let mut line = shortener.finish();
    line.pop();
    line.extend_from_slice(format!(",\"{SHORTENED}\":true}}").as_bytes());
    Some(line)
}

/// Passes the output of a terminal on, until no process has it any more, or the host closes it.
fn output(mut from: File, stopped: &OwnedFd, inputs: &SyncSender<Input>) {
    let mut buffer = vec![0; limits::CHUNK];
    let room = Arc::<Room>::default();
    loop {
        let mut wanted = [PollFd::new(&from, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match rustix::event::poll(&mut wanted, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
            Ok(_) => {}
        }
        if !wanted[1].revents().is_empty() {
            break;
        }
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                let share = room.share(read);
                if inputs.send(Input::Output(buffer[..read].to_vec(), share)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // EIO: no process has the terminal open.
            Err(_) => break,
        }
    }
    let _ = inputs.send(Input::Closed);
}
