//! No output, input or reader makes a host large, and what is left out is said.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use watchbill_drive::client::HostError;
use watchbill_protocol::own::command::{OwnCommand, OwnImage, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind};

use crate::stage::{Attached, Stage, wait_until};
use crate::stream::{kill, spec};

/// The most memory that a host has ever had in these tests, in MB. The program with its threads takes 8, and its buffers take 8.
/// The rest is what the allocator keeps of them.
const AT_MOST: u64 = 24;

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
        format!("printf '{begin}'; head -c 40000000 /dev/zero | tr '\\0' x; printf '\\007\\033\\\\the end'")
    };
    let cases = [
        (endless("\\033]0;"), "a control sequence"),
        (endless("\\302\\235"), "a control sequence"),
        (endless("\\033P"), "a control sequence"),
        (
            "stty raw -echo; yes $'\\033[c\\033[6n' | tr -d '\\n' | head -c 42000000; printf 'the end'"
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
    let prompts = [
        "huge 30 40000000",
        "huge 30 1000000",
        "huge 30 250000",
        "many 100000",
        "errors 100000",
        "raw lists 10 260000",
        "raw lists 3 9000000",
        "raw objects 10 260000",
        "raw sessions 300 80000",
        "raw calls 300 80000",
        "raw subagents 300 80000",
        "raw blocks 300 80000",
        "raw picture 3 7000000",
        "raw requests 30 80000",
        "raw words 2 9000000",
    ];
    for prompt in prompts {
        let id = session.prompt(prompt, PromptWhen::Queue);
        told.until_at(&id, PromptPlace::Done);
        let peak = peak(session.host());
        assert!(peak < AT_MOST, "{peak} MB after {prompt}");
    }
    for said in ["more than 256 KiB was cut", "more than 40000 values", "asks for more at once than is kept"]
    {
        told.until(said, |told| says(told, said));
    }
    told.until("the cut of an error", |told| says(told, "standard error was cut"));
    let text = |what: &OwnWhat| match what {
        OwnWhat::Block { text, .. } | OwnWhat::ToolResult { text, .. } => text.clone(),
        _ => String::new(),
    };
    told.until_event("a text says that it was cut", |what| {
        text(what).ends_with("[Watchbill left out the rest of this text]")
    });
    told.until_event("an answer with a picture", |what| text(what) == "seen");
    // Readers that come later, all at once.
    let pid = session.host();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                session.attach().until("everything", |told| told.caught_up);
            });
        }
    });
    let peak = peak(pid);
    assert!(peak < AT_MOST, "{peak} MB with readers");
    kill(pid);
    let spec = session.folder.spec().unwrap();
    session.wait_for_end();
    let session = stage.resume(&spec.session);
    session.attach().until("everything", |told| told.caught_up);
    let peak = self::peak(session.host());
    assert!(peak < AT_MOST, "{peak} MB in the next host");
}

#[test]
fn half_a_request_is_not_shown() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    for size in [400_000, 9_000_000] {
        session.prompt(&format!("raw requests 1 {size}"), PromptWhen::Queue);
        told.until("the refusal", |told| says(told, "asks for more at once than is kept"));
        assert!(!told.events.iter().any(|event| matches!(event.what, OwnWhat::Request { .. })));
    }
}

/// Pictures go through files: each reaches the agent as it was, now or after the next start, and the host stays small.
#[test]
fn pictures_pass_a_host_that_stays_small() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let picture =
        |kind: &str, size: usize| OwnImage { media: "image/png".to_owned(), data: kind.repeat(size) };
    let prompt = |text: &str, images: Vec<OwnImage>| {
        let id = crate::stage::new_id();
        let (text, when) = (text.to_owned(), PromptWhen::Queue);
        session.send(&OwnCommand::Prompt { id: id.clone(), text, images, when }).unwrap();
        id
    };
    let sets = [
        vec![picture("AB+/", 2_000_000)],
        vec![picture("AAAA", 10), picture("CD==", 900_000), picture("AAAA", 10), picture("EFGH", 900_000)],
        vec![picture("AB+/", 1_900_000)],
    ];
    for images in &sets {
        let id = prompt("look", images.clone());
        told.until_at(&id, PromptPlace::Done);
    }
    // Several wait, and the host dies: the next one has them.
    let slow = session.prompt("slow", PromptWhen::Queue);
    told.until_at(&slow, PromptPlace::Started);
    let waiting: Vec<_> = sets.iter().map(|images| prompt("later", images.clone())).collect();
    let peak = peak(session.host());
    assert!(peak < AT_MOST, "{peak} MB");
    kill(session.host());
    let spec = session.folder.spec().unwrap();
    session.wait_for_end();
    let session = stage.resume(&spec.session);
    session.send(&OwnCommand::ReleaseQueue).unwrap();
    let mut told = session.attach();
    for id in &waiting {
        told.until_at(id, PromptPlace::Done);
    }
    let peak = self::peak(session.host());
    assert!(peak < AT_MOST, "{peak} MB after the start");
    let hashes = std::fs::read_to_string(stage.data().join("pictures")).unwrap();
    let wanted: Vec<String> = sets.iter().chain(&sets).flatten().map(|image| sha256(&image.data)).collect();
    assert_eq!(hashes.lines().collect::<Vec<_>>(), wanted);
    let log = std::fs::metadata(session.folder.log()).unwrap().len();
    assert!(log < 4 << 20, "each picture is kept once: {log} bytes of log");
}

fn sha256(text: &str) -> String {
    use std::process::{Command, Stdio};
    let mut program = Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    program.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let said = program.wait_with_output().unwrap().stdout;
    String::from_utf8(said).unwrap()[..64].to_owned()
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
    let silent: Vec<UnixStream> = (0..40).map(|_| connect()).collect();
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
    (0..2).for_each(|_| prompt(240 << 10).unwrap());
    let refused = prompt(240 << 10).unwrap_err().to_string();
    assert!(refused.contains("too large together"), "{refused}");
    let refused = prompt(300 << 10).unwrap_err();
    assert!(
        matches!(&refused, HostError::Refused(why) if why.message.contains("at most 256 KiB")),
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
    let paste = OwnCommand::Paste { text: "x".repeat(100 << 10), enter: false };
    let mut refused = None;
    wait_until("the refusal", || {
        refused = session.send(&paste).err().map(|why| why.to_string());
        refused.is_some()
    });
    assert!(refused.unwrap().contains("reads no input"));
}
