//! Whether a line of a transcript, or the payload of a hook, names an excluded path. It may be of any agent.

use watchbill_core::history::Exclude;
use watchbill_core::hook::HookPayload;
use watchbill_core::transcript::json::{Cursor, Raw, each_keyed_string, unescape};
use watchbill_core::transcript::payloads::Payloads;
use watchbill_core::transcript::record::{Body, Record};

use crate::{Agent, traits};

/// Longest path in bytes; a longer text is no path.
const PATH_LIMIT: usize = 4096;

/// Whether the JSON names an excluded path: in a field that holds paths, in a tool call or in its output. Prompts and answers
/// do not count. The JSON may be cut anywhere.
pub fn is_named_in(exclude: &Exclude, json: &str) -> bool {
    if exclude.is_empty() {
        return false;
    }
    let mut cwd = None;
    each_keyed_string(json, &mut |key, raw| {
        cwd = (key == "cwd").then(|| unescape(raw, PATH_LIMIT));
        cwd.is_some()
    });
    let cwd = cwd.as_deref();
    exclude.fields_name_excluded(json, cwd)
        || is_named_in_event(exclude, json, cwd)
        || is_named_in_line(exclude, json, cwd)
}

/// Clears the target of a call in a hook event that names an excluded path, because the roster row with the target is stored.
/// `bytes` are the event's payload.
pub fn clear_target(exclude: &Exclude, payload: &mut HookPayload, bytes: &[u8]) {
    if exclude.is_empty() || payload.event.call().is_none() {
        return;
    }
    let is_named = is_named_in_event(exclude, &String::from_utf8_lossy(bytes), payload.cwd.as_deref());
    if let (true, Some(call)) = (is_named, payload.event.call_mut()) {
        call.target = "".into();
    }
}

fn is_named_in_event(exclude: &Exclude, json: &str, cwd: Option<&str>) -> bool {
    let (mut tool, mut input, mut output) = (Raw::Absent, Raw::Absent, Vec::new());
    // A cut payload is read as far as it goes.
    let _ = Cursor::new(json).object(|cursor, key| {
        let value = cursor.value()?;
        match key {
            "tool_name" => tool = value,
            "tool_input" => input = value,
            "tool_response" => output.push(value),
            // In a transcript these fields are no strings.
            "error" | "message" if value.word().is_some() => output.push(value),
            _ => {}
        }
        Some(())
    });
    let tool = tool.whole().unwrap_or_default();
    let input = match input {
        Raw::Nested(raw) | Raw::Plain(raw) => raw,
        Raw::Absent | Raw::Str(_) => "",
    };
    let in_output = |value: &Raw<'_>| match *value {
        Raw::Str(raw) => exclude.output_names_excluded(Some(&tool), &unescape(raw, usize::MAX), cwd),
        Raw::Nested(raw) => each_keyed_string(raw, &mut |_, text| {
            exclude.output_names_excluded(Some(&tool), &unescape(text, usize::MAX), cwd)
        }),
        Raw::Absent | Raw::Plain(_) => false,
    };
    exclude.call_names_excluded(&tool, input, cwd) || output.iter().any(in_output)
}

