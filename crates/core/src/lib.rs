//! The pure core of Watchbill: it takes times and facts, and returns effects.
//!
//! This crate uses no clock, file system, thread, runtime, database, environment or randomness; its `clippy.toml`
//! bans the calls. The modules follow the data path. [`transcript`] turns bytes into records, and [`session`] folds
//! records into the turn's state. [`evidence`] weighs that reading against the other witnesses: [`hook`] events, the
//! registry, [`status_file`]s and processes. [`chain`] ties sessions into work chains. [`user`] holds the user's
//! commands about sessions, [`roster`] orders the rows, and [`attention`] decides which sessions need the user.
//! [`memory`] finds what was learned, [`prices`] say what requests cost, and [`day`] what a day was like. [`deadlines`] keeps the times at which a
//! session must be evaluated again.

#![forbid(unsafe_code)]

/// Gives enums the words that `strum_macros` derives: the name of the variant, in small letters.
macro_rules! as_str {
    ($($name:ident),+) => {
        $(impl $name {
            /// The word in JSON, in texts and in the store.
            pub fn as_str(self) -> &'static str {
                self.into()
            }
        })+
    };
}

pub mod attention;
pub mod byte_block;
pub mod chain;
pub mod day;
pub mod deadlines;
pub mod evidence;
pub mod history;
pub mod hook;
pub mod ids;
pub mod limits;
pub mod memory;
pub mod nesting;
pub mod own;
pub mod prices;
pub mod problem;
pub mod prompt;
pub mod requests;
pub mod roster;
pub mod session;
mod shared_text;
pub mod status_file;
pub mod steering;
pub mod time;
pub mod tool;
pub mod transcript;
pub mod user;
pub mod words;
