//! Droid.

use crate::Traits;

/// What Droid is.
pub const TRAITS: Traits = Traits {
    title: "Droid",
    program: "droid",
    folder: ".factory",
    folder_variable: Some(("FACTORY_HOME_OVERRIDE", "")),
    resume: "droid --resume",
    ..Traits::OF_FILES
};
