//! The notifications on the screen: which episodes share one, and when one is closed.

use std::time::{Duration, Instant};

use watchbill_protocol::alert::{Alert, Episode};

use super::notice::Notice;

/// Episodes that begin within this time are shown together.
const GATHER: Duration = Duration::from_millis(400);
/// An episode that begins within this time after a notification joins it.
const JOIN: Duration = Duration::from_secs(5);
/// Shortest time between two repeats of lost notifications: a repeat may be what makes the server crash.
const REPEAT_PAUSE: Duration = Duration::from_secs(30);

/// Identifies a notification while it is on the screen.
pub type Card = u64;

/// One change of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Shows a notification; replaces the one with the same id, if any.
    Show(Card, Notice),
    /// Closes a notification.
    Close(Card),
}

/// The notifications on the screen, and the episodes that are about to be shown.
#[derive(Debug, Default)]
pub struct Board {
    cards: Vec<Standing>,
    fresh: Vec<Episode>,
    gathered_at: Option<Instant>,
    newest: Card,
    brought_back_at: Option<Instant>,
    /// When lost notifications are shown again, if it was too soon so far.
    owed_at: Option<Instant>,
}

#[derive(Debug)]
struct Standing {
    card: Card,
    episodes: Vec<Episode>,
    joined_until: Instant,
}

impl Board {
    /// Takes an alert from the attention policy. The board ignores counts.
    pub fn hear(&mut self, alert: Alert, now: Instant) -> Vec<Act> {
        match alert {
            Alert::AlreadySo { episodes } => self.gather(episodes, now),
            Alert::Raised { episode, silence: None } => self.gather(vec![episode], now),
            Alert::Raised { .. } | Alert::Counted { .. } => {}
            Alert::Cleared { session_id, need, since } => {
                return self.end(|e| e.session_id == session_id && e.need == need && e.since == since);
            }
        }
        Vec::new()
    }

    /// When [`Board::advance`] or [`Board::make_up`] next has something to show.
    pub fn due(&self) -> Option<Instant> {
        self.gathered_at.into_iter().chain(self.owed_at).min()
    }

    /// Shows the gathered episodes.
    pub fn advance(&mut self, now: Instant) -> Vec<Act> {
        if self.gathered_at.is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.gathered_at = None;
        let fresh = std::mem::take(&mut self.fresh);
        let joined = self.cards.iter_mut().rfind(|standing| now < standing.joined_until);
        let act = match joined {
            Some(standing) => {
                standing.episodes.extend(fresh);
                standing.joined_until = now + JOIN;
                standing.show(false)
            }
            None => self.put_up(fresh, now + JOIN, false),
        };
        act.into_iter().collect()
    }

    /// A notification server has started. Episodes that still wait, but whose server is gone, are shown once more: in
    /// one notification, and quietly, since they are no news.
    pub fn bring_back(&mut self, on_screen: impl Fn(Card) -> bool, now: Instant) -> Vec<Act> {
        if let Some(at) = self.brought_back_at.map(|at| at + REPEAT_PAUSE).filter(|at| now < *at) {
            self.owed_at = Some(at);
            return Vec::new();
        }
        let mut lost = Vec::new();
        let mut acts = Vec::new();
        self.cards.retain_mut(|standing| {
            let stays = on_screen(standing.card);
            if !stays {
                lost.append(&mut standing.episodes);
                acts.push(Act::Close(standing.card));
            }
            stays
        });
        if !lost.is_empty() {
            self.brought_back_at = Some(now);
            // An episode that begins now is news and does not join it.
            acts.extend(self.put_up(lost, now, true));
        }
        acts
    }

    /// Calls [`Board::bring_back`] again when it was too soon before and the time has come.
    pub fn make_up(&mut self, on_screen: impl Fn(Card) -> bool, now: Instant) -> Vec<Act> {
        match self.owed_at.take_if(|at| *at <= now) {
            Some(_) => self.bring_back(on_screen, now),
            None => Vec::new(),
        }
    }

