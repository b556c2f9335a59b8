//! Reads the text of a configuration file setting by setting. A mistake in one does not affect the others.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml_edit::visit::{Visit, visit_table_like_kv};
use toml_edit::{Document, Item, TableLike};
use watchbill_protocol::settings::{SettingKey, SettingProblem};

use crate::table::{guards_archive, guards_privacy, kind};
use crate::values::Value;

/// The contents of a configuration text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ParsedSettings {
    /// The valid values.
    pub values: BTreeMap<SettingKey, Value>,
    /// Settings with a wrong value, and settings that a misspelt name may have meant.
    pub wrong: BTreeSet<SettingKey>,
    /// In the order of the file.
    pub problems: Vec<SettingProblem>,
    /// The text is not valid TOML, so no setting is known.
    pub broken: bool,
}

/// Reads a text. Never fails: a part that cannot be read becomes a problem.
pub(crate) fn read(text: &str) -> ParsedSettings {
    // Editors on Windows put a byte order mark before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            let problems = vec![problem(text, None, error.span(), what)];
            return ParsedSettings { problems, broken: true, ..ParsedSettings::default() };
        }
    };
    let mut reading = ParsedSettings::default();
    let mut found: Vec<(usize, SettingProblem)> = Vec::new();
    let mut meant: BTreeSet<SettingKey> = BTreeSet::new();
    let mut note = |key: Option<SettingKey>, span: Option<Range<usize>>, what: String| {
        found.push((span.as_ref().map_or(0, |span| span.start), problem(text, key, span, what)));
    };
    for (name, item) in document.as_table().iter() {
        let place = document.as_table().key(name).and_then(toml_edit::Key::span);
        if let Some(key) = key_named(name) {
            take(&mut reading, key, item, &mut note);
            meant.extend(settings_meant_by(None, &names_in(item)));
        } else if !keys_under(name).is_empty() {
            match item.as_table_like() {
                Some(table) => meant.extend(take_table(&mut reading, name, table, &mut note)),
                None => {
                    let what = format!("`{name}` is a table: write [{name}] above its settings");
                    note(None, item.span().or(place), what);
                    reading.wrong.extend(keys_under(name));
                    meant.extend(settings_meant_by(None, &names_in(item)));
                }
            }
        } else {
            note(None, place, unknown(name, "", &top_names()));
            let mut names = names_in(item);
            names.push(name);
            meant.extend(settings_meant_by(Some(name), &names));
        }
    }
    // An unknown name may have meant a setting that has no valid value elsewhere.
    reading.wrong.extend(meant.into_iter().filter(|key| !reading.values.contains_key(key)));
    found.sort_by_key(|(at, _)| *at);
    reading.problems = found.into_iter().map(|(_, problem)| problem).collect();
    reading
}

type Note<'n> = &'n mut dyn FnMut(Option<SettingKey>, Option<Range<usize>>, String);

/// Returns the settings that unknown names in this table may have meant.
fn take_table(
    reading: &mut ParsedSettings,
    table_name: &str,
    table: &dyn TableLike,
    note: Note<'_>,
) -> BTreeSet<SettingKey> {
    let mut meant = BTreeSet::new();
    for (name, item) in table.iter() {
        let mut names = names_in(item);
        match key_named(&format!("{table_name}.{name}")) {
            Some(key) => take(reading, key, item, note),
            None => {
                let place = table.key(name).and_then(toml_edit::Key::span);
                let known: Vec<&str> = keys_under(table_name)
                    .into_iter()
                    .filter_map(|key| key.name().split_once('.').map(|(_, name)| name))
                    .collect();
                note(None, place, unknown(name, &format!(" under [{table_name}]"), &known));
                meant.extend(keys_under(table_name).into_iter().filter(has_guarded_default));
                names.push(name);
            }
        }
        meant.extend(settings_meant_by(None, &names));
    }
    meant
}

/// Whether the default must not replace a value that cannot be read.
fn has_guarded_default(key: &SettingKey) -> bool {
    guards_privacy(*key) || guards_archive(*key)
}

/// The settings that matter and that one of these names may have meant: it resembles the name of the setting or of
/// its table. `top` is an unknown name at the top level.
fn settings_meant_by(top: Option<&str>, names: &[&str]) -> Vec<SettingKey> {
    let is_meant = |key: &SettingKey| {
        let near = |part: &str| names.iter().any(|name| is_like(part, name));
        let first = key.name().split('.').next().unwrap_or_default();
        has_guarded_default(key)
            && (key.name().split('.').any(near)
                || top.is_some_and(|top| is_close(first, top))
                || (*key == SettingKey::StoreExclude && names.iter().any(|name| excludes(name))))
    };
    SettingKey::ALL.iter().copied().filter(is_meant).collect()
}

/// Whether a name looks like a form of `exclude`.
fn excludes(name: &str) -> bool {
    name.to_lowercase().contains("exclu")
        || name.split(|c: char| !c.is_alphanumeric()).any(|word| is_like("exclude", word))
}

/// All names inside a table or list, at any depth.
fn names_in(item: &Item) -> Vec<&str> {
    struct Names<'i>(Vec<&'i str>);
    impl<'i> Visit<'i> for Names<'i> {
        fn visit_table_like_kv(&mut self, name: &'i str, item: &'i Item) {
            self.0.push(name);
            visit_table_like_kv(self, name, item);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_item(item);
    names.0
}