fn is_named_in_line(exclude: &Exclude, json: &str, cwd: Option<&str>) -> bool {
    let mut named = false;
    // The types of one agent's records are unknown to the other.
    let parsers = Agent::ALL.into_iter().map(|agent| traits(agent).layout.parse_line);
    let mut see = |record: Record<'_>, full: &dyn Payloads<'_>| {
        let mut buffer = String::new();
        let output = |text: &str| exclude.output_names_excluded(None, text, cwd);
        let mut blocks = full.content().blocks();
        named |= match &record.body {
            Body::Assistant(_) => blocks.any(|block| exclude.block_names_excluded(block, cwd)),
            // The agent names the file that it read or wrote. The result holds nothing else.
            Body::ToolResults(_) if full.is_of_file() => false,
            Body::ToolResults(_) => blocks.any(|block| output(block.result(usize::MAX, &mut buffer).text)),
            // A prompt is checked only if an editor added text to it: the user's own words may name any path.
            Body::Prompt(_) => {
                ["<ide_", "# Context from my IDE"].iter().any(|mark| json.contains(mark))
                    && exclude.text_names_excluded(&unescape(json, usize::MAX), cwd)
            }
            Body::LocalCommand { .. } => output(&full.words(usize::MAX)),
            body => body.quotes_files(),
        };
    };
    for parse in parsers {
        parse(json.as_bytes(), &mut see);
    }
    named
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use watchbill_core::history::Links;

    use super::*;

    #[derive(Debug)]
    struct NoLinks;

    impl Links for NoLinks {
        fn real(&self, path: &str) -> Option<String> {
            Some(path.to_owned())
        }
    }

    #[test]
    fn a_path_in_a_field_counts_and_a_path_in_a_prompt_does_not() {
        let exclude = Exclude::new(["/home/dev/secret".to_owned(), "C:/secret".to_owned()]);
        for (json, named) in [
            (r#"{"cwd":"/home/dev/secret/app"}"#, true),
            (r#"{"tool_input":{"file_path" : "/home/dev/secret/key"}}"#, true),
            (r#"{"transcript_path":"C:\\secret\\s.jsonl"}"#, true),
            (r#"{"cwd":"/home/dev/secret/ap"#, true),
            (r#"{"cwd":"/home/dev/open","prompt":"look at /home/dev/secret"}"#, false),
            (r#"{"prompt":"\"cwd\":\"/home/dev/secret\""}"#, false),
            (
                r#"{"cwd":"/home/dev","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: secret/a\n+x"}}"#,
                true,
            ),
            (
                r#"{"cwd":"/home/dev","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a\n+secret/b"}}"#,
                false,
            ),
            (r#"{"cwd":"/home/dev/secrets"}"#, false),
            ("", false),
        ] {
            assert_eq!(is_named_in(&exclude, json), named, "{json}");
        }
        assert!(!is_named_in(&Exclude::default(), r#"{"cwd":"/home/dev/secret"}"#));
    }

    #[test]
    fn a_line_of_a_transcript_is_checked_field_by_field() {
        let exclude = Exclude::new(["/home/dev/secret".to_owned()])
            .on_disk(Some("/home/dev".to_owned()), Arc::new(NoLinks));
        let line = |rest: &str| format!(r#"{{"cwd":"/home/dev/app",{rest}}}"#);
        for (rest, named) in [
            (
                r#""type":"attachment","attachment":{"type":"file","filename":"../secret/a","content":"x"}"#,
                true,
            ),
            (r#""type":"file-history-snapshot","snapshot":{"trackedFileBackups":{"../secret/a":{}}}"#, true),
            (
                r#""type":"user","toolUseResult":{"filePath":"/home/dev/app/a","content":"/home/dev/secret"},"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"/home/dev/secret"}]}"#,
                false,
            ),
            (
                r#""type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"~/secret/a:1:x"}]}"#,
                true,
            ),
            (
                r#""type":"user","message":{"content":"<ide_selection>from /home/dev/secret/a:\nx</ide_selection>"}"#,
                true,
            ),
            (r#""type":"user","message":{"content":"what is in /home/dev/secret?"}"#, false),
            (
                r#""type":"assistant","message":{"content":[{"type":"text","text":"/home/dev/secret"}]}"#,
                false,
            ),
        ] {
            assert_eq!(is_named_in(&exclude, &line(rest)), named, "{rest}");
        }
        for (payload, named) in [
            (
                r#""type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat ~/secret/a\"}""#,
                true,
            ),
            (
                r#""type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat ~/open/a\"}""#,
                false,
            ),
            (
                r#""type":"custom_tool_call","name":"apply_patch","input":"*** Add File: /home/dev/secret/a\n+x""#,
                true,
            ),
            (r#""type":"function_call_output","output":"Output:\n~/secret/a:1:x""#, true),
            (r#""type":"message","role":"user","content":[{"text":"what is in /home/dev/secret?"}]"#, false),
        ] {
            let line = format!(r#"{{"type":"response_item","payload":{{{payload},"call_id":"c"}}}}"#);
            assert_eq!(is_named_in(&exclude, &line), named, "{line}");
        }
    }
}
