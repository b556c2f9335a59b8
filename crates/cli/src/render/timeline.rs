//! `show`: the timeline, one entry after the other.

use watchbill_protocol::chain::Boundary;
use watchbill_protocol::timeline::{Subagent, Timeline, TimelineItem, What};

use super::chain::boundary_words;
use super::{local_date, local_time, plural, short};
use crate::terminal_text::{Paint, Tone, age, cut, lines, one_line, wrap, wrap_all};

/// The entries as text, `width` columns wide. The entries show clock times; the day is printed above them.
pub fn render(timeline: &Timeline, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    if let Some(name) = &timeline.work_chain_name {
        out.push_str(&wrap_all(&one_line(name), width, Some(Tone::Bold), paint));
    }
    let last = timeline.from + timeline.items.len() as u64;
    if timeline.from > 0 || last < timeline.total {
        let shown = if timeline.items.is_empty() {
            "none".to_owned()
        } else {
            format!("{} to {}", timeline.from, last - 1)
        };
        let total = timeline.total;
        let note =
            format!("of the {total} entries, counted from 0: {shown}; see more with --from and --limit");
        out.push_str(&wrap_all(&note, width, Some(Tone::Dim), paint));
    }
    let mut page = Page { out, day: String::new(), width, paint };
    for item in &timeline.items {
        page.entry(item, 0);
    }
    let mut out = page.out;
    if timeline.total == 0 {
        out.push_str("Nothing has been said yet.\n");
    }
    out
}

/// The output so far, and its format.
struct Page {
    out: String,
    /// The day that was printed last.
    day: String,
    width: usize,
    paint: Paint,
}

/// The text before an entry's lines.
struct Margin {
    time: String,
    indent: String,
}

/// As wide as a time.
const NO_TIME: &str = "        ";
/// The columns of a time and of the spaces after it.
const MARGIN: usize = 10;
/// The indentation of a subagent's lines.
const STEP: &str = "  │ ";
/// The least columns for text, at any depth.
const LEAST_ROOM: usize = 20;

impl Page {
    /// An entry. Below a call come its subagent's entries, one step further in.
    fn entry(&mut self, item: &TimelineItem, depth: usize) {
        self.begin_day(item);
        let time = item.at.as_deref().map(local_time).filter(|time| !time.is_empty());
        // Agents of 1.0.x wrote subagents' records into the session's own transcript.
        let indent = self.indent(depth.max(usize::from(item.agent_id.is_some())));
        let margin = Margin { time: time.unwrap_or_else(|| NO_TIME.to_owned()), indent };
        let mut put = |tone: Option<Tone>, text: &str, most: usize| self.put(&margin, tone, text, most);
        match &item.what {
            What::Prompt { text, origin } if origin == "human" || origin == "queued" => {
                put(Some(Tone::Bold), &format!("> {text}"), 20);
            }
            What::Prompt { text, origin } => {
                put(Some(Tone::Dim), &format!("> {} {text}", origin.replace('_', " ")), 4)
            }
            What::Response { text } => put(None, text, usize::MAX),
            What::Thinking { text } => put(Some(Tone::Dim), text, 2),
            What::Tool { tool, target, outcome, refusal, duration_ms, subagent, .. } => {
                let (mark, tone) = mark(outcome);
                let took = duration_ms.map(|ms| format!("  {}", span(ms))).unwrap_or_default();
                put(Some(tone), &one_line(&format!("{mark} {tool} {target}{took}")), 1);
                if let Some(reason) = refusal {
                    put(Some(Tone::Dim), &refusal_words(reason), 4);
                }
                if let Some(subagent) = subagent {
                    self.nested(subagent, depth + 1);
                }
            }
            What::Boundary { trigger, pre_tokens, post_tokens } => {
                let boundary =
                    Boundary { trigger: trigger.clone(), pre_tokens: *pre_tokens, post_tokens: *post_tokens };
                put(Some(Tone::Dim), &format!("──── {} ────", boundary_words(&boundary)), 1);
            }
            What::Continued { to, reason } => {
                put(Some(Tone::Dim), &format!("──── continued in {} ({reason}) ────", short(to)), 1);
            }
            What::Interrupted => put(Some(Tone::Need), "interrupted", 1),
            What::Error { text } => put(Some(Tone::Error), text, 4),
            What::Command { text } | What::Note { text } => put(Some(Tone::Dim), text, 4),
        }
    }

    /// Prints the day if it differs from the entry before. A subagent's entries may reach into the next day, and the
    /// entry after them may be of the old day.
    fn begin_day(&mut self, item: &TimelineItem) {
        let day = item.at.as_deref().map(local_date).unwrap_or_default();
        if !day.is_empty() && day != self.day {
            self.out.push_str(&format!("{}\n", self.paint.tone(Tone::Bold, &day)));
            self.day = day;
        }
    }

