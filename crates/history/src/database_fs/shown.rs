//! The lines of one session of a database: which there are, and their texts as they are read.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use watchbill_agents::traits::{Database, Row};
use watchbill_store::foreign::{Cell, ForeignDatabase};
use watchbill_watch::fs::{FileStat, ReadAt};

/// The messages that are looked at again after a change. A prompt waits while the answer before it still changes.
const NEWEST: i64 = 8;
/// The most sessions above a subagent's.
const MAX_DEPTH: usize = 32;
/// All messages.
const ALL: i64 = -1;
/// The most bytes of texts that are kept while a file is open.
const MAX_TEXTS: usize = 8 << 20;

/// A session at the last look.
#[derive(Clone, Copy)]
pub(super) struct KnownSession {
    /// The time of its own row.
    pub updated: i64,
    /// The time of its newest change.
    pub changed: i64,
    /// The number of parts of its newest messages: one that is taken away has no time. Negative: not known.
    pub parts: i64,
    /// The time of the change that brought its newest line.
    pub written: i64,
    pub len: u64,
    /// Rows can change without a change of its own row.
    pub is_open: bool,
}

impl KnownSession {
    /// One that this process has not read. Whether it is open is not known.
    pub(super) fn unread(changed: i64, len: u64) -> Self {
        Self { updated: changed, changed, parts: -1, written: changed, len, is_open: true }
    }
}

/// The sessions of a database: path below it, and the time of each one's own row.
pub(super) fn sessions(database: &Database, sql: &ForeignDatabase) -> io::Result<Vec<(PathBuf, i64)>> {
    let rows = sql.rows(database.sessions, &[])?;
    let sessions: Vec<(String, Option<String>, i64)> = rows
        .into_iter()
        .filter_map(|row| {
            let [id, parent, updated] = <[Cell; 3]>::try_from(row).ok()?;
            Some((id.text()?, parent.text(), updated.number()?))
        })
        .collect();
    let parents: HashMap<&str, &str> =
        sessions.iter().filter_map(|(id, parent, _)| Some((&**id, parent.as_deref()?))).collect();
    let known: HashSet<&str> = sessions.iter().map(|(id, ..)| &**id).collect();
    let parent = |id: &&str| parents.get(id).copied().filter(|parent| known.contains(parent));
    // Parents that are missing, or that go in a circle, are written by mistake.
    let top = |id: &str| {
        let last = std::iter::successors(parent(&id), parent).take(MAX_DEPTH).last()?;
        parent(&last).is_none().then_some(last)
    };
    let place =
        |(id, _, updated): &(String, Option<String>, i64)| ((database.path_of)(id, top(id)), *updated);
    Ok(sessions.iter().map(place).filter(|(path, _)| (database.session_of)(path).is_some()).collect())
}

/// A message, or the session's own row.
struct Unit {
    id: String,
    changed: i64,
    parts: i64,
    is_open: bool,
    /// The time and the length of each line.
    lines: Vec<(i64, u32)>,
}

/// The newest messages of a session, the newest one first, without their lines.
fn units(database: &Database, sql: &ForeignDatabase, session: &str, limit: i64) -> io::Result<Vec<Unit>> {
    let rows = sql.rows(database.units, &[&session, &limit])?;
    let unit = |(n, row): (usize, Vec<Cell>)| {
        let [id, changed, parts, open] = <[Cell; 4]>::try_from(row).ok()?;
        let is_open = open.number() == Some(1) || open.number() == Some(2) && n == 0;
        let (changed, parts) = (changed.number()?, parts.number()?);
        Some(Unit { id: id.text()?, changed, parts, is_open, lines: Vec::new() })
    };
    Ok(rows.into_iter().enumerate().filter_map(unit).collect())
}

/// The session's own row, and the number of its messages.
fn own_row(database: &Database, sql: &ForeignDatabase, session: &str) -> io::Result<(Unit, usize)> {
    let row = sql.rows(database.session, &[&session])?.into_iter().next().ok_or(io::ErrorKind::NotFound)?;
    let read = |row: Vec<Cell>| {
        let [id, changed, messages] = <[Cell; 3]>::try_from(row).ok()?;
        let (id, changed) = (id.text()?, changed.number()?);
        let unit = Unit { id, changed, parts: 0, is_open: false, lines: Vec::new() };
        Some((unit, usize::try_from(messages.number()?).ok()?))
    };
    read(row).ok_or_else(|| io::Error::other("the row of a session has other columns"))
}

