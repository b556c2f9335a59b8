//! The words of the command line. Parsed by hand: a parser library would double the time until the first output.

use std::path::PathBuf;

/// The output of `cargo xtask` without arguments.
pub const USAGE: &str = "\
cargo xtask run [--debug] [-- ARGUMENTS]   install what is missing, build, open the window
cargo xtask test [--only STEP]... [--keep-going] [--list]
                                           install what is missing, run every test there is, headless
cargo xtask bench [--only PART]... [--rounds N] [--small] [--program FILE] [--out FILE]
                                           measure speed and memory on generated histories; --program measures
                                           another build of the command line; --out writes the table as a page (a
                                           whole run writes docs/performance.md)
cargo xtask truth [--scenario NAME]... [--runs N] [--out FILE] [--debug] [--waits] [--list] [--newest]
                                           drive the real clients, write how often the state is right; with --waits,
                                           the hooks that wait for answers are installed too; --newest tries the
                                           newest release of each client and says what differs
cargo xtask cross                          run clippy for Windows and macOS (a step of `test`)
cargo xtask dist [--check] [--check-only] [--debug] [--bundles KIND]... [--recipes URL]
                                           make the packages of this platform, and on Debian 12 the archive for
                                           Windows; with --check (as root) pack them twice, verify the RPM in an
                                           empty root, install and try the .deb on a clean Debian made for it, try
                                           the archive under Wine; with --debug, build without optimization;
                                           --recipes only fills the recipes of package managers for a release at URL
cargo xtask memory                         measure what is learned and told, write the table into docs/memory.md
cargo xtask setup [run|test|bench]         only install what is missing (default: run)
cargo xtask fixtures FOLDER                refresh tests/fixtures from a folder of recordings

Each task names what it installs before it installs it.";

/// One thing to do.
#[derive(Debug, PartialEq)]
pub enum Task {
    Help,
    Run(RunOptions),
    Test(TestOptions),
    Bench(BenchOptions),
    Truth(TruthOptions),
    Dist(DistOptions),
    Setup(SetupOptions),
    Fixtures {
        from: PathBuf,
    },
    /// Measures the memory and writes the table of its page.
    Memory,
    /// Internal: cargo calls this program as the runner of each test program.
    Sandbox {
        program: PathBuf,
        arguments: Vec<String>,
    },
}

/// Options of `run`.
#[derive(Debug, PartialEq, Default)]
pub struct RunOptions {
    /// Builds fast, without optimization.
    pub debug: bool,
    /// Passed to the window, or to the command line if there is no display.
    pub arguments: Vec<String>,
}

/// Options of `test`.
#[derive(Debug, PartialEq, Default)]
pub struct TestOptions {
    /// Only these steps; all if empty.
    pub only: Vec<String>,
    /// Goes on after a failed step.
    pub keep_going: bool,
    /// Only lists the steps.
    pub list: bool,
}

/// Options of `bench`.
#[derive(Debug, PartialEq)]
pub struct BenchOptions {
    /// Only these parts; all if empty.
    pub only: Vec<String>,
    /// The number of measured runs of each measurement.
    pub rounds: usize,
    /// Small histories, to try the drivers.
    pub small: bool,
    /// Another build of the program to measure; without it the tree's own is built.
    pub program: Option<PathBuf>,
    /// The file for the table as a page; `docs/performance.md` after a whole run, else none.
    pub out: Option<PathBuf>,
}

/// Options of `truth`.
#[derive(Debug, PartialEq, Default)]
pub struct TruthOptions {
    /// Only these scenarios, or all of these agents; all if empty.
    pub scenarios: Vec<String>,
    /// The number of runs of each scenario.
    pub runs: usize,
    /// The file for the table; `docs/truth.md` when all scenarios of an agent run without `waits`, else none.
    pub out: Option<PathBuf>,
    /// Builds the watchers fast, without optimization.
    pub debug: bool,
    /// Installs the hooks that wait for answers, too.
    pub waits: bool,
    /// Tries the newest release of each agent instead, and says what differs.
    pub newest: bool,
    /// Only lists the scenarios.
    pub list: bool,
}

