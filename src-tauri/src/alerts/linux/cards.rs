//! The requests to the notification server and its answers: one pending request per card.
//!
//! A server may be slow. Further changes of a card wait for the pending answer, because replacing or closing needs the
//! server's id. A second request without that id would show a second notification, and the first would never go.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::Instant;

use crate::alerts::actions::Button;
use crate::alerts::board::Card;
use crate::alerts::notice::Notice;

/// The id of no notification.
const NONE: u32 = 0;
/// Close reason: it expired.
const EXPIRED: u32 = 1;
/// Close reason: the user dismissed it.
const DISMISSED: u32 = 2;

/// A notification to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationContent {
    /// Its texts.
    pub notice: Notice,
    /// Its buttons, if the server supports them.
    pub buttons: Vec<Button>,
    /// The user wants alerts to make a sound.
    pub sound: bool,
}

/// A request to send to the server.
#[derive(Debug, PartialEq, Eq)]
pub enum NotificationCall {
    /// Shows it; replaces the notification with this id, if not zero.
    Show(u32, NotificationContent),
    /// Closes the notification with this id.
    Close(u32),
}

/// The cards that are on the screen, or will be when the server answers.
#[derive(Debug, Default)]
pub struct Cards(HashMap<Card, Standing>);

#[derive(Debug, Default)]
struct Standing {
    /// The server's id of the shown notification.
    id: u32,
    /// The server's unique name on the bus. Its notifications vanish with it.
    by: String,
    asked: Option<Asked>,
    wanted: Option<Wanted>,
}

#[derive(Debug)]
struct Asked {
    serial: NonZeroU32,
    at: Instant,
    /// It shows something new.
    news: bool,
}

#[derive(Debug)]
enum Wanted {
    Show(NotificationContent),
    Close,
}

impl Cards {
    /// The card is to show this.
    pub fn show(&mut self, card: Card, content: NotificationContent) {
        self.0.entry(card).or_default().wanted = Some(Wanted::Show(content));
    }

    /// The card is to be closed.
    pub fn close(&mut self, card: Card) {
        if let Some(standing) = self.0.get_mut(&card) {
            standing.wanted = Some(Wanted::Close);
        }
    }

    /// All cards are to be closed; returns them.
    pub fn close_all(&mut self) -> Vec<Card> {
        let all: Vec<Card> = self.0.keys().copied().collect();
        all.iter().for_each(|card| self.close(*card));
        all
    }

    /// Whether it is on the screen, or will be once the server has handled it.
    pub fn has(&self, card: Card) -> bool {
        self.0.contains_key(&card)
    }

    /// No card is on the screen, and none will be.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The cards that can be shown at once.
    pub fn waiting(&self) -> Vec<Card> {
        let waits = |standing: &Standing| {
            standing.asked.is_none() && matches!(standing.wanted, Some(Wanted::Show(_)))
        };
        self.0.iter().filter(|(_, standing)| waits(standing)).map(|(card, _)| *card).collect()
    }

    /// The next request of a card, if any.
    pub fn next(&mut self, card: Card) -> Option<NotificationCall> {
        let standing = self.0.get_mut(&card).filter(|standing| standing.asked.is_none())?;
        match standing.wanted.take() {
            Some(Wanted::Show(content)) => Some(NotificationCall::Show(standing.id, content)),
            Some(Wanted::Close) => {
                let id = self.0.remove(&card)?.id;
                (id != NONE).then_some(NotificationCall::Close(id))
            }
            None => {
                if standing.id == NONE {
                    self.0.remove(&card);
                }
                None
            }
        }
    }

    /// The server was asked to show a card; its answer will carry this serial.
    pub fn asked(&mut self, card: Card, serial: NonZeroU32, news: bool, at: Instant) {
        self.0.entry(card).or_default().asked = Some(Asked { serial, at, news });
    }

