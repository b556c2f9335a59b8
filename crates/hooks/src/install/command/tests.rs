//! Tests of the command line, for the shells of all systems.

use super::*;

fn program_of(line: &str) -> Option<PathBuf> {
    called_by_for(line, Shell::Posix).map(|called| called.program)
}

#[test]
fn our_command_line_is_recognised_in_any_folder() {
    for program in ["/usr/bin/watchbill", "/home/dev/an a/it's \"here\"/$x/watchbill", "/opt/wätch/watchbill"]
    {
        let command = HookCommand {
            agent: Agent::default(),
            program: program.into(),
            data_dir: Some("/a b".into()),
            markers: true,
            purpose: Purpose::Events,
        };
        assert_eq!(
            program_of(&command.line_for(Shell::Posix)),
            Some(program.into()),
            "{}",
            command.line_for(Shell::Posix)
        );
    }
    let plain = HookCommand {
        agent: Agent::default(),
        program: "/usr/bin/watchbill".into(),
        data_dir: None,
        markers: false,
        purpose: Purpose::Events,
    };
    assert_eq!(plain.line_for(Shell::Posix), "/usr/bin/watchbill hook");
}

#[test]
fn other_peoples_commands_are_not_taken_for_ours() {
    for line in [
        "",
        "watchbill",
        "watchbill status",
        "my-watchbill hook",
        "echo watchbill hook",
        "watchbill hook; rm x",
        "$(watchbill) hook",
        "wrapper watchbill hook",
        "'watchbill hook",
        "watchbill-other hook",
    ] {
        // Each line starts another program, does more than start us, or is incomplete.
        assert_eq!(program_of(line), None, "{line}");
    }
    for line in [
        "watchbill hook",
        "  '/old place/watchbill'  hook --whatever",
        "\"/x/watchbill\" hook",
        "watchbill.exe hook",
    ] {
        assert!(program_of(line).is_some(), "{line}");
    }
}

#[test]
fn a_renamed_copy_is_recognised_by_its_mark_or_version() {
    for name in ["wb", "watchbill-next", "my watchbill", "watchbill.old", "Überwacher"] {
        let program = format!("/opt/{name}");
        let command = HookCommand {
            agent: Agent::default(),
            program: program.clone(),
            data_dir: None,
            markers: true,
            purpose: Purpose::Events,
        };
        let line = command.line_for(Shell::Posix);
        assert!(line.ends_with(" hook --markers --watchbill"), "{line}");
        assert_eq!(program_of(&line), Some(program.into()));
    }
    // Earlier versions wrote these without a mark.
    for line in [
        "/opt/watchbill-0.1.0 hook",
        "/opt/watchbill_0.1.0 hook --data-dir /x",
        "/opt/watchbill-v0.2.0-x86_64-linux hook --markers",
        "watchbill-0.1.0.exe hook",
        "watchbill.EXE hook",
    ] {
        assert!(program_of(line).is_some(), "{line}");
    }
    let named = HookCommand {
        agent: Agent::default(),
        program: "/opt/watchbill-0.1.0".into(),
        data_dir: None,
        markers: false,
        purpose: Purpose::Events,
    };
    assert_eq!(named.line_for(Shell::Posix), "/opt/watchbill-0.1.0 hook");
    for line in ["wb hook --watchbills", "wb --watchbill hook", "wb hook; x --watchbill", "watchbill-v hook"]
    {
        assert_eq!(program_of(line), None, "{line}");
    }
}

#[test]
fn our_command_line_for_windows_is_recognised_on_windows() {
    for program in [
        r"C:\t\watchbill.exe",
        r"C:\Program Files\Watchbill\watchbill.exe",
        r"\\server\share\watchbill.exe",
        r"C:\it's $HERE\watchbill-0.1.0.exe",
        "C:/t/watchbill.exe",
        r"D:\wb.exe",
    ] {
        let data_dir = r"C:\new\data\";
        let command = HookCommand {
            agent: Agent::default(),
            program: program.into(),
            data_dir: Some(data_dir.into()),
            markers: false,
            purpose: Purpose::Events,
        };
        let line = command.line_for(Shell::Windows);
        let called = called_by_for(&line, Shell::Windows);
        let expected = HookTarget {
            program: program.replace('\\', "/").into(),
            data_dir: Some("C:/new/data/".into()),
            purpose: Purpose::Events,
        };
        assert_eq!(called, Some(expected), "{line}");
        assert!(!line.contains('\\'), "{line}");
    }
    // POSIX rules drop the backslashes.
    let line = r#""C:\t\watchbill.exe" hook"#;
    assert_eq!(called_by_for(line, Shell::Posix), None);
    assert!(called_by_for(line, Shell::Windows).is_some());
}
