//! Edits the text of a configuration file: changes one setting and leaves every other byte as it is.

use toml_edit::{Document, DocumentMut, Item, TableLike, Value as Toml};
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
    let (mark, plain) = match text.strip_prefix('\u{feff}') {
        Some(plain) => ("\u{feff}", plain),
        None => ("", text),
    };
    if let (Err(_), Some(problem)) = (Document::parse(plain), before.problems.first()) {
        return Err(EditError::Malformed(problem.clone()));
    }
    let after = match value {
        Some(value) => set(plain, key, value)?,
        None => remove(plain, key)?,
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
        let mut values = reading.values.clone();
        values.remove(&key);
        let problems = reading.problems.iter().filter(|problem| problem.key != Some(key));
        (values, problems.map(|problem| problem.message.clone()).collect::<Vec<_>>())
    };
    after.values.get(&key) == value && others(before) == others(after)
}

fn set(text: &str, key: SettingKey, value: &Value) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse().map_err(|_| EditError::Unsafe(key))?;
    // In a file of comments alone, the comments stay above what is added.
    let mut head = if document.is_empty() { text.to_owned() } else { String::new() };
    if !head.is_empty() {
        document.set_trailing("");
        head.push_str(if head.ends_with('\n') { "\n" } else { "\n\n" });
    }
    let (table, name) = match key.name().split_once('.') {
        None => (document.as_table_mut() as &mut dyn TableLike, key.name()),
        Some((table, name)) => {
            let table = document.entry(table).or_insert(toml_edit::table());
            (table.as_table_like_mut().ok_or(EditError::Shape(key))?, name)
        }
    };
    if let Some(item) = table.get_mut(name) {
        let before = item.as_value_mut().ok_or(EditError::Shape(key))?;
        let mut after = match (value, &*before) {
            (Value::List(items), Toml::Array(list)) => Toml::Array(with_items(list, items)),
            _ => value.toml(Some(before)),
        };
        *after.decor_mut() = before.decor().clone();
        *before = after;
    } else {
        table.insert(name, Item::Value(value.toml(None)));
    }
    let after = head + &document.to_string();
    // The library ends each line with a line feed alone.
    Ok(if text.contains("\r\n") { after.replace("\r\n", "\n").replace('\n', "\r\n") } else { after })
}

/// Removes the line of a setting; the comments above it stay.
fn remove(text: &str, key: SettingKey) -> Result<String, EditError> {
    let document = Document::parse(text).map_err(|_| EditError::Unsafe(key))?;
    let (table, name) = match key.name().split_once('.') {
        None => (Some(document.as_table() as &dyn TableLike), key.name()),
        Some((table, name)) => {
            let item = document.as_table().get(table);
            let table = item.map(|item| item.as_table_like().ok_or(EditError::Shape(key))).transpose()?;
            (table, name)
        }
    };
    let Some((name, item)) = table.and_then(|table| table.get_key_value(name)) else {
        return Ok(text.to_owned());
    };
    let value = item.as_value().and_then(Toml::span).ok_or(EditError::Shape(key))?;
    let name = name.span().ok_or(EditError::Unsafe(key))?;
    let start = text[..name.start].rfind('\n').map_or(0, |end| end + 1);
    // Only a name and dots stand before it in its line.
    if text[start..name.start].chars().all(|c| c.is_alphanumeric() || "._-\"' \t".contains(c)) {
        let end = text[value.end..].find('\n').map_or(text.len(), |end| value.end + end + 1);
        return Ok(format!("{}{}", &text[..start], &text[end..]));
    }
    // In braces, the comma after it goes too, or else the comma before it.
    if let Some(rest) = text[value.end..].trim_start().strip_prefix(',') {
        return Ok(format!("{}{}", &text[..name.start], rest.trim_start_matches([' ', '\t'])));
    }
    let before = text[..name.start].trim_end();
    Ok(format!("{}{}", before.strip_suffix(',').unwrap_or(before), &text[value.end..]))
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
            crate::values::ValueKind::Prices => Just(list(&["a-model 3 15 3.75 0.3"])).boxed(),
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
