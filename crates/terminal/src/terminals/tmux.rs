//! tmux: finds the pane by its id, which is unique on a server, then the tmux client that shows it (tmux(1), versions
//! from 2.1).
//!
//! A pane has the graphical variables with which the server was started, not those of the client that shows it now.
//! So the way outwards goes through the client's process.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{EnterResult, FocusFailure, Form, Program, Role, Typing};
use crate::call::ProgramCall;
use crate::place::{NestLevel, ancestors, is_tty, number};
use crate::windows;
use crate::world::World;
use watchbill_agents::resume::quoted;

/// tmux.
pub const PROGRAM: Program = Program {
    kind: "tmux",
    name: "tmux",
    processes: &["tmux: server", "tmux"],
    role: Role::Multiplexer { enter, shown },
};

/// Keys go into a pane through a buffer of this program, a new one for each text. A text that begins with `-` or ends in `;`
/// needs no quoting there, and no other paste can take its place. See tmux(1), `load-buffer` and `paste-buffer`.
pub const TYPING: Typing = Typing { takes, write, enter: press_enter };

/// Whether a pane takes keys, word by word.
const TAKES: &str =
    "#{pane_id} #{pane_tty} #{pane_in_mode} #{pane_synchronized} #{pane_input_off} #{pane_dead}";

const PANES: &str = "#{pane_id} #{session_id} #{window_id} #{pane_active} #{window_active} #{session_name}";
const CLIENTS: &str = "#{client_pid} #{client_activity} #{client_control_mode} #{session_id} #{client_tty}";

/// The pane, as one tmux session sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pane {
    session: String,
    window: String,
    /// Its session shows this pane.
    shown: bool,
    name: String,
}

/// A client of the tmux server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Client {
    pid: u32,
    /// Time of its last use, in seconds.
    activity: u64,
    /// A program that draws the panes itself, such as iTerm2.
    controls: bool,
    session: String,
    tty: String,
}

fn enter(place: &NestLevel, world: &dyn World) -> EnterResult {
    let Some(id) = pane_id(place) else {
        return without_server(
            "tmux's pane is not known (TMUX_PANE), so it cannot be chosen.".into(),
            place,
            world,
        );
    };
    let out = match ask(place, world, &["list-panes", "-a", "-F", PANES]) {
        Ok(out) => out,
        Err(why) => return without_server(format!("The pane could not be chosen: {why}."), place, world),
    };
    let panes = panes(&out, id);
    let Some(first) = panes.first() else {
        return without_server("tmux does not have this pane any more.".into(), place, world);
    };
    let clients = ask(place, world, &["list-clients", "-F", CLIENTS]).map(|out| clients(&out));
    let Some((client, pane)) = choose(&clients.unwrap_or_default(), &panes, &in_front(place, world)) else {
        // So that a client that attaches later shows the pane.
        let target = format!("{}:{}.{id}", first.session, first.window);
        let _ = ask(place, world, &["select-window", "-t", &target, ";", "select-pane", "-t", &target]);
        let why = format!("No terminal shows the tmux session `{}`.", first.name);
        return EnterResult {
            missed: None,
            outer: Err(FocusFailure { why, attach: Some(attach(place, &first.name)) }),
        };
    };
    // One request moves the client to the session, the session to the window, and the window to the pane.
    let target = format!("{}:{}.{id}", pane.session, pane.window);
    let moved = ask(place, world, &["switch-client", "-c", &client.tty, "-t", &target]);
    let missed = moved.err().map(|why| format!("The pane could not be chosen: {why}."));
    EnterResult { missed, outer: outside(place, &client, world) }
}

/// The places of the clients that show the pane; empty if none does.
fn shown(place: &NestLevel, world: &dyn World) -> Option<Vec<NestLevel>> {
    let id = pane_id(place)?;
    let panes = panes(&ask(place, world, &["list-panes", "-a", "-F", PANES]).ok()?, id);
    let clients = clients(&ask(place, world, &["list-clients", "-F", CLIENTS]).ok()?);
    let shows = |client: &&Client| panes.iter().any(|pane| pane.shown && pane.session == client.session);
    Some(clients.iter().filter(shows).filter_map(|client| outside(place, client, world).ok()).collect())
}

