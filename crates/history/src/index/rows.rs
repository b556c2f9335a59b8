//! Items of a transcript or a hook event become rows in a step of the store.

use std::path::Path;

use watchbill_core::history::rows::PlanEvent;
use watchbill_core::history::{HookEventParts, Item, PLAN_LIMIT, Segment, plan_text};
use watchbill_core::time::Millis;
use watchbill_core::transcript::record::CompactTrigger;
use watchbill_store::tables::hook_events::HookEventRow;
use watchbill_store::tables::segments::SegmentRow;
use watchbill_store::{FileKey, SessionKey, StoreError, WriteTransaction};
use watchbill_watch::fs::Fs;

/// A file that was written at most so long after an event is the one of the event.
const WRITTEN_BY: Millis = Millis(2_000);

/// The stored row of the event itself.
pub(super) fn hook_event(event: HookEventParts<'_>) -> HookEventRow {
    let payload = event.payload;
    let call = payload.event.call();
    HookEventRow {
        at: event.origin.at,
        event: payload.event.name().to_owned(),
        tool: call.map(|call| call.tool.to_string()),
        call: call.and_then(|call| call.id.as_deref()).map(str::to_owned),
        prompt: payload.prompt_id.as_deref().map(str::to_owned),
        detail: None,
    }
}

/// Stores items in a step.
pub(super) struct Rows<'r, 's> {
    pub(super) step: &'r mut WriteTransaction<'s>,
    pub(super) session: SessionKey,
    /// `None` for items of a hook event.
    pub(super) file: Option<FileKey>,
    pub(super) fs: &'r dyn Fs,
    pub(super) texts: u64,
    /// The first error; nothing is stored after it.
    pub(super) failed: Option<StoreError>,
}

impl Rows<'_, '_> {
    pub(super) fn take(&mut self, item: Item<'_>) {
        if self.failed.is_none()
            && let Err(error) = self.store(item)
        {
            self.failed = Some(error);
        }
    }

    fn store(&mut self, item: Item<'_>) -> Result<(), StoreError> {
        let (session, file) = (self.session, self.file);
        match item {
            Item::Text(text) => {
                if let Some(file) = file {
                    self.texts += u64::from(self.step.add_text(file, session, &text)?);
                }
                Ok(())
            }
            Item::Folder(cwd) => file.map_or(Ok(()), |file| self.step.note_folder(file, cwd)),
            Item::Batch(batch) => self.step.merge_batch(session, file, &batch),
            Item::BatchNamed { from, to } => self.step.name_batch(session, &from, &to),
            Item::Activity(mut activity) => {
                // The transcript's fold knows the turn. A hook event may come without it.
                if file.is_none()
                    && let Some(batch) = &activity.batch
                    && self.step.is_private(session, batch)?
                {
                    activity.hide_texts();
                }
                self.step.merge_activity(session, file, &activity)
            }
            Item::Plan(mut plan) => {
                let known = plan.content.take();
                plan.content = known.or_else(|| in_file(self.fs, &plan)).or_else(|| plan.given.take());
                if let Some(batch) = &plan.batch
                    && plan.content.is_some()
                    && self.step.is_private(session, batch)?
                {
                    plan.content = None;
                }
                self.step.merge_plan(session, file, &plan)
            }
            Item::Execution(execution) => self.step.merge_execution(session, file, &execution),
            Item::Request(request) => file.map_or(Ok(()), |file| self.step.merge_request(file, &request)),
            Item::Segment(segment) => {
                file.map_or(Ok(()), |file| self.step.put_segment(file, &segment_row(&segment)))
            }
        }
    }
}

/// The text in the plan's file, if nothing has changed the file since the event.
fn in_file(fs: &dyn Fs, event: &PlanEvent) -> Option<String> {
    let (path, at) = (Path::new(event.path.as_deref()?), event.at?);
    let is_of_then = fs.stat(path).is_ok_and(|stat| stat.mtime <= at + WRITTEN_BY);
    let bytes = if is_of_then { fs.read_small(path, PLAN_LIMIT as u64).ok()? } else { return None };
    plan_text(&String::from_utf8_lossy(&bytes))
}

fn segment_row(segment: &Segment) -> SegmentRow {
    let boundary = segment.boundary.as_ref();
    SegmentRow {
        number: segment.number,
        started_at: segment.started_at,
        ended_at: segment.ended_at,
        offset: segment.offset,
        trigger: boundary.and_then(|boundary| match boundary.trigger {
            CompactTrigger::Auto => Some("auto".to_owned()),
            CompactTrigger::Manual => Some("manual".to_owned()),
            CompactTrigger::Unknown => None,
        }),
        pre_tokens: boundary.and_then(|boundary| boundary.pre_tokens),
        post_tokens: boundary.and_then(|boundary| boundary.post_tokens),
    }
}
