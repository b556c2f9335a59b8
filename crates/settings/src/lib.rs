//! What Watchbill can be told, and how it is put together: options, environment, configuration file, defaults, in this order.
//!
//! [`configuration`] owns the file while a program runs: reads it, follows it, changes it. `table.rs` is the one list of
//! what can stand in it.

#![forbid(unsafe_code)]

mod alerts;
pub mod configuration;
mod edit;
mod file;
mod file_values;
pub mod follow;
mod known;
mod layers;
pub mod links;
mod list;
mod patterns;
mod settings;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub use configuration::{Configuration, settle};
pub use settings::{
    AlertSettings, Environment, Given, Settings, SettingsError, Theme, TrayColours, WatchSetting,
    WindowSettings,
};
