//! What the events of an own session add up to. When the session has ended, it is kept in a file beside the log, so that
//! programs that show the session need not read the log.

use std::collections::BTreeSet;
use std::{fs, io};

use crate::fold::OwnFold;
use serde::{Deserialize, Serialize};
use watchbill_core::session::snapshot::{from_bytes, to_bytes};
use watchbill_core::time::Timestamp;
use watchbill_platform::files::read_ordinary;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::OwnSpec;

use crate::folder::{Folder, replace_private};
use crate::replay;
use crate::transcript::complete;

/// The most ids that an agent may give its session, and the longest one in bytes. An agent with more has gone wrong.
const MAX_SESSIONS: usize = 1_000;
const MAX_ID_BYTES: usize = 256;

/// What the events of an own session add up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnSummary {
    /// The agent's ids of the session: a `/clear` begins another one.
    pub sessions: BTreeSet<String>,
    /// What its row shows.
    pub fold: OwnFold,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Kept<S> {
    /// The length of the log. A log of another length has other events.
    log_bytes: u64,
    summary: S,
}

impl OwnSummary {
    /// A session without events.
    pub fn new(spec: &OwnSpec) -> Self {
        let resumed = spec.resume.iter().filter(|resume| !resume.fork).map(|resume| resume.session.clone());
        let created_at = Timestamp::parse(&spec.created_at).unwrap_or_default();
        Self {
            sessions: resumed.chain([spec.session.clone()]).collect(),
            fold: OwnFold::new(spec.kind.into(), created_at),
        }
    }

    /// Takes one event in, in the order of the log.
    pub fn take(&mut self, at: Timestamp, what: &OwnWhat) {
        if let OwnWhat::Init { session, .. } | OwnWhat::Moved { session } = what
            && session.len() <= MAX_ID_BYTES
            && self.sessions.len() < MAX_SESSIONS
        {
            self.sessions.insert(session.clone());
        }
        self.fold.take(at, what);
    }

    /// The summary of a session whose host has ended. If the file does not hold it, the log is read and the file written: the
    /// host was killed, or was of another version.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn of_ended(folder: &Folder, spec: &OwnSpec) -> io::Result<Self> {
        let log_bytes = match fs::metadata(folder.log()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::new(spec)),
            other => other?.len(),
        };
        let kept =
            read_ordinary(&folder.summary()).ok().and_then(|bytes| from_bytes::<Kept<Self>>(&bytes).ok());
        if let Some(kept) = kept.filter(|kept| kept.log_bytes == log_bytes) {
            return Ok(kept.summary);
        }
        let summary = Self::of_log(folder, spec)?;
        if let Err(error) = complete(folder, spec, false) {
            tracing::debug!(%error, folder = %folder.path().display(), "what the agent's transcript lacks is not written");
        }
        // A folder that is being removed gets no new file.
        if folder.spec_file().exists()
            && let Err(error) = summary.keep(folder, log_bytes)
        {
            tracing::debug!(%error, folder = %folder.path().display(), "the summary of a session is not kept");
        }
        Ok(summary)
    }

    /// The summary of what the log holds now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of_log(folder: &Folder, spec: &OwnSpec) -> io::Result<Self> {
        let mut summary = Self::new(spec);
        replay::each(folder, spec, &mut |_, at, events| {
            events.iter().for_each(|what| summary.take(at, what));
            true
        })?;
        Ok(summary)
    }

    /// The conversations that the log holds, in order: the ids of each, first the one that its transcript has.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn conversations(folder: &Folder, spec: &OwnSpec) -> io::Result<Vec<Vec<String>>> {
        let goes_on = spec.resume.iter().filter(|resume| !resume.fork).map(|resume| resume.session.clone());
        let mut all = vec![goes_on.chain([spec.session.clone()]).collect::<Vec<_>>()];
        replay::each(folder, spec, &mut |_, _, events| {
            for event in events {
                match event {
                    // A `/clear` begins another one.
                    OwnWhat::Moved { session } if !all.iter().flatten().any(|known| *known == session) => {
                        all.push(vec![session]);
                    }
                    OwnWhat::Init { session, .. } if !all.iter().flatten().any(|known| *known == session) => {
                        all.last_mut().into_iter().for_each(|last| last.push(session.clone()));
                    }
                    _ => {}
                }
            }
            true
        })?;
        Ok(all)
    }

    /// Keeps the summary of a log that has this length.
    pub fn keep(&self, folder: &Folder, log_bytes: u64) -> io::Result<()> {
        replace_private(&folder.summary(), &to_bytes(&Kept { log_bytes, summary: self }))
    }
}
