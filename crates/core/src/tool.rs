//! What a tool of an agent is, by its name. No fold and no rule compares the names.

use serde::{Deserialize, Serialize};

/// What a call without a result can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// It runs; no client asks the user about it.
    Never,
    /// It may wait for permission, unless the mode accepts edits: an edit, or a command that stays in its sandbox.
    Edit,
    /// It may wait for permission.
    Tool,
    /// It is itself a question to the user.
    Question,
    /// It is itself a plan for the user to judge.
    Plan,
    /// It stands for a request for permission that the transcript tells.
    Permission,
}

impl Ask {
    /// Judges a call by its tool's name. A background call is answered at once.
    pub fn of(tool: &str, background: bool) -> Self {
        match ToolKind::of(tool).ask() {
            Self::Edit | Self::Tool if background => Self::Never,
            ask => ask,
        }
    }
}

/// Which tools may ask in a permission mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Mode {
    /// `default`, `manual`, `plan`, or not known: tools may ask.
    #[default]
    Asks,
    /// `acceptEdits`: all but edits may ask. Also a sandbox that can be left only with permission.
    AcceptsEdits,
    /// `auto`, `bypassPermissions`, `dontAsk`: no tool asks.
    NeverAsks,
}

impl Mode {
    /// Reads the agent's name of a mode.
    pub fn of(word: &str) -> Self {
        match word {
            "auto" | "bypassPermissions" | "dontAsk" => Self::NeverAsks,
            "acceptEdits" => Self::AcceptsEdits,
            _ => Self::Asks,
        }
    }

    /// Whether a call that could ask does so in this mode.
    pub fn may_ask(self, ask: Ask) -> bool {
        match (self, ask) {
            (_, Ask::Never) | (Self::NeverAsks, _) | (Self::AcceptsEdits, Ask::Edit) => false,
            (_, Ask::Edit | Ask::Tool | Ask::Question | Ask::Plan | Ask::Permission) => true,
        }
    }
}

/// The file that a line of a patch names: one that it changes, adds, deletes or moves to.
pub fn patch_file(line: &str) -> Option<&str> {
    const BEGINNINGS: [&str; 4] =
        ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    BEGINNINGS.iter().find_map(|begin| line.strip_prefix(begin)).map(str::trim)
}

