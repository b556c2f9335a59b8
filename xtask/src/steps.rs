//! Runs steps in order: each one is named, timed and reported. After the first failure no further step begins, except
//! with `keep_going`. Steps that run beside the others are waited for, and their processor time counts for those.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::skipped_tests;
use crate::tree::Tree;

/// The result of a step that did not fail.
pub enum Outcome {
    /// It did its work.
    Done,
    /// It could not run on this machine; the text gives the reason. It counts neither as passed nor as failed.
    NotRun(String),
}

/// A step's requirement of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Need {
    /// Compiler, linker and the libraries of the web view.
    Compile,
    /// A display, a bus and a WebDriver without a desktop.
    Headless,
    /// Terminals that the tests bring to the front.
    Terminals,
    /// Node and npm.
    Node,
    /// Chromium.
    Browser,
    /// Python, and the programs that isolate the client.
    Rig,
    /// A compiler for other systems.
    Cross,
    /// Python, which makes the histories of the benchmarks.
    Bench,
    /// Programs that make and check packages.
    Packages,
    /// Programs that make a clean system to try packages on.
    CleanRoot,
    /// Wine, which runs programs for Windows.
    Wine,
}

/// One step.
pub struct Step {
    /// The word for `--only`.
    pub name: &'static str,
    /// Its purpose, for the user.
    pub shows: &'static str,
    /// Its requirements.
    pub needs: &'static [Need],
    /// It needs little processor time, or takes only what others leave, and runs beside all steps after it.
    pub beside: bool,
    /// The work.
    pub work: fn(&Tree) -> Result<Outcome>,
}

/// The results of the steps.
#[derive(Default)]
pub struct Tally {
    /// Each with its time and the processor time of its programs, in seconds, if the system tells it.
    passed: Vec<(&'static str, Duration, Option<f64>)>,
    failed: Vec<(&'static str, Duration, String)>,
    not_run: Vec<(&'static str, String)>,
    /// Parts that single tests of a step skipped here, although the step went on.
    left_out: Vec<(&'static str, String)>,
    not_reached: Vec<&'static str>,
}

impl Tally {
    /// True if nothing failed.
    pub fn is_good(&self) -> bool {
        self.failed.is_empty()
    }

    /// Prints and keeps what came of a step.
    fn add(&mut self, name: &'static str, outcome: Result<Outcome>, time: Duration, busy: Option<f64>) {
        match outcome {
            Ok(Outcome::Done) => {
                println!("== {name} passed in {}", seconds(time));
                self.passed.push((name, time, busy));
            }
            Ok(Outcome::NotRun(why)) => {
                println!("== {name} NOT RUN: {why}");
                self.not_run.push((name, why));
            }
            Err(error) => {
                println!("== {name} FAILED after {}: {error:#}", seconds(time));
                self.failed.push((name, time, format!("{error:#}")));
            }
        }
    }

    /// The report; its last line is for machines.
    pub fn report(&self) -> String {
        let mut lines = vec![String::new()];
        let mut line =
            |name: &str, word: &str, rest: String| lines.push(format!("{name:<14} {word:<8} {rest}"));
        for (name, time, busy) in &self.passed {
            let busy = busy.map(|busy| format!("  {busy:.0} s of processors")).unwrap_or_default();
            line(name, "passed", seconds(*time) + &busy);
        }
        for (name, why) in &self.not_run {
            line(name, "NOT RUN", why.clone());
        }
        for (name, what) in &self.left_out {
            line(name, "in part", what.clone());
        }
        for (name, time, error) in &self.failed {
            line(name, "FAILED", format!("{}  {error}", seconds(*time)));
        }
        for name in &self.not_reached {
            line(name, "not reached", String::new());
        }
        lines.push(format!("{} passed, {} failed", self.passed.len(), self.failed.len()));
        lines.join("\n")
    }
}

/// Runs the steps in order. Those that run beside the others are waited for in the end.
pub fn run(tree: &Tree, steps: &[&Step], keep_going: bool) -> Tally {
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let mut beside = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            println!("\n== {} ({} of {}): {}", step.name, index + 1, steps.len(), step.shows);
            if step.beside {
                beside.push((step.name, scope.spawn(|| timed(tree, step))));
                continue;
            }
            let before = processor_seconds();
            skipped_tests::take_skipped(tree);
            let (outcome, time) = timed(tree, step);
            let busy = processor_seconds().zip(before).map(|(now, before)| now - before);
            let skipped = skipped_tests::take_skipped(tree);
            tally.left_out.extend(skipped.into_iter().map(|what| (step.name, what)));
            tally.add(step.name, outcome, time, busy);
            if !keep_going && !tally.is_good() {
                tally.not_reached.extend(steps.iter().skip(index + 1).map(|step| step.name));
                break;
            }
        }
        for (name, thread) in beside {
            let (outcome, time) = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            tally.add(name, outcome, time, None);
        }
    });
    tally
}

/// What came of a step, and how long it took.
fn timed(tree: &Tree, step: &Step) -> (Result<Outcome>, Duration) {
    let start = Instant::now();
    let outcome = (step.work)(tree);
    (outcome, start.elapsed())
}

/// The processor time of all programs that this one started and that have ended.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses: fields 16 and 17 of proc(5), in hundredths of a second.
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Step =
        Step { name: "good", shows: "", needs: &[], beside: false, work: |_| Ok(Outcome::Done) };
    const BAD: Step =
        Step { name: "bad", shows: "", needs: &[], beside: false, work: |_| anyhow::bail!("broken glass") };
    const ODD: Step = Step {
        name: "odd",
        shows: "",
        needs: &[],
        beside: false,
        work: |_| Ok(Outcome::NotRun("no moon".to_owned())),
    };

