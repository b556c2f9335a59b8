//! Completions and the man page, generated from the options.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;

use super::emit;
use crate::args::Cli;

/// Prints completions for a shell.
///
/// # Errors
/// When the output cannot be written.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "watchbill", &mut text);
    emit(&String::from_utf8_lossy(&text))
}

/// Prints the man page: the program, then each command.
///
/// # Errors
/// When the output cannot be written.
pub fn man() -> anyhow::Result<()> {
    let mut text = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let page = clap_mangen::Man::new(sub.clone());
        text.extend_from_slice(format!(".SH WATCHBILL {}\n", sub.get_name().to_uppercase()).as_bytes());
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
    }
    emit(&String::from_utf8_lossy(&text))
}

/// Writes `watchbill.1`, and `watchbill-COMMAND.1` for each command, into a folder, for packages.
///
/// # Errors
/// When the folder cannot be made or written to.
pub fn write_man(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .with_context(|| format!("cannot write the man pages into {}", folder.display()))
}
