//! `day`: what each work chain did, and where it waited for the user.

use watchbill_protocol::day::{Day, DayChain, DayDoing, DayStretch};

use super::{local, plural};
use crate::terminal_text::{Paint, Tone, age, cut, one_line};

/// The figures, then a line for each chain with its waits and failures below it.
pub fn render(day: &Day, width: usize, paint: Paint) -> String {
    let mut out = format!("{}\n", paint.tone(Tone::Bold, &format!("{} {}", day.date, one_line(&day.zone))));
    let Some(widest) = day.chains.iter().map(|chain| one_line(&chain.title).chars().count()).max() else {
        out.push_str("nothing ran on this day\n");
        if let Some(last) = &day.last_day {
            out.push_str(&format!("the last day before with sessions was {last}\n"));
        }
        return out;
    };
    if day.waits == 0 {
        out.push_str("nothing waited for you\n");
    } else {
        let waits = plural(usize::try_from(day.waits).unwrap_or(usize::MAX), "wait");
        let [waited, longest, two] = [day.waited_for_you, day.longest, day.two_or_more].map(span);
        out.push_str(&format!(
            "waited for you {waited} in {waits}, the longest {longest}, two or more at once {two}\n"
        ));
    }
    out.push_str(&format!("worked {} in {}\n", span(day.worked), span(day.one_or_more)));
    let mut project = None;
    for chain in &day.chains {
        if project != Some(&chain.project) {
            let name = if chain.project.is_empty() { "not known" } else { &chain.project };
            out.push_str(&format!("\n{}\n", paint.tone(Tone::Dim, &one_line(name))));
            project = Some(&chain.project);
        }
        out.push_str(&lane(chain, widest.min(width.saturating_sub(36).max(12)), paint));
    }
    out
}

fn lane(chain: &DayChain, room: usize, paint: Paint) -> String {
    let title = cut(&one_line(&chain.title), room);
    let pad = " ".repeat(room.saturating_sub(title.chars().count()));
    let waited = match span(chain.waited_for_you) {
        waited if chain.waited_for_you > 0.0 => format!(", waited for you {waited}"),
        _ => String::new(),
    };
    let mut out = format!("  {title}{pad}  worked {}{waited}\n", span(chain.worked));
    for stretch in &chain.stretches {
        if let Some(words) = words(stretch) {
            let time = format!("{}-{}", local(&stretch.from, "%H:%M"), local(&stretch.to, "%H:%M"));
            out.push_str(&paint.tone(Tone::Dim, &format!("    {time}  {words}\n")));
        }
    }
    out
}

/// What the chain waited for, or what failed.
fn words(stretch: &DayStretch) -> Option<&'static str> {
    match (stretch.doing, stretch.state_kind.as_deref()) {
        (DayDoing::Waiting, Some("question")) => Some("waited for an answer"),
        (DayDoing::Waiting, Some("plan")) => Some("waited for a decision about its plan"),
        (DayDoing::Waiting, Some("dialog")) => Some("a dialog was open"),
        (DayDoing::Waiting, _) => Some("waited for a permission"),
        (DayDoing::Failed, Some("retrying")) => Some("tried a request again"),
        (DayDoing::Failed, Some("limit")) => Some("reached a usage limit"),
        (DayDoing::Failed, _) => Some("failed"),
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a span of a day fits")]
fn span(secs: f64) -> String {
    let secs = secs as i64;
    if secs < 3_600 { age(secs * 1_000) } else { format!("{} h {} min", secs / 3_600, secs % 3_600 / 60) }
}
