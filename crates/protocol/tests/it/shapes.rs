//! The shape of the JSON, as snapshots: a change here is a change of the outside contract.

use std::sync::Arc;

use insta::assert_json_snapshot;
use watchbill_core::attention::{self, Attention, AttentionEvent, Counts, Need, Sighting, Silence};
use watchbill_core::chain::lineage;
use watchbill_core::chain::link::{self, LinkConfidence, LinkReason};
use watchbill_core::evidence::{self, Verdict};
use watchbill_core::hook::TerminalContext;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::{self, ProblemKind};
use watchbill_core::roster::Roster;
use watchbill_core::roster::row::{Reason, Source};
use watchbill_core::session::state::{Confidence, State, StateKind};
use watchbill_core::transcript::record::{CompactBoundary, CompactTrigger};
use watchbill_protocol::alert::Alert;
use watchbill_protocol::chain::{Link, Segment, WorkChain};
use watchbill_protocol::doctor::{
    ConfigFile, DesktopHealth, Doctor, HookSettings, HooksHealth, Limit, OwnSessionCounts, Registry, Root,
    Versions, WatchMode,
};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::event::{StoreEvent, StoreEvents};
use watchbill_protocol::roster::{
    Context, Group, RosterDelta, RosterMessage, RosterSnapshot, TrackedSession,
};
use watchbill_protocol::search::{Hit, IndexState, SearchAnswer, SnippetPart};
use watchbill_protocol::status::Status;
use watchbill_protocol::store::{
    Cost, CostSource, ForgetReport, IndexReport, PriceList, Stats, StatsRow, StoreHealth,
};
use watchbill_protocol::why::Why;

use crate::rows::{at, bare, full};

fn problems() -> Vec<problem::Problem> {
    let problem = |path: &str, kind, count, detail: &str| problem::Problem {
        path: Arc::from(path),
        kind,
        count,
        detail: Arc::from(detail),
    };
    vec![
        problem("/b.jsonl", ProblemKind::HugeLine, 1, "a line of 70 MB was skipped"),
        problem("/a.jsonl", ProblemKind::MalformedLine, 2, "2 lines are no JSON and were skipped"),
    ]
}

#[test]
fn a_row_with_everything() {
    assert_json_snapshot!(TrackedSession::from(&full("s")));
}

