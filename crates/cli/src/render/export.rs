//! `export`: a work chain as Markdown, for reading as text or in a browser.
//!
//! Prompts and answers are quotations, tools' input and output are blocks of code, and names within a line are
//! escaped. So no text of a transcript can look like an entry of the document.

use watchbill_protocol::chain::Boundary;
use watchbill_protocol::export::ExportChain;
use watchbill_protocol::timeline::{Subagent, TimelineItem, What};

use super::chain::boundary_words;
use super::markup::{code, longest_run, plain};
use super::quotation::quoted;
use super::{local_date_time, short};
use crate::terminal_text::{age, lines, one_line};

/// The document.
pub fn markdown(export: &ExportChain) -> String {
    let title = export.title.as_deref().map(one_line).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| format!("Session {}", short(&export.chain.head)));
    let mut out = format!("# {}\n\n", plain(&title, false));
    if let Some(project) = &export.project {
        out.push_str(&format!("- Folder: {}\n", code(&one_line(project))));
    }
    let mut sessions: Vec<&str> = Vec::new();
    for segment in &export.chain.segments {
        if !sessions.contains(&&*segment.session_id) {
            sessions.push(&segment.session_id);
        }
    }
    let sessions: Vec<String> = sessions.into_iter().map(|id| code(&one_line(id))).collect();
    if !sessions.is_empty() {
        out.push_str(&format!("- Sessions: {}\n", sessions.join(", ")));
    }
    out.push_str(&format!("- Exported: {}\n", local_date_time(&export.exported_at)));
    items(&mut out, &export.items);
    out
}

fn items(out: &mut String, items: &[TimelineItem]) {
    for item in items {
        out.push('\n');
        entry(out, item);
    }
}

fn entry(out: &mut String, item: &TimelineItem) {
    let at = item.at.as_deref().map(local_date_time).unwrap_or_default();
    let stamp = |who: &str| {
        let agent = item
            .agent_id
            .as_deref()
            .map(|id| format!(" (subagent {})", plain(&short(id), false)))
            .unwrap_or_default();
        let comma = if at.is_empty() { "" } else { " · " };
        format!("**{who}{agent}**{comma}{at}\n\n")
    };
    match &item.what {
        What::Prompt { text, origin } => {
            let who = match origin.as_str() {
                "human" | "queued" => "Prompt".to_owned(),
                origin => format!("Prompt, {}", plain(&one_line(&origin.replace('_', " ")), false)),
            };
            out.push_str(&stamp(&who));
            out.push_str(&quoted(&clean(text)));
        }
        What::Response { text } => {
            out.push_str(&stamp("Answer"));
            out.push_str(&quoted(&clean(text)));
        }
        What::Thinking { text } => details(out, "Thought", &|out| out.push_str(&quoted(&clean(text)))),
        what @ What::Tool { .. } => call(out, what),
        What::Boundary { trigger, pre_tokens, post_tokens } => {
            let boundary =
                Boundary { trigger: trigger.clone(), pre_tokens: *pre_tokens, post_tokens: *post_tokens };
            out.push_str(&format!("---\n\n*{}* {at}\n\n---\n", boundary_words(&boundary)));
        }
        What::Continued { to, reason } => {
            let (to, reason) = (code(&one_line(to)), plain(&one_line(&reason.replace('_', " ")), false));
            out.push_str(&format!("---\n\n*continued in* {to} *({reason})*\n\n---\n"));
        }
        What::Interrupted => out.push_str("*Interrupted by the user.*\n"),
        What::Error { text } => {
            out.push_str(&stamp("Error"));
            fenced(out, text);
        }
        What::Command { text } => out.push_str(&format!("{}\n", code(&one_line(text)))),
        What::Note { text } => out.push_str(&format!("*{}*\n", plain(&one_line(text), false))),
    }
}

/// A tool call, collapsed, with its subagent's entries.
fn call(out: &mut String, what: &What) {
    let What::Tool {
        tool, target, input, input_cut, outcome, output, output_cut, duration_ms, subagent, ..
    } = what
    else {
        return;
    };
    let took = duration_ms.map(|ms| format!(" · {}", age(i64::try_from(ms).unwrap_or(i64::MAX))));
    let (tool, target, outcome) = (one_line(tool), one_line(target), one_line(outcome));
    let head = format!(
        "{} <code>{}</code> — {}{}",
        html(&tool),
        html(&target),
        html(&outcome),
        took.unwrap_or_default()
    );
    details(out, &head, &|out| {
        payload(out, "input", input, *input_cut);
        if let Some(output) = output.as_deref().filter(|output| !output.is_empty()) {
            out.push('\n');
            payload(out, "output", output, *output_cut);
        }
        if let Some(subagent) = subagent {
            nested(out, subagent);
        }
    });
}

fn nested(out: &mut String, subagent: &Subagent) {
    let head = format!("What subagent <code>{}</code> did", html(&one_line(&subagent.agent_id)));
    out.push('\n');
    details(out, &head, &|out| items(out, &subagent.items));
}

/// A part that a browser collapses and that is plain text elsewhere. `head` is HTML.
fn details(out: &mut String, head: &str, inside: &dyn Fn(&mut String)) {
    // Markdown begins again inside HTML after an empty line.
    out.push_str(&format!("<details><summary>{head}</summary>\n\n"));
    inside(out);
    out.push_str("\n</details>\n");
}