/// Whether the exit code of a shell command tells that tests pass: one command without a pipe or a list, which begins with the name
/// of a known test runner. A `cd` may stand before it.
pub fn is_test_run(command: &str) -> bool {
    const RUNNERS: [&str; 18] = [
        "cargo test",
        "cargo nextest run",
        "npm test",
        "npm run test",
        "pnpm test",
        "yarn test",
        "bun test",
        "npx vitest run",
        "npx jest",
        "go test",
        "pytest",
        "python -m pytest",
        "python3 -m pytest",
        "uv run pytest",
        "make test",
        "dotnet test",
        "mvn test",
        "./gradlew test",
    ];
    const JOINS: [char; 7] = ['\n', ';', '|', '&', '`', '$', '('];
    let command = command.trim();
    let behind_cd = command.strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    let command = match behind_cd {
        Some((folder, rest)) if !folder.contains(JOINS) => rest.trim(),
        _ => command,
    };
    let command = command.strip_suffix("2>&1").unwrap_or(command);
    let is_runner = RUNNERS.iter().any(|runner| {
        command.strip_prefix(runner).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    // Another word may make it list tests, or go on after a failure.
    let is_known = |word: &str| {
        const KNOWN: [&str; 26] = [
            "--",
            "-v",
            "-vv",
            "-x",
            "-s",
            "-p",
            "-k",
            "--quiet",
            "--verbose",
            "--release",
            "--workspace",
            "--all",
            "--all-targets",
            "--all-features",
            "--features",
            "--no-fail-fast",
            "--locked",
            "--offline",
            "--lib",
            "--test",
            "--nocapture",
            "--ci",
            "--run",
            "-run",
            "-race",
            "-count=1",
        ];
        !word.starts_with('-') && !word.contains('=')
            || KNOWN.contains(&word)
            || word == "-q" && !command.starts_with("make")
    };
    is_runner && !command.contains(JOINS) && command.split_whitespace().all(is_known)
}

/// What a tool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a command of a shell.
    Shell,
    /// Runs a command of PowerShell.
    PowerShell,
    /// Reads a file.
    Read,
    /// Reads a notebook.
    ReadNotebook,
    /// Writes a whole file.
    Write,
    /// Edits a file.
    Edit,
    /// Edits a notebook.
    EditNotebook,
    /// Lists a folder.
    List,
    /// Searches texts of files.
    SearchText,
    /// Finds files by their names.
    FindFiles,
    /// Reads from the web, or is a tool of a server.
    Foreign,
    /// Lists or reads what a server of tools offers.
    Resource,
    /// Starts a subagent.
    Subagent,
    /// Asks the user.
    Question,
    /// Shows a plan to the user.
    Plan,
    /// Writes the agent's list of things to do.
    ToDo,
    /// Ends a task in the background.
    StopTask,
    /// Any other book-keeping of the agent.
    Own,
    /// A tool that this program does not know.
    Other,
}

impl ToolKind {
    /// The kind of a tool of this name.
    pub fn of(name: &str) -> Self {
        match name {
            "Bash" | "exec_command" | "shell_command" | "shell" | "local_shell" | "exec" => Self::Shell,
            "PowerShell" => Self::PowerShell,
            "Read" | "view_image" => Self::Read,
            "NotebookRead" => Self::ReadNotebook,
            "Write" => Self::Write,
            "Edit" | "MultiEdit" | "apply_patch" => Self::Edit,
            "NotebookEdit" => Self::EditNotebook,
            "LS" => Self::List,
            "Grep" => Self::SearchText,
            "Glob" => Self::FindFiles,
            "WebFetch" | "WebSearch" | "web_search" => Self::Foreign,
            "ListMcpResourcesTool" | "ReadMcpResourceTool" => Self::Resource,
            "list_mcp_resources" | "list_mcp_resource_templates" | "read_mcp_resource" => Self::Resource,
            "Agent" | "Task" | "spawn_agent" => Self::Subagent,
            "AskUserQuestion" | "request_user_input" => Self::Question,
            "ExitPlanMode" | "exit_plan_mode" => Self::Plan,
            "TodoWrite" | "update_plan" => Self::ToDo,
            "KillShell" | "KillBash" | "TaskStop" => Self::StopTask,
            "TodoRead" | "Skill" | "ToolSearch" | "SendMessage" | "Monitor" | "LSP" => Self::Own,
            "BashOutput" | "EnterPlanMode" | "StructuredOutput" | "Sleep" => Self::Own,
            "write_stdin" | "wait" | "wait_agent" | "send_input" | "send_message" => Self::Own,
            "close_agent" | "resume_agent" | "list_agents" => Self::Own,
            _ if name.starts_with("mcp__") => Self::Foreign,
            _ if name.starts_with("Task") || name.starts_with("Cron") => Self::Own,
            _ => Self::Other,
        }
    }

    /// What a call without a result can mean.
    ///
    /// Measured over 24,000 calls: tools that read or search answer within a second in every permission mode, and
    /// agents never ask about them. Nor do they ask about subagents and the agent's own book-keeping.
    pub const fn ask(self) -> Ask {
        match self {
            Self::Question => Ask::Question,
            Self::Plan => Ask::Plan,
            Self::Edit | Self::Write | Self::EditNotebook => Ask::Edit,
            Self::Shell | Self::PowerShell | Self::Foreign | Self::Other => Ask::Tool,
            _ => Ask::Never,
        }
    }

    /// Whether it runs a command line.
    pub const fn runs_command(self) -> bool {
        matches!(self, Self::Shell | Self::PowerShell)
    }

    /// Whether it works on one file, which its input names.
    pub const fn is_of_file(self) -> bool {
        self.changes_file() || matches!(self, Self::Read | Self::ReadNotebook)
    }

    /// Whether it changes its file.
    pub const fn changes_file(self) -> bool {
        matches!(self, Self::Write | Self::Edit | Self::EditNotebook)
    }

    /// Whether it searches folders.
    pub const fn is_search(self) -> bool {
        matches!(self, Self::List | Self::SearchText | Self::FindFiles)
    }

    /// Whether the agent uses it only to say something, to the user or to itself.
    pub const fn is_talk(self) -> bool {
        matches!(self, Self::Question | Self::Plan | Self::ToDo)
    }

    /// Whether it returns text of others: a page of the web, a subagent, a server of tools.
    pub const fn returns_foreign_text(self) -> bool {
        matches!(self, Self::Foreign | Self::Resource | Self::Subagent)
    }
}

#[cfg(test)]
mod tests {
    use super::is_test_run;

    #[test]
    fn only_a_command_whose_exit_code_tells_it_is_a_test_run() {
        for command in ["cargo test", " pytest -q tests\n", "cd /a/b && npm test -- --ci 2>&1", "make test"] {
            assert!(is_test_run(command), "{command}");
        }
        for command in [
            "cargo test | tail -5",
            "cargo test; echo done",
            "cargo test\necho done",
            "cargo test || true",
            "cargo test &",
            "cargo tests",
            "cargo test --no-run",
            "echo cargo test",
            "cd $(mktemp -d) && make test",
            "cd a; b && pytest",
            "pytest --collect-only",
            "make test -q",
            "mvn test -DskipTests",
            "./gradlew test --dry-run",
            "npm test --if-present",
            "make testdata",
            "",
        ] {
            assert!(!is_test_run(command), "{command}");
        }
    }
}