    /// Prints at most `most` lines of a text.
    fn put(&mut self, margin: &Margin, tone: Option<Tone>, text: &str, most: usize) {
        let Margin { time, indent } = margin;
        let room = self.width.saturating_sub(MARGIN + indent.chars().count());
        let mut left_out = 0usize;
        // An entry of one line is cut; longer text is wrapped.
        let broken =
            lines(text).flat_map(|line| if most == 1 { vec![cut(&line, room)] } else { wrap(&line, room) });
        for (n, line) in broken.enumerate() {
            if n >= most {
                left_out += 1;
                continue;
            }
            let stamp = if n == 0 { time } else { NO_TIME };
            let line = tone.map_or_else(|| line.clone(), |tone| self.paint.tone(tone, &line));
            self.out.push_str(&format!("{}  {indent}{line}\n", self.paint.tone(Tone::Dim, stamp)));
        }
        if left_out > 0 {
            let more = plural(left_out, "more line");
            self.out.push_str(&self.paint.tone(Tone::Dim, &format!("          {indent}… {more}\n")));
        }
    }

    /// The indentation at a depth. At a great depth it leaves room for text.
    fn indent(&self, depth: usize) -> String {
        let room = self.width.saturating_sub(MARGIN + LEAST_ROOM);
        STEP.repeat(depth.min(room / STEP.chars().count()))
    }

    fn nested(&mut self, subagent: &Subagent, depth: usize) {
        let total = subagent.total.unwrap_or(0);
        let rest = total.saturating_sub(subagent.items.len() as u64);
        let more = if rest > 0 { format!("; {rest} more, see --limit") } else { String::new() };
        let entries = if total == 1 { "1 entry".to_owned() } else { format!("{total} entries") };
        let head = format!("subagent {}, {entries}{more}", one_line(&subagent.agent_id));
        let margin = Margin { time: NO_TIME.to_owned(), indent: self.indent(depth) };
        self.put(&margin, Some(Tone::Dim), &head, usize::MAX);
        for item in &subagent.items {
            self.entry(item, depth);
        }
    }
}

/// What the agent's reviewer said when it refused a call.
pub fn refusal_words(reason: &str) -> String {
    let reason = one_line(reason);
    let gap = if reason.is_empty() { "" } else { ": " };
    format!("  refused by the agent's reviewer{gap}{reason}")
}

/// The sign and the colour of a call with this outcome.
fn mark(outcome: &str) -> (&'static str, Tone) {
    match outcome {
        "ok" => ("✓", Tone::Turn),
        "error" => ("✕", Tone::Error),
        "denied" | "interrupted" => ("⊘", Tone::Need),
        "background" => ("↷", Tone::Work),
        _ => ("…", Tone::Work),
    }
}

fn span(ms: u64) -> String {
    if ms < 10_000 {
        format!("{}.{} s", ms / 1000, ms % 1000 / 100)
    } else {
        age(i64::try_from(ms).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(at: Option<&str>, text: &str) -> TimelineItem {
        let what = What::Response { text: text.into() };
        let at = at.map(str::to_owned);
        TimelineItem { index: 0, key: String::new(), session_id: "s".into(), at, what, agent_id: None }
    }

    fn shown(items: Vec<TimelineItem>, name: Option<&str>, width: usize) -> String {
        let timeline = Timeline {
            session_id: "s".into(),
            work_chain_id: "c".into(),
            work_chain_name: name.map(str::to_owned),
            agent_id: None,
            total: items.len() as u64,
            from: 0,
            items,
        };
        render(&timeline, width, Paint(false))
    }

    #[test]
    fn the_day_is_printed_first_and_when_it_changes() {
        // All times are far from midnight in any time zone, because only the order is tested.
        let (first, later) = (Some("2026-11-20T12:00:00.000Z"), Some("2026-11-23T12:00:00.000Z"));
        let items = vec![
            response(None, "untimed"),
            response(first, "one"),
            response(first, "two"),
            response(None, "three"),
            response(later, "four"),
        ];
        let text = shown(items, Some("the leak"), 80);
        let shown: Vec<&str> = text.lines().map(|line| line.split("  ").last().unwrap_or_default()).collect();
        let days = [local_date("2026-11-20T12:00:00.000Z"), local_date("2026-11-23T12:00:00.000Z")];
        assert_eq!(shown, ["the leak", "untimed", &days[0], "one", "two", "three", &days[1], "four"]);
        assert!(text.contains(&format!("\n{}\n", days[1])), "{text}");
    }

    #[test]
    fn nested_entries_fit_a_narrow_terminal() {
        let words = "one two three four five six seven eight nine ten";
        let mut item = response(None, words);
        for _ in 0..12 {
            let subagent = Subagent { agent_id: "a231fdd1".into(), total: Some(3), items: vec![item] };
            let what = What::Tool {
                id: "t".into(),
                tool: "Agent".into(),
                target: words.into(),
                input: String::new(),
                input_cut: None,
                outcome: "ok".into(),
                refusal: None,
                output: None,
                output_cut: None,
                duration_ms: None,
                subagent: Some(subagent),
            };
            item = TimelineItem { what, ..response(None, "") };
        }
        let text = shown(vec![item], Some(words), 40);
        for line in text.lines() {
            assert!(line.chars().count() <= 40, "{line}");
        }
        let shown: Vec<&str> = text.split([' ', '│', '\n']).filter(|word| !word.is_empty()).collect();
        assert!(shown.join(" ").ends_with(words), "nothing that was said is left out: {text}");
        assert!(text.starts_with("one two three four five six seven eight\nnine ten\n"), "{text}");
    }
}
