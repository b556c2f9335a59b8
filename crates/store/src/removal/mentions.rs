//! Rows of sessions that stay, but name an excluded path: tool calls, their results, plans, and the reasons of
//! states.

use std::collections::{BTreeMap, BTreeSet};

use watchbill_core::history::Exclude;

use crate::tables::snapshots::SnapshotKind;
use crate::tables::{FileKey, SessionKey};
use crate::{Store, StoreError, WriteTransaction};

/// The id of a text, its transcript, and where its record begins there.
type Text = (i64, FileKey, i64);
/// Where records with such inputs begin, by transcript.
type Inputs = BTreeSet<(FileKey, i64)>;

/// Rows to remove from sessions that stay.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    pub calls: Vec<Call>,
    pub texts: Vec<Text>,
    pub plans: Vec<(SessionKey, String)>,
    /// Row ids of transitions whose reasons name an excluded path.
    pub reasons: Vec<i64>,
}

/// A tool call. A plan that it wrote, and its end, may be in other rows.
#[derive(Debug)]
pub(super) struct Call {
    pub session: SessionKey,
    pub call: String,
    pub file: Option<FileKey>,
    /// Where its input and its result begin.
    pub bytes: [Option<i64>; 2],
}

impl Mentions {
    /// Whether it has rows that no count in a [`Removed`](super::Removed) covers.
    pub(super) fn has_uncounted(&self) -> bool {
        !(self.plans.is_empty() && self.reasons.is_empty())
    }

    /// The transcripts that hold these records.
    pub(super) fn files(&self) -> BTreeSet<FileKey> {
        let of_calls = self.calls.iter().filter_map(|call| call.file);
        of_calls.chain(self.texts.iter().map(|(_, file, _)| *file)).collect()
    }
}

/// The folders that relative paths may start from. All folders in which a session worked count, because the store
/// does not know in which one a call was made.
#[derive(Debug, Default)]
struct Folders {
    of_files: BTreeMap<FileKey, Vec<String>>,
    of_sessions: BTreeMap<SessionKey, Vec<String>>,
}

impl Folders {
    fn any(&self, session: SessionKey, file: Option<FileKey>, is: &dyn Fn(Option<&str>) -> bool) -> bool {
        let of_file = file.and_then(|file| self.of_files.get(&file));
        match of_file.or_else(|| self.of_sessions.get(&session)) {
            Some(folders) => folders.iter().any(|folder| is(Some(folder))),
            None => is(None),
        }
    }
}

impl Store {
    /// Finds these rows, except where the whole session or file `goes` anyway.
    pub(super) fn mentions(
        &self,
        rules: &Exclude,
        goes: &dyn Fn(SessionKey, Option<FileKey>) -> bool,
    ) -> Result<Mentions, StoreError> {
        let mut named = Mentions::default();
        if rules.is_empty() {
            return Ok(named);
        }
        let folders = self.folders()?;
        let (inputs, texts) = self.named_texts(rules, &folders, goes)?;
        named.texts = texts;
        named.calls = self.named_calls(rules, &folders, &inputs, goes)?;
        let sessions: BTreeSet<SessionKey> = named.calls.iter().map(|call| call.session).collect();
        self.with_sql(|sql| {
            let mut plans =
                sql.prepare_cached("SELECT DISTINCT session, plan, coalesce(path, plan) FROM plans")?;
            let mut rows = plans.query([])?;
            while let Some(row) = rows.next()? {
                let (session, path): (SessionKey, String) = (row.get(0)?, row.get(2)?);
                if folders.any(session, None, &|cwd| rules.excludes_in(cwd, &path)) {
                    named.plans.push((session, row.get(1)?));
                }
            }
            // A reason has only one line of a call, which may not be the line that names the path.
            let mut reasons =
                sql.prepare_cached("SELECT rowid, session, detail FROM transitions WHERE detail != ''")?;
            let mut rows = reasons.query([])?;
            while let Some(row) = rows.next()? {
                let (session, detail): (SessionKey, String) = (row.get(1)?, row.get(2)?);
                let is_named = &|cwd: Option<&str>| rules.text_names_excluded(&detail, cwd);
                if sessions.contains(&session) || folders.any(session, None, is_named) {
                    named.reasons.push(row.get(0)?);
                }
            }
            Ok(named)
        })
    }

