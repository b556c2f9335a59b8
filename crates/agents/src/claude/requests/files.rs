//! Which files of the project a request names: the file that an edit changes, and words of a command that are files.

use std::path::Path;

use serde_json::Value;
use watchbill_core::requests::request::Request;

/// The most files that are looked at for one request.
pub const MAX_FILES: usize = 8;

/// Paths that a request may mean, as it writes them or below the agent's folder. Whether files are there is not looked at.
pub fn named_paths(request: &Request) -> Vec<String> {
    let input: Value = serde_json::from_str(&request.input).unwrap_or_default();
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let cwd = request.cwd.as_deref().unwrap_or_default();
    let whole = |word: &str| match word.starts_with('/') {
        true => word.to_owned(),
        false => format!("{}/{}", cwd.trim_end_matches('/'), word.trim_start_matches("./")),
    };
    let edited = ["file_path", "notebook_path"].iter().filter_map(|name| text(name)).map(whole);
    let separates = |c: char| c.is_whitespace() || ";|&<>()\"'`=$".contains(c);
    let words = text("command").unwrap_or_default().split(separates);
    // A word without a letter is no name; an option and a variable are none either.
    let is_name = |word: &&str| word.contains(char::is_alphanumeric) && !word.starts_with(['-', '#', '{']);
    // The agent's folder follows `cd`; the project stays.
    let projects = [request.project.as_deref().unwrap_or_default(), cwd];
    let in_project = |path: &String| {
        projects.iter().any(|folder| !folder.is_empty() && Path::new(path).starts_with(folder))
    };
    let ran = words.filter(is_name).map(whole).filter(in_project);
    let mut paths: Vec<String> = Vec::new();
    for path in edited.chain(ran) {
        if paths.len() < 16 * MAX_FILES && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use watchbill_core::requests::request::RequestId;
    use watchbill_core::time::Timestamp;

    use super::*;
    use crate::claude::requests::read_request;

    fn named(tool: &str, input: Value) -> Vec<String> {
        named_in("/p", None, tool, input)
    }

    fn named_in(cwd: &str, project: Option<&str>, tool: &str, input: Value) -> Vec<String> {
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
        assert_eq!(named("Bash", command), ["/p/sh", "/p/a.sh", "/p/cat", "/p/b", "/p/c", "/p/sub/d"]);
        assert_eq!(named("WebFetch", serde_json::json!({ "url": "x" })), [""; 0]);
    }

    #[test]
    fn after_cd_the_files_of_the_whole_project_count_and_no_neighbours() {
        let command = serde_json::json!({ "command": "/p/a.sh /p2/b.sh c.sh" });
        assert_eq!(named_in("/p/sub", Some("/p"), "Bash", command.clone()), ["/p/a.sh", "/p/sub/c.sh"]);
        assert_eq!(named("Bash", command), ["/p/a.sh", "/p/c.sh"]);
    }
}
