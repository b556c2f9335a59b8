//! Goes from the innermost program outwards until a window is in front.

use crate::answer::{FocusAnswer, FocusLevel};
use crate::call::{CallResult, ProgramCall};
use crate::place::NestLevel;
use crate::session_location::SessionLocation;
use crate::terminals::{FocusFailure, FocusPlan, Program, Raise, Role, UNKNOWN, is_remote, program_of};
use crate::windows::{self, Raised, WindowHint};
use crate::world::World;
use watchbill_agents::resume::resume_command;

/// Deepest nesting of programs. Real nests have at most two multiplexers in a terminal.
pub(crate) const MAX_NESTING: usize = 5;

/// Brings the terminal of a session to the front.
///
/// Blocks until all called programs have answered, at most two seconds for each.
pub fn focus(session_location: &SessionLocation, world: &dyn World) -> FocusAnswer {
    let resume =
        resume_command(session_location.agent, &session_location.resume, session_location.cwd.as_deref());
    let (outcome, attach) =
        match NestLevel::of(session_location, world).map_err(|why| FocusFailure { why, attach: None }) {
            Ok(place) => go(place, world),
            Err(stuck) => Err(stuck),
        }
        .map_or_else(
            |stuck| {
                let attach = stuck.attach.or_else(|| Some(session_location.attach.as_deref()?.to_owned()));
                (FocusLevel::NotPossible { why: stuck.why }, attach)
            },
            |outcome| (outcome, None),
        );
    FocusAnswer { outcome, attach, resume }
}

/// What was done on the way outwards.
#[derive(Debug, Default)]
struct Trail {
    by: Vec<String>,
    /// A pane or tab on the way was brought to the front of its window.
    selected: bool,
    /// Why a pane could not be brought to the front.
    missed: Option<String>,
}

fn go(mut place: NestLevel, world: &dyn World) -> Result<FocusLevel, FocusFailure> {
    let mut trail = Trail::default();
    for _ in 0..MAX_NESTING {
        if is_remote(&place) {
            let why =
                "The session runs over a connection from another machine; its terminal is there.".to_owned();
            return Err(FocusFailure { why: trail.end(why), attach: None });
        }
        let program = program_of(&place).or(place.tty().map(|_| UNKNOWN));
        let Some(program) = program else {
            let why = "The session runs without a terminal: as a service, in a pipeline, or behind a daemon.";
            return Err(FocusFailure { why: trail.end(why.into()), attach: None });
        };
        match &program.role {
            Role::Multiplexer { enter, .. } => {
                let entered = enter(&place, world);
                trail.by.push(name(&place, program));
                trail.selected |= entered.missed.is_none() && entered.outer.is_ok();
                trail.missed = trail.missed.or(entered.missed);
                place = entered.outer?;
            }
            Role::Terminal { plan, .. } => {
                trail.by.push(name(&place, program));
                return show(&plan(&place), &place, program, trail, world);
            }
        }
    }
    Err(FocusFailure { why: "Too many terminals are nested.".into(), attach: None })
}

fn show(
    plan: &FocusPlan,
    place: &NestLevel,
    program: &Program,
    mut trail: Trail,
    world: &dyn World,
) -> Result<FocusLevel, FocusFailure> {
    let selected = match run_first_installed(&plan.select, world) {
        None => plan.no_tab_reason.clone().map_or(Ok(false), Err),
        Some((_, CallResult::Done(_))) => Ok(true),
        Some((call, other)) => {
            let advice = plan.no_tab_reason.as_deref().map(|advice| format!(" {advice}")).unwrap_or_default();
            Err(format!("The tab could not be chosen: {}.{advice}", other.failure_text(&call.program)))
        }
    };
    let is_selected = selected == Ok(true);
    let raised = match &plan.raise {
        Raise::Window(hint) => windows::raise(place, hint, world),
        Raise::WithTab(hint) => with_tab(place, program, hint, is_selected, world),
        Raise::Select if is_selected => Ok(Raised::ExactWindow),
        Raise::Select => Err("Its window could not be raised either.".into()),
        Raise::Calls(calls) => match run_first_installed(calls, world) {
            Some((_, CallResult::Done(_))) => Ok(Raised::ExactWindow),
            Some((call, other)) => {
                Err(format!("The window could not be raised: {}.", other.failure_text(&call.program)))
            }
            None => Err("Nothing here can raise the window.".into()),
        },
    };
    trail.selected |= is_selected;
    trail.missed = trail.missed.or(selected.err());
    let raised = raised.map_err(|why| FocusFailure { why: trail.end(why), attach: None })?;
    if raised == Raised::Guessed {
        let why = "The program has several windows, and it is not known which one shows the session.";
        trail.missed.get_or_insert_with(|| why.into());
    }
    let by = trail.by.join(" in ");
    Ok(match trail.missed {
        None => FocusLevel::Focused { by },
        Some(why) => FocusLevel::WindowOnly { by, why },
    })
}

/// For terminals that raise their window with the tab. If a window of the terminal is in front now, it is the right
/// one, and the desktop need not guess.
fn with_tab(
    place: &NestLevel,
    program: &Program,
    hint: &WindowHint,
    selected: bool,
    world: &dyn World,
) -> Result<Raised, String> {
    let own = place.process_of(program.processes).or(hint.pid);
    if selected && own.is_some() && windows::wayland::compositor(place, world).is_none() {
        for _ in 0..10 {
            if windows::in_front(place, world).is_some_and(|window| window.pid == own) {
                return Ok(Raised::ExactWindow);
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    windows::raise(place, hint, world)
}

/// Runs the calls in order, up to the first one whose program exists.
fn run_first_installed<'a>(
    calls: &'a [ProgramCall],
    world: &dyn World,
) -> Option<(&'a ProgramCall, CallResult)> {
    let mut last = None;
    for call in calls {
        let ran = world.run(call);
        let is_there = ran != CallResult::NotInstalled;
        last = Some((call, ran));
        if is_there {
            break;
        }
    }
    last
}

/// The name of a program for the user.
fn name(place: &NestLevel, program: &Program) -> String {
    if !program.name.is_empty() {
        return program.name.to_owned();
    }
    let of_process = place.above.iter().find(|process| program.processes.contains(&process.name.as_str()));
    of_process.map_or_else(|| "the terminal".to_owned(), |process| process.name.clone())
}

impl Trail {
    /// The reason when no window came to the front, with what was done on the way.
    fn end(&self, why: String) -> String {
        match &self.missed {
            _ if self.selected => format!("{why} The pane itself is selected."),
            Some(missed) if *missed != why => format!("{missed} {why}"),
            _ => why,
        }
    }
}
