//! Private text is not stored, in any place.

use proptest::prelude::*;
use watchbill_core::history::{CallOutcome, Exclude, Role, keep_public, strip_private};

use crate::model::{Model, Reader, rows};

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé😀 <>/]{0,6}".prop_map(String::from),
        2 => Just("<private>".to_owned()),
        2 => Just("</private>".to_owned()),
        1 => Just("<Private x=\"1\">".to_owned()),
        1 => Just("<private/>".to_owned()),
        1 => Just("<claude-mem-context>".to_owned()),
        1 => Just("</claude-mem-context>".to_owned()),
        1 => Just("<pri".to_owned()),
        1 => Just("vate>".to_owned()),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn stripping_leaves_no_opening_tag_and_is_final(text in pieces()) {
        let stripped = strip_private(&text);
        let lower = stripped.to_lowercase();
        for tag in ["<private>", "<private/>", "<private x", "<claude-mem-context>"] {
            prop_assert!(!lower.contains(tag), "{text:?} -> {stripped:?}");
        }
        prop_assert_eq!(strip_private(&stripped), stripped.as_ref());
        prop_assert!(stripped.len() <= text.len());
    }

    #[test]
    fn text_between_the_tags_is_removed_and_the_rest_is_kept(
        before in "[a-z ]{0,9}", secret in "[A-Z]{1,9}", after in "[a-z ]{0,9}", depth in 1usize..5,
    ) {
        let text = format!("{before}{}{secret}{}{after}", "<private>".repeat(depth), "</private>".repeat(depth));
        prop_assert_eq!(strip_private(&text), format!("{before}{after}"));
        let unclosed = format!("{before}{}{secret}{after}", "<private>".repeat(depth));
        prop_assert_eq!(strip_private(&unclosed), before.as_str());
    }

    #[test]
    fn keep_public_gives_none_only_for_private_text_alone(text in pieces()) {
        let stripped = strip_private(&text);
        let hidden = stripped.trim().is_empty() && stripped.len() < text.len();
        prop_assert_eq!(keep_public(&text).is_none(), hidden);
    }
}

