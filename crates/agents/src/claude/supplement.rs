//! Which records of an own session its transcript lacks. Its host has received them, and the client was ended before it wrote them.

use serde_json::Value;
use watchbill_core::history::keep_public;

/// So much of the end of a transcript is compared, in bytes.
pub const COMPARED: u64 = 4 << 20;

/// The client writes the records of one moment in another order than it sends them. So many lines around the newest one count.
const NEAR: usize = 64;

/// Of the records that a host received from one process, those that the transcript lacks: the ones after the last one that it has.
/// `end` is the end of the transcript. If it has the prompt of the first ones, they name it.
pub fn missing(received: Vec<Value>, end: &[u8]) -> Vec<Value> {
    let mut known = known(&received, end, NEAR);
    let there = match known.iter().rposition(Option::is_some) {
        Some(last) => last + 1,
        None => {
            let newest =
                lines(end).find_map(|line| time(&serde_json::from_str(line).ok()?).map(str::to_owned));
            let is_newer = |record: &Value| time(record) > newest.as_deref();
            received.iter().position(is_newer).unwrap_or(received.len())
        }
    };
    for (record, known) in received.iter().zip(&mut known).take(there) {
        let of_prompt = || prompt(record).and_then(|_| line_with(end, record["uuid"].as_str()?));
        *known = known.take().or_else(of_prompt).or(Some(Value::Null));
    }
    without(received, known)
}

/// The records without those that the transcript has by now.
pub fn still_missing(records: Vec<Value>, end: &[u8]) -> Vec<Value> {
    let known = known(&records, end, usize::MAX);
    without(records, known)
}

/// The working folder of the newest line that names one.
pub fn newest_cwd(end: &[u8]) -> Option<String> {
    lines(end).filter(|line| line.contains("\"cwd\"")).find_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        line["cwd"].as_str().map(str::to_owned)
    })
}

/// For each record the line of the transcript that has it. Stops `near` lines before the newest one that has any.
fn known(records: &[Value], end: &[u8], near: usize) -> Vec<Option<Value>> {
    let mut known = vec![None; records.len()];
    let (mut any, mut after) = (false, 0);
    for line in lines(end) {
        after += usize::from(any);
        if after > near {
            break;
        }
        let open = |known: &[Option<Value>], n: usize| {
            known[n].is_none() && key(&records[n]).is_some_and(|key| line.contains(key))
        };
        if !(0..records.len()).any(|n| open(&known, n)) {
            continue;
        }
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        for n in 0..records.len() {
            if open(&known, n) && has(&value, &records[n]) {
                known[n] = Some(value.clone());
                any = true;
            }
        }
    }
    known
}

/// The records that are not known. What follows a known prompt names that prompt. A private turn is left out.
fn without(records: Vec<Value>, known: Vec<Option<Value>>) -> Vec<Value> {
    let (mut left, mut batch, mut is_private, mut was_left) = (Vec::new(), None, false, true);
    for (mut record, known) in records.into_iter().zip(known) {
        if let Some(text) = prompt(&record) {
            is_private = known.is_some() && keep_public(text).is_none();
            let named = |line: &Value| line["promptId"].as_str().map(str::to_owned);
            let own = || Some(record["uuid"].as_str()?.replace('-', ""));
            batch = known.as_ref().filter(|line| !line.is_null()).and_then(|line| named(line).or_else(own));
        }
        // What marks a cut goes with what was cut.
        let is_mark = record.get("isApiErrorMessage").is_some();
        was_left = if is_mark { was_left } else { known.is_none() };
        if was_left && known.is_none() && !is_private {
            if let (Some(batch), None) = (&batch, prompt(&record)) {
                record["promptId"] = batch.as_str().into();
            }
            left.push(record);
        }
    }
    left
}

/// The lines of a text, the last one first.
fn lines(text: &[u8]) -> impl Iterator<Item = &str> {
    text.rsplit(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok())
}

fn line_with(end: &[u8], id: &str) -> Option<Value> {
    lines(end).filter(|line| line.contains(id)).find_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        (line["uuid"] == *id || line["attachment"]["source_uuid"] == *id).then_some(line)
    })
}

fn time(record: &Value) -> Option<&str> {
    record.get("timestamp")?.as_str()
}

/// The text of a prompt.
fn prompt(record: &Value) -> Option<&str> {
    (record["type"] == "user").then(|| record["message"]["content"].as_str())?
}

