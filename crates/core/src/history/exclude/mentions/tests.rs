//! Which calls, results and lines name an excluded path, and which only mention it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::history::Links;

const CWD: Option<&str> = Some("/home/dev/app");

/// Links that a test defines.
#[derive(Debug)]
struct Known(BTreeMap<&'static str, &'static str>);

impl Links for Known {
    fn real(&self, path: &str) -> Option<String> {
        let known = self.0.iter().find(|(link, _)| path.starts_with(**link));
        known.map(|(link, goal)| path.replacen(link, goal, 1)).or_else(|| Some(path.to_owned()))
    }
}

fn excluding(pattern: &str) -> Exclude {
    let links = Known([("/home/dev/app/link", "/home/dev/secret"), ("/old", "/home/dev")].into());
    Exclude::new([pattern.to_owned()]).on_disk(Some("/home/dev".to_owned()), Arc::new(links))
}

#[test]
fn a_call_that_names_an_excluded_path_is_left_out() {
    let folder = excluding("/home/dev/secret/**");
    for (tool, input, named) in [
        ("Read", r#"{"file_path":"../secret/a"}"#, true),
        ("Read", r#"{"file_path":"link/a"}"#, true),
        ("Read", r#"{"file_path":"secret/a"}"#, false),
        ("Write", r#"{"file_path":"a","content":"see /home/dev/secret/a"}"#, false),
        ("Edit", r#"{"file_path":"a","old_string":"~/secret/a"}"#, false),
        ("Grep", r#"{"pattern":"secret","path":".."}"#, false),
        ("Grep", r#"{"pattern":"x","path":"..","glob":"secret/*"}"#, true),
        ("Glob", r#"{"pattern":"secret/**/*.rs","path":"/home/dev"}"#, true),
        ("Glob", r#"{"path":"~","pattern":"secret/*"}"#, true),
        ("Bash", r#"{"command":"cat ../secret/a"}"#, true),
        ("Bash", r#"{"command":"cat link"}"#, true),
        ("Bash", r#"{"command":"cat \"/home/dev/se\"cret/a"}"#, true),
        ("Bash", r#"{"command":"git clone https://host.test/home/dev/secret"}"#, false),
        ("Bash", r#"{"command":"echo secret"}"#, false),
        ("Bash", r#"{"command":"cat /home/dev/secrets /mnt/home/dev/secret.txt"}"#, false),
        ("Bash", r#"{"command":"cat /home/dev/secret/a"#, true),
        ("exec_command", r#"{"cmd":"cat secret/a","workdir":"/home/dev"}"#, true),
        ("exec_command", r#"{"workdir":"..","cmd":"cat secret/a"}"#, true),
        ("exec_command", r#"{"cmd":"ls","workdir":"../secret"}"#, true),
        ("exec_command", r#"{"cmd":"cat ../secret/a","workdir":"/srv/app"}"#, false),
        ("shell", r#"{"command":["cat","secret/a"],"workdir":"~"}"#, true),
        ("mcp__x__y", r#"{"note":"it is in /old/secret/a."}"#, true),
        ("mcp__x__y", r#"{"note":"it is a secret"}"#, false),
        ("AskUserQuestion", r#"{"questions":[{"question":"/home/dev/secret?"}]}"#, false),
        ("TodoWrite", r#"{"todos":[{"content":"look at /home/dev/secret"}]}"#, false),
        ("Bash", "", false),
        ("Bash", "[[[", false),
    ] {
        assert_eq!(folder.call_names_excluded(tool, input, CWD), named, "{tool} {input}");
    }
    let names = excluding("**/*.env");
    for (command, named) in [
        ("cat .env", true),
        ("cat prod.env|wc", true),
        ("python -c \"open('prod.env')\"", true),
        ("env x=1 make", false),
        ("cat environment", false),
    ] {
        let input = serde_json::json!({ "command": command }).to_string();
        assert_eq!(names.call_names_excluded("Bash", &input, CWD), named, "{command}");
    }
    let spaces = excluding("/home/dev/my secret");
    for command in [r"cat /home/dev/my\ secret/a", "cat '/home/dev/my secret/a'", "cat ~/'my secret'/a"] {
        let input = serde_json::json!({ "command": command }).to_string();
        assert!(spaces.call_names_excluded("Bash", &input, CWD), "{command}");
    }
    assert!(!Exclude::default().call_names_excluded("Bash", r#"{"command":"cat /home/dev/secret"}"#, CWD));
}

#[test]
fn output_that_names_an_excluded_path_is_left_out() {
    let exclude = excluding("**/.env");
    for (tool, text, named) in [
        (Some("Grep"), "src/a.rs:3:x\n.env:1:KEY", true),
        (Some("Bash"), "app/.env:KEY", true),
        (Some("Glob"), "a\n.env\nb", true),
        (None, "/srv/app/.env", true),
        (Some("Bash"), "put it into .env or so", false),
        (Some("Read"), "/srv/app/.env", false),
        (Some("Bash"), "environment", false),
    ] {
        assert_eq!(exclude.output_names_excluded(tool, text, CWD), named, "{tool:?} {text}");
    }
}