    /// The user or the desktop has closed a notification.
    pub fn gone(&mut self, card: Card) {
        self.cards.retain(|standing| standing.card != card);
    }

    /// Closes everything: none of it is true any more.
    pub fn clear(&mut self) -> Vec<Act> {
        self.end(|_| true)
    }

    fn put_up(&mut self, episodes: Vec<Episode>, joined_until: Instant, quiet: bool) -> Option<Act> {
        self.newest += 1;
        let standing = Standing { card: self.newest, episodes, joined_until };
        let act = standing.show(quiet);
        self.cards.push(standing);
        act
    }

    fn gather(&mut self, mut episodes: Vec<Episode>, now: Instant) {
        // A new subscription, or the summary at the end of a mute, may repeat episodes that are on the screen already.
        episodes.retain(|new| !self.holds(new));
        if !episodes.is_empty() {
            self.fresh.extend(episodes);
            self.gathered_at.get_or_insert(now + GATHER);
        }
    }

    fn holds(&self, new: &Episode) -> bool {
        let stand = self.cards.iter().flat_map(|standing| &standing.episodes);
        stand
            .chain(&self.fresh)
            .any(|old| (&old.session_id, &old.need, &old.since) == (&new.session_id, &new.need, &new.since))
    }

    fn end(&mut self, over: impl Fn(&Episode) -> bool) -> Vec<Act> {
        self.fresh.retain(|episode| !over(episode));
        if self.fresh.is_empty() {
            self.gathered_at = None;
        }
        let mut acts = Vec::new();
        self.cards.retain_mut(|standing| {
            let before = standing.episodes.len();
            standing.episodes.retain(|episode| !over(episode));
            if standing.episodes.len() == before {
                return true;
            }
            acts.push(standing.show(true).unwrap_or(Act::Close(standing.card)));
            !standing.episodes.is_empty()
        });
        acts
    }
}

