//! Every setting of the configuration file, with its accepted values and its default.

use watchbill_agents::{Agent, traits};
use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::{HistorySettings, RecoverySettings};
use watchbill_core::memory::MemorySettings;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_protocol::settings::SettingKey;

use crate::values::{Value, ValueKind};

/// The accepted values.
pub(crate) fn kind(key: SettingKey) -> ValueKind {
    use SettingKey as K;
    match key {
        K::Roots => ValueKind::SomeOf,
        K::TimeoutsApproval
        | K::TimeoutsStale
        | K::TimeoutsIdle
        | K::RosterRecent
        | K::WatchPollInterval
        | K::ArchiveAfter
        | K::RecoveryStuck
        | K::RecoveryStale
        | K::RecoveryEvery
        | K::AlertsDwell
        | K::ModelTimeout => ValueKind::Span,
        K::ArchiveKeep => ValueKind::SpanOrNever,
        K::WatchMode => ValueKind::OneOf(&["auto", "native", "poll"]),
        K::WindowTheme => ValueKind::OneOf(&["system", "light", "dark"]),
        K::WindowTray => ValueKind::OneOf(&["colour", "dark", "light"]),
        K::StoreCut => ValueKind::Number(0, i64::MAX),
        K::MemoryAccept => ValueKind::OneOf(&["person", "rules", "all"]),
        K::MemoryContext => ValueKind::OneOf(&["off", "files", "all"]),
        K::MemorySessionTokens => ValueKind::Number(0, 3_000),
        K::ArchiveLevel => ValueKind::Number(1, 19),
        K::ServicePort => ValueKind::Number(0, 65_535),
        K::ArchiveBudget => ValueKind::Size,
        K::StoreExclude => ValueKind::Patterns,
        K::StoreSkipTools | K::StorePlanFolders | K::AlertsMuted => ValueKind::List,
        K::AlertsQuietHours => ValueKind::Hours,
        K::WindowShortcut | K::ModelBaseUrl | K::ModelName | K::ModelKeyFile => ValueKind::Line,
        K::ModelDailyTokens => ValueKind::Number(0, 1_000_000_000),
        K::ModelDailyCents => ValueKind::Number(0, 100_000),
        K::ArchiveEnabled
        | K::AlertsApproval
        | K::AlertsQuestion
        | K::AlertsPlan
        | K::AlertsDialog
        | K::AlertsError
        | K::AlertsFinished
        | K::AlertsSound
        | K::WindowAlwaysOnTop
        | K::HooksOffer
        | K::AnswersScripts
        | K::ServiceHttp
        | K::ServiceAccept
        | K::ModelAgent
        | K::MemoryEnabled => ValueKind::Flag,
    }
}

/// The unit of sums in the program, against that of the setting.
pub(crate) const MICROS_PER_CENT: u64 = 10_000;

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The default value.
pub(crate) fn default(key: SettingKey) -> Value {
    use SettingKey as K;
    let (timeouts, archive) = (Timeouts::default(), ArchiveSettings::default());
    let recovery = RecoverySettings::default();
    let number = |n: usize| Value::Number(i64::try_from(n).unwrap_or(i64::MAX));
    match key {
        K::Roots => Value::List(vec![format!("~/{}", traits(Agent::default()).folder)]),
        K::TimeoutsApproval => Value::Span(timeouts.approval),
        K::TimeoutsStale => Value::Span(timeouts.stale),
        K::TimeoutsIdle => Value::Span(timeouts.idle),
        K::RosterRecent => Value::Span(Millis::from_secs(24 * 3600)),
        K::WatchMode => Value::Word("auto".to_owned()),
        K::WatchPollInterval | K::AlertsDwell => Value::Span(Millis::from_secs(2)),
        K::StoreCut => number(HistorySettings::default().cut),
        K::StoreSkipTools => Value::List(HistorySettings::default().skip),
        K::StoreExclude | K::StorePlanFolders | K::AlertsMuted | K::AlertsQuietHours => {
            Value::List(Vec::new())
        }
        K::ArchiveBudget => Value::Size(archive.budget),
        K::ArchiveKeep => archive.keep.map_or(Value::Never, Value::Span),
        K::ArchiveAfter => Value::Span(archive.after),
        K::ArchiveLevel => Value::Number(i64::from(archive.level)),
        K::RecoveryStuck => Value::Span(recovery.stuck),
        K::RecoveryStale => Value::Span(recovery.stale),
        K::RecoveryEvery => Value::Span(recovery.every),
        K::WindowTheme => Value::Word("system".to_owned()),
        K::WindowTray => Value::Word("colour".to_owned()),
        K::WindowShortcut | K::ModelBaseUrl | K::ModelName | K::ModelKeyFile => Value::Word(String::new()),
        K::ModelTimeout => Value::Span(MemorySettings::default().model.timeout),
        K::ModelDailyTokens => Value::Number(count(MemorySettings::default().model.daily_tokens)),
        K::ModelDailyCents => {
            Value::Number(count(MemorySettings::default().model.daily_micro_usd / MICROS_PER_CENT))
        }
        K::AlertsApproval
        | K::AlertsQuestion
        | K::AlertsPlan
        | K::AlertsDialog
        | K::AlertsError
        | K::AlertsFinished
        | K::HooksOffer
        | K::MemoryEnabled => Value::Flag(true),
        K::MemoryAccept => Value::Word("rules".to_owned()),
        K::MemoryContext => Value::Word("off".to_owned()),
        K::MemorySessionTokens => number(MemorySettings::default().session_tokens),
        K::ServicePort => Value::Number(0),
        K::ArchiveEnabled
        | K::AlertsSound
        | K::WindowAlwaysOnTop
        | K::AnswersScripts
        | K::ModelAgent
        | K::ServiceHttp
        | K::ServiceAccept => Value::Flag(false),
    }
}

/// Whether the default, in place of a value that cannot be read, could make Watchbill store or watch what the user
/// has forbidden.
pub(crate) fn guards_privacy(key: SettingKey) -> bool {
    matches!(key, SettingKey::Roots | SettingKey::StoreExclude | SettingKey::StoreCut)
}

/// Whether the default, in place of a value that cannot be read, could make Watchbill delete for good what the user
/// wants kept.
pub(crate) fn guards_archive(key: SettingKey) -> bool {
    matches!(key, SettingKey::ArchiveBudget | SettingKey::ArchiveKeep)
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
