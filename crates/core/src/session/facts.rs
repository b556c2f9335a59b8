//! The facts that a row shows besides the state.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::title::title_of;
use crate::history::strip_private;
use crate::limits::Limit;
use crate::session::refusals::Refusals;
use crate::session::work::Work;
use crate::time::Timestamp;
use crate::transcript::record::TitleKind;

/// Longest goal, summary or title that is kept, in characters.
pub const LINE_LIMIT: usize = 200;

/// Facts folded from the records; the newest of each wins unless its comment says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptFacts {
    /// The first prompt of the user, one line. A run that failed has only queued its prompt.
    pub goal: Option<Arc<str>>,
    /// First line of the newest answer.
    pub summary: Option<Arc<str>>,
    /// `custom-title`: the user's own.
    pub custom_title: Option<Arc<str>>,
    /// `agent-name`.
    pub agent_name: Option<Arc<str>>,
    /// `ai-title`.
    pub ai_title: Option<Arc<str>>,
    /// `summary` record; it belongs to the session that contains its `leafUuid`, usually another one.
    pub summary_title: Option<Arc<str>>,
    /// `agentName`: the name of a teammate, in each of its records.
    pub teammate: Option<Arc<str>>,
    /// `gitBranch`, or the branch of the worktree.
    pub branch: Option<Arc<str>>,
    /// Permission mode, from prompts and from the mode records between them.
    pub permission_mode: Option<Arc<str>>,
    /// Model of the newest answer that a model gave, or of the newest settings.
    pub model: Option<Arc<str>>,
    /// Client version.
    pub version: Option<Arc<str>>,
    /// How the agent was started.
    pub entrypoint: Option<Arc<str>>,
    /// Time of the first record.
    pub created_at: Option<Timestamp>,
    /// Time of the newest record that is activity: a prompt, an answer, a result, the end of a turn.
    pub last_activity_at: Option<Timestamp>,
    /// When the newest prompt began a turn.
    pub prompt_at: Option<Timestamp>,
    /// Tokens in the context after the newest answer or compaction.
    pub context_used: Option<u64>,
    /// What the agent says of the limits of its account, and when.
    pub limits: Option<(Vec<Limit>, Timestamp)>,
    /// The calls that the agent's reviewer refused.
    pub refusals: Refusals,
    /// The work since the user's last prompt.
    pub work: Work,
    /// A pull request the session is tied to: number and address.
    pub pull_request: Option<(u64, Arc<str>)>,
    /// Prompts of the user that wait for the turn to end.
    pub queued_prompts: u32,
    /// Background shells that still run.
    pub background_tasks: u32,
    /// Subagents that run by themselves.
    pub subagents_running: u32,
    /// Subagents ever launched to run by themselves.
    pub subagents_launched: u32,
}

impl TranscriptFacts {
    /// The title that the user, the agent or its client gave.
    pub fn given_title(&self) -> Option<&Arc<str>> {
        self.custom_title.as_ref().or(self.agent_name.as_ref()).or(self.ai_title.as_ref())
    }

    /// The strongest title known. Without a given one it is what the first prompt asks, which says more than a teammate's name.
    /// The summary record comes last because it usually titles another session.
    pub fn title(&self) -> Option<Arc<str>> {
        let asked = || self.goal.as_deref().map(|goal| Arc::from(title_of(goal)));
        self.given_title()
            .cloned()
            .or_else(asked)
            .or_else(|| self.teammate.as_ref().or(self.summary_title.as_ref()).cloned())
    }

    pub(crate) fn title_slot(&mut self, kind: TitleKind) -> &mut Option<Arc<str>> {
        match kind {
            TitleKind::Custom => &mut self.custom_title,
            TitleKind::AgentName => &mut self.agent_name,
            TitleKind::Ai => &mut self.ai_title,
            TitleKind::Summary => &mut self.summary_title,
        }
    }
}

/// Replaces a text only if it differs, so that the usual record costs a comparison and no allocation. An empty text
/// replaces nothing.
pub(crate) fn keep(slot: &mut Option<Arc<str>>, text: Option<&str>) -> bool {
    match text {
        Some(text) if !text.is_empty() && slot.as_deref() != Some(text) => {
            *slot = Some(Arc::from(text));
            true
        }
        _ => false,
    }
}

