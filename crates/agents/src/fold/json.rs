//! Reads fields of JSON whose shape another program decides.

use serde_json::Value;
use watchbill_core::requests::visible::visible_line;

/// The longest line that stands for a tool's input, in characters.
const TARGET: usize = 200;

/// The most values of a line. An object counts as 20, because it takes as much memory.
const MAX_VALUES: usize = 40_000;

/// Whether a line of JSON has so many values that they would take far more memory than the line.
fn is_heavy(line: &[u8]) -> bool {
    let (mut weight, mut in_string, mut escaped) = (0, false, false);
    // Fewer bytes cannot have as many.
    if line.len() < MAX_VALUES / 20 {
        return false;
    }
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => weight += 20,
            b'[' | b',' => weight += 1,
            _ => {}
        }
    }
    weight > MAX_VALUES
}

/// A line as an object.
///
/// # Errors
/// With a text for the user when the line is no JSON object.
pub(crate) fn object(line: &str, writer: &str) -> Result<Value, String> {
    if is_heavy(line.as_bytes()) {
        return Err(format!("{writer} wrote a line of more than {MAX_VALUES} values. It changed nothing."));
    }
    let why = match serde_json::from_str::<Value>(line) {
        Ok(value) if value.is_object() => return Ok(value),
        Ok(_) => "is no JSON object".to_owned(),
        Err(error) => format!("is no JSON ({error})"),
    };
    Err(format!("{writer} wrote a line that {why}. The line is in the log. It changed nothing."))
}

/// The text of a field that is not empty.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// The text of a field, owned.
pub(crate) fn owned(value: &Value, name: &str) -> Option<String> {
    text(value, name).map(str::to_owned)
}

/// The elements of a field that is a list.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The number of a field.
pub(crate) fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

/// The texts of content blocks, or the text that the content is.
pub(crate) fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<_> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// What a tool acts on, in one line: the field that tells calls apart, else the first text of the input.
pub(crate) fn target(input: &Value) -> String {
    let about =
        ["command", "file_path", "notebook_path", "pattern", "url", "query", "description", "path", "plan"];
    let told = about.iter().find_map(|name| text(input, name));
    let first = || input.as_object()?.values().find_map(Value::as_str);
    visible_line(told.or_else(first).unwrap_or_default(), TARGET)
}
