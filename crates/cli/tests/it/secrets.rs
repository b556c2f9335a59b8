//! Files with keys, tokens and accounts lie beside the sessions of agents. No command opens one: the system would tell this test.

use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use rustix::process::Signal;
use watchbill_agents::{Agent, traits};

use crate::home::Home;
use crate::with_serve::Serve;

/// Below the home folder.
const SECRETS: [&str; 20] = [
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".codex/.credentials.json",
    ".gemini/oauth_creds.json",
    ".gemini/google_accounts.json",
    ".gemini/.env",
    ".local/share/opencode/auth.json",
    ".local/share/opencode/mcp-auth.json",
    ".copilot/config.json",
    ".pi/agent/auth.json",
    ".cursor/cli-config.json",
    ".cursor/chats/w/3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc/store.db",
    ".kimi-code/config.toml",
    ".grok/auth.json",
    ".factory/auth.v2.file",
    ".qwen/oauth_creds.json",
    ".qwen/sessions/77.json",
    ".config/goose/secrets.yaml",
    ".gemini/antigravity-cli/conversations/3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc.db",
    ".local/share/amp/secrets.json",
];

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn no_command_opens_a_file_with_secrets() {
    let home = Home::empty();
    let rollout =
        ".codex/sessions/2026/11/28/rollout-2026-11-28T22-00-00-01a1f9a8-51c2-7810-b121-7ef069913a9e.jsonl";
    let head = r#"{"timestamp":"2026-11-28T21:00:00.000Z","type":"session_meta","payload":{"id":"01a1f9a8-51c2-7810-b121-7ef069913a9e","cwd":"/","cli_version":"0.169.0"}}"#;
    write(&home.path().join(rollout), &format!("{head}\n"));
    for agent in Agent::ALL {
        let (folder, layout) = (traits(agent).folder, traits(agent).layout);
        // goose keeps its keys elsewhere.
        assert!(
            SECRETS.iter().any(|name| name.starts_with(folder)) || agent == Agent::Goose,
            "none named in {folder}"
        );
        for top in layout.folders {
            std::fs::create_dir_all(home.path().join(folder).join(top.name)).unwrap();
        }
    }
    let opens = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    for secret in SECRETS.map(|name| home.path().join(name)) {
        write(&secret, "{\"token\":\"a key\"}");
        add_watch(&opens, &secret, WatchFlags::OPEN | WatchFlags::ACCESS).unwrap();
    }
    let was_opened = || Reader::new(&opens, &mut [MaybeUninit::uninit(); 4096]).next().is_ok();

    let with_hooks = Agent::ALL.into_iter().filter(|agent| traits(*agent).hooks.is_some());
    let install = with_hooks.map(|agent| vec!["hooks", "install", "--agent", agent.as_str()]);
    let commands =
        ["roster --all --json", "status", "index", "search key", "stats", "doctor", "hooks status"];
    let commands = commands.map(|command| command.split(' ').collect::<Vec<_>>());
    for command in commands.into_iter().chain(install) {
        let done = home.run_watchbill(&command);
        assert!(done.code == 0 && !was_opened(), "{command:?} {} {}", done.code, done.err);
    }
    let serve = Serve::of(&home);
    assert_eq!(home.json(&["roster", "--all", "--json"])["sessions"].as_array().unwrap().len(), 1);
    serve.end(Signal::TERM);
    assert!(!was_opened(), "serve");
    std::fs::read(home.path().join(SECRETS[1])).unwrap();
    assert!(was_opened(), "the test would have seen it");
}