/// The whole text on one line: each run of white space becomes one space, and the end is cut at [`LINE_LIMIT`].
/// Private blocks are left out, because rows are stored.
pub fn one_line(text: &str) -> String {
    squeezed(&strip_private(text))
}

fn squeezed(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LINE_LIMIT));
    let mut chars = 0;
    for word in text.split_whitespace() {
        let gap = (!line.is_empty()).then_some(' ');
        // Most words fit and hold no control characters.
        let length = word.len() + usize::from(gap.is_some());
        if chars + length < LINE_LIMIT && word.bytes().all(|byte| byte.is_ascii_graphic()) {
            line.extend(gap);
            line.push_str(word);
            chars += length;
            continue;
        }
        // A row holds no control characters of a terminal.
        for c in gap.into_iter().chain(word.chars().filter(|c| !c.is_control())) {
            if chars == LINE_LIMIT - 1 {
                line.push('…');
                return line;
            }
            line.push(c);
            chars += 1;
        }
    }
    line
}

/// The first line with text, without the marks of headings and lists, and without private blocks.
pub fn first_line(text: &str) -> String {
    strip_private(text)
        .lines()
        .map(|line| squeezed(line.trim_start_matches(['#', '>', '*', '-', ' ', '\t'])))
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_become_one_line() {
        assert_eq!(one_line("  fix\n\tthe   bug \n"), "fix the bug");
        assert_eq!(one_line("\u{1b}[31mred"), "[31mred");
        let long = one_line(&"é".repeat(500));
        assert_eq!(long.chars().count(), LINE_LIMIT);
        assert!(long.ends_with('…'));
        // The end is also cut if the limit falls between two words.
        let between = one_line(&format!("{} {}", "a".repeat(LINE_LIMIT - 1), "b".repeat(500)));
        assert_eq!((between.chars().count(), between.ends_with("a…")), (LINE_LIMIT, true));
        assert_eq!(first_line("\n\n## Done\nmore"), "Done");
        assert_eq!(first_line("---\n"), "");
    }

    /// The slow model: character by character.
    fn squeezed_slowly(text: &str) -> String {
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default().to_owned();
        // A gap stands before each word if the line already has text.
        let visible = |word: &str| word.chars().filter(|c| !c.is_control()).collect::<String>();
        let line = words.fold(visible(&first), |line, word| {
            let gap = if line.is_empty() { "" } else { " " };
            line + gap + &visible(word)
        });
        match line.char_indices().nth(LINE_LIMIT - 1) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    proptest! {
        #[test]
        fn whole_words_and_single_characters_give_the_same_line(
            text in "([a-zA-Z#.]{1,12}|[a-z]{60,90}|é|\u{1b}|\u{7f}|😀| |\n|\t){0,60}"
        ) {
            prop_assert_eq!(squeezed(&text), squeezed_slowly(&text));
        }
    }

    #[test]
    fn private_text_is_in_no_row() {
        assert_eq!(one_line("fix <private>the\nsecret</private> lexer"), "fix lexer");
        assert_eq!(one_line("<private>all of it"), "");
        assert_eq!(first_line("<private>a\nb</private>\n\n# Done"), "Done");
        assert_eq!(first_line("\n<private>\nsecret"), "");
    }

    #[test]
    fn the_strongest_title_is_shown() {
        let mut facts = TranscriptFacts::default();
        assert_eq!(facts.title(), None);
        for (kind, text) in [
            (TitleKind::Summary, "summary"),
            (TitleKind::Ai, "ai"),
            (TitleKind::AgentName, "name"),
            (TitleKind::Custom, "custom"),
        ] {
            assert!(keep(facts.title_slot(kind), Some(text)));
            assert_eq!(facts.title().as_deref(), Some(text));
        }
        assert!(!keep(&mut facts.custom_title, Some("custom")), "the same again is no change");
        assert!(!keep(&mut facts.custom_title, Some("")), "an empty title says nothing");
    }
}