    /// The server has answered with the id of the notification and its own name, or has refused. Returns the card.
    pub fn answered(&mut self, serial: NonZeroU32, shown: Option<(u32, String)>) -> Option<Card> {
        let mut all = self.0.iter_mut();
        let (card, standing) =
            all.find(|(_, standing)| standing.asked.as_ref().is_some_and(|asked| asked.serial == serial))?;
        standing.asked = None;
        if let Some((id, by)) = shown {
            (standing.id, standing.by) = (id, by);
        }
        Some(*card)
    }

    /// Time of the oldest pending request.
    pub fn asked_at(&self) -> Option<Instant> {
        self.0.values().filter_map(|standing| Some(standing.asked.as_ref()?.at)).min()
    }

    /// Drops the cards that wait to be shown, because no server shows them.
    pub fn refuse_waiting(&mut self) {
        for card in self.waiting() {
            self.0.remove(&card);
        }
    }

    /// The server and the id of each notification on the screen.
    pub fn standing(&self) -> Vec<(String, u32)> {
        let shown = self.0.values().filter(|standing| standing.id != NONE);
        shown.map(|standing| (standing.by.clone(), standing.id)).collect()
    }

    /// The card of a notification, if `by` is the server that shows it: any program can send us a signal.
    pub fn of(&self, id: u32, by: &str) -> Option<Card> {
        let is_it = |standing: &Standing| standing.id == id && id != NONE && standing.by == by;
        self.0.iter().find(|(_, standing)| is_it(standing)).map(|(card, _)| *card)
    }

    /// The server `by` says that a notification was closed, for one of the specification's reasons. Returns its card if the card goes too. It
    /// stays in two cases: the card has news, which the user cannot have seen yet; or the server closed it only to
    /// replace it.
    pub fn closed(&mut self, id: u32, by: &str, reason: u32) -> Option<Card> {
        let card = self.of(id, by)?;
        let standing = self.0.get_mut(&card)?;
        standing.id = NONE;
        let asked = standing.asked.as_ref();
        if asked.is_some_and(|asked| asked.news || ![EXPIRED, DISMISSED].contains(&reason))
            || matches!(&standing.wanted, Some(Wanted::Show(content)) if !content.notice.quiet)
        {
            return None;
        }
        match asked {
            // The server may show the pending change as a new notification, so close that one too.
            Some(_) => standing.wanted = Some(Wanted::Close),
            None => drop(self.0.remove(&card)),
        }
        Some(card)
    }

