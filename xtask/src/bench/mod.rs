//! `cargo xtask bench`: the cost of reading, waiting and idling.

mod cold;
mod corpus;
mod hooks;
mod idle;
mod index;
mod latency;
mod measure;
mod own;
mod report;
mod setup;
mod warm;
mod watching;
mod window;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::call::Call;
use crate::options::BenchOptions;
use crate::packages;
use crate::steps::Need;
use crate::tree::Tree;

use report::{Row, RunContext, number, table};
use setup::Bench;

/// The parts, in order, each with its subject.
const PARTS: &[(&str, &str)] = &[
    ("cold", "one pass over 2,000 sessions, 1 GB"),
    ("crowd", "the roster of 100,000 short sessions, most of them months old, from files alone"),
    ("huge", "one pass over a session of 495 MB"),
    ("index", "the full-text index of 2,000 sessions"),
    ("search", "the first page of a search, for common and for rare words"),
    ("first-rows", "from the start of the program to its first rows"),
    ("warm", "starts with everything in the store: 2,000 sessions"),
    ("warm-many", "the same with 20,000 sessions"),
    ("latency", "from an appended line to its event, 50 sessions at work"),
    ("append", "the cost of a line appended to a session of 495 MB"),
    ("latency-indexing", "the same while 1 GB is read into the store"),
    ("hooks", "the time of a hook for the client, start to end"),
    ("idle", "thirty seconds over 2,000 idle sessions"),
    ("window", "the real window: start, frames and keys under a flood, 100,000 items, rest"),
    ("own", "sessions of your own: prompts, terminals, hosts; twenty at once for 30 minutes"),
];

/// Builds, measures, prints one table.
pub fn bench(tree: &Tree, options: &BenchOptions) -> Result<()> {
    for name in &options.only {
        if !PARTS.iter().any(|(part, _)| part == name) {
            let names: Vec<_> = PARTS.iter().map(|(part, _)| *part).collect();
            bail!("`{name}` is not a part of the benchmark; there are: {}", names.join(", "));
        }
    }
    if let Some(program) = &options.program {
        if !program.is_file() {
            bail!("there is no program {}", program.display());
        }
        // Under another name `index` runs without large pages, and is slower for that alone.
        if program.file_name().is_none_or(|name| name != "watchbill") {
            bail!("{} is not called watchbill", program.display());
        }
        if options.only.iter().any(|part| part == "window" || part == "own") {
            bail!("`--program` is for the command line; the window and the host are always the tree's own");
        }
    }
    packages::provide(tree, &[Need::Bench, Need::Node])?;
    // The window is another program, and its part builds that.
    // Each build of cargo puts the tree's own program back in its place, so another program needs another place.
    let builds = options.only.iter().any(|part| part != "window") || options.only.is_empty();
    if builds && options.program.is_none() {
        Call::new(tree.root(), "cargo")
            .args(["build", "--release", "--locked", "--package", "watchbill"])
            .run()?;
    }
    let program = match &options.program {
        Some(program) => std::path::absolute(program)?,
        None => tree.program("release", "watchbill"),
    };
    let bench = Bench { tree, rounds: options.rounds, small: options.small, program };
    if options.program.is_some() {
        println!("{} is measured", bench.program.display());
        // Each program must search its own index.
        bench.forget("data-search")?;
    }
    let mut measured = Vec::new();
    for (name, shows) in PARTS {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        println!("\n== {name}: {shows}");
        let part = match *name {
            "cold" => cold::cold(&bench),
            "crowd" => cold::crowd(&bench),
            "huge" => cold::huge(&bench),
            "index" => index::index(&bench),
            "search" => index::search(&bench),
            "first-rows" => watching::first_rows(&bench),
            "warm" => warm::warm(&bench),
            "warm-many" => warm::many(&bench),
            "latency" => latency::latency(&bench),
            "append" => latency::append_to_huge(&bench),
            "latency-indexing" => latency::while_indexing(&bench),
            "hooks" => hooks::hooks(&bench),
            "window" => window::window(&bench),
            "own" => own::own(&bench),
            _ => idle::idle(&bench),
        };
        let rows = part.unwrap_or_else(|error| {
            // The other parts may still succeed.
            println!("  {name} could not be measured: {error:#}");
            vec![Row::without_target(*name, "not measured")]
        });
        measured.push((*name, *shows, rows));
    }
    if options.small {
        println!("\nThe corpus was a small one: these numbers only show that the drivers work.");
    }
    println!("\n{}", table(measured.iter().flat_map(|(_, _, rows)| rows)));
    if let Some(file) = page_of(tree, options) {
        report::write(&file, &report::page(&RunContext::of(tree, options.rounds), &measured))?;
        println!("\nwritten to {}", file.display());
    }
    Ok(())
}

/// The file for the page: the named one, or the tree's own for a whole run of the tree's own program.
fn page_of(tree: &Tree, options: &BenchOptions) -> Option<PathBuf> {
    let whole = options.only.is_empty() && !options.small && options.program.is_none();
    options.out.clone().or_else(|| whole.then(|| tree.path(report::PAGE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_run_of_the_trees_own_program_writes_the_page_of_the_tree() {
        let tree = Tree::building_into(std::path::Path::new("target"));
        let whole = || BenchOptions { only: Vec::new(), rounds: 5, small: false, program: None, out: None };
        assert_eq!(page_of(&tree, &whole()), Some(tree.path(report::PAGE)));
        let part = BenchOptions { only: vec!["cold".into()], ..whole() };
        assert_eq!(page_of(&tree, &part), None);
        assert_eq!(page_of(&tree, &BenchOptions { small: true, ..whole() }), None);
        assert_eq!(page_of(&tree, &BenchOptions { program: Some("other".into()), ..whole() }), None);
        let named = BenchOptions { out: Some("there.md".into()), ..part };
        assert_eq!(page_of(&tree, &named), Some("there.md".into()));
    }
}
