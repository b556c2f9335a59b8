//! Plans that the agent writes before it begins: each version, and the prompt that carries it out.

use std::sync::Arc;

use super::{HistoryFold, RecordContext};
use crate::history::HistorySettings;
use crate::history::boilerplate::plan_in_prompt;
use crate::history::private::keep_public;
use crate::history::rows::{Batch, BatchId, CallOutcome, Execution, Item, PlanEvent, PlanEventKind};
use crate::tool::Ask;
use crate::tool::ToolKind;
use crate::transcript::payloads::{Payloads, RawBlock};

/// Longest plan that is kept, in bytes.
pub const PLAN_LIMIT: usize = 256 * 1024;

/// The tool that shows a plan to the user.
pub(in crate::history) fn shows_plan(tool: &str) -> bool {
    Ask::of(tool, false) == Ask::Plan
}

impl HistoryFold {
    /// The agent names the file of the session's plan.
    pub(super) fn plan_announced(&mut self, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) {
        if let Some(path) = full.plan_path().filter(|path| step.settings.is_plan(path))
            && !step.settings.exclude.excludes_in(self.folder.as_deref(), &path)
        {
            self.plan = Some(Arc::from(path));
        }
    }

    /// The name of the plan that a call writes or shows.
    pub(super) fn plan_in_call(
        &mut self,
        tool: &str,
        file: Option<&str>,
        call: &RawBlock<'_>,
        batch: Option<&BatchId>,
        step: &mut RecordContext<'_, '_>,
    ) -> Option<Arc<str>> {
        if matches!(ToolKind::of(tool), ToolKind::Write | ToolKind::Edit) {
            return file.filter(|path| step.settings.is_plan(path)).map(Arc::from);
        }
        if !shows_plan(tool) {
            return None;
        }
        let plan = self.plan_name(batch, None);
        self.plan = Some(Arc::clone(&plan));
        let content = call.input.get("plan").text(PLAN_LIMIT);
        self.plan_version(
            Arc::clone(&plan),
            content.as_deref(),
            PlanEventKind::Proposed,
            batch.cloned(),
            step,
        );
        Some(plan)
    }

    /// The name of the plan that a batch shows. `file`: the plan's file, as the call names it.
    pub(in crate::history) fn plan_name(&self, batch: Option<&BatchId>, file: Option<&Arc<str>>) -> Arc<str> {
        match self.plan.as_ref().or(file) {
            Some(plan) => Arc::clone(plan),
            // Agents without plan files: each turn that shows a plan has its own.
            None => Arc::from(format!("{}/{}", self.session, batch.map_or("", |batch| batch))),
        }
    }

    /// The result of a call that writes or shows a plan.
    pub(super) fn plan_in_result(
        &mut self,
        tool: &str,
        plan: Arc<str>,
        outcome: CallOutcome,
        full: &dyn Payloads<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        let batch = self.turn.as_ref().map(|turn| Arc::clone(&turn.id));
        let went_well = outcome == CallOutcome::Ok;
        if shows_plan(tool) {
            let content = full.result().get("plan").text(PLAN_LIMIT);
            let word = if went_well { PlanEventKind::Approved } else { PlanEventKind::Rejected };
            self.plan_version(Arc::clone(&plan), content.as_deref(), word, batch.clone(), step);
            if let (true, Some(batch)) = (went_well, batch) {
                // The same turn goes on and carries out the plan.
                (step.sink)(Item::Execution(Execution {
                    plan: Some(plan),
                    content: None,
                    batch,
                    at: step.at,
                }));
            }
        } else if went_well {
            self.plan = Some(Arc::clone(&plan));
            let field = |key: &str| Some(full.result().get(key).text(PLAN_LIMIT)?.into_owned());
            let content = content_after_write(&field, full.result().get("replaceAll").is_true());
            self.plan_version(plan, content.as_deref(), PlanEventKind::Written, batch, step);
        }
    }

    /// Gives the sink an [`Execution`] if the prompt carries out a plan.
    pub(super) fn plan_carried_out(
        &mut self,
        text: &str,
        full: &dyn Payloads<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        let Some(batch) = self.turn.as_ref().map(|turn| Arc::clone(&turn.id)) else { return };
        let given = full.plan_content(PLAN_LIMIT);
        if let Some(execution) = execution_of(given.as_deref(), text, batch, step.at, step.settings) {
            (step.sink)(Item::Execution(execution));
        }
    }

    fn plan_version(
        &mut self,
        plan: Arc<str>,
        content: Option<&str>,
        word: PlanEventKind,
        batch: Option<BatchId>,
        step: &mut RecordContext<'_, '_>,
    ) {
        if let Some(id) = &batch
            && step.agent.is_none()
        {
            let change = Batch { plan: true, ..Batch::new(Arc::clone(id)) };
            match self.batch_changes.as_mut().filter(|changes| changes.id == *id) {
                Some(changes) => changes.merge(&change),
                None => (step.sink)(Item::Batch(Box::new(change))),
            }
        }
        let path = step.settings.is_plan(&plan).then(|| Arc::clone(&plan));
        let content = content.filter(|_| !self.is_private()).and_then(plan_text);
        (step.sink)(Item::Plan(Box::new(PlanEvent {
            plan,
            path,
            at: step.at,
            batch,
            content,
            given: None,
            word,
        })));
    }
}

/// The execution that a prompt begins, if it carries out a plan: by its text, or by the name of its file.
pub(in crate::history) fn execution_of(
    given: Option<&str>,
    prompt: &str,
    batch: BatchId,
    at: Option<crate::time::Timestamp>,
    settings: &HistorySettings,
) -> Option<Execution> {
    if let Some(content) = given.or_else(|| plan_in_prompt(prompt)) {
        return Some(Execution { plan: None, content: Some(plan_text(content)?), batch, at });
    }
    let words = prompt.split(|c: char| c.is_whitespace() || "\"'`<>()".contains(c));
    let named = words.map(|word| word.trim_matches(['@', ',', ';', ':', '!', '?', '.']));
    let path = { named }.find(|path| settings.is_plan(path))?;
    Some(Execution { plan: Some(Arc::from(path)), content: None, batch, at })
}

/// The text of a plan as it is stored. One plan gives the same text from every source.
pub fn plan_text(content: &str) -> Option<String> {
    let content = keep_public(content)?;
    let content = content.trim();
    (!content.is_empty()).then(|| content[..content.floor_char_boundary(PLAN_LIMIT)].to_owned())
}

/// The content of a plan file after `Write` or `Edit`, from the tool's structured result.
pub(in crate::history) fn content_after_write(
    field: &dyn Fn(&str) -> Option<String>,
    replace_all: bool,
) -> Option<String> {
    if let Some(content) = field("content") {
        return Some(content);
    }
    let (before, old, new) = (field("originalFile")?, field("oldString")?, field("newString")?);
    if old.is_empty() {
        return Some(new);
    }
    Some(if replace_all { before.replace(&old, &new) } else { before.replacen(&old, &new, 1) })
}
