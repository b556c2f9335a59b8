//! What a host keeps in memory at most: its buffers, and their sum. What is left out beyond is said to readers of the session.
//!
//! Pictures of prompts are in none of them: they lie in files. The cells of a terminal are counted apart.

use watchbill_agents::driver::{CUT_MARK, MAX_DRIVER_BYTES};
use watchbill_hooks::shorten::Limits;
use watchbill_protocol::own::host::MAX_HOST_LINE_BYTES;

/// All buffers together.
const ALL: usize = 8 << 20;

/// A line of the agent that is kept as it came. A longer one is shortened to this length: its long texts lose their ends.
pub const LINE: usize = 256 << 10;

/// How a longer line is shortened. Its answers can have pictures, which readers do not get anyway.
pub const SHORTENED: Limits =
    Limits { string: 16 << 10, field: LINE - (8 << 10), whole: LINE, mark: CUT_MARK };

/// What is kept of a line that cannot be shortened, or of a line of standard error.
pub const BROKEN_LINE: usize = 64 << 10;

/// Output of the agent that waits for the loop. A longer line waits alone.
pub const WAITING_OUTPUT: usize = LINE;

/// A part of a terminal's output.
pub const CHUNK: usize = 64 << 10;

/// Input that waits for an agent that reads none.
pub const UNREAD_INPUT: usize = 256 << 10;

/// Open connections: windows, command lines, the engine. Each has a short line and two buffers.
pub const CONNECTIONS: usize = 48;

/// Messages that wait for all readers together, with those that are being written. Beyond that, those that have read nothing for the
/// longest time are disconnected. They attach again and read the log.
pub const MAILBOXES: usize = 5 << 18;

/// Output of a terminal that waits for one reader. Of more, the reader gets the screen instead.
pub const WAITING_FOR_READER: usize = 256 << 10;

/// Events in one message of what is past.
pub const BATCH: usize = 256;

/// The bytes of records that they come from. One record may be longer.
pub const BATCH_BYTES: usize = 64 << 10;

/// Prompts that wait, and those that the agent has not answered. The first one may be longer.
pub const WAITING_PROMPTS: usize = 512 << 10;

/// Answers to commands that are remembered.
pub const ANSWERS: usize = 128 << 10;

/// What scrolled off a terminal.
pub const SCROLLED: usize = 768 << 10;

/// The bytes that draw a terminal.
pub const DRAWN: usize = 768 << 10;

/// The cells of a terminal. Each takes 32 bytes, on two screens: 4 MiB.
pub const CELLS: u32 = 64 << 10;

/// A line of a reader, and the command in it.
const COMMAND: usize = 3 * MAX_HOST_LINE_BYTES as usize;

/// A record at work: the line, its values, its events, the message about them and the record of the transcript.
const AT_WORK: usize = 5 * LINE;

/// One replay of the log at a time: a record at work, and its driver. Other readers that still get past events keep their drivers,
/// too. Only a malicious agent makes those large.
const PAST: usize = 4 * LINE + MAX_DRIVER_BYTES;

/// What an agent on pipes needs.
const PIPES: usize = AT_WORK + WAITING_OUTPUT + LINE + MAX_DRIVER_BYTES + PAST + WAITING_PROMPTS;

/// What a terminal needs beside its cells: the drawing as bytes, and as a message.
const TERMINAL: usize = SCROLLED + DRAWN + 2 * (DRAWN / 3 * 4) + WAITING_OUTPUT + CHUNK;

/// What both need.
const BOTH: usize = UNREAD_INPUT + COMMAND + MAILBOXES + ANSWERS + CONNECTIONS * (20 << 10);

const _: () = assert!(BOTH + if PIPES > TERMINAL { PIPES } else { TERMINAL } <= ALL);
