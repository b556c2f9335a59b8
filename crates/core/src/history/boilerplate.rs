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

/// What an editor puts into prompts: the file that is open, or a part of it.
const QUOTES: [(&str, &str); 2] =
    [("<ide_selection>", "</ide_selection>"), ("<ide_opened_file>", "</ide_opened_file>")];

/// A prompt without what an editor has put into it, which is no word of the person's. In doubt all that follows is the editor's.
pub fn without_quotes(text: &str) -> Cow<'_, str> {
    let mut rest = Cow::Borrowed(text);
    for (open, close) in QUOTES {
        while let Some(begin) = memmem::find(rest.as_bytes(), open.as_bytes()) {
            let end = rest[begin..].find(close).map_or(rest.len(), |at| begin + at + close.len());
            rest = Cow::Owned([&rest[..begin], &rest[end..]].concat());
        }
    }
    rest
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
    fn what_an_editor_has_put_into_a_prompt_is_taken_out() {
        for (text, want) in [
            ("plain <ide>", "plain <ide>"),
            ("<ide_selection>lines from /a/b:\nx</ide_selection>why?", "why?"),
            ("a<ide_opened_file>/a</ide_opened_file>b<ide_selection>c</ide_selection>d", "abd"),
            ("a<ide_selection>cut", "a"),
        ] {
            assert_eq!(without_quotes(text), want, "{text}");
        }
    }

    #[test]
    fn a_plan_is_found_in_the_prompt_that_carries_it_out() {
        assert_eq!(plan_in_prompt("Implement the following plan:\n\n# Plan\n1. x\n"), Some("# Plan\n1. x"));
        assert_eq!(plan_in_prompt("Implement the following plan:"), None);
        assert_eq!(plan_in_prompt("please"), None);
    }
}
