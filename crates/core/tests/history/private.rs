//! What is private is not stored, wherever it stands.

use proptest::prelude::*;
use watchbill_core::history::{Role, keep_public, strip_private};

use crate::model::{Model, rows};

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
    fn what_stands_between_the_tags_is_gone_and_the_rest_is_there(
        before in "[a-z ]{0,9}", secret in "[A-Z]{1,9}", after in "[a-z ]{0,9}", depth in 1usize..5,
    ) {
        let text = format!("{before}{}{secret}{}{after}", "<private>".repeat(depth), "</private>".repeat(depth));
        prop_assert_eq!(strip_private(&text), format!("{before}{after}"));
        let unclosed = format!("{before}{}{secret}{after}", "<private>".repeat(depth));
        prop_assert_eq!(strip_private(&unclosed), before.as_str());
    }

    #[test]
    fn a_prompt_is_nothing_exactly_when_nothing_public_is_in_it(text in pieces()) {
        let stripped = strip_private(&text);
        let hidden = stripped.trim().is_empty() && stripped.len() < text.len();
        prop_assert_eq!(keep_public(&text).is_none(), hidden);
    }
}

/// A session in which the secret word stands wherever a text can stand.
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
