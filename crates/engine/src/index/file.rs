//! One transcript into the store, whole: its texts, prompts, tool calls and requests, each record once.

use std::collections::HashSet;

use watchbill_core::history::rows::Item;
use watchbill_core::history::{HistoryFold, HistorySettings};
use watchbill_core::ids::{RecordId, SessionId};
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::session::subagent::SubagentFold;
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::parse::parse_line_in_full;
use watchbill_core::transcript::record::Record;
use watchbill_protocol::store::IndexReport;
use watchbill_store::tables::files::FileCursor;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::{FileKey, SessionKey, Step, StoreError};
use watchbill_watch::layout::Place;
use watchbill_watch::scan::Found;
use watchbill_watch::tail::{Tail, TailError};

use crate::engine::World;

/// Reads transcripts one after the other.
pub struct Reader<'w> {
    world: &'w World,
    settings: HistorySettings,
    timeouts: Timeouts,
    /// Sessions whose rows are kept by the running program.
    kept: HashSet<String>,
    forgotten: HashSet<String>,
    scratch: Vec<u8>,
}

/// What is folded beside the history: it knows which records were met before, and what the session is called.
enum Fold {
    Main(Box<SessionFold>),
    Agent(Box<SubagentFold>),
}

impl Fold {
    fn has(&self, id: RecordId) -> bool {
        match self {
            Self::Main(fold) => fold.has_record(id),
            Self::Agent(fold) => fold.has_record(id),
        }
    }

    fn apply(&mut self, record: &Record<'_>) {
        match self {
            Self::Main(fold) => fold.apply(record, &mut Vec::new()),
            Self::Agent(fold) => fold.apply(record),
        }
    }
}

/// Where the rows of a file go.
struct Target<'s, 't> {
    step: &'s mut Step<'t>,
    file: FileKey,
    session: SessionKey,
    report: &'s mut IndexReport,
    /// What the store said when it refused: nothing more is handed to it.
    refused: Option<StoreError>,
}

impl Target<'_, '_> {
    fn take(&mut self, item: Item<'_>) {
        if self.refused.is_none()
            && let Err(error) = self.store(item)
        {
            self.refused = Some(error);
        }
    }

    fn store(&mut self, item: Item<'_>) -> Result<(), StoreError> {
        let (session, file) = (self.session, Some(self.file));
        match item {
            Item::Text(text) => {
                if self.step.add_text(self.file, session, &text)? {
                    self.report.texts += 1;
                    self.report.cut_bytes += text.cut;
                }
                Ok(())
            }
            Item::Batch(batch) => self.step.merge_batch(session, file, &batch),
            Item::Activity(activity) => self.step.merge_activity(session, file, &activity),
            Item::Plan(plan) => self.step.merge_plan(session, file, &plan),
            Item::Execution(execution) => self.step.merge_execution(session, file, &execution),
            Item::Request(request) => self.step.merge_request(self.file, &request),
        }
    }
}

impl<'w> Reader<'w> {
    /// Reads from this world. `kept` are sessions whose rows stay as they are, `forgotten` those that are not stored.
    pub fn new(
        world: &'w World,
        settings: HistorySettings,
        timeouts: Timeouts,
        kept: HashSet<String>,
        forgotten: HashSet<String>,
    ) -> Self {
        Self { world, settings, timeouts, kept, forgotten, scratch: Vec::new() }
    }

