//! `[alerts]`: what the person is told of, and when not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::Deserialize;
use watchbill_core::attention::{AttentionSettings, Need, QuietHours};

use super::{Span, expand_home};

/// The person's choices on alerts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlertSettings {
    /// The policy's own.
    pub attention: AttentionSettings,
    /// Alerts make a sound, where the desktop has one.
    pub sound: bool,
}

/// The table as it is written. Kinds that are not named are told of.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct FileAlerts {
    approval: Option<bool>,
    question: Option<bool>,
    plan: Option<bool>,
    dialog: Option<bool>,
    error: Option<bool>,
    finished: Option<bool>,
    /// How long a need must last before it is told.
    dwell: Option<Span>,
    /// Such as `"22:00-07:00"`, by the machine's own clock.
    quiet_hours: Vec<Hours>,
    /// Names of projects, or folders, which stand for everything below them.
    muted: Vec<PathBuf>,
    sound: bool,
}

impl FileAlerts {
    pub(super) fn settle(self, home: Option<&Path>) -> AlertSettings {
        let usual = AttentionSettings::default();
        let wanted = |need: &Need| {
            let choice = match need {
                Need::Approval => self.approval,
                Need::Question => self.question,
                Need::Plan => self.plan,
                Need::Dialog => self.dialog,
                Need::Error => self.error,
                Need::Finished => self.finished,
            };
            choice.unwrap_or(true)
        };
        let kinds = Need::ALL.into_iter().filter(wanted).collect();
        let muted = |project: PathBuf| Arc::from(expand_home(project, home).to_string_lossy());
        let attention = AttentionSettings {
            kinds,
            dwell: self.dwell.map_or(usual.dwell, |span| span.0),
            quiet: self.quiet_hours.into_iter().map(|hours| hours.0).collect(),
            zone: TimeZone::system(),
            muted_projects: self.muted.into_iter().map(muted).collect(),
            ..usual
        };
        AlertSettings { attention, sound: self.sound }
    }
}

#[derive(Debug, Clone, Copy)]
struct Hours(QuietHours);

impl<'de> Deserialize<'de> for Hours {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        QuietHours::parse(&text)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("expected hours of the day, such as \"22:00-07:00\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str) -> Result<AlertSettings, toml::de::Error> {
        toml::from_str::<FileAlerts>(text).map(|file| file.settle(Some(Path::new("/home/dev"))))
    }

    #[test]
    fn the_table_says_what_is_told_of_and_when() {
        let usual = settled("").unwrap();
        assert_eq!(usual.attention.kinds, Need::ALL.into_iter().collect());
        assert!(
            !usual.sound && usual.attention.quiet.is_empty() && usual.attention.muted_projects.is_empty()
        );
        let some = settled(
            "approval = true\nfinished = false\ndwell = '5s'\nquiet_hours = ['22:00-07:00', '12:00-13:00']\n\
             muted = ['scratch', '~/play']\nsound = true",
        )
        .unwrap();
        assert!(some.sound);
        let some = some.attention;
        assert!(some.kinds.contains(&Need::Error) && !some.kinds.contains(&Need::Finished));
        assert_eq!((some.dwell.0, some.quiet.len()), (5_000, 2));
        assert!(some.mutes("scratch") && some.mutes("/home/dev/play/chess") && !some.mutes("chess"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (text, word) in [
            ("quiet_hours = ['22-7']", "22:00-07:00"),
            ("quiet_hours = '22:00-07:00'", "sequence"),
            ("dwell = '0s'", "time above zero"),
            ("approvals = false", "unknown field"),
            ("approval = 'no'", "boolean"),
        ] {
            let error = settled(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
