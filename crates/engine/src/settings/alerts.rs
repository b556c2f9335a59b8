//! `[alerts]`: what the person is told of, and when not.

use jiff::tz::TimeZone;
use watchbill_core::attention::{AttentionSettings, Need, QuietHours};
use watchbill_protocol::settings::SettingKey;

use super::layers::Told;

/// The person's choices on alerts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlertSettings {
    /// The policy's own.
    pub attention: AttentionSettings,
    /// Alerts make a sound, where the desktop has one.
    pub sound: bool,
}

/// What the table says.
pub(super) fn settle(told: &Told<'_>, full: impl Fn(String) -> String) -> AlertSettings {
    let wanted = |need: &Need| {
        told.flag(match need {
            Need::Approval => SettingKey::AlertsApproval,
            Need::Question => SettingKey::AlertsQuestion,
            Need::Plan => SettingKey::AlertsPlan,
            Need::Dialog => SettingKey::AlertsDialog,
            Need::Error => SettingKey::AlertsError,
            Need::Finished => SettingKey::AlertsFinished,
        })
    };
    let hours = told.list(SettingKey::AlertsQuietHours);
    let quiet: Vec<_> = hours.iter().filter_map(|text| QuietHours::parse(text)).collect();
    let attention = AttentionSettings {
        kinds: Need::ALL.into_iter().filter(wanted).collect(),
        dwell: told.span(SettingKey::AlertsDwell),
        // Nothing else goes by it, and to find it lists the folders of all zones that there are.
        zone: if quiet.is_empty() { TimeZone::UTC } else { TimeZone::system() },
        quiet,
        muted_projects: told.list(SettingKey::AlertsMuted).into_iter().map(|one| full(one).into()).collect(),
        ..AttentionSettings::default()
    };
    AlertSettings { attention, sound: told.flag(SettingKey::AlertsSound) }
}
