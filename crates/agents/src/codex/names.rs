//! The names of sessions in `session_index.jsonl`: `/rename` and forks append lines (0.169). The last line of a session counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use watchbill_core::ids::SessionId;
use watchbill_core::session::facts::one_line;

use crate::traits::NamesFile;

/// The file.
pub const NAMES: NamesFile = NamesFile { name: "session_index.jsonl", read };

fn read(bytes: &[u8]) -> BTreeMap<SessionId, Arc<str>> {
    let named = bytes.split(|byte| *byte == b'\n').filter_map(|line| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let (id, name) = (line.get("id")?.as_str()?, line.get("thread_name")?.as_str()?);
        Some((SessionId::new(id), Arc::from(one_line(name))))
    });
    let mut names: BTreeMap<_, Arc<str>> = named.collect();
    names.retain(|_, name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_session_counts() {
        let text = concat!(
            r#"{"id":"a","thread_name":"first","updated_at":"2026-11-23T16:19:50.196453358Z"}"#,
            "\nnone\n{}\n",
            r#"{"id":"b","thread_name":""}"#,
            "\n",
            r#"{"id":"a","thread_name":"My piece\nof work"}"#,
            "\n",
            r#"{"id":"a","thread_na"#
        );
        let names = (NAMES.read)(text.as_bytes());
        let names: Vec<_> = names.iter().map(|(id, name)| (id.as_str(), &**name)).collect();
        assert_eq!(names, [("a", "My piece of work")]);
    }
}
