//! The marks of coding agents: the names of their programs, and the variables that they set for what they start.
//!
//! Sources: environments of hooks and tool calls of Claude Code 2.1.329 and 2.1.330, Codex CLI 0.169.0 and Gemini CLI 0.61.0,
//! and the agents' documents.

/// Programs of coding agents, by their file names.
const PROGRAMS: [&str; 15] = [
    "claude",
    "codex",
    "gemini",
    "opencode",
    "copilot",
    "cursor-agent",
    "kimi",
    "kimi-code",
    "grok",
    "droid",
    "qwen",
    "aider",
    "goose",
    "amp",
    "agy",
];

/// Variables that say "an agent started this".
const VARIABLES: [&str; 14] = [
    "CLAUDECODE",
    "CLAUDE_PID",
    "CLAUDE_EFFORT",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_ENV_FILE",
    "AI_AGENT",
    "GEMINI_CLI",
    "COPILOT_CLI",
    "OPENCODE",
    "CURSOR_AGENT",
    "GROK_SESSION_ID",
    "QWEN_CODE_SESSION_ID",
];

/// Beginnings of such variables.
const BEGINNINGS: [&str; 3] = ["CODEX_SANDBOX", "CODEX_INTERNAL_", "CLAUDE_BG_"];

/// `CLAUDE_CODE_…` is for what the agent starts, but for these, which users set in their profiles.
const CLAUDE_CODE: &str = "CLAUDE_CODE_";
const OF_USERS: [&str; 23] = [
    "API_KEY_HELPER_TTL_MS",
    "CERT_STORE",
    "CLIENT_",
    "DISABLE_",
    "EFFORT_LEVEL",
    "ENABLE_",
    "EXIT_AFTER_",
    "EXPERIMENTAL_",
    "FILE_READ_",
    "GIT_BASH_PATH",
    "HIDE_",
    "IDE_",
    "MAX_",
    "OAUTH_TOKEN",
    "OTEL_",
    "PLUGIN_",
    "PROXY_",
    "SHELL",
    "SIMPLE",
    "SKIP_",
    "SUBAGENT_MODEL",
    "TMPDIR",
    "USE_",
];

/// Whether a program of this file name is an agent. A package may add to the name: `claude.exe`, `codex-linux-x64`, `gemini.js`.
pub fn is_agents_program(file: &str) -> bool {
    let name = file.split(['.', '_']).next().unwrap_or(file);
    let name = ["-linux", "-darwin", "-x86", "-win"]
        .iter()
        .find_map(|system| name.split_once(system))
        .map_or(name, |(name, _)| name);
    PROGRAMS.contains(&name)
}

/// Whether agents set this variable for what they start.
pub fn is_agents_variable(name: &str) -> bool {
    if let Some(rest) = name.strip_prefix(CLAUDE_CODE) {
        return !OF_USERS.iter().any(|beginning| rest.starts_with(beginning));
    }
    VARIABLES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_agents_are_known_by_the_beginning_of_their_names() {
        for file in ["claude", "claude.exe", "codex-linux-x64", "gemini.js", "cursor-agent", "opencode"] {
            assert!(is_agents_program(file), "{file}");
        }
        for file in ["claudette", "bash", "node", "my-codex", "amplify", ""] {
            assert!(!is_agents_program(file), "{file}");
        }
    }

    #[test]
    fn variables_that_users_set_themselves_are_no_marks() {
        for name in [
            "CLAUDECODE",
            "CLAUDE_EFFORT",
            "CLAUDE_PROJECT_DIR",
            "CLAUDE_ENV_FILE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "CLAUDE_CODE_OF_A_LATER_VERSION",
            "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "AI_AGENT",
        ] {
            assert!(is_agents_variable(name), "{name}");
        }
        for name in
            ["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_MAX_RETRIES", "CODEX_HOME", "TERM"]
        {
            assert!(!is_agents_variable(name), "{name}");
        }
    }
}
