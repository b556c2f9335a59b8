//! Builds records by hand and plays them into a fold, so that a test reads as a story.

use std::borrow::Cow;

use watchbill_core::ids::{RecordId, SessionId};
use watchbill_core::session::state::{State, StateKind, Timeouts};
use watchbill_core::session::{Effect, Reading, SessionFold};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::{
    Assistant, Attachment, Block, Body, CompactBoundary, CompactTrigger, Denial, Envelope, Prompt,
    PromptOrigin, QueueOperation, Record, StopReason, System, TitleKind, ToolResult, Usage,
};

/// The session of all scripts.
pub const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// Noon of some day; scripts count in seconds from here.
pub fn at(secs: f64) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000 + (secs * 1000.0) as i64)
}

/// A record with a time and an id of its own.
pub fn record(secs: f64, body: Body<'static>) -> Record<'static> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = u128::from(NEXT.fetch_add(1, Ordering::Relaxed)) << 64 | 0x5eed;
    let envelope = Envelope {
        uuid: Some(RecordId(id)),
        at: Some(at(secs)),
        session_id: Some(SESSION.into()),
        cwd: Some("/home/dev/work".into()),
        branch: Some("main".into()),
        version: Some("2.1.329".into()),
        ..Envelope::default()
    };
    Record { envelope, body }
}

/// A metadata record: neither id nor time.
pub fn bare(body: Body<'static>) -> Record<'static> {
    Record { envelope: Envelope::default(), body }
}

/// Changes the envelope of a record.
pub fn with(mut record: Record<'static>, change: impl FnOnce(&mut Envelope<'static>)) -> Record<'static> {
    change(&mut record.envelope);
    record
}

/// The user's prompt.
pub fn prompt(secs: f64, text: &'static str) -> Record<'static> {
    record(secs, prompt_body(text, PromptOrigin::Human, None, None))
}

/// The user's prompt in a permission mode.
pub fn prompt_in(secs: f64, mode: &'static str) -> Record<'static> {
    record(secs, prompt_body("do it", PromptOrigin::Human, Some(mode), None))
}

/// Background work has ended and wakes the agent.
pub fn notification(secs: f64, task: &'static str) -> Record<'static> {
    record(secs, prompt_body("<task-notification>", PromptOrigin::TaskNotification, None, Some(task)))
}

/// Any prompt.
pub fn prompt_body(
    text: &'static str,
    origin: PromptOrigin,
    mode: Option<&'static str>,
    task: Option<&'static str>,
) -> Body<'static> {
    Body::Prompt(Prompt {
        text: text.into(),
        private: watchbill_core::history::is_wholly_private(text),
        origin,
        permission_mode: mode.map(Cow::from),
        task_id: task.map(Cow::from),
        plan_of: None,
    })
}

/// One block of an answer as a message of its own, with the message's stop reason.
pub fn answer(secs: f64, block: Block<'static>, stop: Option<StopReason>) -> Record<'static> {
    let mut answer = assistant(block, stop);
    answer.message_id = Some(format!("msg_at_{secs}").into());
    record(secs, Body::Assistant(answer))
}

/// The inside of an answer, for tests that change it.
pub fn assistant(block: Block<'static>, stop: Option<StopReason>) -> Assistant<'static> {
    Assistant {
        message_id: Some("msg_1".into()),
        request_id: Some("req_1".into()),
        model: Some("claude-opus-5-5".into()),
        stop,
        usage: Some(Usage { input: 10, output: 20, cache_read: 300, cache_write: 4000 }),
        blocks: vec![block],
        aborted: false,
    }
}

/// A text that does not end the turn.
pub fn answer_goes_on(secs: f64, text: &'static str) -> Record<'static> {
    answer(secs, Block::Text(text.into()), Some(StopReason::ToolUse))
}

/// A text that ends the turn.
pub fn answer_ends(secs: f64, text: &'static str) -> Record<'static> {
    answer(secs, Block::Text(text.into()), Some(StopReason::EndTurn))
}

/// A tool call.
pub fn calls(secs: f64, id: &'static str, tool: &'static str) -> Record<'static> {
    answer(secs, call(id, tool, false), Some(StopReason::ToolUse))
}

/// The block of a tool call.
pub fn call(id: &'static str, tool: &'static str, background: bool) -> Block<'static> {
    Block::ToolUse {
        id: id.into(),
        tool: tool.into(),
        target: "make it so".into(),
        ask: watchbill_core::tool::Ask::of(tool, background),
        is_test: false,
    }
}

/// A tool's result.
pub fn returns(secs: f64, id: &'static str) -> Record<'static> {
    record(secs, Body::ToolResults(vec![result(id)]))
}

/// The inside of a result.
pub fn result(id: &'static str) -> ToolResult<'static> {
    ToolResult {
        id: id.into(),
        is_error: false,
        succeeded: Some(true),
        denied: None,
        denied_by_text: false,
        background_task: None,
        async_agent: None,
    }
}

/// A call that was refused.
pub fn refused(secs: f64, id: &'static str, by: Denial) -> Record<'static> {
    record(secs, Body::ToolResults(vec![ToolResult { is_error: true, denied: Some(by), ..result(id) }]))
}

/// A result that leaves a background shell.
pub fn result_with_task(secs: f64, id: &'static str, task: &'static str) -> Record<'static> {
    record(secs, Body::ToolResults(vec![ToolResult { background_task: Some(task.into()), ..result(id) }]))
}

/// A result that leaves a subagent.
pub fn result_with_agent(secs: f64, id: &'static str, agent: &'static str) -> Record<'static> {
    record(secs, Body::ToolResults(vec![ToolResult { async_agent: Some(agent.into()), ..result(id) }]))
}

/// `turn_duration`.
pub fn turn_over(secs: f64) -> Record<'static> {
    turn_over_with(secs, 0)
}

/// `turn_duration` with subagents that go on.
pub fn turn_over_with(secs: f64, pending_agents: u32) -> Record<'static> {
    record(secs, Body::System(System::TurnDuration { pending_agents }))
}

/// The user pressed Escape.
pub fn interrupt(secs: f64) -> Record<'static> {
    record(secs, Body::Interrupt)
}

/// The request failed for good.
pub fn fails(secs: f64, kind: &'static str, text: &'static str) -> Record<'static> {
    record(secs, Body::ApiError { kind: Some(kind.into()), text: text.into() })
}

/// A compaction boundary.
pub fn boundary(secs: f64, trigger: CompactTrigger) -> Record<'static> {
    record(
        secs,
        Body::System(System::CompactBoundary(CompactBoundary {
            trigger,
            pre_tokens: Some(150_000),
            post_tokens: Some(3_000),
        })),
    )
}