    /// A server has left the bus. Its notifications are gone.
    pub fn left(&mut self, server: &str) {
        for standing in self.0.values_mut().filter(|standing| standing.by == server) {
            standing.id = NONE;
        }
        self.0.retain(|_, standing| {
            standing.id != NONE || standing.asked.is_some() || standing.wanted.is_some()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alerts::notice::tests::episode;

    const SERVER: &str = ":1.5";

    fn content(quiet: bool) -> NotificationContent {
        let notice = Notice::of(&[episode("a", "approval", "wants to run `ls`")], quiet).expect("an episode");
        NotificationContent { notice, buttons: Vec::new(), sound: false }
    }

    fn serial(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).expect("not zero")
    }

    /// A card with a pending request, serial 1.
    fn asked(news: bool) -> Cards {
        let mut cards = Cards::default();
        cards.show(7, content(!news));
        assert_eq!(cards.next(7), Some(NotificationCall::Show(NONE, content(!news))));
        cards.asked(7, serial(1), news, Instant::now());
        cards
    }

    fn answer(id: u32) -> Option<(u32, String)> {
        Some((id, SERVER.to_owned()))
    }

    /// A card that is shown as id 42, with a pending change, serial 2.
    fn changing(news: bool) -> Cards {
        let mut cards = asked(true);
        cards.answered(serial(1), answer(42));
        cards.show(7, content(!news));
        assert_eq!(cards.next(7), Some(NotificationCall::Show(42, content(!news))));
        cards.asked(7, serial(2), news, Instant::now());
        cards
    }

    #[test]
    fn a_card_closed_before_a_slow_server_answers_is_closed_after_the_answer() {
        let mut cards = asked(true);
        cards.show(7, content(true));
        cards.close(7);
        assert_eq!(cards.next(7), None, "without a number nothing can be closed");
        assert!(cards.has(7) && cards.asked_at().is_some());
        assert_eq!(cards.answered(serial(1), answer(42)), Some(7));
        assert_eq!(cards.next(7), Some(NotificationCall::Close(42)));
        assert!(cards.is_empty());
    }

    #[test]
    fn changes_during_a_pending_request_are_sent_once_as_a_replacement() {
        let mut cards = asked(true);
        cards.show(7, content(true));
        cards.show(7, content(false));
        assert_eq!((cards.next(7), cards.waiting()), (None, vec![]));
        cards.answered(serial(1), answer(42));
        assert_eq!(cards.next(7), Some(NotificationCall::Show(42, content(false))));
        assert_eq!(cards.of(42, SERVER), Some(7));
    }

    #[test]
    fn a_refused_card_is_dropped_and_a_refused_change_keeps_the_card() {
        let mut cards = asked(true);
        assert_eq!(cards.answered(serial(9), None), None, "the serial of another request");
        assert_eq!(cards.answered(serial(1), None), Some(7));
        assert_eq!((cards.next(7), cards.has(7)), (None, false));

        let mut cards = changing(false);
        cards.answered(serial(2), None);
        assert_eq!((cards.next(7), cards.of(42, SERVER)), (None, Some(7)));
    }

    #[test]
    fn a_card_dismissed_during_a_change_stays_closed_unless_the_change_is_news() {
        let mut cards = changing(false);
        assert_eq!(cards.closed(42, SERVER, DISMISSED), Some(7));
        cards.answered(serial(2), answer(43));
        assert_eq!(cards.next(7), Some(NotificationCall::Close(43)), "the server has shown it again");

        let mut cards = changing(true);
        assert_eq!(cards.closed(42, SERVER, DISMISSED), None);
        cards.answered(serial(2), answer(43));
        assert_eq!((cards.next(7), cards.of(43, SERVER)), (None, Some(7)));
        assert_eq!(cards.closed(43, SERVER, DISMISSED), Some(7));
        assert!(cards.is_empty());
    }

    #[test]
    fn a_close_by_the_server_during_a_replacement_keeps_the_card() {
        let mut cards = changing(false);
        assert_eq!(cards.closed(42, SERVER, 4), None);
        cards.answered(serial(2), answer(43));
        assert_eq!((cards.next(7), cards.of(43, SERVER)), (None, Some(7)));
        assert_eq!(cards.closed(43, SERVER, 4), Some(7), "now it is not being replaced");
    }

    #[test]
    fn a_server_that_leaves_drops_its_cards_but_those_with_a_pending_request() {
        let mut cards = asked(true);
        cards.answered(serial(1), answer(42));
        cards.left(":1.4");
        assert!(cards.has(7));
        cards.left(":1.5");
        assert!(cards.is_empty());

        let mut cards = changing(true);
        cards.left(":1.5");
        assert!(cards.has(7), "the bus will answer with an error");
        cards.answered(serial(2), None);
        assert_eq!((cards.next(7), cards.has(7)), (None, false));
    }

    #[test]
    fn only_the_server_that_shows_a_card_speaks_of_it() {
        let mut cards = asked(true);
        cards.answered(serial(1), answer(42));
        assert_eq!((cards.of(42, ":1.9"), cards.closed(42, ":1.9", DISMISSED)), (None, None));
        assert_eq!(cards.of(42, SERVER), Some(7));
    }

    #[test]
    fn waiting_cards_are_dropped_when_there_is_no_server() {
        let mut cards = changing(true);
        cards.show(8, content(false));
        assert_eq!(cards.waiting(), [8]);
        cards.refuse_waiting();
        assert!(!cards.has(8) && cards.has(7));
    }
}
