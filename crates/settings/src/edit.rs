//! Edits the text of a configuration file: changes one setting and leaves every other byte as it is.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value as Toml};
use watchbill_protocol::settings::{SettingKey, SettingProblem};

use crate::file::{ParsedSettings, read};
use crate::list::with_items;
use crate::values::Value;

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// The text is not valid TOML.
    #[error("{0}; correct it first")]
    Malformed(SettingProblem),
    /// The file holds something else where the setting, or its table, belongs.
    #[error("{} cannot be written: the file has something else in its place; correct that first", .0.name())]
    Shape(SettingKey),
    /// The edit would change something else. That is a fault of this program, so the file is left alone.
    #[error("{} could not be written without changing something else", .0.name())]
    Unsafe(SettingKey),
}

/// Returns the text with one setting changed or removed.
///
/// # Errors
/// When the text cannot be parsed, or the edit would change anything else.
pub(crate) fn change(text: &str, key: SettingKey, value: Option<&Value>) -> Result<String, EditError> {
    let before = read(text);
    if before.broken {
        return Err(EditError::Malformed(before.problems.into_iter().next().ok_or(EditError::Unsafe(key))?));
    }
    let (mark, plain) = match text.strip_prefix('\u{feff}') {
        Some(plain) => ("\u{feff}", plain),
        None => ("", text),
    };
    let document = Document::parse(plain).map_err(|_| EditError::Unsafe(key))?;
    let after = match value {
        Some(value) => set(plain, &document, key, value)?,
        None => remove(plain, &document, key)?,
    };
    let after = format!("{mark}{after}");
    if changes_only(&before, &read(&after), key, value) { Ok(after) } else { Err(EditError::Unsafe(key)) }
}

/// Whether only this setting differs.
fn changes_only(
    before: &ParsedSettings,
    after: &ParsedSettings,
    key: SettingKey,
    value: Option<&Value>,
) -> bool {
    let others = |reading: &ParsedSettings| {
        let mut reading = reading.clone();
        reading.values.remove(&key);
        reading.wrong.remove(&key);
        let problems = reading.problems.into_iter().filter(|problem| problem.key != Some(key));
        (reading.broken, reading.values, reading.wrong, problems.map(|p| p.message).collect::<Vec<_>>())
    };
    after.values.get(&key) == value && others(before) == others(after)
}

/// The table that holds a setting, and the setting's name in it.
struct SettingPlace<'d> {
    table: &'d dyn TableLike,
    name: &'static str,
}

/// The place of a setting, `None` if its table is missing; then the table's name, `None` for a setting at the top
/// level.
fn find_place<'d>(
    document: &'d Document<&str>,
    key: SettingKey,
) -> Result<(Option<SettingPlace<'d>>, Option<&'static str>), EditError> {
    let Some((table, name)) = key.name().split_once('.') else {
        return Ok((Some(SettingPlace { table: document.as_table(), name: key.name() }), None));
    };
    match document.as_table().get(table) {
        None => Ok((None, Some(table))),
        Some(item) => {
            let found = item.as_table_like().ok_or(EditError::Shape(key))?;
            Ok((Some(SettingPlace { table: found, name }), Some(table)))
        }
    }
}

