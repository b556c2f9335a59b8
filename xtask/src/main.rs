//! `cargo xtask run | test | bench | truth | dist | setup | fixtures`: all tasks of this tree, for developers
//! and machines.
#![forbid(unsafe_code)]
// Printing is this program's purpose.
#![allow(clippy::print_stdout, clippy::print_stderr)]

// The benchmarks use Unix calls.
#[cfg(unix)]
mod bench;
mod call;
mod cross;
mod dist;
mod fixtures;
mod memory;
mod model;
mod node;
mod options;
mod packages;
mod rig;
mod run;
mod sandbox;
mod skipped_tests;
mod steps;
mod test;
mod tree;

use std::process::ExitCode;

use options::Task;
use tree::Tree;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = match options::parse(&arguments) {
        Ok(task) => task,
        Err(complaint) => {
            eprintln!("{complaint}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match perform(task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task) -> anyhow::Result<ExitCode> {
    let tree = Tree::find()?;
    match task {
        Task::Help => println!("{}", options::USAGE),
        Task::Run(options) => return run::run(&tree, &options),
        Task::Test(options) => return test::test(&tree, &options),
        #[cfg(unix)]
        Task::Bench(options) => bench::bench(&tree, &options)?,
        #[cfg(not(unix))]
        Task::Bench(_) => anyhow::bail!("the benchmarks run on Unix only"),
        Task::Truth(options) if options.list => rig::list(&tree)?,
        Task::Truth(options) => return rig::truth(&tree, &options),
        Task::Dist(options) => dist::dist(&tree, &options)?,
        Task::Memory => memory::measure(&tree)?,
        Task::Setup(options) => packages::setup(&tree, &options)?,
        Task::Fixtures { from } => fixtures::refresh(&tree, &from)?,
        Task::Sandbox { program, arguments } => return sandbox::run(&tree, &program, &arguments),
    }
    Ok(ExitCode::SUCCESS)
}
