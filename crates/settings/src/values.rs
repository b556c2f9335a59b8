//! The kinds of values: which values a setting accepts, and how a value is written.

use toml_edit::{Array, Value as Toml};
use watchbill_agents::{Agent, traits};
use watchbill_core::attention::QuietHours;
use watchbill_core::prices::Prices;
use watchbill_core::time::Millis;
use watchbill_protocol::settings::SettingValue;

use crate::patterns::can_match;

/// A value that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Flag(bool),
    Number(i64),
    Span(Millis),
    /// A span that never ends.
    Never,
    /// Bytes.
    Size(u64),
    Word(String),
    List(Vec<String>),
}

/// The values that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Flag,
    /// A whole number within these bounds.
    Number(i64, i64),
    /// A time above zero.
    Span,
    /// A time above zero, or the word `never`.
    SpanOrNever,
    Size,
    OneOf(&'static [&'static str]),
    /// Any single line.
    Line,
    /// Any number of names, patterns or folders.
    List,
    /// At least one of these.
    SomeOf,
    /// Any number of patterns of whole paths.
    Patterns,
    /// Ranges of hours of the day.
    Hours,
    /// Prices of models.
    Prices,
}

/// The longest span: the date at its end can still be shown.
const MAX_SPAN: Millis = Millis::from_secs(365_000 * 24 * 3600);

/// A value from the file or the window, not checked yet.
enum Raw {
    Flag(bool),
    Whole(i64),
    Part(f64),
    Text(String),
    List(Vec<String>),
    Else(String),
}

impl ValueKind {
    /// Parses a value from the file.
    ///
    /// # Errors
    /// A message with the expected and the found value.
    pub(crate) fn of_toml(self, value: &Toml) -> Result<Value, String> {
        let raw = match value {
            Toml::Boolean(flag) => Raw::Flag(*flag.value()),
            Toml::Integer(number) => Raw::Whole(*number.value()),
            Toml::Float(number) => Raw::Part(*number.value()),
            Toml::String(text) => Raw::Text(text.value().clone()),
            Toml::Array(list) => match list.iter().find(|item| !item.is_str()) {
                None => Raw::List(list.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()),
                Some(wrong) => Raw::Else(format!("a list that holds {}", shown(wrong))),
            },
            other => Raw::Else(shown(other)),
        };
        self.take(raw)
    }

    /// Parses a value from the window.
    ///
    /// # Errors
    /// A message with the expected and the found value.
    pub(crate) fn of_wire(self, value: &SettingValue) -> Result<Value, String> {
        self.take(match value {
            SettingValue::Flag(flag) => Raw::Flag(*flag),
            SettingValue::Number(number) => Raw::Whole(*number),
            SettingValue::Text(text) => Raw::Text(text.clone()),
            SettingValue::List(list) => Raw::List(list.clone()),
        })
    }

    fn take(self, raw: Raw) -> Result<Value, String> {
        let taken = match (self, &raw) {
            (Self::Flag, Raw::Flag(flag)) => Some(Value::Flag(*flag)),
            (Self::Number(least, most), Raw::Whole(number)) => {
                (least..=most).contains(number).then_some(Value::Number(*number))
            }
            (Self::SpanOrNever, Raw::Text(text)) if text.trim() == "never" => Some(Value::Never),
            (Self::Span | Self::SpanOrNever, raw) => match span(raw) {
                Some(span) if span > MAX_SPAN => {
                    return Err(format!("expected no more than 1000 years; found {}", raw.shown()));
                }
                span => span.filter(|span| span.0 > 0).map(Value::Span),
            },
            (Self::Size, Raw::Whole(bytes)) => u64::try_from(*bytes).ok().filter(|n| *n > 0).map(Value::Size),
            (Self::Size, Raw::Text(text)) => parse_size(text).filter(|bytes| *bytes > 0).map(Value::Size),
            (Self::OneOf(words), Raw::Text(text)) => {
                words.contains(&text.as_str()).then(|| Value::Word(text.clone()))
            }
            (Self::Line, Raw::Text(text)) => {
                (!text.contains(char::is_control)).then(|| Value::Word(text.trim().to_owned()))
            }
            (Self::List, Raw::List(list)) => whole(list).then(|| Value::List(list.clone())),
            (Self::SomeOf, Raw::List(list)) => {
                (whole(list) && !list.is_empty()).then(|| Value::List(list.clone()))
            }
            (Self::Patterns, Raw::List(list)) => (whole(list)
                && list.iter().all(|pattern| can_match(pattern)))
            .then(|| Value::List(list.clone())),
            (Self::Prices, Raw::List(list)) => (whole(list) && list.iter().all(|line| Prices::is_line(line)))
                .then(|| Value::List(list.clone())),
            (Self::Hours, Raw::List(list)) => {
                list.iter().map(|text| hours_text(text)).collect::<Option<Vec<_>>>().map(Value::List)
            }
            _ => None,
        };
        taken.ok_or_else(|| format!("expected {}; found {}", self.expected(), self.only_wrong(raw).shown()))
    }

    /// Of a list of patterns, keeps only the wrong ones.
    fn only_wrong(self, raw: Raw) -> Raw {
        match raw {
            Raw::List(list) if self == Self::Patterns && whole(&list) => {
                Raw::List(list.into_iter().filter(|pattern| !can_match(pattern)).collect())
            }
            raw => raw,
        }
    }

