//! `stats`: a table of what was used, and its sum.

use watchbill_protocol::store::{Stats, StatsRow};

use super::plural;
use crate::paint::{Paint, Tone, age, fit, one_line};

/// The table, `width` columns wide.
pub fn render(stats: &Stats, width: usize, paint: Paint) -> String {
    let tools = stats.by == "tool";
    let columns: &[&str] = if tools {
        &["calls", "failed", "time"]
    } else {
        &["requests", "input", "output", "cache read", "cache write"]
    };
    let room = width.saturating_sub(columns.len() * 13).clamp(12, 40);
    let head = columns.iter().fold(fit(&stats.by, room), |line, name| line + &format!("{name:>13}"));
    let mut out = format!("{}\n", paint.tone(Tone::Dim, &head));
    for row in &stats.rows {
        out.push_str(&format!("{}\n", line(row, tools, room)));
    }
    let total = StatsRow { key: "together".to_owned(), ..stats.total.clone() };
    out.push_str(&format!("{}\n", paint.tone(Tone::Bold, &line(&total, tools, room))));
    let counted = [(stats.total.sessions, "session"), (stats.total.prompts, "prompt")];
    let counted = counted.into_iter().filter_map(|(n, what)| Some(plural(usize::try_from(n?).ok()?, what)));
    let counted: Vec<String> = counted.collect();
    if !counted.is_empty() {
        out.push_str(&paint.tone(Tone::Dim, &format!("{}\n", counted.join(", "))));
    }
    out
}

fn line(row: &StatsRow, tools: bool, room: usize) -> String {
    let key = one_line(&row.key);
    let key = if key.is_empty() { "not known" } else { &key };
    let numbers = if tools {
        let time = i64::try_from(row.tool_ms.unwrap_or(0)).unwrap_or(i64::MAX);
        vec![number(row.tool_calls), number(row.tool_errors), age(time)]
    } else {
        let tokens = row.tokens.unwrap_or_default();
        let tokens = [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write];
        std::iter::once(number(row.requests)).chain(tokens.into_iter().map(short_number)).collect()
    };
    numbers.iter().fold(fit(key, room), |line, number| line + &format!("{number:>13}"))
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
    use super::*;

    #[test]
    fn numbers_are_short() {
        let words = [0, 999, 1_000, 12_345, 4_650_000, 1_230_000_000].map(short_number);
        assert_eq!(words, ["0", "999", "1.0k", "12.3k", "4.6M", "1.2G"]);
    }
}
