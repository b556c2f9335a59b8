//! The settings of Watchbill. They come from options, environment, configuration file and defaults, in this order.
//!
//! [`configuration`] owns the file while a program runs: it reads, follows and changes the file. `table.rs` lists
//! every setting of the file.

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