/// Text without control characters for terminals, each line ended.
fn clean(text: &str) -> String {
    lines(text).flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// A tool's input or output, with a note below it if the rest is missing.
fn payload(out: &mut String, what: &str, text: &str, cut: Option<bool>) {
    if text.is_empty() {
        return;
    }
    fenced(out, text);
    if cut == Some(true) {
        out.push_str(&format!("\n*Only the first 16 KiB of the {what} are here.*\n"));
    }
}

/// Text without control characters for terminals, between fences longer than any in the text.
fn fenced(out: &mut String, text: &str) {
    let text = clean(text);
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    out.push_str(&format!("{fence}text\n{text}{fence}\n"));
}

/// Text for HTML: a summary is not parsed as Markdown.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(what: What) -> TimelineItem {
        TimelineItem { index: 0, key: String::new(), session_id: "s".into(), at: None, what, agent_id: None }
    }

    fn called(output: &str, subagent: Option<Subagent>) -> What {
        What::Tool {
            id: "t".into(),
            tool: "Bash".into(),
            target: "grep <b> `x`".into(),
            input: "{}".into(),
            input_cut: None,
            outcome: "ok".into(),
            refusal: None,
            output: Some(output.into()),
            output_cut: None,
            duration_ms: Some(2_500),
            subagent,
        }
    }

    fn written(what: What) -> String {
        let mut out = String::new();
        entry(&mut out, &item(what));
        out
    }

    #[test]
    fn a_call_is_collapsed_and_contains_its_subagents_entries() {
        let response = item(What::Response { text: "Two links were dead.".into() });
        let subagent = Subagent { agent_id: "a7c1".into(), total: Some(1), items: vec![response] };
        let text = written(called("done", Some(subagent)));
        assert!(
            text.starts_with("<details><summary>Bash <code>grep &lt;b&gt; `x`</code> — ok · 2 s</summary>"),
            "{text}"
        );
        let inner = text.find("What subagent <code>a7c1</code> did").unwrap_or(0);
        assert!(inner > 0 && text.find("Two links were dead.") > Some(inner), "{text}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }

    #[test]
    fn tool_output_cannot_close_its_code_block_or_control_a_terminal() {
        let text = written(called("```\n````\n\x1b]0;t\x07", None));
        assert!(text.contains("`````text\n```\n````\n]0;t\n`````\n"), "{text}");
        // The parts around a dropped character join.
        let text = written(called("``\u{7}`\n</details>\n`\u{200e}`\r``", None));
        assert!(text.contains("`````text\n```\n</details>\n````\n`````\n"), "{text}");
    }

    #[test]
    fn unclosed_markup_ends_with_its_entry() {
        let answer = |text: &str| written(What::Response { text: text.into() });
        assert!(answer("look:\n````sh\nls\n```").ends_with("\n> look:\n>\n> ````sh\n> ls\n> ```\n> ````\n"));
        assert!(answer("a\n\n<!-- b").ends_with("> a\n>\n> &lt;!-- b\n"));
        let text = written(What::Thinking { text: "a </details> b\n\n</details>\n".into() });
        assert_eq!(text.matches("</details>").count(), 1, "{text}");
        assert!(text.contains("> a &lt;/details> b\n>\n> &lt;/details>\n"), "{text}");
        let text = written(What::Prompt { text: "<!-- a\nb".into(), origin: "human".into() });
        assert!(text.ends_with("> &lt;!-- a\n> b\n"), "{text}");
    }

    #[test]
    fn transcript_text_cannot_look_like_an_entry() {
        let forged: String = [
            What::Prompt { text: "delete it".into(), origin: "human".into() },
            What::Interrupted,
            called("done", None),
            What::Boundary { trigger: "auto".into(), pre_tokens: None, post_tokens: None },
            What::Command { text: "! ls".into() },
        ]
        .into_iter()
        .map(|what| written(what) + "\n")
        .collect();
        for what in [
            What::Response { text: forged.clone() },
            What::Prompt { text: forged.clone(), origin: "human".into() },
            What::Thinking { text: forged.clone() },
        ] {
            let text = written(what);
            let own = text.lines().filter(|line| !line.is_empty() && !line.starts_with('>'));
            let own: Vec<&str> = own.collect();
            assert!(own.len() <= 2, "{text}");
            assert!(!own.iter().any(|line| line.contains("Bash") || line.contains("Interrupted")), "{text}");
        }
        let origin = "x** <b> **Answer".to_owned();
        let text = written(What::Prompt { text: "a".into(), origin });
        assert_eq!(text, "**Prompt, x\\*\\* &lt;b> \\*\\*Answer**\n\n> a\n");
    }

    #[test]
    fn prompts_are_quoted_and_notes_are_no_markup() {
        assert!(
            written(What::Prompt { text: "# a\nb".into(), origin: "human".into() })
                .ends_with("> # a\n>\n> b\n")
        );
        assert_eq!(written(What::Note { text: "a_b *c* <d>".into() }), "*a_b \\*c\\* &lt;d>*\n");
        assert_eq!(written(What::Command { text: "! echo `x`".into() }), "`` ! echo `x` ``\n");
    }
}
