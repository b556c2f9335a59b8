//! The model that is asked after turns: its queue, and what it took.

use watchbill_protocol::model::{ModelDay, ModelQueue};

use super::memory::money;
use super::{local_date_time, plural};
use crate::terminal_text::one_line;

/// The days of a table.
const DAYS: usize = 7;

/// The lines of `doctor`.
pub fn queue(queue: &ModelQueue) -> String {
    let name = [&*queue.name, &*queue.address].into_iter().filter(|part| !part.is_empty());
    let mut out = format!("  model: {}\n", one_line(&name.collect::<Vec<_>>().join(" at ")));
    let waiting = [
        (queue.queued, "wait"),
        (queue.older, "are older and wait for `memory catch-up`"),
        (queue.failed, "failed"),
    ];
    let waiting = waiting.into_iter().filter(|(n, _)| *n > 0);
    let waiting: Vec<String> = waiting.map(|(n, what)| format!("{n} {what}")).collect();
    let turns = if waiting.is_empty() {
        "no turn waits".to_owned()
    } else {
        format!("turns: {}", waiting.join(", "))
    };
    let now = if queue.running { "; it is asked now" } else { "" };
    out.push_str(&format!("    {turns}{now}\n    today: {}\n", spent(&queue.today)));
    if let Some(limit) = &queue.limit_reached {
        out.push_str(&format!("    the limit {limit} of this day is reached\n"));
    }
    if let Some(until) = &queue.paused_until {
        out.push_str(&format!("    paused until {}\n", local_date_time(until)));
    }
    if let (Some(error), Some(at)) = (&queue.last_error, &queue.last_error_at) {
        out.push_str(&format!("    last failure, {}: {}\n", local_date_time(at), one_line(error)));
    }
    out
}

/// What the model took on the newest days, below the table of `stats`.
pub fn days(days: &[ModelDay]) -> String {
    let mut out = String::new();
    if !days.is_empty() {
        out.push_str("\nthe model of the memory, by day\n");
    }
    for day in days.iter().take(DAYS) {
        out.push_str(&format!("{}  {}\n", day.day, spent(day)));
    }
    out
}

/// The answer to `memory catch-up`.
pub fn caught_up(turns: u64) -> String {
    match turns {
        0 => "no turn waits\n".to_owned(),
        _ => format!(
            "{} will be asked about, within the limits of each day\n",
            plural(usize::try_from(turns).unwrap_or(usize::MAX), "turn")
        ),
    }
}

fn spent(day: &ModelDay) -> String {
    let questions = plural(usize::try_from(day.questions).unwrap_or(usize::MAX), "question");
    format!("{questions}, {} + {} tokens{}", day.tokens_in, day.tokens_out, money(day.micro_usd))
}