    fn folders(&self) -> Result<Folders, StoreError> {
        let mut folders = Folders::default();
        self.with_sql(|sql| {
            let mut statement = sql.prepare_cached(
                "SELECT f.id, f.session, d.cwd FROM folders d JOIN files f ON f.id = d.file
                 UNION ALL SELECT NULL, session, cwd FROM hook_folders
                 UNION ALL SELECT NULL, id, cwd FROM sessions WHERE cwd IS NOT NULL",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (file, session, cwd): (Option<FileKey>, SessionKey, String) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                if let Some(file) = file {
                    folders.of_files.entry(file).or_default().push(cwd.clone());
                }
                folders.of_sessions.entry(session).or_default().push(cwd);
            }
            Ok(folders)
        })
    }

    /// The inputs of calls that name an excluded path, by file and byte. They are longer here than in the rows of
    /// the calls. Also the other texts that name one.
    fn named_texts(
        &self,
        rules: &Exclude,
        folders: &Folders,
        goes: &dyn Fn(SessionKey, Option<FileKey>) -> bool,
    ) -> Result<(Inputs, Vec<Text>), StoreError> {
        let (mut inputs, mut texts) = (BTreeSet::new(), Vec::new());
        self.with_sql(|sql| {
            let mut statement = sql.prepare_cached(
                "SELECT id, session, file, byte, role, tool, text FROM texts
                 WHERE role IN ('tool_input', 'tool_result', 'command', 'prompt') ORDER BY file, byte, part",
            )?;
            let mut rows = statement.query([])?;
            // The output of a command follows the command.
            let mut command = None;
            while let Some(row) = rows.next()? {
                let (id, session, file): (i64, SessionKey, FileKey) = (row.get(0)?, row.get(1)?, row.get(2)?);
                if goes(session, Some(file)) {
                    continue;
                }
                let byte: i64 = row.get(3)?;
                let role = row.get_ref(4)?.as_str()?.to_owned();
                let (tool, text) = (row.get_ref(5)?.as_str_or_null()?, row.get_ref(6)?.as_str()?);
                let any = |is: &dyn Fn(Option<&str>) -> bool| folders.any(session, Some(file), is);
                let printed = || any(&|cwd| rules.output_names_excluded(tool, text, cwd));
                match &*role {
                    "tool_input"
                        if any(&|cwd| {
                            rules.input_text_names_excluded(tool.unwrap_or_default(), text, cwd)
                        }) =>
                    {
                        inputs.insert((file, byte));
                    }
                    "tool_result" if printed() => texts.push((id, file, byte)),
                    "command" => {
                        let is_named = any(&|cwd| rules.command_names_excluded(text, cwd)) || printed();
                        if is_named || command.take() == Some(file) {
                            texts.push((id, file, byte));
                        }
                        command = is_named.then_some(file);
                    }
                    "prompt"
                        if text.contains("<ide_") && any(&|cwd| rules.text_names_excluded(text, cwd)) =>
                    {
                        texts.push((id, file, byte));
                    }
                    _ => {}
                }
            }
            Ok(())
        })?;
        Ok((inputs, texts))
    }

    fn named_calls(
        &self,
        rules: &Exclude,
        folders: &Folders,
        inputs: &Inputs,
        goes: &dyn Fn(SessionKey, Option<FileKey>) -> bool,
    ) -> Result<Vec<Call>, StoreError> {
        self.with_sql(|sql| {
            let mut statement = sql.prepare_cached(
                "SELECT session, call, file, byte, result_byte, tool, path, input, target FROM activities",
            )?;
            let mut rows = statement.query([])?;
            let mut calls = Vec::new();
            while let Some(row) = rows.next()? {
                let call = Call {
                    session: row.get(0)?,
                    call: row.get(1)?,
                    file: row.get(2)?,
                    bytes: [row.get(3)?, row.get(4)?],
                };
                if goes(call.session, call.file) {
                    continue;
                }
                let text = |column: usize| -> rusqlite::Result<Option<&str>> {
                    Ok(row.get_ref(column)?.as_str_or_null()?)
                };
                let (tool, path, input, target) =
                    (text(5)?.unwrap_or_default(), text(6)?, text(7)?, text(8)?);
                let is_named = |cwd: Option<&str>| {
                    path.is_some_and(|path| rules.excludes_in(cwd, path))
                        || input.is_some_and(|input| rules.call_names_excluded(tool, input, cwd))
                        || target.is_some_and(|target| rules.input_text_names_excluded(tool, target, cwd))
                };
                let by_text = call.file.zip(call.bytes[0]).is_some_and(|place| inputs.contains(&place));
                if by_text || folders.any(call.session, call.file, &is_named) {
                    calls.push(call);
                }
            }
            Ok(calls)
        })
    }
}

impl WriteTransaction<'_> {
    pub(super) fn mark_for_rereading(&mut self, file: FileKey) -> Result<(), StoreError> {
        self.drop_memories_of(file)?;
        self.cut_snapshot(file, SnapshotKind::History, 0)?;
        self.run("UPDATE files SET size = 0, mtime = 0 WHERE id = ?1", [file]).map(drop)
    }
}
