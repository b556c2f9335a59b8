//! Goes from the innermost program outwards until a window is in front.

use crate::answer::{Answer, Outcome};
use crate::call::{Call, Ran};
use crate::place::Place;
use crate::resume::resume_command;
use crate::seat::Seat;
use crate::terminals::{Plan, Program, Raise, Role, Stuck, UNKNOWN, is_remote, program_of};
use crate::windows::{self, Hint, Raised};
use crate::world::World;

/// Deepest nesting of programs. Real nests have at most two multiplexers in a terminal.
pub(crate) const DEEPEST: usize = 5;

/// Brings the terminal of a session to the front.
///
/// Blocks until all called programs have answered, at most two seconds for each.
pub fn focus(seat: &Seat, world: &dyn World) -> Answer {
    let resume = resume_command(&seat.session, seat.cwd.as_deref());
    let (outcome, attach) = match Place::of(seat, world).map_err(|why| Stuck { why, attach: None }) {
        Ok(place) => go(place, world),
        Err(stuck) => Err(stuck),
    }
    .map_or_else(|stuck| (Outcome::NotPossible { why: stuck.why }, stuck.attach), |outcome| (outcome, None));
    Answer { outcome, attach, resume }
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

fn go(mut place: Place, world: &dyn World) -> Result<Outcome, Stuck> {
    let mut trail = Trail::default();
    for _ in 0..DEEPEST {
        if is_remote(&place) {
            let why =
                "The session runs over a connection from another machine; its terminal is there.".to_owned();
            return Err(Stuck { why: trail.end(why), attach: None });
        }
        let program = program_of(&place).or(place.tty().map(|_| UNKNOWN));
        let Some(program) = program else {
            let why = "The session runs without a terminal: as a service, in a pipeline, or behind a daemon.";
            return Err(Stuck { why: trail.end(why.into()), attach: None });
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
    Err(Stuck { why: "Too many terminals are nested.".into(), attach: None })
}

fn show(
    plan: &Plan,
    place: &Place,
    program: &Program,
    mut trail: Trail,
    world: &dyn World,
) -> Result<Outcome, Stuck> {
    let selected = match first_there(&plan.select, world) {
        None => plan.lacking.clone().map_or(Ok(false), Err),
        Some((_, Ran::Done(_))) => Ok(true),
        Some((call, other)) => {
            let advice = plan.lacking.as_deref().map(|advice| format!(" {advice}")).unwrap_or_default();
            Err(format!("The tab could not be chosen: {}.{advice}", other.trouble(&call.program)))
        }
    };
    let is_selected = selected == Ok(true);
    let raised = match &plan.raise {
        Raise::Window(hint) => windows::raise(place, hint, world),
        Raise::WithTab(hint) => with_tab(place, program, hint, is_selected, world),
        Raise::Select if is_selected => Ok(Raised::Right),
        Raise::Select => Err("Its window could not be raised either.".into()),
        Raise::Calls(calls) => match first_there(calls, world) {
            Some((_, Ran::Done(_))) => Ok(Raised::Right),
            Some((call, other)) => {
                Err(format!("The window could not be raised: {}.", other.trouble(&call.program)))
            }
            None => Err("Nothing here can raise the window.".into()),
        },
    };
    trail.selected |= is_selected;
    trail.missed = trail.missed.or(selected.err());
    let raised = raised.map_err(|why| Stuck { why: trail.end(why), attach: None })?;
    if raised == Raised::Guessed {
        let why = "The program has several windows, and it is not known which one shows the session.";
        trail.missed.get_or_insert_with(|| why.into());
    }
    let by = trail.by.join(" in ");
    Ok(match trail.missed {
        None => Outcome::Focused { by },
        Some(why) => Outcome::WindowOnly { by, why },
    })
}

/// For terminals that raise their window with the tab. If a window of the terminal is in front now, it is the right
/// one, and the desktop need not guess.
fn with_tab(
    place: &Place,
    program: &Program,
    hint: &Hint,
    selected: bool,
    world: &dyn World,
) -> Result<Raised, String> {
    let own = place.process_of(program.processes).or(hint.pid);
    if selected && own.is_some() && windows::wayland::compositor(place, world).is_none() {
        for _ in 0..10 {
            if windows::in_front(place, world).is_some_and(|window| window.pid == own) {
                return Ok(Raised::Right);
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    windows::raise(place, hint, world)
}

/// Runs the calls in order, up to the first one whose program exists.
fn first_there<'a>(calls: &'a [Call], world: &dyn World) -> Option<(&'a Call, Ran)> {
    let mut last = None;
    for call in calls {
        let ran = world.run(call);
        let is_there = ran != Ran::Absent;
        last = Some((call, ran));
        if is_there {
            break;
        }
    }
    last
}

/// The name of a program for the user.
fn name(place: &Place, program: &Program) -> String {
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
