//! Text in prompts and tool output that the user did not write: the agent's reminders, an editor's quotes, the
//! opening of a plan's prompt.

use std::borrow::Cow;

use memchr::memmem;

const OPEN_TAG: &str = "<system-reminder>";
const CLOSE: &str = "</system-reminder>";

/// Removes the agent's reminders to the model. A reminder without an end is removed only from a text that was
/// `cut`. In an uncut text it is the writer's own text about reminders.
pub fn without_reminders(text: &str, cut: bool) -> Cow<'_, str> {
    let Some(first) = memmem::find(text.as_bytes(), OPEN_TAG.as_bytes()) else { return Cow::Borrowed(text) };
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
        match rest.find(OPEN_TAG) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Tags around text that an editor puts into prompts: a selection, or the open file.
const QUOTES: [(&str, &str); 2] =
    [("<ide_selection>", "</ide_selection>"), ("<ide_opened_file>", "</ide_opened_file>")];

/// Removes text that an editor put into a prompt; the user did not write it. Without a closing tag, the editor's
/// text reaches to the end.
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

/// The agent carries out a plan after it cleared the context. Its prompt begins with these words.
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
    fn a_reminder_without_an_end_is_removed_from_a_cut_text_only() {
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
    fn text_of_an_editor_is_removed_from_a_prompt() {
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
