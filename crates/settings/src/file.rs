//! Reads the text of a configuration file setting by setting. A mistake in one does not affect the others.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Document, Item, Key, TableLike};
use watchbill_protocol::settings::{SettingKey, SettingProblem};

use crate::table::{guards, kind};
use crate::values::Value;

/// The contents of a configuration text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ParsedSettings {
    /// The valid values.
    pub values: BTreeMap<SettingKey, Value>,
    /// In the order of the file.
    pub problems: Vec<SettingProblem>,
    /// The first mistake that may hide a setting of [`guards`].
    pub doubt: Option<SettingProblem>,
}

impl ParsedSettings {
    /// A text of which nothing can be read.
    pub(crate) fn unreadable(problem: SettingProblem) -> Self {
        Self { values: BTreeMap::new(), doubt: Some(problem.clone()), problems: vec![problem] }
    }

    /// Whether a mistake may hide the value of this setting: its own, or one in a name.
    pub(crate) fn may_hide(&self, key: SettingKey) -> bool {
        self.problems.iter().any(|problem| problem.key.is_none_or(|wrong| wrong == key))
    }
}

/// Reads a text. Never fails: a part that cannot be read becomes a problem.
pub(crate) fn read(text: &str) -> ParsedSettings {
    // Editors on Windows put a byte order mark before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            return ParsedSettings::unreadable(problem(text, None, error.span(), what));
        }
    };
    let mut reader = Reader { text, parsed: ParsedSettings::default() };
    for (name, item) in document.as_table().iter() {
        let place = document.as_table().key(name).and_then(Key::span);
        let under = names_under(name);
        match (key_named(name), item.as_table_like()) {
            (Some(key), _) => reader.take(key, item),
            (None, Some(table)) if !under.is_empty() => reader.take_table(name, table, &under),
            (None, _) if under.is_empty() => reader.unknown(name, place, "", &top_names(), true),
            (None, _) => {
                let what = format!("`{name}` is a table: write [{name}] above its settings");
                reader.note(None, item.span().or(place), what, guards_under(name));
            }
        }
    }
    let mut parsed = reader.parsed;
    parsed.problems.sort_by_key(|problem| (problem.line, problem.column));
    parsed
}

struct Reader<'t> {
    text: &'t str,
    parsed: ParsedSettings,
}

impl Reader<'_> {
    fn note(&mut self, key: Option<SettingKey>, span: Option<Range<usize>>, what: String, doubtful: bool) {
        let problem = problem(self.text, key, span, what);
        if doubtful {
            self.parsed.doubt.get_or_insert_with(|| problem.clone());
        }
        self.parsed.problems.push(problem);
    }

    fn take(&mut self, key: SettingKey, item: &Item) {
        let taken = match item.as_value() {
            Some(value) => kind(key).of_toml(value),
            None => Err(format!("expected a value; found a table, as in {} = …", key.name())),
        };
        match taken {
            Ok(value) => drop(self.parsed.values.insert(key, value)),
            Err(what) => self.note(Some(key), item.span(), what, guards(key)),
        }
    }

    fn take_table(&mut self, table_name: &str, table: &dyn TableLike, known: &[&str]) {
        for (name, item) in table.iter() {
            match key_named(&format!("{table_name}.{name}")) {
                Some(key) => self.take(key, item),
                None => {
                    let place = table.key(name).and_then(Key::span);
                    let doubtful = guards_under(table_name);
                    self.unknown(name, place, &format!(" under [{table_name}]"), known, doubtful);
                }
            }
        }
    }

    fn unknown(&mut self, name: &str, at: Option<Range<usize>>, place: &str, known: &[&str], doubtful: bool) {
        let name: String = name.chars().take(60).filter(|c| !c.is_control()).collect();
        let what = format!("`{name}`{place} is not known; there are: {}", known.join(", "));
        self.note(None, at, what, doubtful);
    }
}

/// The setting of this name.
fn key_named(name: &str) -> Option<SettingKey> {
    SettingKey::ALL.iter().copied().find(|key| key.name() == name)
}

/// The names in a table; empty if there is no such table.
fn names_under(table: &str) -> Vec<&'static str> {
    let names = SettingKey::ALL.iter().filter_map(|key| key.name().split_once('.'));
    names.filter(|(above, _)| *above == table).map(|(_, name)| name).collect()
}

