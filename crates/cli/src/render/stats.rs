//! `stats`: a table of tokens, requests and tool calls, with their sum.

use watchbill_protocol::store::{Stats, StatsRow};

use super::plural;
use crate::terminal_text::{Paint, Tone, age, fit, fit_end, one_line, wrap};

/// The least columns for a key. If the numbers do not fit beside it, the last ones are left out.
const KEY: usize = 12;

/// The table, `width` columns wide.
pub fn render(stats: &Stats, width: usize, paint: Paint) -> String {
    let tools = stats.by == "tool";
    let priced = stats.total.cost.is_some();
    let columns: &[&str] = match (tools, priced) {
        (true, _) => &["calls", "failed", "time"],
        (_, true) => &["cost", "requests", "input", "output", "cache read", "cache write"],
        _ => &["requests", "input", "output", "cache read", "cache write"],
    };
    let total = StatsRow { key: Some("total".to_owned()), ..stats.total.clone() };
    let rows: Vec<Vec<String>> = stats.rows.iter().chain([&total]).map(|row| numbers(row, tools)).collect();
    // No wider than the content: folders are long, and terminals narrow.
    let widest = |n: usize| rows.iter().map(|row| row[n].len()).chain([columns[n].len()]).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns.len()).map(|n| widest(n) + 2).collect();
    let needed = KEY + widths.iter().sum::<usize>();
    while widths.len() > 1 && KEY + widths.iter().sum::<usize>() > width {
        widths.pop();
    }
    let (columns, left_out) = columns.split_at(widths.len());
    let room = width.saturating_sub(widths.iter().sum()).clamp(KEY, 40);
    let line = |key: String, cells: &mut dyn Iterator<Item = &str>| {
        cells.zip(&widths).fold(key, |line, (cell, width)| line + &format!("{cell:>width$}"))
    };
    let head = line(fit(&stats.by, room), &mut columns.iter().copied());
    let mut out = format!("{}\n", paint.tone(Tone::Dim, &head));
    for (row, cells) in stats.rows.iter().chain([&total]).zip(&rows) {
        let key = row.key.as_deref().map(one_line).unwrap_or_default();
        let key = if key.is_empty() { "not known" } else { &key };
        // A model's name ends in its date. Of folders, and of tools of MCP servers, the end says most.
        let key = if stats.by == "model" { fit(key, room) } else { fit_end(key, room) };
        let line = line(key, &mut cells.iter().map(String::as_str));
        let is_sum = std::ptr::eq(row, &total);
        out.push_str(&format!("{}\n", if is_sum { paint.tone(Tone::Bold, &line) } else { line }));
    }
    let counted = [(stats.total.sessions, "session"), (stats.total.prompts, "prompt")];
    let counted = counted.into_iter().filter_map(|(n, what)| Some(plural(usize::try_from(n?).ok()?, what)));
    let counted: Vec<String> = counted.collect();
    if !counted.is_empty() {
        out.push_str(&paint.tone(Tone::Dim, &format!("{}\n", counted.join(", "))));
    }
    if !left_out.is_empty() {
        let note = format!("without {}: that needs {needed} columns, or --json", left_out.join(" and "));
        for line in wrap(&note, width) {
            out.push_str(&paint.tone(Tone::Dim, &format!("{line}\n")));
        }
    }
    for line in cost_notes(stats).iter().flat_map(|note| wrap(note, width)) {
        out.push_str(&paint.tone(Tone::Dim, &format!("{line}\n")));
    }
    out.push_str(&paint.tone(Tone::Dim, &super::model::days(&stats.memory_model)));
    out
}

/// The cells of a row.
fn numbers(row: &StatsRow, tools: bool) -> Vec<String> {
    if tools {
        let time = i64::try_from(row.tool_ms.unwrap_or(0)).unwrap_or(i64::MAX);
        return vec![number(row.tool_calls), number(row.tool_errors), age(time)];
    }
    let tokens = row.tokens.unwrap_or_default();
    let tokens = [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write];
    let cost = row.cost.map(|cost| match (cost.usd, cost.unpriced_tokens) {
        (0.0, Some(_)) => "no price".to_owned(),
        (usd, _) if usd > 0.0 && usd < 0.005 => "< $0.01".to_owned(),
        (usd, _) => format!("${usd:.2}"),
    });
    let tokens = tokens.into_iter().map(short_number);
    cost.into_iter().chain([number(row.requests)]).chain(tokens).collect()
}

/// Where the prices come from, and what has none.
fn cost_notes(stats: &Stats) -> Vec<String> {
    let Some(cost) = stats.total.cost else { return Vec::new() };
    let lists = stats.prices.iter().map(|list| format!("{} ({})", list.date, list.source));
    let lists = lists.collect::<Vec<_>>().join(", ");
    let mut notes = vec![format!("by list prices of {lists} and your own; on a plan none of this is billed")];
    if let Some(tokens) = cost.unpriced_tokens {
        let models: Vec<String> = stats.unpriced.iter().map(|model| one_line(model)).collect();
        let tokens = short_number(tokens);
        notes.push(format!("{tokens} tokens have no price, and are in no cost: {}", models.join(", ")));
    }
    notes
}

fn number(n: Option<u64>) -> String {
    n.map_or_else(String::new, |n| n.to_string())
}

/// `950`, `12.3k`, `4.6M`, `1.2G`.
fn short_number(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        1_000_000..1_000_000_000 => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
        _ => format!("{}.{}G", n / 1_000_000_000, n % 1_000_000_000 / 100_000_000),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;
    use watchbill_protocol::roster::Tokens;

    use super::*;

    #[test]
    fn numbers_are_short() {
        let words = [0, 999, 1_000, 12_345, 4_650_000, 1_230_000_000].map(short_number);
        assert_eq!(words, ["0", "999", "1.0k", "12.3k", "4.6M", "1.2G"]);
    }

    #[test]
    fn columns_without_room_are_omitted_with_a_note() {
        let tokens = Tokens { input: 999_900, output: 999_900, cache_read: 999_900_000, cache_write: 9 };
        let used = StatsRow {
            requests: Some(123_456),
            tokens: Some(tokens),
            sessions: Some(7),
            ..StatsRow::default()
        };
        let key = "/home/dev/a-project-of-a-very-long-name".to_owned();
        let rows = vec![StatsRow { key: Some(key), ..used.clone() }];
        let stats = Stats { by: "project".to_owned(), rows, total: used, ..Stats::default() };
        for width in 40..70 {
            let text = render(&stats, width, Paint(false));
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
            assert!(text.contains("-name ") && text.contains("output"), "{width}:\n{text}");
            assert_eq!(text.contains("without "), !text.contains("cache write\n"), "{width}:\n{text}");
        }
        let text = render(&stats, 40, Paint(false));
        assert!(
            text.ends_with(
                "7 sessions\nwithout cache read and cache write: that\nneeds 63 columns, or --json\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn long_keys_keep_their_distinctive_part() {
        let named = |by: &str, key: &str| {
            let row = StatsRow { key: Some(key.to_owned()), ..StatsRow::default() };
            let stats = Stats { by: by.to_owned(), rows: vec![row], ..Stats::default() };
            let text = render(&stats, 20, Paint(false));
            text.lines().nth(1).unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
        };
        assert_eq!(named("model", "claude-opus-4-5-20251101"), "claude-opus…");
        assert_eq!(named("project", "/home/dev/api-server"), "…/api-server");
        // The numbers of tools are narrower.
        assert_eq!(named("tool", "mcp__github__create_issue"), "…create_issue");
    }
}