fn takes(place: &NestLevel, world: &dyn World) -> Result<(), String> {
    let id = pane_id(place).ok_or("tmux's pane is not known (TMUX_PANE).")?;
    let out = ask(place, world, &["list-panes", "-a", "-F", TAKES]).map_err(|why| format!("{why}."))?;
    let words = out.lines().map(|line| line.split(' ').collect::<Vec<_>>()).find(|words| words[0] == id);
    let words = words.ok_or("tmux does not have this pane any more.")?;
    let [_, tty, in_mode, synchronized, off, dead] = words[..] else {
        return Err("tmux describes the pane in words that this version does not know.".into());
    };
    let own = place.above.first().and_then(|process| process.tty.as_deref());
    if own != Some(tty) {
        return Err("tmux's pane shows another terminal than the session's.".into());
    }
    let is_set = |flag: &str| !matches!(flag, "0" | "");
    match () {
        () if is_set(dead) || is_set(off) => Err("tmux's pane takes no keys.".into()),
        () if is_set(in_mode) => {
            Err("tmux's pane is in copy mode, where keys are commands; leave it with `q`.".into())
        }
        () if is_set(synchronized) => {
            Err("tmux copies the keys of this pane to others (`synchronize-panes`).".into())
        }
        () => Ok(()),
    }
}

fn write(place: &NestLevel, text: &str, form: Form) -> Vec<ProgramCall> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let buffer = format!("watchbill-{}-{number}", std::process::id());
    let id = pane_id(place).unwrap_or_default();
    // `-r`: line feeds stay; `-d`: the buffer goes; `-p`: with the brackets of a paste, as the program in the pane wants.
    let flags: &[&str] = match form {
        Form::Keys => &["paste-buffer", "-r", "-d"],
        Form::Paste => &["paste-buffer", "-p", "-r", "-d"],
    };
    vec![
        call(place, &["load-buffer", "-b", &buffer, "-"]).input(text),
        call(place, &[flags, &["-b", &buffer, "-t", id]].concat()),
    ]
}

fn press_enter(place: &NestLevel) -> ProgramCall {
    call(place, &["send-keys", "-t", pane_id(place).unwrap_or_default(), "Enter"])
}

fn outside(place: &NestLevel, client: &Client, world: &dyn World) -> Result<NestLevel, FocusFailure> {
    place.of_client(client.pid, Some(&client.tty), world).ok_or_else(|| FocusFailure {
        why: "The process that shows the tmux session cannot be read.".into(),
        attach: None,
    })
}

/// The server does not answer. A single tmux client can still be found among the processes.
fn without_server(why: String, place: &NestLevel, world: &dyn World) -> EnterResult {
    let clients = world.named("tmux: client");
    let outer = match clients.as_slice() {
        [(pid, _)] => place.of_client(*pid, None, world),
        _ => None,
    };
    match outer {
        Some(outer) => EnterResult { missed: Some(why), outer: Ok(outer) },
        None => EnterResult { missed: None, outer: Err(FocusFailure { why, attach: None }) },
    }
}

/// The client of the pane's session that is in front, or else the one used last. A client of another session is
/// chosen only if there is no other, because it then shows the pane instead of its own session.
fn choose(clients: &[Client], panes: &[Pane], front: &dyn Fn(&Client) -> bool) -> Option<(Client, Pane)> {
    let rank = |client: &&Client| {
        let attached = panes.iter().any(|pane| pane.session == client.session);
        (!client.controls, attached, front(client), client.activity, client.pid)
    };
    let client = clients.iter().max_by_key(rank)?;
    let own = panes.iter().find(|pane| pane.session == client.session);
    Some((client.clone(), own.or(panes.first())?.clone()))
}

/// Whether the window in front is a client's.
fn in_front<'a>(place: &NestLevel, world: &'a dyn World) -> impl Fn(&Client) -> bool + 'a {
    let front = windows::in_front(place, world).and_then(|window| window.pid);
    move |client| {
        front.is_some_and(|pid| ancestors(client.pid, world).iter().any(|process| process.pid == pid))
    }
}

fn pane_id(place: &NestLevel) -> Option<&str> {
    let of_target = |target: &'_ str| target.rfind('.').map(|dot| dot + 1);
    let target = place.word("tmux").and_then(|target| target.get(of_target(target)?..));
    place.word("TMUX_PANE").or(target).filter(|id| id.strip_prefix('%').and_then(number).is_some())
}