/// The newest change of a session. Its length is not asked for.
pub(super) fn newest(database: &Database, sql: &ForeignDatabase, session: &str) -> io::Result<KnownSession> {
    let (own, _) = own_row(database, sql, session)?;
    Ok(known(&own, &units(database, sql, session, NEWEST)?, 0))
}

fn known(own: &Unit, newest: &[Unit], len: u64) -> KnownSession {
    let newest = newest.iter().take(NEWEST as usize);
    let changed = newest.clone().map(|unit| unit.changed).max();
    let parts = newest.clone().map(|unit| unit.parts).sum();
    let is_open = newest.into_iter().any(|unit| unit.is_open);
    let changed = own.changed.max(changed.unwrap_or(0));
    KnownSession { updated: own.changed, changed, parts, written: changed, len, is_open }
}

/// The lines of a session, without their texts.
pub(super) struct ShownSession {
    /// Its own row, and then its messages, the newest one first.
    own: Unit,
    units: Vec<Unit>,
    /// All lines in their order.
    lines: Vec<ShownLine>,
    len: u64,
    /// See [`KnownSession::written`].
    written: i64,
    /// Rows have changed without a change of their times.
    stale: AtomicBool,
}

/// A line, and where it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ShownLine {
    /// 0 is the own row, and 1 the oldest message.
    unit: u32,
    line: u32,
    end: u64,
}

/// Texts of units, by the number of the unit.
pub(super) type Texts = HashMap<u32, Vec<String>>;

impl ShownSession {
    /// Reads what has changed since `before`, or all.
    pub(super) fn read(
        database: &Database,
        sql: &ForeignDatabase,
        session: &str,
        before: Option<&Self>,
        settled: i64,
    ) -> io::Result<(Self, Texts)> {
        let (own, messages) = own_row(database, sql, session)?;
        let before = before.filter(|before| !before.stale.load(Ordering::Relaxed));
        let found = match before {
            Some(before) => {
                let mut newest = units(database, sql, session, NEWEST)?;
                let new = newest
                    .iter()
                    .take_while(|unit| before.units.first().is_none_or(|last| last.id != unit.id))
                    .count();
                let rest = newest.len() - new;
                let is_tail = newest[new..].iter().zip(&before.units).all(|(a, b)| a.id == b.id);
                if is_tail && (rest > 0 || before.units.is_empty()) && messages == before.units.len() + new {
                    newest.extend(before.units.iter().skip(rest).map(Unit::again));
                    newest
                } else {
                    units(database, sql, session, ALL)?
                }
            }
            None => units(database, sql, session, ALL)?,
        };
        let (lines, stale) = (Vec::new(), AtomicBool::new(false));
        let mut shown = Self { own, units: found, lines, len: 0, written: 0, stale };
        let texts = shown.take_lines(database, sql, before, settled)?;
        shown.order();
        // A change that brings no line is no change of the file.
        let same = before.filter(|before| before.lines == shown.lines);
        shown.written = same.map_or(shown.known().changed, |before| before.written);
        Ok((shown, texts))
    }

    /// Takes the lines of unchanged units from `before`, and reads the others.
    /// Before the time `settled`, each change has a time of its own.
    fn take_lines(
        &mut self,
        database: &Database,
        sql: &ForeignDatabase,
        before: Option<&Self>,
        settled: i64,
    ) -> io::Result<Texts> {
        let known: HashMap<&str, &Unit> = before
            .into_iter()
            .flat_map(|before| before.units.iter().chain([&before.own]))
            .map(|unit| (&*unit.id, unit))
            .collect();
        let (mut texts, mut size) = (Texts::new(), 0);
        let count = self.units.len();
        // The newest ones first: these are the ones that are read.
        for (n, unit) in self.units.iter_mut().chain([&mut self.own]).enumerate() {
            match known
                .get(&*unit.id)
                .filter(|known| (known.changed, known.parts) == (unit.changed, unit.parts))
            {
                Some(known) if unit.changed < settled => unit.lines.clone_from(&known.lines),
                _ => {
                    let lines = (database.lines)(&rows(database, sql, &unit.id)?);
                    unit.lines = lines.iter().map(|line| (line.at, line.text.len() as u32)).collect();
                    size += lines.iter().map(|line| line.text.len()).sum::<usize>();
                    if size <= MAX_TEXTS {
                        texts.insert((count - n) as u32, lines.into_iter().map(|line| line.text).collect());
                    }
                }
            }
        }
        Ok(texts)
    }

