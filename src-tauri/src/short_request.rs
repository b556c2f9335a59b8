//! Requests that one line shows whole, so that a notification may answer them.

use std::time::Duration;

use watchbill_protocol::request::Request;

/// The longest request that a notification shows whole, in characters. Desktops cut longer lines.
const WHOLE: usize = 100;

/// A button must stand this long before its answer counts, as a card must in the window.
pub const STANDS: Duration = Duration::from_millis(400);

/// The text of a request that one line can show whole, so that it may be answered there. `None`: it is only opened.
pub fn whole(request: &Request) -> Option<String> {
    let is_answered_by_word = request.kind == "permission" && request.answerable == "hook";
    let is_short = request.shown.chars().count() <= WHOLE && !request.shown.trim().is_empty();
    // Only the card names the files that were changed, and those that are not compared.
    let is_unchanged = request.changed_files.is_empty() && request.not_compared.is_empty();
    let fits = is_short && is_unchanged && !request.shown.contains(['\n', '\t']);
    (is_answered_by_word && request.progress == "open" && request.more == 0 && fits)
        .then(|| request.shown.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(shown: &str, kind: &str, more: u32) -> Request {
        serde_json::from_value(json!({
            "id": "r", "digest": "00", "kind": kind, "tool": "Bash", "input": {}, "shown": shown, "summary": "",
            "openedAt": "2026-11-20T12:00:00.000Z", "answerable": "hook", "progress": "open", "more": more,
        }))
        .expect("a request")
    }

    #[test]
    fn only_a_permission_that_one_line_shows_whole_may_be_answered() {
        assert_eq!(whole(&request("npm publish", "permission", 0)).as_deref(), Some("npm publish"));
        let longest = "x".repeat(WHOLE);
        assert!(whole(&request(&longest, "permission", 0)).is_some());
        for (shown, kind, more) in [
            (&*format!("{longest}x"), "permission", 0),
            ("a\nb", "permission", 0),
            ("a\tb", "permission", 0),
            (" ", "permission", 0),
            ("npm publish", "permission", 1),
            ("Which?", "question", 0),
            ("A plan", "plan", 0),
            ("x", "unknown", 0),
        ] {
            assert_eq!(whole(&request(shown, kind, more)), None, "{shown} {kind}");
        }
        let answered = Request { progress: "sending".into(), ..request("npm publish", "permission", 0) };
        assert_eq!(whole(&answered), None);
        let changed = Request { changed_files: vec!["a.sh".into()], ..request("sh a.sh", "permission", 0) };
        assert_eq!(whole(&changed), None);
        let unknown = Request { not_compared: vec!["$X".into()], ..request("sh $X", "permission", 0) };
        assert_eq!(whole(&unknown), None);
        let not_here = Request { answerable: "no".into(), ..request("npm publish", "permission", 0) };
        assert_eq!(whole(&not_here), None);
    }
}
