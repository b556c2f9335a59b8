//! Makes the rows of a session by hand.

use watchbill_core::history::rows::{
    Activity, Batch, BatchOrigin, BatchStatus, CallOutcome, Ended, PlanEventKind,
};
use watchbill_core::memory::{PlanRow, SessionRows};
use watchbill_core::time::Timestamp;

pub const ROOT: &str = "/home/dev/app";

/// A session that is written turn by turn. Each thing takes a second.
pub struct Writer {
    pub rows: SessionRows,
    at: i64,
}

impl Writer {
    pub fn new() -> Self {
        Self { rows: SessionRows { root: ROOT.to_owned(), ..SessionRows::default() }, at: 1_700_000_000_000 }
    }

    fn next(&mut self) -> Timestamp {
        self.at += 1_000;
        Timestamp::from_millis(self.at)
    }

    pub fn prompt(&mut self, text: &str) -> &mut Self {
        let at = self.next();
        let mut batch = Batch::new(format!("b{}", self.rows.batches.len()).into());
        batch.origin = Some(BatchOrigin::Human);
        batch.prompt = Some(text.to_owned());
        batch.started_at = Some(at);
        batch.offset = Some(self.at.unsigned_abs());
        batch.ended = Some(Ended { status: BatchStatus::Completed, at, error: None });
        self.rows.batches.push(batch);
        self
    }

    pub fn last(&mut self) -> &mut Batch {
        self.rows.batches.last_mut().unwrap()
    }

    pub fn answer(&mut self, text: &str) -> &mut Self {
        let at = self.next();
        self.last().response = Some((at, text.to_owned()));
        self
    }

    pub fn ends(&mut self, status: BatchStatus) -> &mut Self {
        let at = self.next();
        self.last().ended = Some(Ended { status, at, error: None });
        self
    }

    pub fn call(&mut self, tool: &str, target: &str, outcome: CallOutcome, error: Option<&str>) -> &mut Self {
        let at = self.next();
        let mut call = Activity::new(format!("c{}", self.rows.calls.len()).into());
        call.batch = Some(self.last().id.clone());
        call.tool = Some(tool.into());
        call.target = Some(target.to_owned());
        call.file = matches!(tool, "Read" | "Edit" | "Write").then(|| target.to_owned());
        call.at = Some(at);
        call.outcome = Some(outcome);
        call.error = error.map(str::to_owned);
        self.rows.calls.push(call);
        self
    }

    pub fn with_input(&mut self, tool: &str, target: &str, input: impl ToString) {
        self.call(tool, target, CallOutcome::Ok, None);
        self.rows.calls.last_mut().unwrap().input = Some(input.to_string());
    }

    pub fn bash(&mut self, command: &str, error: Option<&str>) -> &mut Self {
        let outcome = if error.is_some() { CallOutcome::Error } else { CallOutcome::Ok };
        self.call("Bash", command, outcome, error)
    }

    pub fn edit(&mut self, file: &str) -> &mut Self {
        self.call("Edit", &format!("{ROOT}/{file}"), CallOutcome::Ok, None)
    }

    pub fn read(&mut self, file: &str) -> &mut Self {
        self.call("Read", &format!("{ROOT}/{file}"), CallOutcome::Ok, None)
    }

    pub fn plan(&mut self, content: &str, state: PlanEventKind) -> &mut Self {
        let at = self.next();
        let batch = Some(self.last().id.clone());
        let states = vec![(Some(at), state)];
        self.rows.plans.push(PlanRow { plan: "p".into(), content: content.into(), batch, states });
        self
    }
}