/// A title.
pub fn title(kind: TitleKind, text: &'static str) -> Record<'static> {
    bare(Body::Title { kind, text: text.into() })
}

/// A queue operation.
pub fn queue(secs: f64, operation: QueueOperation<'static>) -> Record<'static> {
    let mut record = record(secs, Body::Queue(operation));
    record.envelope.uuid = None;
    record
}

/// A SessionStart hook's record.
pub fn session_start(secs: f64, source: &'static str) -> Record<'static> {
    record(secs, Body::Attachment(Attachment::SessionStart { source: source.into() }))
}

/// Every record that never moves a turn and is no activity.
pub fn silent_records(secs: f64) -> Vec<Record<'static>> {
    vec![
        record(secs, Body::CompactSummary),
        record(secs, Body::LocalCommand { name: Some("/model".into()) }),
        record(secs, Body::LocalCommand { name: None }),
        record(secs, Body::Meta),
        record(secs, Body::System(System::StopHookSummary { prevented: true })),
        record(secs, Body::System(System::AwaySummary)),
        record(secs, Body::System(System::Other("informational".into()))),
        record(secs, Body::Attachment(Attachment::Other)),
        bare(Body::Moved { cwd: "/home/dev/other".into(), branch: None }),
        bare(Body::LeftWorktree),
        bare(Body::ContinuedIn("another".into())),
        record(secs, Body::Irrelevant),
        record(secs, Body::Unknown("a-type-of-tomorrow".into())),
        bare(Body::LastPrompt("do it".into())),
        bare(Body::Title { kind: TitleKind::Ai, text: "a title".into() }),
        queue(secs, QueueOperation::Enqueue { text: "later".into() }),
        queue(secs, QueueOperation::Remove),
    ]
}

/// A fold with all its effects.
pub struct Play {
    /// The fold.
    pub fold: SessionFold,
    /// Its effects.
    pub out: Vec<Effect>,
}

impl Play {
    /// A new session with the document's timeouts.
    pub fn new() -> Self {
        Self { fold: SessionFold::new(SessionId::new(SESSION), Timeouts::default()), out: Vec::new() }
    }

    /// A session after these records.
    pub fn of(records: impl IntoIterator<Item = Record<'static>>) -> Self {
        let mut play = Self::new();
        for record in records {
            play.apply(&record);
        }
        play
    }

    /// Applies one more record.
    pub fn apply(&mut self, record: &Record<'_>) -> &mut Self {
        self.fold.apply(record, &mut self.out);
        self
    }

    /// The clock shows this many seconds.
    pub fn advance(&mut self, secs: f64) -> &mut Self {
        self.fold.advance(at(secs), &mut self.out);
        self
    }

    /// The reading.
    pub fn reading(&self) -> Reading {
        self.fold.reading()
    }

    /// State and kind.
    pub fn now(&self) -> (State, Option<StateKind>) {
        let reading = self.reading();
        (reading.state, reading.kind)
    }

    /// The states gone through.
    pub fn path(&self) -> Vec<(State, Option<StateKind>)> {
        self.out.iter().map(|Effect::Transition { to, kind, .. }| (*to, *kind)).collect()
    }
}

/// The states in short, for assertions.
pub const IDLE: (State, Option<StateKind>) = (State::Idle, None);
/// A turn runs.
pub const WORKING: (State, Option<StateKind>) = (State::Working, None);
/// Only subagents run.
pub const BACKGROUND: (State, Option<StateKind>) = (State::Working, Some(StateKind::Background));
/// A permission, by inference.
pub const PERMISSION: (State, Option<StateKind>) = (State::WaitingForApproval, Some(StateKind::Permission));
/// A question.
pub const QUESTION: (State, Option<StateKind>) = (State::WaitingForApproval, Some(StateKind::Question));
/// A plan.
pub const PLAN: (State, Option<StateKind>) = (State::WaitingForApproval, Some(StateKind::Plan));
/// The turn ended.
pub const ENDED: (State, Option<StateKind>) = (State::WaitingForInput, Some(StateKind::TurnEnded));
/// The user interrupted.
pub const INTERRUPTED: (State, Option<StateKind>) = (State::WaitingForInput, Some(StateKind::Interrupted));
