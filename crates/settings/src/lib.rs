//! The settings of Watchbill. They come from options, environment, configuration file and defaults, in this order.
//!
//! [`configuration`] owns the file while a program runs: it reads, follows and changes the file. `table.rs` lists
//! every setting of the file.

#![forbid(unsafe_code)]

mod alerts;
mod config_file_state;
pub mod configuration;
mod edit;
mod file;
mod file_values;
pub mod follow;
mod list;
mod patterns;
mod precedence;
mod settings;
pub mod symlinks;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub use configuration::{Configuration, resolve_settings};
pub use settings::{
    AlertSettings, CommandLineOptions, Environment, ServiceSettings, Settings, SettingsError, Theme,
    TrayColours, WindowSettings, over_http_root,
};