/// Options of `dist`.
#[derive(Debug, PartialEq, Default)]
pub struct DistOptions {
    /// Packs twice, verifies the RPM, tries the .deb on a clean system.
    pub check: bool,
    /// The last two checks on existing packages, without making any.
    pub check_only: bool,
    /// Builds fast, to try the packaging; not for distribution.
    pub debug: bool,
    /// Kinds of packages, by the bundler's names. If empty: the kinds that this platform can make without the web.
    pub bundles: Vec<String>,
    /// Only fills the recipes of package managers, for a release at this address.
    pub recipes: Option<String>,
}

/// The purpose for which `setup` prepares the machine.
#[derive(Debug, PartialEq, Default, Clone, Copy)]
pub enum SetupOptions {
    #[default]
    Run,
    Test,
    Bench,
}

/// Parses the words after `cargo xtask`, or returns a complaint.
pub fn parse(arguments: &[String]) -> Result<Task, String> {
    let Some((task, rest)) = arguments.split_first() else { return Ok(Task::Help) };
    match task.as_str() {
        "help" | "--help" | "-h" => Ok(Task::Help),
        "run" => run(rest).map(Task::Run),
        "test" => test(rest).map(Task::Test),
        "cross" if rest.is_empty() => {
            Ok(Task::Test(TestOptions { only: vec!["cross".to_owned()], ..TestOptions::default() }))
        }
        "cross" => Err("`cross` takes no arguments".to_owned()),
        "bench" => bench(rest).map(Task::Bench),
        "truth" => truth(rest).map(Task::Truth),
        "dist" => dist(rest).map(Task::Dist),
        "setup" => setup(rest).map(Task::Setup),
        "fixtures" => match rest {
            [from] => Ok(Task::Fixtures { from: PathBuf::from(from) }),
            _ => Err("`fixtures` wants exactly one folder".to_owned()),
        },
        "memory" if rest.is_empty() => Ok(Task::Memory),
        "memory" => Err("`memory` takes no arguments".to_owned()),
        "sandbox" => match rest.split_first() {
            Some((program, rest)) => {
                Ok(Task::Sandbox { program: PathBuf::from(program), arguments: rest.to_vec() })
            }
            None => Err("`sandbox` wants a program".to_owned()),
        },
        other => Err(format!("`{other}` is not a task")),
    }
}

fn run(arguments: &[String]) -> Result<RunOptions, String> {
    let mut options = RunOptions::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--debug" => options.debug = true,
            "--" => {
                options.arguments.extend(words.by_ref().cloned());
            }
            other => {
                return Err(format!(
                    "`run` does not know `{other}`; put the program's own arguments after `--`"
                ));
            }
        }
    }
    Ok(options)
}

fn test(arguments: &[String]) -> Result<TestOptions, String> {
    let mut options = TestOptions::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--keep-going" => options.keep_going = true,
            "--list" => options.list = true,
            "--only" => {
                let steps = words.next().ok_or("`--only` wants the name of a step")?;
                options.only.extend(steps.split(',').map(str::to_owned));
            }
            other => return Err(format!("`test` does not know `{other}`")),
        }
    }
    Ok(options)
}

fn bench(arguments: &[String]) -> Result<BenchOptions, String> {
    let mut options = BenchOptions { only: Vec::new(), rounds: 5, small: false, program: None, out: None };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--small" => options.small = true,
            "--only" => {
                let parts = words.next().ok_or("`--only` wants the name of a part")?;
                options.only.extend(parts.split(',').map(str::to_owned));
            }
            "--program" => {
                options.program = Some(words.next().ok_or("`--program` wants a file")?.into());
            }
            "--out" => options.out = Some(words.next().ok_or("`--out` wants a file")?.into()),
            "--rounds" => {
                let rounds = words.next().and_then(|word| word.parse().ok()).filter(|rounds| *rounds > 0);
                options.rounds = rounds.ok_or("`--rounds` wants a number above 0")?;
            }
            other => return Err(format!("`bench` does not know `{other}`")),
        }
    }
    Ok(options)
}