#[test]
fn a_row_with_nothing_has_no_nulls_and_no_empty_texts() {
    let mut row = bare("s");
    row.title = Some(Arc::from(""));
    row.terminal = Some(Arc::new(TerminalContext::of_tmux(&Arc::from(""))));
    let session = TrackedSession::from(&row);
    assert_json_snapshot!(session);
    let text = serde_json::to_string(&session).unwrap();
    assert!(!text.contains("null") && !text.contains(r#":"""#), "{text}");
    assert_eq!(serde_json::from_str::<TrackedSession>(&text).unwrap(), session);
}

#[test]
fn the_coarse_status_follows_the_source_document() {
    for (state, status) in [
        (State::Working, "working"),
        (State::WaitingForApproval, "waiting"),
        (State::WaitingForInput, "waiting"),
        (State::Idle, "idle"),
        (State::Ended, "idle"),
    ] {
        let mut row = bare("s");
        row.state = state;
        assert_eq!(TrackedSession::from(&row).status, status);
    }
}

#[test]
fn an_error_needs_the_user() {
    let mut row = bare("s");
    (row.state, row.state_kind) = (State::WaitingForInput, Some(StateKind::Limit));
    row.needs = Some(Need::Error);
    assert_eq!(TrackedSession::from(&row).group, Group::NeedsYou);
}

#[test]
fn a_percentage_needs_a_size() {
    assert_eq!(Context::new(50_000, None).percent, None);
    assert_eq!(Context::new(50_000, Some(0)).percent, None);
    assert_eq!(Context::new(50_001, Some(200_000)).percent, Some(25.0));
    assert_eq!(Context::new(1, Some(3)).percent, Some(33.3));
}

#[test]
fn a_snapshot_and_its_delta() {
    let mut roster = Roster::new();
    roster.update(vec![bare("a"), bare("b")]);
    let rows = roster.rows().iter().map(|row| &**row);
    let snapshot = RosterSnapshot::new(3, at(10_000), rows, &problems(), true);
    let delta = roster.apply(vec![full("b"), bare("c")], vec![SessionId::new("a")]).unwrap();
    let delta = RosterDelta::new(3, 4, at(11_000), &delta, Some(&[]), false);
    let places: Vec<(u32, &str)> =
        delta.upserts.iter().map(|upsert| (upsert.index, upsert.session.session_id.as_str())).collect();
    assert_eq!(places, [(0, "b"), (1, "c")]);
    let slim = |session: &mut TrackedSession| *session = TrackedSession::from(&bare("…"));
    let (mut snapshot, mut delta) = (snapshot, delta);
    snapshot.sessions.iter_mut().for_each(slim);
    delta.upserts.iter_mut().for_each(|upsert| slim(&mut upsert.session));
    delta.upserts.truncate(1);
    snapshot.sessions.truncate(1);
    assert_json_snapshot!([RosterMessage::Snapshot(snapshot), RosterMessage::Delta(delta)]);
}

#[test]
fn store_events() {
    let snapshot = |revision, rows: &[_], problems: &[_], reading| {
        RosterSnapshot::new(revision, at(10_000), rows, problems, reading)
    };
    let mut changed = bare("a");
    changed.title = Some(Arc::from("Failing tests"));
    let mut vanished = changed.clone();
    vanished.title = None;
    vanished.background_tasks = 1;
    let (mut events, _) = StoreEvents::new(&snapshot(1, &[], &[], true));
    let mut all = events.catch_up(&snapshot(2, &[bare("a")], &[], false));
    all.extend(events.catch_up(&snapshot(3, &[changed], &problems(), false)));
    all.extend(events.catch_up(&snapshot(4, &[vanished], &problems(), false)));
    all.extend(events.catch_up(&snapshot(5, &[], &problems(), false)));
    assert_json_snapshot!(all);
}

#[test]
fn the_first_line_of_watch_is_the_snapshot_beside_its_event() {
    let snapshot = RosterSnapshot::new(1, at(0), [], &[], false);
    let (_, first) = StoreEvents::new(&snapshot);
    let line = serde_json::to_string(&first).unwrap();
    assert_eq!(
        line,
        r#"{"event":"snapshot","revision":1,"generatedAt":"2026-11-20T15:20:00.000Z","sessions":[],"problems":[]}"#
    );
    assert_eq!(serde_json::from_str::<StoreEvent>(&line).unwrap(), first);
}

#[test]
fn why_with_its_witnesses() {
    let witness = |source, state, kind, pid, detail: &str, winner| evidence::Witness {
        source,
        state,
        kind,
        at: Some(at(60)),
        pid,
        detail: Arc::from(detail),
        confidence: Confidence::Observed,
        winner,
    };
    let (state, kind) = (State::WaitingForInput, Some(StateKind::TurnEnded));
    let detail = "registry says `idle`; turn ended";
    let verdict = Verdict {
        state,
        kind,
        since: at(60),
        reason: Reason {
            source: Source::Registry,
            detail: Arc::from(detail),
            confidence: Confidence::Observed,
        },
        pid: Some(7),
        tmux: None,
        live: true,
        processes: 1,
        ask: None,
        next: Some(at(600_000)),
        witnesses: vec![
            witness(Source::Registry, Some(state), kind, Some(7), detail, true),
            witness(Source::Process, None, None, Some(7), "process 7 runs", false),
        ],
    };
    assert_json_snapshot!(Why::new(&SessionId::new("s"), &verdict));
}

#[test]
fn a_chain() {
    let session = SessionId::new("s");
    let boundary =
        CompactBoundary { trigger: CompactTrigger::Auto, pre_tokens: Some(188_000), post_tokens: None };
    let first =
        lineage::Segment { started_at: Some(at(0)), ended_at: Some(at(9_000)), boundary: Some(boundary) };
    let second = lineage::Segment { started_at: None, ended_at: None, boundary: None };
    let chain = WorkChain {
        work_chain_id: "c".into(),
        name: None,
        head: "s".into(),
        segments: vec![
            Segment::new(&first, &session, 0, "/s.jsonl", false),
            Segment::new(&second, &session, 1, "/s.jsonl", false),
        ],
        links: vec![Link::from(&link::Link {
            from: session.clone(),
            to: session,
            reason: LinkReason::CompactBoundary,
            confidence: LinkConfidence::Proven,
            at: Some(at(9_000)),
        })],
        undoable: None,
    };
    assert_json_snapshot!(chain);
}

#[test]
fn the_doctor() {
    assert_json_snapshot!(Doctor {
        versions: Versions { watchbill: "0.1.0".into(), agents: vec!["2.1.329".into()] },
        roots: vec![Root {
            agent: "claude".into(),
            path: "/home/dev/.claude".into(),
            exists: true,
            watch: WatchMode::Native,
            sessions: 12,
            files: 20,
            bytes: 5_000_000,
        }],
        registry: Registry { readable: true, files: 3, live: 2 },
        own: Some(OwnSessionCounts { running: 1, ended: 2 }),
        limits: vec![Limit {
            name: "fs.inotify.max_user_watches".into(),
            value: 65_536,
            needed: None,
            enough: true,
        }],
        store: Some(StoreHealth {
            path: "/home/dev/.local/share/watchbill/watchbill.db".into(),
            exists: true,
            bytes: 1_000_000,
            schema_version: Some(1),
            sessions: 12,
            texts: 800,
            ..StoreHealth::default()
        }),
        hooks: Some(HooksHealth {
            path: "/home/dev/.local/share/watchbill/hooks".into(),
            ears: 1,
            waiting: 0,
            damaged: 0,
            dropped: 2,
            dropped_at: Some("2026-11-20T15:30:52.694Z".into()),
            journal_bytes: 40_960,
            sessions: 2,
            context: Some("files".into()),
            settings: vec![HookSettings {
                answers: false,
                takes_answers: true,
                status_line: Some("absent".to_owned()),
                rivals: Vec::new(),
                path: "/home/dev/.claude/settings.json".into(),
                state: "installed".into(),
                agent: String::new(),
                missing: Vec::new(),
                scope: "user".into(),
                root: "/home/dev/.claude".into(),
                context: true,
                problem: None,
            }],
        }),
        config: Some(ConfigFile { path: "/home/dev/.config/watchbill/config.toml".into(), exists: false }),
        muted_until: Some("2026-11-20T16:30:52.694Z".into()),
        desktop: Some(DesktopHealth {
            tray: true,
            notifications: true,
            notification_server: Some("dunst 1.9.2".into()),
            notification_problem: None,
        }),
        problems: Vec::new(),
    });
}

#[test]
fn counts_and_errors() {
    let mut asks = full("asks");
    asks.superseded = None;
    let rows = [asks, full("superseded"), bare("x"), bare("y")];
    let snapshot = RosterSnapshot::new(1, at(0), &rows, &[], false);
    assert_json_snapshot!((
        Status::from(&snapshot),
        ApiError::new(
            ErrorCode::NotFound,
            "no session begins with `abc`; `watchbill roster --all` lists them"
        ),
    ));
    let words = [(ErrorCode::NotFound, "not_found"), (ErrorCode::NotReady, "not_ready")];
    for (code, word) in words {
        assert_eq!(serde_json::to_value(code).unwrap(), word);
    }
}

#[test]
fn a_search_answer() {
    let part = |text: &str, found| SnippetPart { text: text.into(), found };
    assert_json_snapshot!(SearchAnswer {
        query: "pager".into(),
        hits: vec![Hit {
            session_id: "s".into(),
            work_chain_id: "c".into(),
            at: Some("2026-11-20T15:30:52.694Z".into()),
            role: "tool_result".into(),
            snippet: "fixed the pager.".into(),
            snippet_parts: vec![part("fixed the ", false), part("pager", true), part(".", false)],
            project: "/home/dev/api-server".into(),
            score: 3.5,
            title: None,
            tool: Some("Bash".into()),
            agent_id: Some("a7c1".into()),
            offset: 4711,
        }],
        more: false,
        index: IndexState::Current,
        cut_bytes: None,
        took_ms: 1.25,
    });
}

#[test]
fn reports_about_the_store() {
    let row = |key: &str| StatsRow {
        key: Some(key.into()),
        sessions: Some(2),
        requests: Some(7),
        ..StatsRow::default()
    };
    let total = StatsRow { key: None, ..row("") };
    let stats = Stats {
        by: "day".into(),
        rows: vec![StatsRow {
            cost: Some(Cost { usd: 1.25, by: CostSource::List, unpriced_tokens: Some(3) }),
            ..row("2026-11-20")
        }],
        total,
        prices: vec![PriceList { date: "2026-10-24".into(), source: "https://prices".into() }],
        unpriced: vec!["m".into()],
        ..Stats::default()
    };
    let forgotten =
        ForgetReport { sessions: vec!["s".into()], texts: 40, prompts: 9, ..ForgetReport::default() };
    assert_json_snapshot!((IndexReport::default(), stats, forgotten));
}

#[test]
fn alerts() {
    let episode = |need, title: Option<&str>| attention::Episode {
        session: SessionId::new("3f6a1c52-8d1e-4c8e-9a51-0f6b2d7c4e11"),
        need,
        since: at(0),
        at: at(2_000),
        name: Arc::from("api-server"),
        wants: Arc::from("wants to run `npm publish`"),
        title: title.map(Arc::from),
    };
    let aloud =
        AttentionEvent::Raised { episode: episode(Need::Approval, Some("Publish it")), silence: None };
    let silences =
        [Silence::Kind, Silence::Muted, Silence::MutedForNow, Silence::QuietHours, Silence::InFront].map(
            |silence| AttentionEvent::Raised {
                episode: episode(Need::Finished, Some("")),
                silence: Some(silence),
            },
        );
    let session = SessionId::new("3f6a1c52-8d1e-4c8e-9a51-0f6b2d7c4e11");
    let mut attention = Attention::default();
    attention.apply_sighting(at(0), Sighting::of(&waiting()));
    let others = [
        AttentionEvent::AlreadySo(vec![episode(Need::Plan, None)]),
        AttentionEvent::Cleared { session, need: Need::Approval, since: at(0), at: at(9_000) },
        AttentionEvent::Counted(Counts::default()),
        AttentionEvent::Counted(attention.counts(at(60_000))),
    ];
    let all: Vec<Alert> = [aloud].into_iter().chain(silences).chain(others).map(Alert::from).collect();
    assert_json_snapshot!(all);
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Alert>>(&text).unwrap(), all);
}

fn waiting() -> watchbill_core::roster::row::Row {
    let mut row = bare("s");
    row.state = State::WaitingForApproval;
    row.state_kind = Some(StateKind::Question);
    row
}