    fn expected(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Number(least, i64::MAX) => format!("a whole number, {least} or more"),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Span => "a time above zero: seconds, or a number with a unit, such as \"10m\"".to_owned(),
            Self::SpanOrNever => {
                "a time above zero: seconds, a number with a unit, such as \"365d\", or \"never\"".to_owned()
            }
            Self::Size => "a size above zero: bytes, or a number with a unit, such as \"5GB\"".to_owned(),
            Self::OneOf(words) => {
                format!("one of {}", words.iter().map(|w| format!("{w:?}")).collect::<Vec<_>>().join(", "))
            }
            Self::Line => "one line of text".to_owned(),
            Self::List => "a list of texts, none of them empty, such as [\"one\", \"two\"]".to_owned(),
            Self::SomeOf => {
                format!("a list with at least one folder, such as [\"~/{}\"]", traits(Agent::default()).folder)
            }
            Self::Patterns => {
                "a list of paths that begin with /, ~/ or **/ and contain no . or .. (* and ? match characters of a name, \
                 ** matches folders; write ? for a bracket), such as [\"~/secret/**\"]"
                    .to_owned()
            }
            Self::Prices => "a list of prices, each a model and four numbers, such as [\"my-model 3 15 3.75 0.3\"]".to_owned(),
            Self::Hours => "a list of hours, such as [\"22:00-07:00\"]".to_owned(),
        }
    }
}

impl Raw {
    fn shown(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Part(number) => number.to_string(),
            Self::Text(text) => cut(&format!("{text:?}")),
            Self::List(list) => cut(&format!("{list:?}")),
            Self::Else(words) => words.clone(),
        }
    }
}

/// Shortens a value of any length, so that a message stays one sentence.
fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn shown(value: &Toml) -> String {
    match value {
        Toml::String(text) => cut(&format!("{:?}", text.value())),
        Toml::Array(_) => "another list".to_owned(),
        Toml::InlineTable(_) => "a table".to_owned(),
        Toml::Datetime(_) => "a date".to_owned(),
        other => cut(other.to_string().trim()),
    }
}

fn whole(list: &[String]) -> bool {
    list.iter().all(|item| !item.trim().is_empty() && !item.contains(char::is_control))
}

impl Value {
    /// The value in the form of the protocol.
    pub(crate) fn wire(&self) -> SettingValue {
        match self {
            Self::Flag(flag) => SettingValue::Flag(*flag),
            Self::Number(number) => SettingValue::Number(*number),
            Self::Span(span) => SettingValue::Text(span_text(*span)),
            Self::Never => SettingValue::Text("never".to_owned()),
            Self::Size(bytes) => SettingValue::Text(size_text(*bytes)),
            Self::Word(word) => SettingValue::Text(word.clone()),
            Self::List(list) => SettingValue::List(list.clone()),
        }
    }

    /// The value in the form of the file, written like the value before it: a user who writes seconds as a number
    /// finds a number again.
    pub(crate) fn toml(&self, before: Option<&Toml>) -> Toml {
        match (self, before) {
            // A number stays a number, so that a change and its reverse restore the user's text.
            (Self::Span(span), Some(Toml::Integer(_) | Toml::Float(_))) if span.0 % 1000 == 0 => {
                Toml::from(span.0 / 1000)
            }
            #[allow(clippy::cast_precision_loss, reason = "what was accepted is far below 2^53")]
            (Self::Span(span), Some(Toml::Integer(_) | Toml::Float(_))) => Toml::from(span.0 as f64 / 1000.0),
            (Self::Size(bytes), Some(Toml::Integer(_))) if *bytes <= i64::MAX as u64 => {
                Toml::from(bytes.cast_signed())
            }
            _ => match self.wire() {
                SettingValue::Flag(flag) => Toml::from(flag),
                SettingValue::Number(number) => Toml::from(number),
                SettingValue::Text(text) => Toml::from(text),
                SettingValue::List(list) => Toml::Array(list.into_iter().collect::<Array>()),
            },
        }
    }
}

fn span(raw: &Raw) -> Option<Millis> {
    match raw {
        Raw::Whole(secs) => secs.checked_mul(1000).map(Millis),
        #[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
        Raw::Part(secs) => (secs.abs() < 1e12).then_some(Millis((secs * 1000.0).round() as i64)),
        Raw::Text(text) => parse_span(text).map(Millis),
        _ => None,
    }
}

/// Seconds, or a number with a unit: `90`, `90s`, `10m`, `24h`, `500ms`, `2d`.
fn parse_span(text: &str) -> Option<i64> {
    let (number, unit) = number_and_unit(text);
    let unit = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(unit)
}

/// In the largest unit without a remainder. One day is written in hours, because most people say "24 hours".
fn span_text(span: Millis) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")];
    let unit = units.iter().find(|(unit, name)| span.0 % unit == 0 && (*name != "d" || span.0 > *unit));
    match unit {
        Some((unit, name)) => format!("{}{name}", span.0 / unit),
        None => format!("{}ms", span.0),
    }
}

const SIZES: [(&str, u64); 9] = [
    ("TIB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GIB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MIB", 1 << 20),
    ("MB", 1_000_000),
    ("KIB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

/// Bytes, or a number with a unit: `5000000`, `500MB`, `5GiB`.
fn parse_size(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text);
    let unit = unit.to_ascii_uppercase();
    let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit || (unit.is_empty() && *name == "B"))?;
    number.parse::<u64>().ok()?.checked_mul(*bytes)
}

fn size_text(bytes: u64) -> String {
    let unit = SIZES.iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    unit.map_or_else(
        || bytes.to_string(),
        |(name, unit)| format!("{}{}", bytes / unit, name.replace('I', "i")),
    )
}

fn number_and_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..digits], text[digits..].trim())
}

/// Hours in their usual form. A range from a time to itself is refused: it could mean never or always.
fn hours_text(text: &str) -> Option<String> {
    let QuietHours { from, to } = QuietHours::parse(text).filter(|hours| hours.from != hours.to)?;
    Some(format!("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60))
}

#[cfg(test)]
mod tests;
