//! What a host keeps in memory at most: its buffers, and their sum. What is left out beyond is said to readers of the session.
//!
//! Pictures of prompts are in none of them: they pass through files. A terminal's screen is counted apart.

use watchbill_agents::driver::{CUT_MARK, MAX_DRIVER_BYTES};
use watchbill_hooks::shorten::Limits;
use watchbill_platform::socket::Longest;
use watchbill_protocol::own::host::{MAX_HOST_LINE_BYTES, MAX_PROMPT_BYTES};

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

/// A line of a reader. A longer one has pictures, and is read part by part.
pub const READERS_LINE: Longest = Longest { whole: MAX_HOST_LINE_BYTES, kept: MAX_PROMPT_BYTES };

/// Open connections: windows, command lines, the engine. Each has a short line and a buffer.
pub const CONNECTIONS: usize = 64;

/// Messages that wait for one reader. A reader that is further behind is disconnected. It attaches again and reads the log.
pub const MAILBOX: usize = 512 << 10;

/// Output of a terminal that waits for one reader. Of more, the reader gets the screen instead.
pub const WAITING_FOR_READER: usize = 256 << 10;

/// Messages that wait for all readers together. Beyond that, those furthest behind are disconnected.
pub const MAILBOXES: usize = 768 << 10;

/// Events in one message of what is past, and the bytes of records that they come from. One record may be longer.
pub const BATCH: usize = 256;
/// See [`BATCH`].
pub const BATCH_BYTES: usize = 64 << 10;

/// Prompts that wait. The first one may be longer.
pub const WAITING_PROMPTS: usize = 512 << 10;

/// Answers to commands that are remembered.
pub const ANSWERS: usize = 128 << 10;

/// What scrolled off a terminal.
pub const SCROLLED: usize = 1 << 20;

/// The bytes that draw a terminal.
pub const DRAWN: usize = 1 << 20;

/// The cells of a terminal. Each takes 32 bytes, on two screens: 4 MiB.
pub const CELLS: u32 = 64 << 10;

/// A record at work: the line, its values, its events, the message about them and the record of the transcript.
const AT_WORK: usize = 5 * LINE;

/// One reader at a time is told what is past: a record at work, and the driver that folds it.
const PAST: usize = 4 * LINE + MAX_DRIVER_BYTES;

/// What an agent on pipes needs.
const PIPES: usize = AT_WORK + WAITING_OUTPUT + LINE + MAX_DRIVER_BYTES + PAST + WAITING_PROMPTS;

/// What a terminal needs beside its screen: the drawing as bytes, and as a message.
const TERMINAL: usize = SCROLLED + DRAWN + 2 * (DRAWN / 3 * 4) + WAITING_OUTPUT + CHUNK;

/// What both need.
const BOTH: usize =
    UNREAD_INPUT + MAX_PROMPT_BYTES + 2 * MAX_PROMPT_BYTES + MAILBOXES + ANSWERS + CONNECTIONS * (16 << 10);

const _: () = assert!(BOTH + if PIPES > TERMINAL { PIPES } else { TERMINAL } <= ALL);