fn set(text: &str, document: &Document<&str>, key: SettingKey, value: &Value) -> Result<String, EditError> {
    let (found, table_name) = find_place(document, key)?;
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let name = key.name().rsplit('.').next().unwrap_or_default();
    let Some(place) = found else {
        let table = table_name.unwrap_or_default();
        let gap = if text.trim().is_empty() { "" } else { line };
        let written = value_text(text, value, None);
        return Ok(format!("{}{gap}[{table}]{line}{name} = {written}{line}", with_line_end(text, line)));
    };
    if let Some(item) = place.table.get(place.name) {
        let before = item.as_value().ok_or(EditError::Shape(key))?;
        let span = before.span().ok_or(EditError::Unsafe(key))?;
        return Ok(replaced(text, span, &value_text(text, value, Some(before))));
    }
    let written = value_text(text, value, None);
    if let Some(at) = after_last(text, place.table) {
        // A dotted name stays dotted: `timeouts.idle = 5` has no header that a bare name could stand under.
        let prefix = match (is_dotted(document, table_name), table_name) {
            (true, Some(table)) => format!("{table}."),
            _ => String::new(),
        };
        let before = with_line_end(&text[..at], line);
        return Ok(format!("{before}{prefix}{name} = {written}{line}{}", &text[at..]));
    }
    match table_name {
        None => Ok(format!("{name} = {written}{line}{}{text}", if text.is_empty() { "" } else { line })),
        Some(table) => {
            in_table(text, document, table, &format!("{name} = {written}"), line).ok_or(EditError::Shape(key))
        }
    }
}

/// The end of the line of the table's last value; `None` if the table is inline or has no values.
fn after_last(text: &str, table: &dyn TableLike) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| item.as_value()?.span()).map(|span| span.end);
    let last = ends.max()?;
    // A value that does not begin its line is in an inline table.
    let inline = table.iter().any(|(name, _)| {
        let start = table.key(name).and_then(toml_edit::Key::span).map_or(0, |span| span.start);
        !is_line_start(text, start)
    });
    (!inline).then(|| line_end(text, last))
}

/// Whether only a name and dots stand before this place in its line.
fn is_line_start(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[line..at].chars().all(|c| c.is_alphanumeric() || "._-\"' \t".contains(c))
}

fn is_dotted(document: &Document<&str>, table: Option<&str>) -> bool {
    let item = table.and_then(|table| document.as_table().get(table));
    item.and_then(Item::as_table).is_some_and(toml_edit::Table::is_dotted)
}

/// Inserts a setting into a table without values on lines of their own: below its header, or into its braces.
fn in_table(text: &str, document: &Document<&str>, table: &str, setting: &str, line: &str) -> Option<String> {
    match document.as_table().get(table)? {
        Item::Table(header) => {
            // A table that only its subtables imply has no header yet.
            let Some(span) = header.span().filter(|_| !header.is_implicit()) else {
                return Some(format!("{}{line}[{table}]{line}{setting}{line}", with_line_end(text, line)));
            };
            let at = line_end(text, text[span.start..].find(']').map(|end| span.start + end)?);
            Some(format!("{}{setting}{line}{}", with_line_end(&text[..at], line), &text[at..]))
        }
        Item::Value(Toml::InlineTable(braces)) => {
            let span = braces.span()?;
            let at = braces.iter().filter_map(|(_, value)| value.span()).map(|span| span.end).max();
            let (at, comma) = at.map_or((span.start + 1, ""), |end| (end, ","));
            let blank = if comma.is_empty() && !text[at..].starts_with(' ') { " " } else { "" };
            Some(format!("{}{comma} {setting}{blank}{}", &text[..at], &text[at..]))
        }
        _ => None,
    }
}

fn remove(text: &str, document: &Document<&str>, key: SettingKey) -> Result<String, EditError> {
    let (found, _) = find_place(document, key)?;
    let Some(place) = found else { return Ok(text.to_owned()) };
    let Some(item) = place.table.get(place.name) else { return Ok(text.to_owned()) };
    let value = item.as_value().and_then(Toml::span).ok_or(EditError::Shape(key))?;
    let name = place.table.key(place.name).and_then(toml_edit::Key::span).ok_or(EditError::Unsafe(key))?;
    if is_line_start(text, name.start) {
        let start = text[..name.start].rfind('\n').map_or(0, |end| end + 1);
        return Ok(replaced(text, start..line_end(text, value.end), ""));
    }
    // In braces, the comma after it goes too, or else the comma before it.
    let after = text[value.end..].find(|c: char| !c.is_whitespace()).map(|at| value.end + at);
    if let Some(comma) = after.filter(|at| text[*at..].starts_with(',')) {
        let rest = &text[comma + 1..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        return Ok(replaced(text, name.start..comma + 1 + blanks, ""));
    }
    let before = text[..name.start].trim_end();
    let start = if before.ends_with(',') { before.len() - 1 } else { before.len() };
    Ok(replaced(text, start..value.end, ""))
}

fn value_text(text: &str, value: &Value, before: Option<&Toml>) -> String {
    if let (Value::List(items), Some(Toml::Array(list))) = (value, before) {
        // Parsed again by itself: in `document`, its comments are only spans of the whole text.
        let own = list.span().and_then(|span| text.get(span)?.parse::<Toml>().ok());
        if let Some(Toml::Array(own)) = own {
            return with_items(&own, items);
        }
    }
    value.toml(before).to_string().trim().to_owned()
}

fn replaced(text: &str, span: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..span.start], &text[span.end..])
}