/// Whether a table holds a setting of [`guards`].
fn guards_under(table: &str) -> bool {
    let is_under = |key: &SettingKey| key.name().split_once('.').is_some_and(|(above, _)| above == table);
    SettingKey::ALL.iter().any(|key| guards(*key) && is_under(key))
}

fn top_names() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        SettingKey::ALL.iter().map(|key| key.name().split('.').next().unwrap_or_default()).collect();
    names.dedup();
    names
}

fn problem(
    text: &str,
    key: Option<SettingKey>,
    span: Option<Range<usize>>,
    message: String,
) -> SettingProblem {
    let place = span.and_then(|span| text.get(..span.start)).map(|before| {
        let line = before.matches('\n').count() as u64 + 1;
        (line, before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1)
    });
    SettingProblem { key, line: place.map(|place| place.0), column: place.map(|place| place.1), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_mistake_has_its_line_and_the_rest_counts() {
        let text = "\
root = ['/a']
window = 3
[timeouts]
idle = 'soon'   # not yet
stale = 7
aproval = 5
[alerts]
quiet_hours = [
  '22:00-07:00',
  'noon',
]
dwell = { a = 1 }
[alerts.sound]
loud = true
[colours]
";
        let reading = read(text);
        let problems: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(problems.join("\n"));
        assert_eq!(reading.values.len(), 1);
        assert!(reading.values.contains_key(&SettingKey::TimeoutsStale));
        assert!(reading.may_hide(SettingKey::WindowTheme), "nothing is known of what stood there");
    }

    #[test]
    fn a_mistake_that_may_hide_a_setting_that_guards_is_a_doubt() {
        for (text, is_doubt) in [
            ("[store]\nexcludes = ['/a']", true),
            ("[Store]\nexclude = ['/a']", true),
            ("exclude = ['/a']", true),
            ("[privacy.paths]\nexclude = ['/a']", true),
            ("[[store]]\nexclude = ['/a']", true),
            ("store = ['/a']", true),
            ("roots = [{ path = '/a' }]", true),
            ("[store]\nexclude = ['/a/{b,c}']", true),
            ("[archive]\nenabled = true\nbugdet = '20GiB'", true),
            ("[archive]\nkeep = 'forever'", true),
            ("[store]\nexclude = ['/a']\nsize = 2", true),
            ("[window]\nthem = 'dark'", false),
            ("window = 3", false),
            ("[window.theme.dark]\nred = 1", false),
            ("[timeouts]\nidle = 'soon'", false),
        ] {
            let parsed = read(text);
            assert_eq!(parsed.doubt.is_some(), is_doubt, "{text}");
            assert!(!parsed.problems.is_empty(), "{text}");
        }
    }

    #[test]
    fn invalid_toml_is_reported_with_its_position() {
        for (text, place) in [("roots = [\n", (1, 9)), ("a = 1\nb = \n", (2, 5)), ("x", (1, 2))] {
            let reading = read(text);
            assert!(reading.doubt.is_some() && reading.values.is_empty());
            let problem = &reading.problems[0];
            assert_eq!((problem.line.unwrap(), problem.line.is_some()), (place.0, true), "{problem}");
        }
    }

    #[test]
    fn every_way_to_write_a_table_is_read() {
        for text in [
            "timeouts.idle = 5",
            "timeouts = { idle = 5 }",
            "[timeouts]\nidle = 5",
            "\u{feff}[timeouts]\r\nidle = 5\r\n",
        ] {
            let reading = read(text);
            assert_eq!(reading.problems, [], "{text}");
            assert!(reading.values.contains_key(&SettingKey::TimeoutsIdle), "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in ".{0,200}", lines in prop::collection::vec("(\\[[a-z.]*\\]|[a-z.]{1,12} = ([0-9]{1,4}|'[a-z0-9:-]*'|\\[\\]|\\{\\})|#x)", 0..8)) {
            read(&text);
            let reading = read(&lines.join("\n"));
            for problem in &reading.problems {
                prop_assert!(reading.values.is_empty() || problem.line.is_some(), "{}", problem);
            }
        }
    }
}