/// The block of a record that is no prompt.
fn block(record: &Value) -> &Value {
    &record["message"]["content"][0]
}

/// A word that each line with this record has.
fn key(record: &Value) -> Option<&str> {
    if prompt(record).is_some() {
        return record["uuid"].as_str();
    }
    let block = block(record);
    match block["type"].as_str()? {
        "tool_use" => block["id"].as_str(),
        "tool_result" => block["tool_use_id"].as_str(),
        _ => record["message"]["id"].as_str(),
    }
}

/// Whether a line of the transcript has the record, or more than it.
fn has(line: &Value, record: &Value) -> bool {
    if prompt(record).is_some() {
        let id = &record["uuid"];
        return line["uuid"] == *id || line["attachment"]["source_uuid"] == *id;
    }
    if line["uuid"].is_string() && line["uuid"] == record["uuid"] {
        return true;
    }
    let wanted = block(record);
    let is_it = |block: &Value| {
        block["type"] == wanted["type"]
            && match wanted["type"].as_str() {
                Some("tool_use") => block["id"] == wanted["id"],
                Some("tool_result") => block["tool_use_id"] == wanted["tool_use_id"],
                _ => {
                    let text = |block: &Value| block["text"].as_str().map(|text| text.trim().to_owned());
                    line["message"]["id"] == record["message"]["id"]
                        && text(block).zip(text(wanted)).is_some_and(|(all, part)| all.starts_with(&part))
                }
            }
    };
    line["message"]["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn received() -> Vec<Value> {
        let at = |n: u32| format!("2026-11-25T04:00:0{n}.000Z");
        let said = |n: u32, block: Value| json!({ "type": "assistant", "timestamp": at(n), "message": { "id": "m", "content": [block] } });
        vec![
            json!({ "type": "user", "uuid": "11111111-0000-4000-8000-000000000001", "timestamp": at(1), "message": { "content": "Go" } }),
            said(2, json!({ "type": "text", "text": "I look." })),
            said(3, json!({ "type": "tool_use", "id": "t", "name": "Bash", "input": {} })),
            json!({ "type": "user", "timestamp": at(4), "message": { "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "x" }] } }),
            said(5, json!({ "type": "text", "text": "It is" })),
            json!({ "type": "assistant", "timestamp": at(6), "isApiErrorMessage": true, "message": { "content": [{ "type": "text", "text": "cut" }] } }),
        ]
    }

    fn left(transcript: &[Value]) -> (usize, Option<String>) {
        let end: String = transcript.iter().map(|line| format!("{line}\n")).collect();
        let rest = missing(received(), end.as_bytes());
        (rest.len(), rest.first().and_then(|first| first["promptId"].as_str().map(str::to_owned)))
    }

    #[test]
    fn what_the_transcript_has_is_left_out_and_the_rest_names_its_prompt() {
        let mut there = received();
        there[0]["promptId"] = "p".into();
        for n in 1..5 {
            assert_eq!(left(&there[..n]), (6 - n, Some("p".to_owned())), "{n}");
        }
        there[4]["message"]["content"][0]["text"] = "It is done.".into();
        assert_eq!(left(&there[..5]), (0, None), "the whole text has come");
        assert_eq!(left(&[]), (6, None));
        let earlier = json!({ "type": "user", "uuid": "x", "timestamp": "2026-11-25T03:00:00.000Z" });
        assert_eq!(left(&[earlier]), (6, None), "nothing of it is there");
        let later = json!({ "type": "user", "uuid": "x", "timestamp": "2026-11-25T05:00:00.000Z" });
        assert_eq!(left(std::slice::from_ref(&later)), (0, None), "the session has gone on elsewhere");
        let kept = missing(received(), format!("{}\n", there[0]).as_bytes());
        let goes_on = format!("{}\n{later}\n", there[0]);
        assert_eq!(still_missing(kept.clone(), goes_on.as_bytes()), kept, "it went on without them");
        let brought: String = there[..5].iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(still_missing(kept, brought.as_bytes()), Vec::<Value>::new());
        there[0].as_object_mut().unwrap().remove("promptId");
        assert_eq!(left(&there[..1]).1.as_deref(), Some("11111111000040008000000000000001"));
    }

    #[test]
    fn nothing_of_a_private_turn_is_left() {
        let mut received = received();
        received[0]["message"]["content"] = "<private>Go</private>".into();
        let end = format!("{}\n", received[0]);
        assert_eq!(missing(received, end.as_bytes()), Vec::<Value>::new());
    }
}
