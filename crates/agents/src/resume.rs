//! The shell command that resumes a session.

use watchbill_core::steering::is_steering;

use crate::{Agent, traits};

/// `cd DIR && claude --resume ID` in the words of the agent, quoted for a POSIX shell, and on Windows for PowerShell.
pub fn resume_command(agent: Agent, session: &str, cwd: Option<&str>) -> String {
    if cfg!(windows) {
        line(agent, session, cwd, "; ", in_powershell)
    } else {
        line(agent, session, cwd, " && ", quoted)
    }
}

/// `claude attach JOB`: shows a background session. `None` for an agent without such sessions.
pub fn attach_command(agent: Agent, job: &str) -> Option<String> {
    let words = traits(agent).attach;
    let quoted = if cfg!(windows) { in_powershell(job) } else { quoted(job) };
    (!words.is_empty()).then(|| format!("{words} {quoted}"))
}

fn line(agent: Agent, session: &str, cwd: Option<&str>, then: &str, quoted: fn(&str) -> String) -> String {
    let words = traits(agent).resume;
    let blank = if words.ends_with('=') { "" } else { " " };
    let folder = cwd.map(|cwd| format!("cd {}{then}", quoted(cwd))).unwrap_or_default();
    format!("{folder}{words}{blank}{}", quoted(session))
}

/// Quotes a word for PowerShell. A control character or a direction mark becomes `?`, which is in no name on Windows.
fn in_powershell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_+:./\\-".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('-') {
        return word.to_owned();
    }
    let mut spelled = String::from("'");
    for c in word.chars() {
        match c {
            // PowerShell takes typographic quotes for its own.
            '\'' | '\u{2018}'..='\u{201b}' => spelled.extend([c, c]),
            c if is_steering(c) => spelled.push('?'),
            c => spelled.push(c),
        }
    }
    spelled + "'"
}

/// Quotes a word for a POSIX shell, and writes control characters and direction marks as escapes. A pasted control
/// character could end the terminal's paste mode and run the rest. A direction mark could show another line than the
/// one that runs. `$'…'` is in POSIX since 2024, and was in bash, zsh and ksh long before.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    // zsh replaces `=word` by the path of a command.
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with(['-', '=']) {
        return word.to_owned();
    }
    // C1 control characters too: some terminals obey them.
    if !word.contains(is_steering) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut spelled = String::from("$'");
    for byte in word.bytes() {
        match byte {
            b'\'' | b'\\' | 0..0x20 | 0x7f.. => spelled.push_str(&format!("\\{byte:03o}")),
            _ => spelled.push(char::from(byte)),
        }
    }
    spelled + "'"
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a real shell reads back what was quoted")]
mod tests {
    use super::*;
    #[cfg(unix)]
    use proptest::prelude::*;

    #[cfg(unix)]
    #[test]
    fn the_command_goes_to_the_folder_first() {
        let id = "3f6a1c52-0b7e";
        assert_eq!(
            resume_command(Agent::Claude, id, Some("/home/dev/api")),
            "cd /home/dev/api && claude --resume 3f6a1c52-0b7e"
        );
        assert_eq!(resume_command(Agent::Claude, id, None), "claude --resume 3f6a1c52-0b7e");
        assert_eq!(attach_command(Agent::Claude, "43eb;rm").as_deref(), Some("claude attach '43eb;rm'"));
        assert_eq!(attach_command(Agent::Copilot, "43eb"), None);
        assert_eq!(resume_command(Agent::Copilot, id, None), "copilot --resume=3f6a1c52-0b7e");
        assert_eq!(
            resume_command(Agent::Claude, "-x; rm", Some("/home/dev/it's here")),
            r"cd '/home/dev/it'\''s here' && claude --resume '-x; rm'"
        );
    }

    #[test]
    fn powershell_gets_a_line_in_its_own_words() {
        let resume = |cwd| line(Agent::Claude, "3f6a", Some(cwd), "; ", in_powershell);
        assert_eq!(resume(r"C:\dev\api"), r"cd C:\dev\api; claude --resume 3f6a");
        assert_eq!(resume(r"C:\it's ‘so’ $x"), r"cd 'C:\it''s ‘‘so’’ $x'; claude --resume 3f6a");
        assert_eq!(resume("C:\\a\u{1b}[201~\n"), r"cd 'C:\a?[201~?'; claude --resume 3f6a");
    }

    #[test]
    fn no_shell_takes_a_plain_word_for_anything_else() {
        assert_eq!(["a=b", "=b", "-b", "", "~"].map(quoted), ["a=b", "'=b'", "'-b'", "''", "'~'"]);
    }

    #[test]
    fn no_control_character_reaches_a_paste() {
        let spelled = quoted("a\u{1b}[201~\nrm -rf '~'\u{9b}9");
        assert_eq!(spelled, r"$'a\033[201~\012rm -rf \047~\047\302\2339'");
    }

    #[test]
    fn no_direction_mark_reaches_a_paste() {
        assert_eq!(quoted("a\u{202e}b\u{2066}"), r"$'a\342\200\256b\342\201\246'");
        assert_eq!(quoted("Übung"), "'Übung'");
    }

    #[cfg(unix)]
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_shell_reads_back_what_was_quoted(word in "([^\0]|[\u{202a}-\u{202e}\u{2066}\u{9b}']){0,24}") {
            let out = std::process::Command::new("bash").args(["-c", &format!("printf %s {}", quoted(&word))]).output();
            let out = out.expect("bash is here");
            prop_assert_eq!(String::from_utf8_lossy(&out.stdout).into_owned(), word);
        }
    }
}
