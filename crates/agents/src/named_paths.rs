//! Which files a request names: the file that an edit changes, and words of a command that are files.

use std::path::Path;

use serde_json::Value;
use watchbill_core::requests::request::Request;
use watchbill_core::requests::visible::visible_line;

use crate::{Agent, traits};

/// The most files of one request that are compared.
pub const MAX_FILES: usize = 32;

/// The most words of one request that are looked at.
const MAX_WORDS: usize = 128;

/// The most folders that one command is followed through.
const MAX_FOLDERS: usize = 4;

/// The next word is a folder where the command goes on.
const ENTERS: [&str; 7] = ["cd", "pushd", "-C", "--directory", "--chdir", "--prefix", "--cwd"];

/// Folders of the system. An agent cannot change their files.
const OF_SYSTEM: [&str; 8] = ["/bin", "/dev", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr"];

/// Words of a request that may name files. Whether files are there is not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedPaths {
    /// Paths of the project, and that of an edit.
    pub paths: Vec<String>,
    /// Paths of the project with `*`, `?` or `[…]`.
    pub patterns: Vec<String>,
    /// Paths outside the project, without those of the system.
    pub outside: Vec<String>,
    /// Words that only a shell can resolve, with invisible characters drawn.
    pub unresolved: Vec<String>,
}

/// What a request may name. A command's words are taken in its own folder, and in those that it changes to.
pub fn named_paths(request: &Request) -> NamedPaths {
    let input: Value = serde_json::from_str(&request.input).unwrap_or_default();
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let cwd = request.cwd.as_deref().unwrap_or_default();
    // The agent's folder follows `cd`; the project stays.
    let project = request.project.as_deref().filter(|project| !project.is_empty()).unwrap_or(cwd);
    let edited = ["file_path", "notebook_path"].iter().filter_map(|name| text(name));
    let mut named =
        NamedPaths { paths: edited.map(|path| joined(cwd, path)).collect(), ..NamedPaths::default() };
    let command = text("command").unwrap_or_default();
    if command.contains("$(") || command.contains('`') {
        named.unresolved.push("$(…)".to_owned());
    }
    let mut folders = vec![cwd.to_owned()];
    let of_project = format!("${}", traits(Agent::default()).project_variable.unwrap_or("PWD"));
    let mut enters = false;
    for word in words(command) {
        let here = folders.last().cloned().unwrap_or_default();
        let written = word.replace("${PWD}", "$PWD").replace(&of_project, project);
        if std::mem::replace(&mut enters, ENTERS.contains(&&*word)) && folders.len() < MAX_FOLDERS {
            folders.push(joined(&here, &written.replace("$PWD", &here)));
        }
        // A file name has a letter or a digit, and does not begin like an option or a comment.
        if !written.contains(char::is_alphanumeric) || written.starts_with(['-', '#']) {
            continue;
        }
        for folder in &folders {
            named.add(folder, &written.replace("$PWD", folder), &[project, cwd]);
        }
    }
    named
}

/// The words of a command, each also without its quotes. `'a b'` is two words and a third.
fn words(command: &str) -> Vec<String> {
    let separates = |c: char| c.is_whitespace() || ";|&<>()\"'`=".contains(c);
    let quoted = shlex::split(command).unwrap_or_default();
    let quoted =
        quoted.into_iter().filter(|word| word.contains(' ') && !word.contains([';', '|', '&', '\n']));
    command.split(separates).filter(|word| !word.is_empty()).map(str::to_owned).chain(quoted).collect()
}

impl NamedPaths {
    fn add(&mut self, folder: &str, word: &str, projects: &[&str]) {
        let is_variable = |(at, _): (usize, &str)| {
            word[at + 1..].starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '{')
        };
        let is_open = word.starts_with('~')
            || word.contains('{') && word.contains(',')
            || word.match_indices('$').any(is_variable);
        if is_open {
            return push(&mut self.unresolved, visible_line(word, 100));
        }
        let path = joined(folder, word);
        let is_below = |folder: &&str| !folder.is_empty() && Path::new(&path).starts_with(folder);
        if !projects.iter().any(is_below) {
            if !OF_SYSTEM.iter().any(is_below) {
                push(&mut self.outside, path);
            }
        } else if word.contains(['*', '?', '[']) {
            push(&mut self.patterns, path);
        } else {
            push(&mut self.paths, path);
        }
    }
}

fn push(words: &mut Vec<String>, word: String) {
    if words.len() < MAX_WORDS && !words.contains(&word) {
        words.push(word);
    }
}

