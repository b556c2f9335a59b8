//! The texts of one notification, the session that a click opens, and its urgency.

use watchbill_protocol::alert::Episode;

use crate::text::{cut, one_line};

/// Desktops show about one line of a summary.
const SUMMARY: usize = 120;
/// A longer command is cut: a notification is no place to read it.
const BODY: usize = 400;
/// Number of sessions that a notification about several names.
const NAMED: usize = 5;
/// Length of each of their lines.
const LINE: usize = 90;

/// A notification, for any platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The first line. Plain text.
    pub summary: String,
    /// The lines below. Plain text.
    pub body: Vec<String>,
    /// The session that a click opens: the first that needs the user.
    pub session_id: String,
    /// Its name. Plain text.
    pub name: String,
    /// It is about one session, so that buttons make sense.
    pub single: bool,
    /// A session stands still until the user answers.
    pub urgent: bool,
    /// It says no more than the notification that it replaces, so it is no news.
    pub quiet: bool,
}

impl Notice {
    /// The notification for these episodes; `None` if there are none.
    pub fn of(episodes: &[Episode], quiet: bool) -> Option<Self> {
        let mut sorted: Vec<&Episode> = episodes.iter().collect();
        // RFC 3339 texts of one precision sort by time.
        sorted.sort_by_key(|episode| (!needs_person(episode), &episode.since));
        let first = *sorted.first()?;
        let (summary, body) = if let [one] = *sorted { words_of_one(one) } else { words_of(&sorted) };
        Some(Self {
            summary,
            body,
            session_id: first.session_id.clone(),
            name: one_line(&first.name),
            single: sorted.len() == 1 && !is_limit(first),
            urgent: sorted.iter().any(|episode| is_urgent(episode)),
            quiet,
        })
    }

    /// The notification with the whole request. Its first line may be of a request before this one.
    pub fn with_request(mut self, tool: &str, text: &str) -> Self {
        if !self.summary.contains(text) {
            self.summary = cut(format!("{} wants to use {}", self.name, one_line(tool)), SUMMARY);
        }
        self.body.push(format!("{}: {text}", one_line(tool)));
        self
    }
}

fn text_of(episode: &Episode) -> String {
    one_line(&format!("{} {}", episode.name, episode.wants))
}

fn words_of_one(episode: &Episode) -> (String, Vec<String>) {
    let text = text_of(episode);
    let summary = cut(text.clone(), SUMMARY);
    let title = episode.title.as_deref().map(one_line).filter(|title| !title.is_empty());
    let title = title.filter(|title| *title != one_line(&episode.name));
    let whole = (summary != text).then(|| cut(text, BODY));
    (summary, title.map(|title| cut(title, LINE)).into_iter().chain(whole).collect())
}

fn words_of(episodes: &[&Episode]) -> (String, Vec<String>) {
    let count = |is: fn(&Episode) -> bool| episodes.iter().filter(|episode| is(episode)).count();
    let words = [
        (count(needs_person), "needs you", "need you"),
        (count(|episode| episode.need == "finished"), "has finished", "have finished"),
        (count(is_refused), "was refused a call", "were refused calls"),
        (count(is_limit), "nears the limit of its plan", "near the limits of their plans"),
    ];
    let mut summary = String::new();
    for (number, one, many) in words.into_iter().filter(|(number, ..)| *number > 0) {
        let noun = match (summary.is_empty(), number) {
            (false, _) => "",
            (true, 1) => " session",
            (true, _) => " sessions",
        };
        let gap = if summary.is_empty() { "" } else { ", " };
        summary.push_str(&format!("{gap}{number}{noun} {}", if number == 1 { one } else { many }));
    }
    let mut lines: Vec<String> =
        episodes.iter().take(NAMED).map(|episode| cut(text_of(episode), LINE)).collect();
    if episodes.len() > NAMED {
        lines.push(format!("and {} more", episodes.len() - NAMED));
    }
    (summary, lines)
}

fn needs_person(episode: &Episode) -> bool {
    episode.need != "finished" && !is_refused(episode) && !is_limit(episode)
}

/// Whether it is about a plan, and so about each of its sessions.
pub(super) fn is_limit(episode: &Episode) -> bool {
    episode.need == "plan_limit"
}

fn is_refused(episode: &Episode) -> bool {
    matches!(episode.need.as_str(), "refused" | "refused_in_a_row")
}

