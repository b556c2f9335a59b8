//! The day, from the stored changes of state and turns.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use watchbill_core::day::{Doing, Stretch, counts, figures, lane, session_stretches};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::day::{Day, DayChain, DayCount, DayDeed, DayDoing, DayPlace, DayStretch};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::day::{DaySession, DayTurn};
use watchbill_store::{OpenMode, Store, StoreError};

use crate::errors::{data_dir, store_api_error};

/// The day in the person's time zone; without a date the present one.
///
/// # Errors
/// When it is no date, nothing is stored, or the store cannot be read.
pub fn day(settings: &Settings, date: Option<&str>, now: Timestamp) -> Result<Day, ApiError> {
    let zone = TimeZone::system();
    let today = now.day(&zone);
    let date = date.unwrap_or(&today);
    let wrong = || ApiError::new(ErrorCode::Invalid, format!("`{date}` is not a date such as 2026-11-20"));
    let begin = date.parse::<Date>().and_then(|date| date.to_zoned(zone.clone())).map_err(|_| wrong())?;
    let begin = Timestamp::from_millis(begin.timestamp().as_millisecond());
    let whole = begin..begin.next_day(&zone);
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    day_of(&store, &zone, &whole, now).map_err(|error| store_api_error(&error))
}

/// The place of a time in a session's transcript, in bytes.
///
/// # Errors
/// When it is no time, nothing is stored, or the store cannot be read.
pub fn byte_at(settings: &Settings, session: &str, at: &str) -> Result<Option<u64>, ApiError> {
    let wrong = || ApiError::new(ErrorCode::Invalid, format!("`{at}` is not an RFC 3339 time"));
    let at = Timestamp::parse(at).ok_or_else(wrong)?;
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    store.byte_at(session, at).map_err(|error| store_api_error(&error))
}

/// A chain with its lane, and the sessions that the lane numbers.
#[derive(Default)]
struct Chain {
    sessions: Vec<DaySession>,
    each: Vec<Vec<Stretch>>,
    prompts: Vec<Timestamp>,
    compactions: Vec<Timestamp>,
}

fn day_of(
    store: &Store,
    zone: &TimeZone,
    whole: &Range<Timestamp>,
    now: Timestamp,
) -> Result<Day, StoreError> {
    let within = whole.start..whole.end.min(now);
    let mut chains: BTreeMap<String, Chain> = BTreeMap::new();
    for session in store.day_sessions(&within)? {
        let id = session.chain_id.clone().unwrap_or_else(|| session.session_id.clone());
        chains.entry(id).or_default().add(store, session, &within)?;
    }
    let chains = chains.into_iter().map(|(id, chain)| (id, lane(&chain.each), chain));
    let busy = |it: &Stretch| matches!(it.doing, Doing::Working | Doing::Failed | Doing::Waiting);
    let mut chains: Vec<(String, Vec<Stretch>, Chain)> =
        chains.filter(|(_, lane, _)| lane.iter().any(busy)).collect();
    // Chains of a project are together, those that go on first; so are projects.
    let goes_on = |lane: &[Stretch]| lane.last().is_some_and(|it| busy(it) && it.to == now);
    let going_on: Vec<String> = chains.iter().filter(|it| goes_on(&it.1)).map(|it| it.2.project()).collect();
    chains.sort_by_cached_key(|(_, lane, chain)| {
        let project = chain.project();
        (!going_on.contains(&project), project, !goes_on(lane), lane.first().map(|it| it.from))
    });
    let lanes: Vec<Vec<Stretch>> = chains.iter().map(|(_, lane, _)| lane.clone()).collect();
    let figures = figures(&lanes);
    let mut you: Vec<DayDeed> = chains.iter().flat_map(|(id, lane, chain)| chain.deeds(id, lane)).collect();
    you.sort_by(|a, b| a.at.cmp(&b.at));
    let last_day = if chains.is_empty() { store.last_active_before(whole.start)? } else { None };
    let longest_wait = figures.longest.map(|(number, stretch)| DayPlace {
        work_chain_id: chains[number].0.clone(),
        at: stretch.from.to_string(),
    });
    Ok(Day {
        date: whole.start.day(zone),
        zone: zone.iana_name().unwrap_or_default().to_owned(),
        from: whole.start.to_string(),
        to: whole.end.to_string(),
        now: (now < whole.end).then(|| now.to_string()),
        waited_for_you: secs(figures.waited),
        waits: figures.waits as u64,
        median: secs(figures.median),
        longest: secs(figures.longest.map(|(_, stretch)| stretch.span()).unwrap_or_default()),
        longest_wait,
        two_or_more: secs(figures.two_or_more),
        worked: secs(figures.worked),
        one_or_more: secs(figures.one_or_more),
        band: counts(&lanes).into_iter().map(count).collect(),
        chains: chains.into_iter().map(|(id, lane, chain)| chain.shown(id, &lane)).collect(),
        you,
        last_day: last_day.map(|at| at.day(zone)),
    })
}

