//! What came of the work since the user's last prompt, as far as its own records tell it.

use serde::{Deserialize, Serialize};

use crate::roster::reason::PendingTool;
use crate::session::id_set::text_hash;
use crate::time::{Millis, Timestamp};
use crate::tool::ToolKind;
use crate::transcript::record::ToolResult;

/// So many files are told apart, and so many test runs may be open at once.
const MOST_FILES: usize = 999;
const MOST_RUNS: usize = 8;

/// The work since the user's last prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    began: Option<Timestamp>,
    /// Hashes of the paths of edited files.
    files: Vec<u64>,
    /// Hashes of the ids of test runs without a result.
    runs: Vec<u64>,
    tests: Option<bool>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How many files were edited.
    pub files: u32,
    /// Whether the tests passed that ran last, if no file was edited since.
    pub tests: Option<bool>,
    /// From the prompt to the last record.
    pub took: Option<Millis>,
}

impl Work {
    /// The user's prompt begins new work.
    pub(crate) fn begin(&mut self, at: Timestamp) {
        *self = Self { began: Some(at), ..Self::default() };
    }

    /// A call of a test runner.
    pub(crate) fn runs_tests(&mut self, id: &str) {
        if self.runs.len() == MOST_RUNS {
            self.runs.remove(0);
        }
        self.runs.push(text_hash(id));
    }

    /// The result of a call.
    pub(crate) fn fold_result(&mut self, result: &ToolResult<'_>, call: Option<&PendingTool>) {
        let hash = text_hash(&result.id);
        if self.runs.contains(&hash) {
            self.runs.retain(|run| *run != hash);
            // `cd DIR && …` fails for another reason too.
            let is_after_cd = call.is_none_or(|call| call.target.starts_with("cd "));
            let tells = result.background_task.is_none() && result.denied.is_none();
            self.tests = result.succeeded.filter(|passed| tells && (*passed || !is_after_cd));
        }
        if call.is_some_and(|call| ToolKind::of(&call.tool) == ToolKind::Subagent) {
            // It may have edited files.
            self.tests = None;
        }
        let Some(call) = call.filter(|call| ToolKind::of(&call.tool).changes_file()) else { return };
        if result.is_error || result.denied.is_some() || call.target.is_empty() {
            return;
        }
        self.tests = None;
        let file = text_hash(&call.target);
        if !self.files.contains(&file) && self.files.len() < MOST_FILES {
            self.files.push(file);
        }
    }

    /// What came of it, if it did anything.
    pub fn outcome(&self, ended: Option<Timestamp>) -> Option<Outcome> {
        let files = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let took = self.began.zip(ended).map(|(began, ended)| ended.since(began)).filter(|took| took.0 >= 0);
        (files > 0 || self.tests.is_some()).then_some(Outcome { files, tests: self.tests, took })
    }
}