/// The start of the line after this position.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The text with its last line ended.
fn with_line_end(text: &str, line: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}{line}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns;
    use crate::table::{default, kind};
    use proptest::prelude::*;
    use watchbill_core::time::Millis;
    use watchbill_protocol::settings::SettingKey as K;

    const FILE: &str = "\
# Mine.
roots = ['~/a', '~/b'] # two

[timeouts] # how long
# the first
idle = 600 # ten minutes
  stale = \"60s\"

[unknown]
x = 1

[store]
exclude = [
  '~/one', # why
  # the other
  '~/two',
]
[alerts]
# the end
";

    fn secs(n: i64) -> Value {
        Value::Span(Millis::from_secs(n))
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    /// The lines that differ.
    fn difference(before: &str, after: &str) -> String {
        let gone = before.lines().filter(|line| !after.lines().any(|other| other == *line));
        let come = after.lines().filter(|line| !before.lines().any(|other| other == *line));
        gone.map(|line| format!("- {line}\n")).chain(come.map(|line| format!("+ {line}\n"))).collect()
    }

    #[test]
    fn one_setting_changes_and_all_else_stays() {
        let mut listing = String::new();
        for (key, value) in [
            (K::TimeoutsIdle, Some(secs(300))),
            (K::TimeoutsIdle, Some(Value::Span(Millis(1500)))),
            (K::TimeoutsStale, Some(secs(300))),
            (K::TimeoutsApproval, Some(secs(7))),
            (K::Roots, Some(list(&["~/a", "~/c"]))),
            (K::StoreExclude, Some(list(&["~/two"]))),
            (K::StoreExclude, Some(list(&["~/one", "~/two", "~/three"]))),
            (K::StoreCut, Some(Value::Number(0))),
            (K::AlertsSound, Some(Value::Flag(true))),
            (K::WindowTheme, Some(Value::Word("dark".into()))),
            (K::TimeoutsIdle, None),
            (K::StoreExclude, None),
            (K::Roots, None),
            (K::ArchiveEnabled, None),
        ] {
            let after = change(FILE, key, value.as_ref()).unwrap();
            listing.push_str(&format!("{} = {value:?}\n{}\n", key.name(), difference(FILE, &after)));
        }
        insta::assert_snapshot!(listing);
    }

    #[test]
    fn every_way_to_write_a_file_can_be_changed() {
        let mut listing = String::new();
        for text in [
            "",
            "# only a comment",
            "timeouts.idle = 5",
            "timeouts = { idle = 5, stale = 6 }\n",
            "timeouts = {}\n",
            "timeouts = { idle = 5 } # braces",
            "[timeouts]",
            "[timeouts]\r\nidle = 5\r\n[store]\r\n",
            "\u{feff}[store]\ncut = 5",
            "[timeouts.x]\na = 1\n",
            "\"timeouts\".\"idle\" = 5 # quoted\n",
        ] {
            for (key, value) in [
                (K::TimeoutsApproval, Some(secs(7))),
                (K::TimeoutsIdle, None),
                (K::Roots, Some(list(&["/r"]))),
            ] {
                let after = change(text, key, value.as_ref());
                listing.push_str(&format!(
                    "{text:?} {}: {:?}\n",
                    key.name(),
                    after.map_err(|e| e.to_string())
                ));
            }
        }
        insta::assert_snapshot!(listing);
    }

    #[test]
    fn a_wrong_value_is_replaced_and_a_wrong_table_refused() {
        let text = "timeouts = 5\n[alerts]\nsound = 'loud' # ?\nfoo = 1\n";
        let after = change(text, K::AlertsSound, Some(&Value::Flag(true))).unwrap();
        assert_eq!(after, text.replace("'loud'", "true"));
        assert_eq!(change(text, K::TimeoutsIdle, Some(&secs(1))), Err(EditError::Shape(K::TimeoutsIdle)));
        assert!(matches!(change("[x", K::Roots, None), Err(EditError::Malformed(_))));
    }

    fn value_of(key: K) -> BoxedStrategy<Value> {
        let name = prop::string::string_regex("[a-zA-Z~/ \"'#=\\[\\]é日{}.,*-]{0,8}[a-z]").unwrap();
        match kind(key) {
            crate::values::ValueKind::Flag => any::<bool>().prop_map(Value::Flag).boxed(),
            crate::values::ValueKind::Number(least, most) => {
                (least..=most.min(1 << 40)).prop_map(Value::Number).boxed()
            }
            crate::values::ValueKind::Span | crate::values::ValueKind::SpanOrNever => {
                // Half of the spans are whole seconds, because those are written differently.
                prop_oneof![(1..1i64 << 40).prop_map(Millis), (1..1i64 << 30).prop_map(Millis::from_secs)]
                    .prop_map(Value::Span)
                    .boxed()
            }
            crate::values::ValueKind::Size => (1..u64::MAX >> 1).prop_map(Value::Size).boxed(),
            crate::values::ValueKind::OneOf(words) => {
                prop::sample::select(words).prop_map(|word| Value::Word(word.to_owned())).boxed()
            }
            crate::values::ValueKind::Line => {
                name.prop_map(|name| Value::Word(name.trim().to_owned())).boxed()
            }
            crate::values::ValueKind::Hours => Just(list(&["22:00-07:00"])).boxed(),
            crate::values::ValueKind::Patterns => {
                let pattern = name.prop_map(|name| format!("/{}", name.replace(['{', '}', '[', ']'], "?")));
                // Any other pattern is refused before it reaches an edit.
                let pattern = pattern.prop_filter("it can fit a path", |it| patterns::can_match(it));
                prop::collection::vec(pattern, 1..4).prop_map(Value::List).boxed()
            }
            crate::values::ValueKind::List | crate::values::ValueKind::SomeOf => {
                prop::collection::vec(name, 1..4).prop_map(Value::List).boxed()
            }
        }
    }

    proptest! {
        /// `change` itself refuses an edit that changes anything but this setting.
        #[test]
        fn a_change_and_its_reverse_leave_every_byte(
            (key, first, second) in prop::sample::select(K::ALL).prop_flat_map(|key| (Just(key), value_of(key), value_of(key))),
            crlf in any::<bool>(),
            cut in any::<bool>(),
        ) {
            let mut file = if crlf { FILE.replace('\n', "\r\n") } else { FILE.to_owned() };
            if cut { file.truncate(file.trim_end().len()); }
            let begun = change(&file, key, Some(&first)).unwrap();
            let other = change(&begun, key, Some(&second)).unwrap();
            if !matches!(first, Value::List(_)) {
                prop_assert_eq!(change(&other, key, Some(&first)).unwrap(), begun.clone());
            }
            let without = change(&other, key, None).unwrap();
            prop_assert!(!read(&without).values.contains_key(&key));
            prop_assert!(without.contains("# Mine.") && without.contains("# the end") && without.contains("x = 1"));
            let _ = default(key);
        }
    }
}