/// What a session did within a span, and its turns there.
pub(super) fn stretches(
    store: &Store,
    session: &DaySession,
    within: &Range<Timestamp>,
) -> Result<(Vec<Stretch>, Vec<DayTurn>), StoreError> {
    let changes = store.day_changes(session.key, within)?;
    let turns = store.day_turns(session.key, within)?;
    let own = within.start..session.over_at.unwrap_or(within.end).min(within.end);
    let told: Vec<_> = turns.iter().map(|turn| turn.turn).collect();
    Ok((session_stretches(&changes, &told, is_attended(session, &turns), &own), turns))
}

/// Whether a person works in it, and no program.
pub(super) fn is_attended(session: &DaySession, turns: &[DayTurn]) -> bool {
    session.is_own || turns.iter().all(|turn| !turn.is_program)
}

/// The name of a folder.
pub(super) fn project(folder: Option<&str>) -> String {
    let folder = folder.unwrap_or_default().trim_end_matches(['/', '\\']);
    folder.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

impl Chain {
    fn add(&mut self, store: &Store, session: DaySession, day: &Range<Timestamp>) -> Result<(), StoreError> {
        let (stretches, turns) = stretches(store, &session, day)?;
        self.each.push(stretches);
        let is_typed = |turn: &DayTurn| turn.is_typed || session.is_own && turn.is_program;
        let typed = turns.iter().filter(|turn| is_typed(turn) && day.contains(&turn.turn.began));
        self.prompts.extend(typed.map(|turn| turn.turn.began));
        self.compactions.extend(store.day_compactions(session.key, day)?);
        self.sessions.push(session);
        Ok(())
    }

    /// The session where the work went on.
    fn head(&self) -> Option<&DaySession> {
        self.sessions.iter().max_by_key(|it| (it.over_at.is_none(), it.active_at))
    }

    fn project(&self) -> String {
        project(self.head().and_then(|head| head.folder.as_deref()))
    }

    /// The user's prompts, and the ends of waits after which the work went on.
    fn deeds(&self, id: &str, lane: &[Stretch]) -> Vec<DayDeed> {
        let answered = lane.windows(2).filter(|pair| {
            pair[0].doing == Doing::Waiting && pair[1].doing == Doing::Working && pair[0].to == pair[1].from
        });
        let deed =
            |at: Timestamp, answer| DayDeed { at: at.to_string(), work_chain_id: id.to_owned(), answer };
        let answers = answered.map(|pair| deed(pair[0].to, true));
        self.prompts.iter().map(|at| deed(*at, false)).chain(answers).collect()
    }

    fn shown(self, id: String, lane: &[Stretch]) -> DayChain {
        let sum =
            |doing| secs(Millis(lane.iter().filter(|it| it.doing == doing).map(|it| it.span().0).sum()));
        let head = self.head();
        let title = head.map(|head| head.title.clone().unwrap_or_else(|| head.session_id.clone()));
        let mut compactions = self.compactions.clone();
        compactions.sort_unstable();
        compactions.dedup();
        DayChain {
            title: title.unwrap_or_default(),
            project: self.project(),
            worked: sum(Doing::Working),
            waited_for_you: sum(Doing::Waiting),
            stretches: lane.iter().map(|it| stretch(it, &self.sessions[it.session].session_id)).collect(),
            compactions: compactions.iter().map(ToString::to_string).collect(),
            work_chain_id: id,
        }
    }
}

fn stretch(stretch: &Stretch, session: &str) -> DayStretch {
    DayStretch {
        from: stretch.from.to_string(),
        to: stretch.to.to_string(),
        state: stretch.state.as_str().to_owned(),
        state_kind: stretch.kind.map(|kind| kind.as_str().to_owned()),
        doing: match stretch.doing {
            Doing::Idle => DayDoing::Idle,
            Doing::YourTurn => DayDoing::YourTurn,
            Doing::Working => DayDoing::Working,
            Doing::Failed => DayDoing::Failed,
            Doing::Waiting => DayDoing::Waiting,
        },
        session_id: session.to_owned(),
        inferred: stretch.inferred,
    }
}

fn count(count: watchbill_core::day::Count) -> DayCount {
    let short = |count| u32::try_from(count).unwrap_or(u32::MAX);
    DayCount { at: count.at.to_string(), working: short(count.working), waiting: short(count.waiting) }
}

#[allow(clippy::cast_precision_loss, reason = "a span of a day is far below 2^53")]
fn secs(span: Millis) -> f64 {
    span.0 as f64 / 1_000.0
}
