//! `[alerts]`: which needs alert the user, and when alerts are silent.

use jiff::tz::TimeZone;
use watchbill_core::attention::{AttentionSettings, Need, QuietHours};
use watchbill_protocol::settings::SettingKey;

use crate::file_values::FileValues;
use crate::settings::AlertSettings;

/// Builds the alert settings from the file's values. `full` expands `~`.
pub(crate) fn settle(values: &FileValues, full: impl Fn(String) -> String) -> AlertSettings {
    let wanted = |need: &Need| {
        values.flag(match need {
            Need::Approval => SettingKey::AlertsApproval,
            Need::Question => SettingKey::AlertsQuestion,
            Need::Plan => SettingKey::AlertsPlan,
            Need::Dialog => SettingKey::AlertsDialog,
            Need::Error => SettingKey::AlertsError,
            Need::Finished => SettingKey::AlertsFinished,
            Need::Refused => SettingKey::AlertsRefused,
            Need::RefusedInARow => SettingKey::AlertsRefusedInARow,
            Need::PlanLimit => return true,
        })
    };
    let hours = values.list(SettingKey::AlertsQuietHours);
    let quiet: Vec<_> = hours.iter().filter_map(|text| QuietHours::parse(text)).collect();
    let attention = AttentionSettings {
        kinds: Need::ALL.into_iter().filter(wanted).collect(),
        limit: u32::try_from(values.number(SettingKey::AlertsLimit)).unwrap_or_default(),
        dwell: values.span(SettingKey::AlertsDwell),
        // Only quiet hours use the zone. Finding the system's zone lists the folders of all zones.
        zone: if quiet.is_empty() { TimeZone::UTC } else { TimeZone::system() },
        quiet,
        muted_projects: values
            .list(SettingKey::AlertsMuted)
            .into_iter()
            .map(|one| full(one).into())
            .collect(),
        ..AttentionSettings::default()
    };
    AlertSettings { attention, sound: values.flag(SettingKey::AlertsSound) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use watchbill_core::time::Timestamp;

    use crate::{CommandLineOptions, resolve_settings};

    #[test]
    fn quiet_hours_use_the_local_time_zone() {
        // `TZ` belongs to the whole process, so the test runs itself again in a child process.
        let zone = "JST-9";
        if std::env::var("TZ").as_deref() != Ok(zone) {
            let name = "alerts::tests::quiet_hours_use_the_local_time_zone";
            let mut there = Command::new(std::env::current_exe().unwrap());
            let output = there.args(["--exact", name]).env("TZ", zone).output().unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.toml");
        std::fs::write(&config, "[alerts]\nquiet_hours = ['22:00-07:00']\n").unwrap();
        let home = dir.path().as_os_str().to_owned();
        let given = CommandLineOptions { config: Some(config), ..CommandLineOptions::default() };
        let settings = resolve_settings(&given, &move |name| (name == "HOME").then(|| home.clone())).unwrap();
        let is_quiet = |at: &str| settings.alerts.attention.is_quiet(Timestamp::parse(at).unwrap());
        assert!(is_quiet("2026-11-20T14:00:00Z"), "23:00 there");
        assert!(!is_quiet("2026-11-20T23:00:00Z"), "08:00 there");
    }
}
