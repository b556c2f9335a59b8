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

/// The most tags that are looked at in one prompt. What follows counts as quoted.
const MOST_TAGS: usize = 200;

/// The words of a prompt outside of blocks in tags, and those inside. The client puts what was pasted, what a hook or a command
/// printed and its own notes between tags, whose names have `-` or `_`. Such a block reaches to the last closing tag of its name,
/// because its text may hold the tag, too. Of other tags only a block of several lines is quoted.
pub fn typed_and_quoted(prompt: &str) -> (Cow<'_, str>, String) {
    let (mut typed, mut quoted) = (Cow::Borrowed(prompt), String::new());
    let (mut from, mut tags) = (0, 0);
    while let Some(begin) = typed[from..].find('<').map(|at| from + at) {
        tags += 1;
        let end = if tags > MOST_TAGS {
            Some(typed.len())
        } else {
            block_end(&typed[begin..]).map(|end| begin + end)
        };
        let Some(end) = end else {
            from = begin + 1;
            continue;
        };
        quoted.push_str(&typed[begin..end]);
        quoted.push('\n');
        typed = Cow::Owned([&typed[..begin], "\n", &typed[end..]].concat());
        from = begin;
    }
    (typed, quoted)
}

/// Where the quoted block ends with which a text begins, if one does.
fn block_end(text: &str) -> Option<usize> {
    let name = &text[1..];
    let name =
        &name[..name.find(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c))).unwrap_or(name.len())];
    let close = format!("</{name}");
    let is_clients = name.contains(['-', '_']);
    let at = if is_clients { text.rfind(&close) } else { text.find(&close).filter(|_| !name.is_empty()) };
    match at {
        Some(at) => {
            let after = at + close.len();
            let end = text[after..].find('>').map_or(text.len(), |more| after + more + 1);
            (is_clients || text[..end].contains('\n')).then_some(end)
        }
        // A long paste may be cut.
        None => (name == "pasted_content").then_some(text.len()),
    }
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
    fn what_stands_between_tags_is_quoted() {
        for (text, typed, quoted) in [
            ("plain a < b and Vec<u8>", "plain a < b and Vec<u8>", ""),
            ("use <b>bold</b> and\nno <b>more</b>", "use <b>bold</b> and\nno <b>more</b>", ""),
            ("a\n<pasted_content id=\"x\">\nb\n</pasted_content id=\"x\">\nc", "a\n\n\nc", "b"),
            (
                "a <pasted_content id=\"x\">b</pasted_content id=\"y\">c</pasted_content id=\"x\">d",
                "a \nd",
                "c",
            ),
            ("a <pasted_content id=\"x\"> b", "a \n", "b"),
            ("<user-prompt-submit-hook>h</user-prompt-submit-hook>t", "\nt", "h"),
            ("<a>1\n</a>t<b-c>2</b-c>u", "\nt\nu", "2"),
        ] {
            let found = typed_and_quoted(text);
            assert_eq!((&*found.0, found.1.contains(quoted)), (typed, true), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_plan_is_found_in_the_prompt_that_carries_it_out() {
        assert_eq!(plan_in_prompt("Implement the following plan:\n\n# Plan\n1. x\n"), Some("# Plan\n1. x"));
        assert_eq!(plan_in_prompt("Implement the following plan:"), None);
        assert_eq!(plan_in_prompt("please"), None);
    }
}