fn take(reading: &mut ParsedSettings, key: SettingKey, item: &Item, note: Note<'_>) {
    let taken = match item.as_value() {
        Some(value) => kind(key).of_toml(value),
        None => Err(format!("expected a value; found a table, as in {} = …", key.name())),
    };
    match taken {
        Ok(value) => {
            reading.values.insert(key, value);
        }
        Err(what) => {
            reading.wrong.insert(key);
            note(Some(key), item.span(), what);
        }
    }
}

/// The setting of this name.
pub(crate) fn key_named(name: &str) -> Option<SettingKey> {
    SettingKey::ALL.iter().copied().find(|key| key.name() == name)
}

fn keys_under(table: &str) -> Vec<SettingKey> {
    let under = |key: &SettingKey| key.name().split_once('.').is_some_and(|(above, _)| above == table);
    SettingKey::ALL.iter().copied().filter(under).collect()
}

fn top_names() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        SettingKey::ALL.iter().map(|key| key.name().split('.').next().unwrap_or_default()).collect();
    names.dedup();
    names
}

fn unknown(name: &str, place: &str, known: &[&str]) -> String {
    let name: String = name.chars().take(60).filter(|c| !c.is_control()).collect();
    let close = known.iter().find(|known| is_close(known, &name));
    match close {
        Some(close) => format!("`{name}`{place} is not known; did you mean `{close}`?"),
        None => format!("`{name}`{place} is not known; there are: {}", known.join(", ")),
    }
}

/// Whether the names differ in at most one letter: one too many, missing or wrong, or two swapped.
fn is_close(known: &str, name: &str) -> bool {
    strsim::osa_distance(known, &name.to_lowercase()) <= 1
}

/// Like [`is_close`], but names of up to four letters must be equal, because one other letter makes them another
/// word.
fn is_like(known: &str, name: &str) -> bool {
    const SHORT: usize = 4;
    let is_long = known.chars().count() > SHORT && name.chars().count() > SHORT;
    name.to_lowercase() == known || (is_long && is_close(known, name))
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
        assert!(reading.wrong.contains(&SettingKey::WindowTheme), "nothing is known of what stood there");
    }

    #[test]
    fn a_misspelt_name_puts_a_setting_that_matters_in_doubt() {
        use SettingKey as K;
        for (text, in_doubt) in [
            ("[store]\nexcludes = ['/a']", &[K::StoreExclude][..]),
            ("[Store]\nexclude = ['/a']", &[K::StoreCut, K::StoreExclude]),
            ("exclude = ['/a']", &[K::StoreExclude]),
            ("[privacy]\nexclude = ['/a']", &[K::StoreExclude]),
            ("root = ['/a']", &[K::Roots]),
            ("[archive]\nenabled = true\nbugdet = '20GiB'", &[K::ArchiveBudget, K::ArchiveKeep]),
            ("archiv = { enabled = true }", &[K::ArchiveBudget, K::ArchiveKeep]),
            ("[archive]\nexclude = ['/a']", &[K::StoreExclude, K::ArchiveBudget, K::ArchiveKeep]),
            ("[window]\ntheme = 'dark'\nexclude = ['/a']", &[K::StoreExclude]),
            ("[alerts]\nroots = ['/a']", &[K::Roots]),
            ("exclude_paths = ['/a']", &[K::StoreExclude]),
            ("exclusions = ['/a']", &[K::StoreExclude]),
            ("[history]\nexclude_dirs = ['/a']", &[K::StoreExclude]),
            ("[roster]\nexlude_dirs = ['/a']", &[K::StoreExclude]),
            ("[privacy.paths.all]\nEXCLUDE = ['/a']", &[K::StoreExclude]),
            ("[[privacy]]\nexclude = ['/a']", &[K::StoreExclude]),
            ("[[window]]\nexclude = ['/a']", &[K::StoreExclude]),
            ("[window.theme.dark]\nexclude = ['/a']", &[K::StoreExclude]),
            ("[alerts]\nmuted = ['a', [{ b = { exclude = 'c' } }]]", &[K::StoreExclude]),
            ("roots = [{ path = '/a', exclude = '/b' }]", &[K::Roots, K::StoreExclude]),
            // Short names may mean anything.
            ("out = 3", &[]),
            ("[output]\nput = 1", &[]),
            ("[window]\nout = 3", &[]),
            ("[colors]\nroot = 'red'", &[]),
            // The setting has a valid value elsewhere, or the name resembles none that matters.
            ("[store]\nexclude = ['/a']\ncut = 1\n[window]\nexclude = ['/b']", &[]),
            ("[store]\nexclude = ['/a']\ncut = 1\nsize = 2", &[]),
            ("[colours]\nred = 1", &[]),
            ("[window]\nthem = 'dark'", &[]),
        ] {
            let reading = read(text);
            let wrong: Vec<K> = reading.wrong.iter().copied().filter(has_guarded_default).collect();
            let mut expected = in_doubt.to_vec();
            if text.contains("excludes") {
                expected.push(K::StoreCut);
            }
            expected.sort();
            assert_eq!(wrong, expected, "{text}");
        }
    }

    #[test]
    fn invalid_toml_is_reported_with_its_position() {
        for (text, place) in [("roots = [\n", (1, 9)), ("a = 1\nb = \n", (2, 5)), ("x", (1, 2))] {
            let reading = read(text);
            assert!(reading.broken && reading.values.is_empty());
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
                prop_assert!(reading.broken || problem.line.is_some(), "{}", problem);
            }
        }
    }
}