impl Standing {
    /// `None` if no episode is left to show.
    fn show(&self, quiet: bool) -> Option<Act> {
        Notice::of(&self.episodes, quiet).map(|notice| Act::Show(self.card, notice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alerts::notice::tests::episode;

    fn raised(session: &str) -> Alert {
        Alert::Raised { episode: episode(session, "approval", "wants to run `ls`"), silence: None }
    }

    fn cleared(session: &str) -> Alert {
        let Alert::Raised { episode, .. } = raised(session) else { panic!("it is one") };
        Alert::Cleared { session_id: episode.session_id, need: episode.need, since: episode.since }
    }

    /// Advances to the due time: the card and its first line.
    fn shown(board: &mut Board) -> (Card, String) {
        let due = board.due().expect("something is gathered");
        assert_eq!(board.advance(due - Duration::from_millis(1)), [], "not before its time");
        let acts = board.advance(due);
        let [Act::Show(card, notice)] = &*acts else { panic!("{acts:?}") };
        (*card, notice.summary.clone())
    }

    #[test]
    fn episodes_that_begin_together_share_a_notification_and_close_followers_join_it() {
        let (mut board, start) = (Board::default(), Instant::now());
        for session in ["a", "bb", "ccc"] {
            assert_eq!(board.hear(raised(session), start), []);
        }
        assert_eq!(shown(&mut board), (1, "3 sessions need you".to_owned()));
        board.hear(raised("dddd"), start + Duration::from_secs(3));
        assert_eq!(shown(&mut board), (1, "4 sessions need you".to_owned()));
        board.hear(raised("eeeee"), start + Duration::from_secs(60));
        assert_eq!(
            shown(&mut board),
            (2, "eeeee wants to run `ls`".to_owned()),
            "later it is one of its own"
        );
    }

    #[test]
    fn an_ended_episode_leaves_its_notification_and_the_last_one_closes_it() {
        let (mut board, start) = (Board::default(), Instant::now());
        board.hear(raised("a"), start);
        board.hear(raised("bb"), start);
        shown(&mut board);
        let acts = board.hear(cleared("a"), start + Duration::from_secs(9));
        let [Act::Show(1, notice)] = &*acts else { panic!("{acts:?}") };
        assert!(notice.quiet && notice.summary == "bb wants to run `ls`");
        assert_eq!(board.hear(cleared("a"), start), [], "it was cleared already");
        assert_eq!(board.hear(cleared("bb"), start), [Act::Close(1)]);
        assert_eq!(board.clear(), []);
    }

    #[test]
    fn an_episode_that_ends_before_it_is_shown_is_never_shown() {
        let (mut board, start) = (Board::default(), Instant::now());
        board.hear(raised("a"), start);
        assert_eq!(board.hear(cleared("a"), start), []);
        assert_eq!((board.due(), board.advance(start + JOIN)), (None, vec![]));
    }

    #[test]
    fn a_dismissed_notification_is_neither_changed_nor_joined_nor_closed() {
        let (mut board, start) = (Board::default(), Instant::now());
        board.hear(raised("a"), start);
        board.hear(raised("bb"), start);
        let (card, _) = shown(&mut board);
        board.gone(card);
        assert_eq!(board.hear(cleared("a"), start), []);
        board.hear(raised("ccc"), start + Duration::from_secs(1));
        assert_eq!(shown(&mut board).0, 2);
    }

    #[test]
    fn a_new_server_shows_lost_episodes_again_in_one_quiet_notification() {
        let (mut board, start) = (Board::default(), Instant::now());
        for (session, later) in [("a", 0), ("bb", 60), ("ccc", 120)] {
            board.hear(raised(session), start + Duration::from_secs(later));
            shown(&mut board);
        }
        // The server that has started already shows the second one. The others are not on the screen.
        let acts = board.bring_back(|card| card == 2, start);
        let [Act::Close(1), Act::Close(3), Act::Show(4, notice)] = &*acts else { panic!("{acts:?}") };
        assert_eq!((notice.summary.as_str(), notice.quiet), ("2 sessions need you", true));
        assert_eq!(board.bring_back(|card| card != 1, start + REPEAT_PAUSE), [], "all are on the screen");

        // A server that crashes on it restarts again and again. The lost notifications are not forgotten.
        assert_eq!(board.bring_back(|_| false, start + JOIN), []);
        assert_eq!(board.due(), Some(start + REPEAT_PAUSE));
        assert_eq!(board.make_up(|_| false, start + JOIN), [], "not before its time");
        assert_eq!(board.make_up(|_| false, start + REPEAT_PAUSE).len(), 3);
        assert_eq!(board.due(), None);

        // An episode that begins now gets its own notification, with a sound.
        board.hear(raised("dddd"), start + REPEAT_PAUSE);
        assert_eq!(shown(&mut board), (6, "dddd wants to run `ls`".to_owned()));
        for session in ["a", "bb", "ccc", "dddd"] {
            board.hear(cleared(session), start + REPEAT_PAUSE);
        }
        assert_eq!(board.bring_back(|_| false, start + REPEAT_PAUSE * 2), [], "no episode is left");
    }

    #[test]
    fn silenced_alerts_and_counts_show_nothing_and_episodes_from_before_the_start_are_one_summary() {
        let (mut board, start) = (Board::default(), Instant::now());
        let silent = Alert::Raised { episode: episode("a", "approval", "x"), silence: Some("muted".into()) };
        board.hear(silent, start);
        board.hear(Alert::Counted { needs: [("approval".to_owned(), 1)].into() }, start);
        assert_eq!(board.due(), None);
        let episodes = ["a", "bb"].map(|session| episode(session, "plan", "has a plan")).into();
        board.hear(Alert::AlreadySo { episodes }, start);
        assert_eq!(shown(&mut board).1, "2 sessions need you");
        let so = ["a", "bb"].map(|session| episode(session, "plan", "has a plan")).into();
        board.hear(Alert::AlreadySo { episodes: so }, start);
        assert_eq!(board.due(), None, "they are on the screen already");
        assert_eq!(board.clear(), [Act::Close(1)]);
    }
}
