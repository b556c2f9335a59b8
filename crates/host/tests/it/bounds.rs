//! No output, input or reader makes a host large, and what is left out is said.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use watchbill_drive::client::HostError;
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind};

use crate::stage::{Attached, Stage, wait_until};
use crate::stream::spec;

/// The most memory that a host has ever had in these tests, in MB. A small one takes 8.
const AT_MOST: u64 = 64;

/// The most memory that a process has had, in MB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

fn says(told: &Attached, words: &str) -> bool {
    told.events.iter().any(|event| matches!(&event.what, OwnWhat::Error { text, .. } if text.contains(words)))
}

#[test]
fn a_terminals_output_leaves_its_host_small() {
    let endless = |begin: &str| {
        format!("printf '{begin}'; head -c 100000000 /dev/zero | tr '\\0' x; printf '\\007\\033\\\\the end'")
    };
    let cases = [
        (endless("\\033]0;"), "a control sequence"),
        (endless("\\302\\235"), "a control sequence"),
        (endless("\\033P"), "a control sequence"),
        (
            "stty raw -echo; yes $'\\033[c\\033[6n' | tr -d '\\n' | head -c 70000000; printf 'the end'"
                .to_owned(),
            "reads no answers",
        ),
    ];
    for (script, said) in cases {
        let stage = Stage::new();
        let session = stage.shell(&format!("{script}; sleep 1000"));
        let mut told = session.attach();
        told.until_shown("the end").until(said, |told| says(told, said));
        let peak = peak(session.host());
        assert!(peak < AT_MOST, "{peak} MB after {script}");
    }
}

#[test]
fn an_agents_lines_leave_its_host_small() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    for prompt in ["huge 30 40000000", "huge 30 1000000", "many 100000", "errors 100000"] {
        let id = session.prompt(prompt, PromptWhen::Queue);
        told.until_at(&id, PromptPlace::Done);
    }
    assert!(says(&told, "more than 8 MiB was cut"));
    told.until("the cut of an error", |told| says(told, "standard error was cut"));
    let peak = peak(session.host());
    assert!(peak < AT_MOST, "{peak} MB");
}

#[test]
fn readers_that_read_nothing_leave_a_host_small() {
    let stage = Stage::new();
    let session = stage.shell(
        "for i in $(seq 1 4000); do printf '\\e[38;2;1;2;%dm%0300d\\n' $((i % 256)) $i; done; printf 'the end'; sleep 1000",
    );
    session.attach().until_shown("the end");
    let attach = b"{\"id\":\"a\",\"request\":\"attach\",\"from\":0}\n";
    let connect = || UnixStream::connect(session.folder.socket()).unwrap();
    let silent: Vec<UnixStream> = (0..10).map(|_| connect()).collect();
    silent.iter().for_each(|stream| (&mut &*stream).write_all(attach).unwrap());
    // Lines without an end, from as many more.
    let endless: Vec<UnixStream> = (0..20).map(|_| connect()).collect();
    std::thread::scope(|scope| {
        for mut stream in &endless {
            scope.spawn(move || {
                stream.set_write_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
                while stream.write_all(&[b'x'; 64 << 10]).is_ok() {}
            });
        }
    });
    let peak = peak(session.host());
    assert!(peak < AT_MOST, "{peak} MB");
    // It goes on for others.
    drop(endless);
    session.attach().until_shown("the end");
}

#[test]
fn prompts_that_wait_are_bounded_and_a_larger_one_is_refused() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let slow = session.prompt("slow", PromptWhen::Queue);
    told.until_at(&slow, PromptPlace::Started);
    let prompt = |length: usize| {
        let (id, text) = (crate::stage::new_id(), "x".repeat(length));
        session.send(&OwnCommand::Prompt { id, text, images: Vec::new(), when: PromptWhen::Queue })
    };
    prompt(3 << 20).unwrap();
    let refused = prompt(2 << 20).unwrap_err().to_string();
    assert!(refused.contains("too large together"), "{refused}");
    let refused = prompt(9 << 20).unwrap_err();
    assert!(
        matches!(&refused, HostError::Refused(why) if why.message.contains("at most 8 MiB")),
        "{refused}"
    );
    prompt(1000).unwrap();
}

#[test]
fn keys_for_a_program_that_reads_none_are_refused() {
    let stage = Stage::new();
    let session = stage.start(&stage.spec(
        OwnAgent::Shell,
        OwnKind::Pty,
        &["sh", "-c", "stty raw -echo; echo ready; sleep 1000"],
    ));
    session.attach().until_shown("ready");
    let paste = OwnCommand::Paste { text: "x".repeat(256 << 10), enter: false };
    let mut refused = None;
    wait_until("the refusal", || {
        refused = session.send(&paste).err().map(|why| why.to_string());
        refused.is_some()
    });
    assert!(refused.unwrap().contains("reads no input"));
}
