//! The valid values of the configuration file, with defaults for the rest.

use std::collections::BTreeMap;

use watchbill_core::time::Millis;
use watchbill_protocol::settings::SettingKey;

use crate::table::default;
use crate::values::Value;

/// The values of the file. A missing value is the default, in the type that [`crate::table::kind`] accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileValues(pub BTreeMap<SettingKey, Value>);

impl FileValues {
    pub(crate) fn value(&self, key: SettingKey) -> Value {
        self.0.get(&key).cloned().unwrap_or_else(|| default(key))
    }

    pub(crate) fn span(&self, key: SettingKey) -> Millis {
        match self.value(key) {
            Value::Span(span) => span,
            _ => Millis(i64::MAX),
        }
    }

    pub(crate) fn flag(&self, key: SettingKey) -> bool {
        self.value(key) == Value::Flag(true)
    }

    pub(crate) fn number(&self, key: SettingKey) -> i64 {
        match self.value(key) {
            Value::Number(number) => number,
            _ => 0,
        }
    }

    pub(crate) fn word(&self, key: SettingKey) -> String {
        match self.value(key) {
            Value::Word(word) => word,
            _ => String::new(),
        }
    }

    pub(crate) fn list(&self, key: SettingKey) -> Vec<String> {
        match self.value(key) {
            Value::List(list) => list,
            _ => Vec::new(),
        }
    }
}