    /// Puts all lines into the order of their times.
    fn order(&mut self) {
        let mut lines: Vec<(i64, ShownLine, u32)> = Vec::new();
        for (unit, of) in [&self.own].into_iter().chain(self.units.iter().rev()).enumerate() {
            let lines_of = of.lines.iter().enumerate();
            lines.extend(lines_of.map(|(line, &(at, len))| {
                (at, ShownLine { unit: unit as u32, line: line as u32, end: 0 }, len)
            }));
        }
        // The own row holds for all lines.
        lines.sort_by_key(|(at, line, _)| (line.unit > 0, *at, line.unit, line.line));
        for (_, mut line, len) in lines {
            self.len += u64::from(len);
            line.end = self.len;
            self.lines.push(line);
        }
    }

    pub(super) fn known(&self) -> KnownSession {
        KnownSession { written: self.written, ..known(&self.own, &self.units, self.len) }
    }

    fn unit(&self, number: u32) -> &Unit {
        match number {
            0 => &self.own,
            number => &self.units[self.units.len() - number as usize],
        }
    }
}

impl Unit {
    fn again(&self) -> Self {
        Self { id: self.id.clone(), lines: self.lines.clone(), ..*self }
    }
}

fn rows(database: &Database, sql: &ForeignDatabase, unit: &str) -> io::Result<Vec<Row>> {
    let row = |row: Vec<Cell>| {
        let [kind, id, created, data] = <[Cell; 4]>::try_from(row).ok()?;
        Some(Row { kind: kind.text()?, id: id.text()?, created: created.number()?, data: data.text()? })
    };
    Ok(sql.rows(database.rows, &[&unit])?.into_iter().filter_map(row).collect())
}

/// A session that was looked at, with the texts that were read.
pub(super) struct ShownFile {
    database: &'static Database,
    shown: Arc<ShownSession>,
    texts: Texts,
}

impl ShownFile {
    pub(super) fn new(database: &'static Database, shown: Arc<ShownSession>, texts: Texts) -> Self {
        Self { database, shown, texts }
    }

    pub(super) fn known(&self) -> KnownSession {
        self.shown.known()
    }

    /// The same as an open file.
    pub(super) fn opened(self, sql: ForeignDatabase, stat: FileStat) -> OpenSession {
        OpenSession { database: self.database, shown: self.shown, texts: RefCell::new(self.texts), sql, stat }
    }
}

/// A session, opened at its path.
pub(super) struct OpenSession {
    database: &'static Database,
    shown: Arc<ShownSession>,
    texts: RefCell<Texts>,
    sql: ForeignDatabase,
    stat: FileStat,
}

impl OpenSession {
    /// Copies the part of a line from `skip`.
    fn copy(&self, line: ShownLine, skip: usize, buf: &mut [u8]) -> io::Result<usize> {
        let mut texts = self.texts.borrow_mut();
        if !texts.contains_key(&line.unit) {
            let unit = self.shown.unit(line.unit);
            let lines = (self.database.lines)(&rows(self.database, &self.sql, &unit.id)?);
            let lens = lines.iter().map(|line| line.text.len() as u32);
            if !lens.eq(unit.lines.iter().map(|(_, len)| *len)) {
                self.shown.stale.store(true, Ordering::Relaxed);
                return Err(io::Error::other("a message was changed while it was read"));
            }
            if texts.values().flatten().map(String::len).sum::<usize>() > MAX_TEXTS {
                texts.clear();
            }
            texts.insert(line.unit, lines.into_iter().map(|line| line.text).collect());
        }
        let text = texts.get(&line.unit).and_then(|lines| lines.get(line.line as usize));
        let rest = text.and_then(|text| text.as_bytes().get(skip..)).unwrap_or_default();
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

impl ReadAt for OpenSession {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(self.stat)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let lines = &self.shown.lines;
        let first = lines.partition_point(|line| line.end <= offset);
        let mut got = 0;
        for (n, line) in lines.iter().enumerate().skip(first) {
            let begin = n.checked_sub(1).and_then(|n| lines.get(n)).map_or(0, |line| line.end);
            let skip = (offset + got as u64).saturating_sub(begin) as usize;
            got += self.copy(*line, skip, &mut buf[got..])?;
            if got == buf.len() {
                break;
            }
        }
        Ok(got)
    }
}