/// A session that stopped at an error waits for no answer, so it is not urgent.
fn is_urgent(episode: &Episode) -> bool {
    matches!(episode.need.as_str(), "approval" | "question" | "plan" | "dialog")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::alerts) fn episode(session: &str, need: &str, wants: &str) -> Episode {
        Episode {
            session_id: session.into(),
            need: need.into(),
            since: format!("2026-11-20T12:00:{:02}.000Z", session.len()),
            name: session.into(),
            wants: wants.into(),
            title: None,
        }
    }

    fn approval(session: &str) -> Episode {
        episode(session, "approval", "wants to run `npm publish`")
    }

    #[test]
    fn one_session_says_what_it_wants() {
        let one = Episode { title: Some("Publish it".into()), ..approval("api-server") };
        let notice = Notice::of(&[one], false).expect("there is one");
        assert_eq!(notice.summary, "api-server wants to run `npm publish`");
        assert_eq!(notice.body, ["Publish it"]);
        assert!(notice.single && notice.urgent && notice.session_id == "api-server");
        let same = Episode { title: Some("api-server".into()), ..approval("api-server") };
        assert!(Notice::of(&[same], false).expect("there is one").body.is_empty());
    }

    #[test]
    fn a_limit_of_a_plan_is_about_no_single_session() {
        let limit = episode("Agent", "plan_limit", "has used 91 % of 5 hours of its plan");
        let notice = Notice::of(&[limit], false).expect("there is one");
        assert_eq!(notice.summary, "Agent has used 91 % of 5 hours of its plan");
        assert!(!notice.single && !notice.urgent);
    }

    #[test]
    fn the_first_line_names_no_other_request_than_the_buttons_answer() {
        let notice = Notice::of(&[approval("api-server")], false).expect("there is one");
        let same = notice.clone().with_request("Bash", "npm publish");
        assert_eq!((&*same.summary, &*same.body), (&*notice.summary, &["Bash: npm publish".to_owned()][..]));
        let next = notice.with_request("Bash", "rm -rf build");
        assert_eq!(
            (&*next.summary, &*next.body),
            ("api-server wants to use Bash", &["Bash: rm -rf build".to_owned()][..])
        );
    }

    #[test]
    fn a_long_command_is_cut_in_the_summary_and_later_in_the_body_and_stays_plain_text() {
        let one = episode("api", "approval", &format!("wants to run `{}\n<b>\u{202e}`", "x".repeat(600)));
        let notice = Notice::of(&[one], false).expect("there is one");
        assert_eq!((notice.summary.chars().count(), notice.body[0].chars().count()), (SUMMARY, BODY));
        let one = episode("api", "question", "asks: <b>a\nb</b>\u{202e}?");
        assert_eq!(Notice::of(&[one], false).expect("there is one").summary, "api asks: <b>a b</b>?");
    }

    #[test]
    fn several_sessions_are_one_list_with_those_that_need_the_user_first() {
        let mut all: Vec<Episode> = ["f", "ee", "ddd", "cccc", "bbbbb", "aaaaaa"].map(approval).into();
        all.insert(0, episode("done", "finished", "has finished"));
        all.insert(0, episode("over", "finished", "has finished"));
        let notice = Notice::of(&all, true).expect("there are some");
        assert_eq!(notice.summary, "6 sessions need you, 2 have finished");
        assert_eq!(notice.body.len(), 6);
        assert_eq!(notice.body[0], "f wants to run `npm publish`");
        assert_eq!(notice.body[5], "and 3 more");
        assert_eq!((notice.session_id.as_str(), notice.single, notice.quiet), ("f", false, true));
    }

    #[test]
    fn the_summary_counts_in_whole_words() {
        let done = |session| episode(session, "finished", "has finished");
        for (episodes, words, urgent) in [
            (vec![approval("a"), approval("bb")], "2 sessions need you", true),
            (vec![done("a"), done("bb")], "2 sessions have finished", false),
            (vec![done("a"), approval("bb")], "1 session needs you, 1 has finished", true),
            (
                vec![done("a"), episode("bb", "error", "stopped")],
                "1 session needs you, 1 has finished",
                false,
            ),
            (
                vec![
                    episode("a", "refused_in_a_row", "was refused"),
                    episode("bb", "refused", "was refused"),
                ],
                "2 sessions were refused calls",
                false,
            ),
        ] {
            let notice = Notice::of(&episodes, false).expect("there are some");
            assert_eq!((notice.summary.as_str(), notice.urgent), (words, urgent));
        }
        assert_eq!(Notice::of(&[], false), None);
    }
}
