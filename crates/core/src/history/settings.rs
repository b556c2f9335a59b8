//! How much of a session's texts the store keeps, and which transcripts the archive keeps.

use super::exclude::Exclude;
use crate::time::Millis;

/// How much of a session's texts is kept. The defaults are those of the documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySettings {
    /// Bytes of a prompt, an answer, a summary or a command's output that are indexed.
    pub words: usize,
    /// Bytes of a thought, a tool's input or a tool's output that are indexed; with 0, none of them are.
    pub cut: usize,
    /// Bytes of a call's input that stay with its activity.
    pub input: usize,
    /// Bytes of the last answer that stay with its batch.
    pub response: usize,
    /// Tools whose calls give no activities, because the user does not want them listed. Their texts are indexed all the
    /// same.
    pub skip: Vec<String>,
    /// Folders whose Markdown files are plans: absolute, or a tail such as `.claude/plans`, which counts anywhere.
    pub plan_folders: Vec<String>,
    /// Excluded folders and files. Neither sessions that work there nor tool calls on them are stored.
    pub exclude: Exclude,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self {
            words: 1 << 20,
            cut: 4_000,
            input: 1_000,
            response: 2_000,
            // The view `observations` leaves out what the source document on hooks leaves out.
            skip: Vec::new(),
            plan_folders: Vec::new(),
            exclude: Exclude::default(),
        }
    }
}

impl HistorySettings {
    /// Whether calls of this tool give no activities.
    pub fn skips_tool(&self, tool: &str) -> bool {
        self.skip.iter().any(|skipped| skipped == tool)
    }

    /// Whether a file is a plan: Markdown right in one of the plan folders.
    pub fn is_plan(&self, path: &str) -> bool {
        let Some((folder, name)) = path.rsplit_once(['/', '\\']) else { return false };
        let is_markdown = name.len() > 3 && name.to_ascii_lowercase().ends_with(".md");
        is_markdown
            && self.plan_folders.iter().any(|plans| {
                let plans = plans.trim_end_matches(['/', '\\']);
                same_path(folder, plans) || (!plans.starts_with('/') && ends_with_path(folder, plans))
            })
    }
}

/// Whether and how transcripts are archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveSettings {
    /// Whether anything is archived: not before the user turns it on.
    pub enabled: bool,
    /// Bytes that the archive may take.
    pub budget: u64,
    /// The archive gives up a transcript this long after its last change. `None`: only the budget limits it.
    pub keep: Option<Millis>,
    /// A transcript is archived when it has not changed for this long.
    pub after: Millis,
    /// zstd's level.
    pub level: i32,
}

impl Default for ArchiveSettings {
    fn default() -> Self {
        // The agent removes transcripts after 30 days, or earlier if the user sets it so. A week leaves room for
        // both.
        Self { enabled: false, budget: 5 << 30, keep: None, after: Millis(7 * 86_400_000), level: 6 }
    }
}

fn same_path(a: &str, b: &str) -> bool {
    a.split(['/', '\\']).eq(b.split(['/', '\\']))
}

fn ends_with_path(path: &str, tail: &str) -> bool {
    let mut parts = path.rsplit(['/', '\\']);
    tail.rsplit(['/', '\\']).all(|part| parts.next() == Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_markdown_in_a_plan_folder() {
        let plan_folders =
            [".claude/plans", ".cursor/plans", "/srv/agent/plans/"].map(str::to_owned).to_vec();
        let settings = HistorySettings { plan_folders, ..HistorySettings::default() };
        for (path, plan) in [
            ("/home/dev/.claude/plans/brave-otter.md", true),
            ("/home/dev/work/.cursor/plans/A.MD", true),
            ("C:\\Users\\dev\\.claude\\plans\\x.md", true),
            ("/srv/agent/plans/x.md", true),
            ("/mnt/srv/agent/plans/x.md", false),
            ("/home/dev/.claude/plans/old/x.md", false),
            ("/home/dev/.claude/plans/x.txt", false),
            ("/home/dev/my.claude/plans/x.md", false),
            ("/home/dev/plans/x.md", false),
            (".md", false),
        ] {
            assert_eq!(settings.is_plan(path), plan, "{path}");
        }
    }
}