fn truth(arguments: &[String]) -> Result<TruthOptions, String> {
    let mut options = TruthOptions { runs: 1, ..TruthOptions::default() };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--debug" => options.debug = true,
            "--waits" => options.waits = true,
            "--list" => options.list = true,
            "--newest" => options.newest = true,
            "--scenario" => {
                let names = words.next().ok_or("`--scenario` wants a name; `--list` shows them")?;
                options.scenarios.extend(names.split(',').map(str::to_owned));
            }
            "--runs" => {
                let runs = words.next().and_then(|word| word.parse().ok()).filter(|runs| *runs > 0);
                options.runs = runs.ok_or("`--runs` wants a number above 0")?;
            }
            "--out" => options.out = Some(words.next().ok_or("`--out` wants a file")?.into()),
            other => return Err(format!("`truth` does not know `{other}`")),
        }
    }
    Ok(options)
}

fn dist(arguments: &[String]) -> Result<DistOptions, String> {
    let mut options = DistOptions::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--check" => options.check = true,
            "--check-only" => options.check_only = true,
            "--debug" => options.debug = true,
            "--recipes" => {
                options.recipes = Some(words.next().ok_or("`--recipes` wants an address")?.clone())
            }
            "--bundles" => {
                let kinds = words.next().ok_or("`--bundles` wants a kind, such as deb or appimage")?;
                options.bundles.extend(kinds.split(',').map(str::to_owned));
            }
            other => return Err(format!("`dist` does not know `{other}`")),
        }
    }
    Ok(options)
}

fn setup(arguments: &[String]) -> Result<SetupOptions, String> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["run"] => Ok(SetupOptions::Run),
        ["test"] => Ok(SetupOptions::Test),
        ["bench"] => Ok(SetupOptions::Bench),
        _ => Err("`setup` prepares for `run`, `test` or `bench`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Task, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn every_task_is_understood() {
        assert_eq!(words(""), Ok(Task::Help));
        assert_eq!(words("run"), Ok(Task::Run(RunOptions::default())));
        assert_eq!(
            words("run --debug -- --demo --debug"),
            Ok(Task::Run(RunOptions { debug: true, arguments: vec!["--demo".into(), "--debug".into()] }))
        );
        assert_eq!(
            words("test --only fmt,clippy --only rust --keep-going"),
            Ok(Task::Test(TestOptions {
                only: vec!["fmt".into(), "clippy".into(), "rust".into()],
                keep_going: true,
                list: false
            }))
        );
        assert_eq!(
            words("bench --rounds 3 --only cold,idle --small --program before --out there.md"),
            Ok(Task::Bench(BenchOptions {
                only: vec!["cold".into(), "idle".into()],
                rounds: 3,
                small: true,
                program: Some("before".into()),
                out: Some("there.md".into())
            }))
        );
        assert_eq!(
            words("truth --scenario plan,limit --runs 3 --out there.md --debug --waits --newest"),
            Ok(Task::Truth(TruthOptions {
                scenarios: vec!["plan".into(), "limit".into()],
                runs: 3,
                out: Some("there.md".into()),
                debug: true,
                waits: true,
                newest: true,
                list: false
            }))
        );
        assert_eq!(
            words("dist --check --bundles deb,appimage"),
            Ok(Task::Dist(DistOptions {
                check: true,
                check_only: false,
                debug: false,
                bundles: vec!["deb".into(), "appimage".into()],
                recipes: None
            }))
        );
        assert_eq!(words("setup"), Ok(Task::Setup(SetupOptions::Run)));
        assert_eq!(words("setup bench"), Ok(Task::Setup(SetupOptions::Bench)));
        assert_eq!(words("fixtures there"), Ok(Task::Fixtures { from: "there".into() }));
    }

    #[test]
    fn unknown_words_are_named_in_the_error() {
        for (line, part) in [
            ("fly", "`fly` is not a task"),
            ("run --demo", "after `--`"),
            ("test --only", "wants the name"),
            ("test fast", "`fast`"),
            ("bench --rounds 0", "above 0"),
            ("bench --out", "wants a file"),
            ("truth --runs none", "above 0"),
            ("truth --scenario", "wants a name"),
            ("dist --bundles", "wants a kind"),
            ("dist all", "`all`"),
            ("dist --recipes", "an address"),
            ("cross all", "no arguments"),
            ("fixtures", "exactly one folder"),
            ("memory all", "no arguments"),
            ("setup all", "`run`, `test` or `bench`"),
        ] {
            let complaint = words(line).unwrap_err();
            assert!(complaint.contains(part), "{line}: {complaint}");
        }
    }
}