/// A path as a folder sees it, without `.` and `..`.
fn joined(folder: &str, path: &str) -> String {
    let folder = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use watchbill_core::requests::request::RequestId;
    use watchbill_core::time::Timestamp;

    use super::*;
    use crate::claude::requests::read_request;

    fn named(tool: &str, input: Value) -> Vec<String> {
        named_in("/p", None, tool, input).paths
    }

    fn command(command: &str) -> NamedPaths {
        named_in("/p", None, "Bash", serde_json::json!({ "command": command }))
    }

    fn named_in(cwd: &str, project: Option<&str>, tool: &str, input: Value) -> NamedPaths {
        let payload = serde_json::json!({ "session_id": "s", "cwd": cwd, "hook_event_name": "PermissionRequest",
            "tool_name": tool, "tool_input": input });
        let payload = payload.to_string();
        let at = Timestamp::from_millis(0);
        let request = read_request(RequestId::new("1"), payload.as_bytes(), project, at);
        named_paths(&request.expect("a request"))
    }

    #[test]
    fn edits_name_their_file_and_commands_the_files_of_the_project() {
        assert_eq!(named("Edit", serde_json::json!({ "file_path": "/etc/hosts" })), ["/etc/hosts"]);
        let command = serde_json::json!({ "command": "sh ./a.sh --x && cat 'b c' </p/sub/d;/bin/ls sh" });
        assert_eq!(
            named("Bash", command),
            ["/p/sh", "/p/a.sh", "/p/cat", "/p/b", "/p/c", "/p/sub/d", "/p/b c"]
        );
        assert_eq!(named("WebFetch", serde_json::json!({ "url": "x" })), [""; 0]);
    }

    #[test]
    fn after_cd_the_files_of_the_whole_project_count_and_no_neighbours() {
        let command = serde_json::json!({ "command": "/p/a.sh /p2/b.sh c.sh" });
        let below = named_in("/p/sub", Some("/p"), "Bash", command.clone());
        assert_eq!(
            (below.paths, below.outside),
            (vec!["/p/a.sh".into(), "/p/sub/c.sh".into()], vec!["/p2/b.sh".into()])
        );
        assert_eq!(named("Bash", command), ["/p/a.sh", "/p/c.sh"]);
    }

    #[test]
    fn what_a_shell_would_resolve_by_its_folder_is_resolved() {
        for (words, path) in [
            ("cd sub && sh x.sh", "/p/sub/x.sh"),
            ("(cd ./sub; cd deep; sh x.sh)", "/p/sub/deep/x.sh"),
            ("cd sub && sh ../x.sh", "/p/x.sh"),
            ("git -C sub apply x.patch", "/p/sub/x.patch"),
            ("make --directory=sub -f x.mk", "/p/sub/x.mk"),
            ("sh $PWD/x.sh", "/p/x.sh"),
            ("cd sub && sh \"${PWD}/x.sh\"", "/p/sub/x.sh"),
            ("sh $CLAUDE_PROJECT_DIR/x.sh", "/p/x.sh"),
            ("sh 'my script.sh'", "/p/my script.sh"),
            ("sh my\\ script.sh", "/p/my script.sh"),
            ("sh -c 'sh x.sh'", "/p/x.sh"),
            ("sh sub/.././x.sh", "/p/x.sh"),
        ] {
            assert!(command(words).paths.iter().any(|one| one == path), "{words}: {:?}", command(words));
        }
        let globs = command("sh *.sh; cat src/[ab].rs sub?/x");
        assert_eq!(globs.patterns, ["/p/*.sh", "/p/src/[ab].rs", "/p/sub?/x"]);
    }

    #[test]
    fn what_only_a_shell_can_resolve_is_named() {
        for (words, rest) in [
            ("sh $SCRIPT", "$SCRIPT"),
            ("sh ${X}/a.sh", "${X}/a.sh"),
            ("sh ~/a.sh", "~/a.sh"),
            ("sh $(which a)", "$(…)"),
            ("sh `which a`", "$(…)"),
            ("sh {a,b}.sh", "{a,b}.sh"),
            ("sh a\u{202e}$X", "a⟨U+202E⟩$X"),
        ] {
            assert_eq!(command(words).unresolved, [rest], "{words}");
        }
        let plain = command("awk '{print $1}' /etc/hosts; echo $? $$ 2>/dev/null; /usr/bin/true");
        assert_eq!((plain.unresolved, plain.outside), (vec![], vec!["/etc/hosts".into()]));
    }
}
