//! The narrowest permission rule that would allow one call.

use std::sync::Arc;

use watchbill_core::requests::request::SuggestedRule;
use watchbill_core::requests::visible::visible;

use crate::target::TARGET_LIMIT;

/// Where the user writes the rule.
const PLACE: &str =
    "permissions.allow in ~/.claude/settings.json, or in .claude/settings.json of the project";

/// The narrowest rule for a call of this tool on this target, and where it belongs. Of a search and of a tool of a server
/// it names the tool, of a page the host. `None` where the target may be cut, or is a command of several parts or a pattern.
pub fn allow_rule(tool: &str, target: &str) -> Option<SuggestedRule> {
    let is_whole = !target.is_empty() && target.chars().count() < TARGET_LIMIT && *visible(target) == *target;
    let rule = match tool {
        "WebSearch" => tool.to_owned(),
        _ if tool.starts_with("mcp__") => tool.to_owned(),
        _ if !is_whole => return None,
        "Bash" | "PowerShell" if is_one_command(target) => format!("{tool}({target})"),
        "WebFetch" => format!("WebFetch(domain:{})", host_of(target)?),
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" if is_one_path(target) => format!("Edit(/{target})"),
        "Read" if is_one_path(target) => format!("Read(/{target})"),
        _ => return None,
    };
    Some(SuggestedRule { rule: rule.into(), place: Arc::from(PLACE) })
}

/// Neither parts that are judged apart, nor a wildcard, nor a line that goes on.
fn is_one_command(command: &str) -> bool {
    !command.ends_with('\\') && !command.contains(['&', '|', ';', '<', '>', '`', '(', ')', '*', '{', '}'])
}

/// An absolute path without a pattern. The rule writes it with a slash more.
fn is_one_path(path: &str) -> bool {
    path.starts_with('/') && !path.contains(['*', '?', '[', ']', '{', '}', '(', ')', '!'])
}

fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#', ':']).next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    (!host.is_empty() && host.bytes().all(is_plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_as_narrow_as_the_agent_allows() {
        for (tool, target, rule) in [
            ("Bash", "git push origin main", Some("Bash(git push origin main)")),
            ("Bash", "cargo test && git push", None),
            ("Bash", "rm *.log", None),
            ("Bash", "cargo test \\", None),
            ("Bash", "echo $(id)", None),
            ("Bash", "", None),
            ("Bash", "echo \u{202e}x", None),
            ("Edit", "/home/dev/a.rs", Some("Edit(//home/dev/a.rs)")),
            ("Write", "/home/dev/a.rs", Some("Edit(//home/dev/a.rs)")),
            ("Write", "a.rs", None),
            ("Read", "/etc/*", None),
            ("WebFetch", "https://example.test:8080/a?b", Some("WebFetch(domain:example.test)")),
            ("WebFetch", "example", None),
            ("WebSearch", "", Some("WebSearch")),
            ("mcp__github__merge", "7", Some("mcp__github__merge")),
            ("Agent", "Look at files", None),
        ] {
            let found = allow_rule(tool, target);
            assert_eq!(found.as_ref().map(|found| &*found.rule), rule, "{tool} {target}");
            assert!(found.is_none_or(|found| found.place.starts_with("permissions.allow in ")));
        }
        assert_eq!(allow_rule("Bash", &"a".repeat(TARGET_LIMIT)), None, "it may be cut");
    }
}