    fn ran(steps: &[&Step], keep_going: bool) -> Tally {
        let target = tempfile::tempdir().unwrap();
        run(&Tree::building_into(target.path()), steps, keep_going)
    }

    #[test]
    fn the_first_failure_ends_the_run_and_the_rest_is_named() {
        let tally = ran(&[&GOOD, &BAD, &GOOD], false);
        assert!(!tally.is_good());
        let report = tally.report();
        assert!(report.contains("broken glass"), "{report}");
        assert!(report.contains("not reached"), "{report}");
        assert_eq!(report.lines().last(), Some("1 passed, 1 failed"));
    }

    #[test]
    fn skipped_parts_of_tests_are_in_the_report() {
        const PART: Step = Step {
            name: "part",
            shows: "",
            needs: &[],
            beside: false,
            work: |tree| {
                let file = skipped_tests::file(tree);
                std::fs::create_dir_all(file.parent().unwrap())?;
                std::fs::write(file, "NOT TESTED: no sun\nNOT COMPARED: no stars\n")?;
                Ok(Outcome::Done)
            },
        };
        let report = ran(&[&PART, &GOOD], false).report();
        assert!(report.contains("part           in part  NOT TESTED: no sun\n"), "{report}");
        assert!(report.contains("part           in part  NOT COMPARED: no stars\n"), "{report}");
        assert_eq!(report.lines().last(), Some("2 passed, 0 failed"));
    }

    #[test]
    fn a_step_runs_beside_those_after_it() {
        use std::sync::{Mutex, mpsc};
        static TALK: Mutex<Option<mpsc::Receiver<()>>> = Mutex::new(None);
        static WORD: Mutex<Option<mpsc::Sender<()>>> = Mutex::new(None);
        // The first step waits for a word of the second.
        const BESIDE: Step = Step {
            beside: true,
            work: |_| {
                let heard = TALK.lock().unwrap().take().unwrap();
                heard.recv_timeout(Duration::from_secs(60))?;
                Ok(Outcome::Done)
            },
            ..GOOD
        };
        const AFTER: Step = Step {
            work: |_| {
                WORD.lock().unwrap().take().unwrap().send(())?;
                Ok(Outcome::Done)
            },
            ..GOOD
        };
        let (word, talk) = mpsc::channel();
        *TALK.lock().unwrap() = Some(talk);
        *WORD.lock().unwrap() = Some(word);
        let report = ran(&[&BESIDE, &AFTER, &BAD], false).report();
        assert_eq!(report.lines().last(), Some("2 passed, 1 failed"));
    }

    #[test]
    fn with_keep_going_every_step_runs() {
        let tally = ran(&[&BAD, &ODD, &GOOD], true);
        let report = tally.report();
        assert!(report.contains("NOT RUN  no moon"), "{report}");
        assert_eq!(report.lines().last(), Some("1 passed, 1 failed"));
    }
}