fn panes(out: &str, id: &str) -> Vec<Pane> {
    let pane = |line: &str| {
        let words: Vec<&str> = line.splitn(6, ' ').collect();
        let [pane, session, window, pane_active, window_active, name] = words[..] else { return None };
        let is_it = pane == id && is_id(session, '$') && is_id(window, '@');
        is_it.then(|| Pane {
            session: session.to_owned(),
            window: window.to_owned(),
            shown: pane_active == "1" && window_active == "1",
            name: name.to_owned(),
        })
    };
    out.lines().filter_map(pane).collect()
}

fn clients(out: &str) -> Vec<Client> {
    let client = |line: &str| {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [pid, activity, controls, session, tty] = words[..] else { return None };
        Some(Client {
            pid: number(pid)?,
            activity: activity.parse().ok()?,
            controls: controls == "1",
            session: Some(session).filter(|session| is_id(session, '$'))?.to_owned(),
            tty: Some(tty).filter(|tty| is_tty(tty))?.to_owned(),
        })
    };
    out.lines().filter_map(client).collect()
}

fn is_id(word: &str, sign: char) -> bool {
    word.strip_prefix(sign).and_then(number).is_some()
}

fn ask(place: &NestLevel, world: &dyn World, args: &[&str]) -> Result<String, String> {
    let call = call(place, args);
    match world.run(&call) {
        crate::call::CallResult::Done(out) => Ok(out),
        other => Err(other.failure_text("tmux")),
    }
}

fn call(place: &NestLevel, args: &[&str]) -> ProgramCall {
    let server = socket(place).map(|socket| ["-S", socket]);
    let mut call = ProgramCall::new("tmux", server.into_iter().flatten().chain(args.iter().copied()));
    // If the place names no server, the default one is meant, not the one in which this program runs.
    call.without = &["TMUX", "TMUX_PANE"];
    call
}

/// `TMUX` holds the server's socket, its process and the session's number, separated by commas.
fn socket(place: &NestLevel) -> Option<&str> {
    place.path("TMUX").and_then(|value| value.rsplitn(3, ',').nth(2))
}

fn attach(place: &NestLevel, session: &str) -> String {
    let usual = |socket: &&str| !socket.ends_with("/default");
    let server =
        socket(place).filter(usual).map(|socket| format!("-S {} ", quoted(socket))).unwrap_or_default();
    format!("tmux {server}attach -t {}", quoted(&format!("={session}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(pid: u32, activity: u64, session: &str) -> Client {
        Client { pid, activity, controls: false, session: session.into(), tty: format!("/dev/pts/{pid}") }
    }

    #[test]
    fn valid_lines_are_parsed_and_others_skipped() {
        let out = "%1 $0 @0 1 1 main\n%2 $0 @1 1 0 main\n%2 $3 @1 1 1 a name: with words\n%12 $0 @1 0 1 x\n%2 bad\n";
        let found = panes(out, "%2");
        let (shown, names): (Vec<_>, Vec<_>) =
            found.iter().map(|pane| (pane.shown, pane.name.as_str())).unzip();
        assert_eq!((shown, names), (vec![false, true], vec!["main", "a name: with words"]));
        let out = "812 1763736507 0 $0 /dev/pts/4\nx 1 0 $0 /dev/pts/5\n9 1 0 $0 /dev/pts/5;rm\n7 1 1 $2 /dev/ttys001\n";
        let found: Vec<_> = clients(out).iter().map(|client| (client.pid, client.controls)).collect();
        assert_eq!(found, [(812, false), (7, true)]);
    }

    #[test]
    fn the_client_that_shows_the_session_is_chosen_and_in_front_before_newest() {
        let panes = panes("%2 $1 @1 1 1 b\n", "%2");
        let none_in_front = |_: &Client| false;
        let of = |clients: &[Client], front: &dyn Fn(&Client) -> bool| {
            choose(clients, &panes, front).map(|c| c.0.pid)
        };
        let three = [client(1, 50, "$0"), client(2, 10, "$1"), client(3, 20, "$1")];
        assert_eq!(of(&three, &none_in_front), Some(3), "the one used last");
        assert_eq!(of(&three, &|client: &Client| client.pid == 2), Some(2), "the one in front");
        assert_eq!(
            of(&three, &|client: &Client| client.pid == 1),
            Some(3),
            "not one that shows something else"
        );
        assert_eq!(of(&three[..1], &none_in_front), Some(1), "unless it is the only one");
        assert_eq!(of(&[], &none_in_front), None);
        let controlling = Client { controls: true, ..client(4, 99, "$1") };
        assert_eq!(of(&[client(1, 1, "$1"), controlling], &none_in_front), Some(1));
    }
}
