//! Texts for search; each goes to the sink at once.

use super::{HistoryFold, RecordContext};
use crate::history::boilerplate::without_reminders;
use crate::history::private::strip_private;
use crate::history::rows::{Item, Role, Text};
use crate::session::id_set::text_hash;
use crate::transcript::bounded_text::without_escapes;
use crate::transcript::payloads::{CommandPart, Payloads, Piece};
use crate::transcript::record::TitleKind;

impl HistoryFold {
    /// Gives the sink a text, without private blocks and without the agent's reminders to the model.
    pub(super) fn emit_text(
        &mut self,
        role: Role,
        tool: Option<&str>,
        piece: Piece<'_>,
        step: &mut RecordContext<'_, '_>,
    ) {
        // Each text takes a number, so that a text keeps its own if the settings leave another one out.
        let part = self.part.take(step.offset);
        if self.is_private() {
            return;
        }
        let text = without_escapes(piece.text);
        let text = without_reminders(&text, piece.cut > 0);
        let text = strip_private(&text);
        if text.trim_ascii_start().is_empty() {
            return;
        }
        (step.sink)(Item::Text(Text {
            offset: step.offset,
            part,
            record: step.envelope.uuid,
            at: step.at,
            role,
            tool,
            agent: step.agent.as_deref(),
            copied: step.copied,
            text: &text,
            cut: piece.cut,
        }));
    }

    /// The text of a message, up to the limit of words.
    pub(super) fn words(&mut self, role: Role, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) {
        let text = full.words(step.settings.words);
        let cut = beyond(step.settings.words, &text, || full.words(usize::MAX));
        self.emit_text(role, None, Piece { text: &text, cut }, step);
    }

    /// The summary of a compaction, or one for a user who was away.
    pub(super) fn summary(&mut self, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) {
        self.words(Role::Summary, full, step);
    }

    /// A slash command, a `!` line, or the output of one.
    pub(super) fn command(&mut self, full: &dyn Payloads<'_>, step: &mut RecordContext<'_, '_>) {
        if step.envelope.meta {
            return;
        }
        let limit = step.settings.words;
        let parts = full.commands(limit);
        let cut = beyond(limit, &full.words(limit), || full.words(usize::MAX));
        let (exclude, folder) = (&step.settings.exclude, self.folder.clone());
        let last = parts.len().saturating_sub(1);
        for (n, part) in parts.iter().enumerate() {
            let (CommandPart::Command(text) | CommandPart::Output(text)) = part;
            if matches!(part, CommandPart::Command(_)) {
                self.command_left_out = exclude.command_names_excluded(text, folder.as_deref());
            }
            if self.command_left_out || exclude.output_names_excluded(None, text, folder.as_deref()) {
                self.something_left_out = true;
            } else {
                let cut = if n == last { cut } else { 0 };
                self.emit_text(Role::Command, None, Piece { text, cut }, step);
            }
        }
    }

    pub(super) fn title(&mut self, kind: TitleKind, text: &str, step: &mut RecordContext<'_, '_>) {
        let hash = text_hash(text);
        if std::mem::replace(&mut self.titles[kind as usize], hash) != hash {
            self.emit_text(Role::Title, None, whole(text), step);
        }
    }
}

/// How many bytes of a text are beyond the limit up to which it was read. `whole` reads all of it.
pub(super) fn beyond<T: AsRef<str>>(limit: usize, text: &str, whole: impl FnOnce() -> T) -> u64 {
    // A cut text may miss some bytes of its last character.
    if text.len() + char::MAX.len_utf8() <= limit { 0 } else { (whole().as_ref().len() - text.len()) as u64 }
}

/// A text without a cut.
pub(super) fn whole(text: &str) -> Piece<'_> {
    Piece { text, cut: 0 }
}
