//! What a session took over from another one: copied records at the beginning of its file, and a running total of tokens.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::record::{Body, Record, SessionRecord, TokenTotal, Usage};
use crate::time::{Millis, Timestamp};

/// Copied records carry the time of the copy, a few milliseconds apart. The first greater gap ends them.
const GAP: Millis = Millis(500);

/// Tells a session's own records from copied ones, and its own tokens from those before it.
///
/// Where the agent does not number its records, a session's own records within half a second after the copy count as copied. So the mark
/// of its first turn may be missed; its first prompt is not, unless the fork was begun with a prompt.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Inherited {
    /// The id in the file's first record.
    own: Option<Arc<str>>,
    own_from: Option<u64>,
    /// It began with the history of another session, copied or not.
    continues: bool,
    copied: Option<Copied>,
    /// The session has an answer of its own.
    answered: bool,
    total: Option<Usage>,
}

/// The reading is inside the copied part.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Copied {
    newest: Option<Timestamp>,
}

impl Inherited {
    /// The id in the file's first record.
    pub fn own(&self) -> Option<&Arc<str>> {
        self.own.as_ref()
    }

    /// Takes the next record of the file. Returns whether it belongs to another session.
    pub fn takes(&mut self, record: &Record<'_>) -> bool {
        let at = record.envelope.at;
        if let Body::Session(session) = &record.body {
            if self.own.as_deref().is_some_and(|own| own != session.id) {
                let copied = self.copied.get_or_insert_default();
                copied.newest = copied.newest.max(at);
                return true;
            }
            self.take_session(session);
        }
        if let Some(copied) = &mut self.copied {
            let is_own = match (self.own_from, record.envelope.ordinal) {
                (Some(from), Some(ordinal)) => ordinal >= from,
                _ => copied.newest.zip(at).is_some_and(|(newest, at)| at.since(newest) > GAP),
            };
            if !is_own {
                copied.newest = copied.newest.max(at);
                if let Body::Tokens(tokens) = &record.body {
                    self.total = tokens.total.or(self.total);
                }
                return true;
            }
            self.copied = None;
        }
        self.answered |= self.continues && matches!(record.body, Body::Assistant(_));
        false
    }

    /// Takes a record of the session itself, from its beginning or from a resume.
    fn take_session(&mut self, session: &SessionRecord<'_>) {
        self.copied = None;
        if self.own.is_none() {
            self.own = Some(Arc::from(&*session.id));
            self.own_from = session.own_from;
            self.continues = session.forked_from.is_some() || session.subagent_of.is_some();
        }
    }

    /// The tokens that the session itself used since the total before; `None` if it used no tokens.
    pub fn request(&mut self, tokens: &TokenTotal) -> Option<Usage> {
        let total = tokens.total?;
        let before = match (self.total, tokens.last) {
            (Some(before), _) => before,
            (None, _) if !self.continues => Usage::default(),
            // The first total of a fork holds what the other session had used.
            (None, Some(last)) if self.answered => total.without(last),
            (None, _) => total,
        };
        self.total = Some(total);
        let used = total.without(before).cut();
        (used != Usage::default()).then_some(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::record::Envelope;

    fn session(id: &'static str, from: Option<&'static str>, own_from: Option<u64>) -> Body<'static> {
        Body::Session(SessionRecord {
            id: id.into(),
            forked_from: from.map(Into::into),
            own_from,
            ..SessionRecord::default()
        })
    }

    fn tokens(total: u64, last: u64) -> TokenTotal {
        let usage = |output| Usage { output, ..Usage::default() };
        TokenTotal { total: Some(usage(total)), last: Some(usage(last)), context: None, limits: [None; 2] }
    }

    /// The records that count as copied, by number. Their times are in milliseconds.
    fn copied(records: Vec<(u64, Body<'static>)>) -> Vec<usize> {
        let mut inherited = Inherited::default();
        let mut taken = Vec::new();
        for (ordinal, (at, body)) in records.into_iter().enumerate() {
            let at = Some(Timestamp::from_millis(at.cast_signed()));
            let envelope = Envelope { at, ordinal: Some(ordinal as u64), ..Envelope::default() };
            if inherited.takes(&Record { envelope, body }) {
                taken.push(ordinal);
            }
        }
        taken
    }

    #[test]
    fn copied_records_end_at_a_number_or_at_a_gap() {
        let fork = |own_from| {
            vec![
                (0, session("own", Some("other"), own_from)),
                (1, session("other", Some("third"), None)),
                (2, session("third", None, None)),
                (3, Body::TurnStarted),
                (4, Body::Interrupt),
                (505, Body::TurnStarted),
                (506, session("own", None, None)),
            ]
        };
        assert_eq!(copied(fork(None)), [1, 2, 3, 4]);
        assert_eq!(copied(fork(Some(4))), [1, 2, 3]);
        assert_eq!(copied(fork(Some(1))), [1, 2], "another session's record is never an own one");
        let resumed =
            vec![(0, session("own", None, None)), (9, session("own", None, None)), (9, Body::Interrupt)];
        assert_eq!(copied(resumed), [0; 0], "a session that is resumed is no other one");
    }

    #[test]
    fn only_own_tokens_are_counted() {
        let answer = Record { envelope: Envelope::default(), body: Body::TurnStarted };
        let own = |id: Body<'static>, totals: &[(u64, u64)]| {
            let mut inherited = Inherited::default();
            inherited.takes(&Record { envelope: Envelope::default(), body: id });
            inherited.takes(&answer);
            totals
                .iter()
                .filter_map(|(total, last)| inherited.request(&tokens(*total, *last)))
                .map(|u| u.output)
                .collect::<Vec<_>>()
        };
        assert_eq!(own(session("a", None, None), &[(10, 10), (10, 10), (10, 3), (25, 15)]), [10, 15]);
        assert_eq!(own(session("a", Some("b"), None), &[(200, 100), (300, 100)]), [100]);
    }
}