/// A session with the secret word in every place where a text can stand.
const SESSION: &str = r#"
{"type":"user","uuid":"1","timestamp":"2026-11-20T15:00:00.000Z","message":{"content":"do <private>S3CRET</private>it"}}
{"type":"assistant","uuid":"2","timestamp":"2026-11-20T15:00:01.000Z","message":{"id":"m","content":[{"type":"thinking","thinking":"<private>S3CRET</private> hm"}]}}
{"type":"assistant","uuid":"3","timestamp":"2026-11-20T15:00:02.000Z","message":{"id":"m","content":[{"type":"text","text":"well <private>S3CRET"}]}}
{"type":"assistant","uuid":"4","timestamp":"2026-11-20T15:00:03.000Z","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo <private>S3CRET</private> x"}}]}}
{"type":"assistant","uuid":"5","timestamp":"2026-11-20T15:00:03.000Z","message":{"id":"m","content":[{"type":"tool_use","id":"u","name":"Write","input":{"file_path":"/home/dev/.claude/plans/p.md","content":"<private>S3CRET</private> plan"}}]}}
{"type":"user","uuid":"6","timestamp":"2026-11-20T15:00:04.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"bad <private>S3CRET</private>"}]}}
{"type":"user","uuid":"7","timestamp":"2026-11-20T15:00:05.000Z","toolUseResult":{"content":"<private>S3CRET</private> plan"},"message":{"content":[{"type":"tool_result","tool_use_id":"u","content":"ok"}]}}
{"type":"assistant","uuid":"8","timestamp":"2026-11-20T15:00:06.000Z","message":{"id":"n","stop_reason":"end_turn","content":[{"type":"text","text":"done <private>S3CRET</private> now"}]}}
{"type":"user","uuid":"9","timestamp":"2026-11-20T15:01:00.000Z","message":{"content":"<private>S3CRET all of it</private>"}}
{"type":"custom-title","customTitle":"t <private>S3CRET</private>"}
{"type":"assistant","uuid":"a","timestamp":"2026-11-20T15:01:01.000Z","message":{"id":"o","content":[{"type":"tool_use","id":"v","name":"Bash","input":{"command":"echo \u003cprivate\u003eS3CRET"}}]}}
{"type":"user","uuid":"b","timestamp":"2026-11-20T15:01:02.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"v","content":"shown \u001b]0;<private>\u0007 S3CRET </private>"}]}}
"#;

#[test]
fn a_private_word_is_in_no_row() {
    let model = rows(SESSION);
    let Model { texts, batches, activities, plans, executions, .. } = &model;
    let all = format!("{texts:?}{batches:?}{activities:?}{plans:?}{executions:?}");
    assert!(!all.contains("S3CRET"), "{model:#?}");
    assert_eq!(model.texts_of(Role::Prompt), ["do it"], "the wholly private prompt is no text");
    assert_eq!(model.texts_of(Role::Answer), ["well ", "done  now"]);
    assert_eq!(model.batch("do it").response.as_ref().map(|(_, text)| text.as_str()), Some("done  now"));
    assert_eq!(plans[0].content.as_deref(), Some("plan"));
    let private: Vec<_> = batches.values().filter(|batch| batch.private).collect();
    assert_eq!(private.len(), 1);
    assert_eq!(private[0].prompt, None);
    assert_eq!(activities["t"].error.as_deref(), Some("bad"));
}

#[test]
fn of_a_turn_whose_prompt_is_private_as_a_whole_no_text_is_kept() {
    let turn = r#"
{"type":"user","uuid":"1","timestamp":"2026-11-20T15:00:00.000Z","message":{"content":"<private>S3CRET all of it</private>"}}
{"type":"assistant","uuid":"2","timestamp":"2026-11-20T15:00:01.000Z","message":{"id":"m","content":[{"type":"thinking","thinking":"S3CRET"},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/home/dev/work/S3CRET.rs"}}]}}
{"type":"user","uuid":"3","timestamp":"2026-11-20T15:00:02.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"S3CRET"}]}}
{"type":"assistant","uuid":"4","timestamp":"2026-11-20T15:00:03.000Z","message":{"id":"n","content":[{"type":"tool_use","id":"p","name":"ExitPlanMode","input":{"plan":"S3CRET"}},{"type":"tool_use","id":"late","name":"Bash","input":{"command":"S3CRET"}}]}}
{"type":"user","uuid":"5","timestamp":"2026-11-20T15:00:04.000Z","toolUseResult":{"plan":"S3CRET"},"message":{"content":[{"type":"tool_result","tool_use_id":"p","content":"ok"}]}}
{"type":"assistant","uuid":"6","timestamp":"2026-11-20T15:00:05.000Z","message":{"id":"o","stop_reason":"end_turn","content":[{"type":"text","text":"S3CRET it is"}]}}
{"type":"user","uuid":"n","timestamp":"2026-11-20T15:00:06.000Z","origin":{"kind":"task-notification"},"message":{"content":"<task-notification><task-id>b</task-id><summary>S3CRET ran</summary></task-notification>"}}
{"type":"assistant","uuid":"o","timestamp":"2026-11-20T15:00:07.000Z","message":{"id":"r","stop_reason":"end_turn","content":[{"type":"text","text":"S3CRET came"}]}}
"#;
    let next = r#"
{"type":"user","uuid":"7","timestamp":"2026-11-20T15:01:00.000Z","message":{"content":"in the open"}}
{"type":"user","uuid":"8","timestamp":"2026-11-20T15:01:01.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"late","is_error":true,"content":"S3CRET failed"}]}}
{"type":"assistant","uuid":"9","timestamp":"2026-11-20T15:01:02.000Z","message":{"id":"q","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]}}
"#;
    for restarts in [false, true] {
        let mut reader = Reader::new("s", None);
        reader.text(0, turn);
        reader.settle();
        if restarts {
            reader.restart();
        }
        reader.text(turn.len() as u64, next);
        reader.settle();
        let Model { texts, batches, activities, plans, executions, .. } = &reader.model;
        let all = format!("{texts:?}{batches:?}{activities:?}{plans:?}{executions:?}");
        assert!(!all.contains("S3CRET"), "{restarts}: {:#?}", reader.model);
        let kept: Vec<_> = activities.values().map(|call| (call.tool.as_deref(), call.outcome)).collect();
        assert!(kept.contains(&(Some("Read"), Some(CallOutcome::Ok))), "{kept:?}");
        assert_eq!(batches.values().filter(|batch| batch.private && batch.is_over()).count(), 2);
        assert_eq!(reader.model.texts_of(Role::Answer), ["done"]);
    }
}

#[test]
fn of_excluded_folders_only_the_tokens_are_stored() {
    let text = r#"
{"type":"user","uuid":"1","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:00.000Z","message":{"content":"in the open"}}
{"type":"assistant","uuid":"2","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:03.000Z","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/home/dev/secret/key"}}]}}
{"type":"user","uuid":"3","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:04.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"S3CRET"}]}}
{"type":"user","uuid":"4","cwd":"/home/dev/secret/a","timestamp":"2026-11-20T15:01:00.000Z","message":{"content":"S3CRET words"}}
{"type":"assistant","uuid":"5","timestamp":"2026-11-20T15:01:01.000Z","message":{"id":"n","usage":{"output_tokens":7},"content":[{"type":"text","text":"S3CRET answer"}]}}
{"type":"user","uuid":"6","cwd":"/home/dev/work","timestamp":"2026-11-20T15:02:00.000Z","message":{"content":"open again"}}
"#;
    let mut reader = Reader::new("s", None);
    reader.settings.exclude = Exclude::new(["/home/dev/secret/**".to_owned()]);
    let (first, rest) =
        text.split_at(text.find("{\"type\":\"assistant\",\"uuid\":\"5\"").expect("it is there"));
    reader.text(0, first);
    reader.settle();
    reader.restart();
    reader.text(first.len() as u64, rest);
    reader.settle();
    let model = &reader.model;
    let all = format!("{:?}{:?}{:?}", model.texts, model.batches, model.activities);
    assert!(!all.contains("S3CRET") && !all.contains("secret"), "{model:#?}");
    assert_eq!(model.texts_of(Role::Prompt), ["in the open", "open again"]);
    assert_eq!(model.folders, ["/home/dev/work".to_owned()].into());
    assert_eq!(model.requests.values().map(|request| request.usage.output).sum::<u64>(), 7);
}

#[test]
fn a_changed_exclusion_counts_after_a_restart_in_the_same_folder() {
    let line = |id: u32, words: &str| {
        let cwd = "/home/dev/secret";
        format!(
            r#"{{"type":"user","uuid":"{id}","cwd":"{cwd}","isSidechain":true,"agentId":"x","timestamp":"2026-11-20T15:00:0{id}.000Z","message":{{"content":"{words}"}}}}"#
        ) + "\n"
    };
    let (before, after, allowed) = (line(1, "before"), line(2, "after"), line(3, "allowed"));
    let excluding = |pattern: &str| Exclude::new([pattern.to_owned()]);
    let mut reader = Reader::new("s", Some("x"));
    reader.settings.exclude = excluding("/home/dev/other");
    reader.text(0, &before);
    reader.settle();
    let mut at = before.len() as u64;
    for (pattern, text) in [("/home/dev/secret", &after), ("/home/dev/other", &allowed)] {
        reader.restart();
        reader.settings.exclude = excluding(pattern);
        reader.text(at, text);
        reader.settle();
        at += text.len() as u64;
    }
    let texts: Vec<_> = reader.model.texts.iter().map(|text| format!("{text:?}")).collect();
    let told = |words: &str| texts.iter().any(|text| text.contains(words));
    assert_eq!((told("before"), told("after"), told("allowed")), (true, false, true), "{texts:?}");
}
