//! Every setting of the configuration file, with its accepted values and its default.

use watchbill_agents::{Agent, traits};
use watchbill_core::attention::LIMIT;
use watchbill_core::history::{ArchiveSettings, HistorySettings, RecoverySettings};
use watchbill_core::memory::MemorySettings;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_protocol::settings::SettingKey;

use crate::values::{Value, ValueKind};

/// The unit of sums in the program, against that of the setting.
pub(crate) const MICROS_PER_CENT: u64 = 10_000;

/// The accepted values.
pub(crate) fn kind(key: SettingKey) -> ValueKind {
    row(key).0
}

/// The default value.
pub(crate) fn default(key: SettingKey) -> Value {
    row(key).1
}

/// The accepted values and the default.
fn row(key: SettingKey) -> (ValueKind, Value) {
    use SettingKey as K;
    let (timeouts, archive, history) =
        (Timeouts::default(), ArchiveSettings::default(), HistorySettings::default());
    let (recovery, memory) = (RecoverySettings::default(), MemorySettings::default());
    match key {
        K::Roots => (ValueKind::SomeOf, Value::List(vec![format!("~/{}", traits(Agent::default()).folder)])),
        K::TimeoutsApproval => span(timeouts.approval),
        K::TimeoutsStale => span(timeouts.stale),
        K::TimeoutsIdle => span(timeouts.idle),
        K::RosterRecent => span(Millis::from_secs(24 * 3600)),
        K::WatchMode => one_of(&["auto", "native", "poll"]),
        K::WatchPollInterval | K::AlertsDwell => span(Millis::from_secs(2)),
        K::StoreCut => number(0, i64::MAX, history.cut as u64),
        K::StoreExclude => (ValueKind::Patterns, Value::List(Vec::new())),
        K::StoreSkipTools => (ValueKind::List, Value::List(history.skip)),
        K::StorePlanFolders | K::AlertsMuted | K::WindowViews => (ValueKind::List, Value::List(Vec::new())),
        K::PricesOwn => (ValueKind::Prices, Value::List(Vec::new())),
        K::AlertsQuietHours => (ValueKind::Hours, Value::List(Vec::new())),
        K::ArchiveBudget => (ValueKind::Size, Value::Size(archive.budget)),
        K::ArchiveKeep => (ValueKind::SpanOrNever, archive.keep.map_or(Value::Never, Value::Span)),
        K::ArchiveAfter => span(archive.after),
        K::ArchiveLevel => number(1, 19, u64::from(archive.level.unsigned_abs())),
        K::RecoveryStuck => span(recovery.stuck),
        K::RecoveryStale => span(recovery.stale),
        K::RecoveryEvery => span(recovery.every),
        K::WindowTheme => one_of(&["system", "light", "dark"]),
        K::WindowTray => one_of(&["colour", "dark", "light"]),
        K::WindowShortcut | K::ModelBaseUrl | K::ModelName | K::ModelKeyFile => {
            (ValueKind::Line, Value::Word(String::new()))
        }
        K::MemoryAccept => (ValueKind::OneOf(&["person", "rules", "all"]), Value::Word("rules".to_owned())),
        K::MemoryContext => one_of(&["off", "files", "all"]),
        K::MemorySessionTokens => number(0, 3_000, memory.session_tokens as u64),
        K::ModelTimeout => span(memory.model.timeout),
        K::ModelDailyTokens => number(0, 1_000_000_000, memory.model.daily_tokens),
        K::ModelDailyCents => number(0, 100_000, memory.model.daily_micro_usd / MICROS_PER_CENT),
        K::AlertsLimit => number(0, 100, u64::from(LIMIT)),
        K::ServicePort => number(0, 65_535, 0),
        K::AlertsApproval
        | K::AlertsQuestion
        | K::AlertsPlan
        | K::AlertsDialog
        | K::AlertsError
        | K::AlertsFinished
        | K::AlertsRefusedInARow
        | K::HooksOffer
        | K::MemoryEnabled => (ValueKind::Flag, Value::Flag(true)),
        K::ArchiveEnabled
        | K::AlertsRefused
        | K::AlertsSound
        | K::WindowAlwaysOnTop
        | K::AnswersScripts
        | K::ModelAgent
        | K::ServiceHttp
        | K::ServiceAccept => (ValueKind::Flag, Value::Flag(false)),
    }
}

fn span(default: Millis) -> (ValueKind, Value) {
    (ValueKind::Span, Value::Span(default))
}

fn number(least: i64, most: i64, default: u64) -> (ValueKind, Value) {
    (ValueKind::Number(least, most), Value::Number(i64::try_from(default).unwrap_or(i64::MAX)))
}

/// The first word is the default.
fn one_of(words: &'static [&'static str]) -> (ValueKind, Value) {
    (ValueKind::OneOf(words), Value::Word(words[0].to_owned()))
}

/// Whether the default, in place of a value that cannot be read, could make Watchbill store or watch what the user
/// has forbidden, or delete what the user wants kept.
pub(crate) fn guards(key: SettingKey) -> bool {
    use SettingKey as K;
    matches!(key, K::Roots | K::StoreExclude | K::StoreCut | K::ArchiveBudget | K::ArchiveKeep)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_accepted_as_a_value() {
        for key in SettingKey::ALL {
            let default = default(*key);
            assert_eq!(kind(*key).of_wire(&default.wire()), Ok(default), "{}", key.name());
            let json = serde_json::to_value(key).unwrap();
            assert_eq!(json, key.name(), "one name, in the file and on the wire");
        }
    }
}
