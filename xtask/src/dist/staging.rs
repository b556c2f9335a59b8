//! The files beside the programs in a Linux package: man pages, completions, icons, metadata, licences, the change
//! log.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::notices;
use super::package::{Build, FOLDER, MAINTAINER, version};
use crate::call::Call;
use crate::tree::Tree;

/// The bundler takes this folder as `/usr/share`.
pub const SHARE: &str = "share";

const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/watchbill"),
    ("zsh", "zsh/vendor-completions/_watchbill"),
    ("fish", "fish/vendor_completions.d/watchbill.fish"),
];

/// Files that are copied unchanged: their path in the tree, and their path in the package.
const COPIED: [(&str, &str); 6] = [
    ("src-tauri/icons/icon.svg", "icons/hicolor/scalable/apps/watchbill-desktop.svg"),
    ("src-tauri/icons/symbolic.svg", "icons/hicolor/symbolic/apps/watchbill-desktop-symbolic.svg"),
    ("dist/linux/org.watchbill.desktop.metainfo.xml", "metainfo/org.watchbill.desktop.metainfo.xml"),
    ("dist/linux/copyright", "doc/watchbill/copyright"),
    ("dist/claude-plugin/hooks/hooks.json", "watchbill/claude-plugin/hooks/hooks.json"),
    ("dist/claude-plugin/.claude-plugin/plugin.json", "watchbill/claude-plugin/.claude-plugin/plugin.json"),
];

/// Debian's change logs keep to the width of a terminal.
const CHANGELOG_WIDTH: usize = 78;

/// Makes the folder anew.
pub fn stage(tree: &Tree, build: &Build) -> Result<()> {
    let share = tree.target(FOLDER).join(SHARE);
    if share.exists() {
        fs::remove_dir_all(&share).with_context(|| format!("could not empty {}", share.display()))?;
    }
    for (from, to) in COPIED {
        copy(&tree.path(from), &share.join(to))?;
    }
    let watchbill = tree.program(build.profile, "watchbill");
    for (shell, to) in SHELLS {
        write(&share.join(to), printed(tree, &watchbill, &["completions", shell])?.as_bytes())?;
    }
    let pages = share.join("man/man1");
    Call::new(tree.root(), &watchbill).args(["man", "--folder"]).args([&pages]).run()?;
    let desktop = tree.program(build.profile, "watchbill-desktop");
    write(&pages.join("watchbill-desktop.1"), printed(tree, &desktop, &["--man"])?.as_bytes())?;
    let doc = share.join("doc/watchbill");
    write(&doc.join("changelog"), changelog(tree, build.epoch)?.as_bytes())?;
    write(&doc.join("third-party-licenses"), notices::collect(tree, None)?.as_bytes())?;
    let mut packed: Vec<PathBuf> = listed(&pages)?;
    packed.extend(["changelog", "third-party-licenses"].map(|name| doc.join(name)));
    packed.sort();
    // Without names and times inside, so that the same text gives the same bytes.
    Call::new(tree.root(), "gzip").args(["-9nf"]).args(packed).run()
}

fn printed(tree: &Tree, program: &Path, words: &[&str]) -> Result<String> {
    let call = Call::new(tree.root(), program).args(words.iter().copied()).without_own_settings();
    call.quiet_output().with_context(|| format!("`{}` failed", call.line()))
}

/// The change log in Debian's form, with one entry: the package is the first of its version, and CHANGELOG.md is for
/// users.
fn changelog(tree: &Tree, epoch: u64) -> Result<String> {
    let path = tree.path("CHANGELOG.md");
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
    let call = Call::new(tree.root(), "date").args(["-u", "-R", "-d", &format!("@{epoch}")]);
    let date = call.quiet_output().with_context(|| format!("`{}` failed", call.line()))?;
    Ok(debian_changelog(&version(tree)?, &text, date.trim()))
}

fn debian_changelog(version: &str, markdown: &str, date: &str) -> String {
    let mut entry = format!("watchbill ({version}) unstable; urgency=medium\n\n");
    let newest = markdown.split("\n## ").nth(1).unwrap_or_default();
    let mut items: Vec<String> = Vec::new();
    let mut in_item = false;
    for line in newest.lines().skip(1) {
        if let Some(item) = line.strip_prefix("- ") {
            items.push(item.to_owned());
            in_item = true;
        } else if let (true, true, Some(item)) = (in_item, line.starts_with("  "), items.last_mut()) {
            item.push_str(&format!(" {}", line.trim()));
        } else {
            in_item = false;
        }
    }
    for item in items {
        let mut line = String::from("  *");
        for word in item.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > CHANGELOG_WIDTH {
                entry.push_str(&format!("{line}\n"));
                line = String::from("   ");
            }
            line.push_str(&format!(" {word}"));
        }
        entry.push_str(&format!("{line}\n"));
    }
    entry.push_str(&format!("\n -- {}  {date}\n", MAINTAINER));
    entry
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not list {}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    write(to, &fs::read(from).with_context(|| format!("could not read {}", from.display()))?)
}

fn write(to: &Path, bytes: &[u8]) -> Result<()> {
    let folder = to.parent().with_context(|| format!("{} has no folder", to.display()))?;
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(to, bytes))
        .with_context(|| format!("could not write {}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_log_has_debians_form() {
        let markdown = "# Changelog\n\nWords.\n\n## Unreleased\n\n### Added\n\n- One that is so long that it does not fit into the width of\n  a terminal, and so it is told in two lines.\n- Two.\n\n## 0.0.1\n\n- Old.\n";
        let entry = debian_changelog("0.1.0", markdown, "Sat, 21 Nov 2026 12:00:00 +0000");
        assert_eq!(
            entry,
            format!(
                "watchbill (0.1.0) unstable; urgency=medium\n\n  * One that is so long that it does not fit into the width of a terminal, and\n    so it is told in two lines.\n  * Two.\n\n -- {}  Sat, 21 Nov 2026 12:00:00 +0000\n",
                super::super::package::MAINTAINER
            )
        );
    }

    #[test]
    fn copied_files_exist() {
        let tree = Tree::find().unwrap();
        for (from, _) in COPIED {
            assert!(tree.path(from).is_file(), "{from}");
        }
    }
}