    /// Stores everything that the file holds, in place of what was stored of it.
    ///
    /// # Errors
    /// When the store cannot be written. A file that cannot be read is counted.
    pub fn read(
        &mut self,
        step: &mut Step<'_>,
        found: &Found,
        report: &mut IndexReport,
    ) -> Result<(), StoreError> {
        let (session, agent) = match &found.place {
            Place::Transcript { session, .. } => (session.clone(), None),
            Place::Subagent { session, agent, .. } => (session.clone(), Some(agent.clone())),
            Place::FlatSubagent { agent, .. } => match self.parent_of(found, agent) {
                Some(parent) => (parent, Some(agent.clone())),
                // Nothing in it says whose it is: it has no complete line yet.
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        if self.forgotten.contains(session.as_str()) {
            return Ok(());
        }
        let path = found.path.to_string_lossy();
        let key = step.session_key(&session)?;
        let file = step.file_key(&path, key, agent.as_deref())?;
        step.reset_file(file)?;
        let mut fold = match &agent {
            Some(agent) => Fold::Agent(Box::new(SubagentFold::new(agent))),
            None => Fold::Main(Box::new(SessionFold::new(session.clone(), self.timeouts))),
        };
        let mut history = HistoryFold::new(session.clone(), agent.as_deref());
        let mut target = Target { step, file, session: key, report, refused: None };
        let cursor = self.fold(found, &mut fold, &mut history, &mut target);
        if let Some(error) = target.refused {
            return Err(error);
        }
        let Some(cursor) = cursor else {
            report.problems += 1;
            return Ok(());
        };
        step.set_cursor(file, &cursor)?;
        if let Fold::Main(fold) = &fold
            && !self.kept.contains(session.as_str())
        {
            step.put_session(&row(&session, found, fold))?;
        }
        Ok(())
    }

    /// Reads the whole file. `None` when that is not possible.
    fn fold(
        &mut self,
        found: &Found,
        fold: &mut Fold,
        history: &mut HistoryFold,
        target: &mut Target<'_, '_>,
    ) -> Option<FileCursor> {
        let mut tail = Tail::default();
        let mut splitter = LineSplitter::default();
        let mut problems = 0;
        let settings = &self.settings;
        let fs = &*self.world.fs;
        let read = tail.read(fs, &found.path, &mut self.scratch, u64::MAX, &mut || {}, &mut |_, bytes| {
            splitter.push(bytes, &mut |split| {
                let Split::Line(line) = split else {
                    problems += 1;
                    return;
                };
                let report = parse_line_in_full(line.bytes, &mut |record, full| {
                    target.report.records += 1;
                    if record.envelope.uuid.is_none_or(|id| !fold.has(id)) {
                        history.apply(line.offset, &record, full, settings, &mut |item| target.take(item));
                    }
                    fold.apply(&record);
                });
                problems += u64::from(report.malformed);
            });
        });
        history.settle(&mut |item| target.take(item));
        target.report.problems += problems;
        if target.refused.is_none() {
            target.refused = target.step.count_problems(target.file, problems).err();
        }
        match read {
            Ok(outcome) => {
                target.report.bytes += outcome.bytes_read;
                let stat = found.stat;
                let offset = splitter.line_start();
                Some(FileCursor {
                    dev: stat.id.dev,
                    inode: stat.id.ino,
                    size: stat.len,
                    mtime: stat.mtime,
                    offset,
                    ..FileCursor::default()
                })
            }
            // It went away between two looks: what was stored of it stays to be found.
            Err(TailError::Gone | TailError::NotAFile | TailError::Io(_)) => None,
        }
    }

    /// Whose subagent wrote a file of clients before 2.1.2: its records say so.
    fn parent_of(&mut self, found: &Found, agent: &str) -> Option<SessionId> {
        let mut fold = SubagentFold::new(agent);
        let mut splitter = LineSplitter::default();
        let fs = &*self.world.fs;
        let mut scratch = Vec::new();
        let read =
            Tail::default().read(fs, &found.path, &mut scratch, 1 << 20, &mut || {}, &mut |_, bytes| {
                splitter.push(bytes, &mut |split| {
                    if let Split::Line(line) = split
                        && fold.parent().is_none()
                    {
                        parse_line_in_full(line.bytes, &mut |record, _| fold.apply(&record));
                    }
                });
            });
        read.ok()?;
        fold.parent().cloned()
    }
}

/// What the transcript alone tells of a session.
fn row(session: &SessionId, found: &Found, fold: &SessionFold) -> SessionRow {
    let facts = fold.facts();
    let project = match &found.place {
        Place::Transcript { project, .. } => Some(project.to_string_lossy().into_owned()),
        _ => None,
    };
    SessionRow {
        session_id: session.to_string(),
        project,
        cwd: fold.cwd().map(ToString::to_string),
        title: facts.title().or(facts.goal.as_ref()).map(ToString::to_string),
        goal: facts.goal.as_ref().map(ToString::to_string),
        summary: facts.summary.as_ref().map(ToString::to_string),
        branch: facts.branch.as_ref().map(ToString::to_string),
        model: facts.model.as_ref().map(ToString::to_string),
        created_at: facts.created_at,
        active_at: facts.last_activity_at,
        ..SessionRow::default()
    }
}
