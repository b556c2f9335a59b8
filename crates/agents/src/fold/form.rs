//! Forms of tool servers ("elicitation"): the fields of a JSON schema as questions, and the answers as its values.
//!
//! The schema is the flat one of the Model Context Protocol: an object of strings, numbers, booleans and enumerations.

use std::sync::Arc;

use serde_json::{Map, Number, Value};
use watchbill_core::requests::decision::{Chosen, Decision, answers};
use watchbill_core::requests::request::{Choice, Question, RequestKind};

use super::json::{list, text};
use crate::driver::Refusal;

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    name: String,
    kind: Kind,
    /// The schema's values, where the options have other names.
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Flag,
}

/// The questions of a form. `Unknown` where a field has another shape, or where the form has none: half a form is never shown.
pub(crate) fn questions(message: &str, schema: &Value) -> (RequestKind, Vec<Field>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let read = |(name, field): (&String, &Value)| question(message, name, field);
    let pairs: Option<Vec<_>> = properties.into_iter().flatten().map(read).collect();
    match pairs {
        Some(pairs) if !pairs.is_empty() => {
            let (questions, fields): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            (RequestKind::Questions(questions), fields)
        }
        _ => (RequestKind::Unknown, Vec::new()),
    }
}

fn question(message: &str, name: &str, field: &Value) -> Option<(Question, Field)> {
    let kind = match text(field, "type")? {
        "string" => Kind::Text,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "boolean" => Kind::Flag,
        _ => return None,
    };
    let values: Vec<String> = match kind {
        Kind::Flag => vec!["true".to_owned(), "false".to_owned()],
        _ => list(field, "enum").map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>()?,
    };
    let names: Vec<&str> = list(field, "enumNames").filter_map(Value::as_str).collect();
    let labels =
        if names.len() == values.len() { names } else { values.iter().map(String::as_str).collect() };
    let choice = |label: &&str| Choice { label: Arc::from(*label), description: None };
    let title = text(field, "title").unwrap_or(name);
    let question = Question {
        text: format!("{message} {title} ({name})").trim().into(),
        header: Some(title.into()),
        options: labels.iter().map(choice).collect(),
        several: false,
    };
    Some((question, Field { name: name.to_owned(), kind, values }))
}

/// The values of a form: the body of an answer that accepts it, declines it or cancels it.
///
/// # Errors
/// When an answer is no value of its field.
pub(crate) fn answer(decision: &Decision, kind: &RequestKind, fields: &[Field]) -> Result<Value, Refusal> {
    let body = |action: &str| Value::from(Map::from_iter([("action".to_owned(), action.into())]));
    match (decision, kind) {
        (Decision::DenyAndStop, _) => Ok(body("cancel")),
        (Decision::Choose(chosen), RequestKind::Questions(questions)) => {
            let mismatch = |mismatch: watchbill_core::requests::decision::Mismatch| {
                Refusal::Unsupported(mismatch.to_string())
            };
            let texts = answers(questions, chosen).map_err(mismatch)?;
            let mut content = Map::new();
            for ((field, chosen), (_, text)) in fields.iter().zip(chosen).zip(texts) {
                content.insert(field.name.clone(), value(field, chosen, &text)?);
            }
            let mut body = body("accept");
            body["content"] = Value::Object(content);
            Ok(body)
        }
        _ => Ok(body("decline")),
    }
}

fn value(field: &Field, chosen: &Chosen, text: &str) -> Result<Value, Refusal> {
    let text = match chosen {
        Chosen::Options(places) => {
            places.first().and_then(|place| field.values.get(*place)).map_or(text, String::as_str)
        }
        Chosen::Text(_) => text.trim(),
    };
    let wrong =
        |wanted: &str| Refusal::Unsupported(format!("`{text}` is not {wanted}, which {} wants", field.name));
    match field.kind {
        Kind::Text => Ok(text.into()),
        Kind::Flag => text.parse::<bool>().map(Value::from).map_err(|_| wrong("true or false")),
        Kind::Integer => text.parse::<i64>().map(Value::from).map_err(|_| wrong("a whole number")),
        Kind::Number => {
            let number = text.parse::<f64>().ok().and_then(Number::from_f64);
            number.map(Value::Number).ok_or_else(|| wrong("a number"))
        }
    }
}
