//! What the client puts into prompts and tool output for the model alone.

use std::borrow::Cow;

use memchr::memmem;

const OPEN: &str = "<system-reminder>";
const CLOSE: &str = "</system-reminder>";

/// The text without the client's reminders to the model. A reminder whose end is missing is taken out only where the
/// text was `cut`: elsewhere it is somebody's text about reminders.
pub fn without_reminders(text: &str, cut: bool) -> Cow<'_, str> {
    let Some(first) = memmem::find(text.as_bytes(), OPEN.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut at) = (text, first);
    loop {
        let inside = &rest[at..];
        match inside.find(CLOSE) {
            Some(end) => {
                out.push_str(&rest[..at]);
                rest = &inside[end + CLOSE.len()..];
            }
            None if cut => {
                out.push_str(&rest[..at]);
                return Cow::Owned(out);
            }
            None => break,
        }
        match rest.find(OPEN) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// How the prompt begins with which the client carries out a plan after it cleared the context.
const PLAN: &str = "Implement the following plan:";

/// The plan in a prompt that carries one out.
pub fn plan_in_prompt(prompt: &str) -> Option<&str> {
    let plan = prompt.trim_start().strip_prefix(PLAN)?.trim();
    (!plan.is_empty()).then_some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_are_taken_out_where_they_are_whole() {
        for (text, cut, want) in [
            ("plain", false, "plain"),
            ("a<system-reminder>b</system-reminder>c", false, "ac"),
            ("a<system-reminder>b</system-reminder>c<system-reminder>d</system-reminder>", false, "ac"),
            ("a<system-reminder>b", true, "a"),
            ("a<system-reminder>b", false, "a<system-reminder>b"),
            ("a<system-reminder>b</system-reminder>c<system-reminder>d", false, "ac<system-reminder>d"),
        ] {
            assert_eq!(without_reminders(text, cut), want, "{text}");
        }
    }

    #[test]
    fn a_plan_is_found_in_the_prompt_that_carries_it_out() {
        assert_eq!(plan_in_prompt("Implement the following plan:\n\n# Plan\n1. x\n"), Some("# Plan\n1. x"));
        assert_eq!(plan_in_prompt("Implement the following plan:"), None);
        assert_eq!(plan_in_prompt("please"), None);
    }
}
