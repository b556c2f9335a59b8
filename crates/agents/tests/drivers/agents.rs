//! What a start runs.

use watchbill_agents::launch::{driver, launch};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResume, OwnSpec};

use crate::talk::spec;

fn told(spec: &OwnSpec) -> String {
    match launch(spec) {
        Ok(launch) => {
            let env: Vec<_> = launch.env.iter().map(|(name, value)| format!("{name}={value} ")).collect();
            format!("{}{} {}", env.concat(), launch.program, launch.args.join(" "))
        }
        Err(why) => why,
    }
}

#[test]
fn each_agent_starts_with_these_words() {
    let resumes = [None, Some(false), Some(true)];
    let mut lines = Vec::new();
    for (agent, mode) in [
        (OwnAgent::Claude, "plan"),
        (OwnAgent::Codex, "on-request/read-only"),
        (OwnAgent::Gemini, "autoEdit"),
    ] {
        for kind in [OwnKind::Stream, OwnKind::Pty] {
            for fork in resumes {
                let mut spec = OwnSpec { kind, ..spec(agent) };
                spec.resume = fork.map(|fork| OwnResume { session: "old".into(), fork });
                lines.push(told(&spec));
                spec.model = Some("a-model".into());
                spec.mode = Some(mode.into());
                lines.push(told(&spec));
            }
        }
    }
    let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    lines.push(told(&OwnSpec {
        kind: OwnKind::Pty,
        command: command(&["bash", "-l"]),
        ..spec(OwnAgent::Shell)
    }));
    lines.push(told(&OwnSpec { kind: OwnKind::Pty, ..spec(OwnAgent::Shell) }));
    lines.push(told(&OwnSpec { command: command(&["/opt/claude"]), ..spec(OwnAgent::Claude) }));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn no_word_of_a_specification_becomes_an_option() {
    let dangerous = || Some("--dangerously-skip-permissions".to_owned());
    let resume = Some(OwnResume { session: "--continue".into(), fork: false });
    for spec in [
        OwnSpec { model: dangerous(), ..spec(OwnAgent::Claude) },
        OwnSpec { mode: dangerous(), ..spec(OwnAgent::Gemini) },
        OwnSpec { resume, ..spec(OwnAgent::Claude) },
        OwnSpec { session: String::new(), ..spec(OwnAgent::Claude) },
        OwnSpec { mode: Some("yolo".into()), ..spec(OwnAgent::Codex) },
    ] {
        assert!(launch(&spec).is_err(), "{spec:?}");
    }
}

#[test]
fn a_terminal_has_no_driver() {
    for agent in [OwnAgent::Claude, OwnAgent::Codex, OwnAgent::Gemini, OwnAgent::Shell] {
        assert!(driver(&OwnSpec { kind: OwnKind::Pty, ..spec(agent) }).is_none());
        assert_eq!(driver(&spec(agent)).is_some(), agent != OwnAgent::Shell);
    }
}
