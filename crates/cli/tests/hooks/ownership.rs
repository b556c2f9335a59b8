//! Owners and hard links of settings, and the paths that can be written into them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use crate::installing::{ok, output_texts, watchbill};
use crate::skipped::skipped;

const SETTINGS: &str = "{\n  \"model\": \"opus\"\n}\n";

/// Another user than this one.
const PERSON: u32 = 4711;

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skipped("NOT TESTED: only root can change a file that keeps another owner");
    }
    root
}

fn owner(path: &Path) -> (u32, u32) {
    let found = std::fs::symlink_metadata(path).unwrap();
    (found.uid(), found.gid())
}

#[test]
fn settings_keep_their_owner_when_root_changes_them() {
    if !is_root() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("person");
    std::fs::create_dir(&folder).unwrap();
    chown(&folder, Some(PERSON), Some(PERSON)).unwrap();
    let file = folder.join("settings.json");
    std::fs::write(&file, SETTINGS).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    chown(&file, Some(PERSON), Some(PERSON + 1)).unwrap();
    for word in ["install", "uninstall"] {
        ok(&watchbill(home.path(), None, &["hooks", word, "--settings", file.to_str().unwrap()]));
        assert_eq!(owner(&file), (PERSON, PERSON + 1), "{word}");
        assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o640, "{word}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), SETTINGS);

    // Folders made for new settings belong to the owner of the folder around them.
    let new = folder.join("project/.claude/settings.json");
    ok(&watchbill(home.path(), None, &["hooks", "install", "--settings", new.to_str().unwrap()]));
    for made in [&new, new.parent().unwrap(), &folder.join("project")] {
        assert_eq!(owner(made), (PERSON, PERSON), "{}", made.display());
    }
    ok(&watchbill(home.path(), None, &["hooks", "uninstall", "--settings", new.to_str().unwrap()]));
    assert!(!folder.join("project").exists());
}

#[test]
fn root_makes_no_data_folder_in_another_users_home() {
    if !is_root() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    chown(home.path(), Some(PERSON), Some(PERSON)).unwrap();
    let refused = watchbill(home.path(), None, &["hooks", "install"]);
    let (_, err) = output_texts(&refused);
    assert!(!refused.status.success() && err.contains("run this as that user"), "{err}");
    assert!(!home.path().join(".claude").exists() && !home.path().join(".local").exists());
}

#[test]
fn settings_with_several_hard_links_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let (file, other) = (home.path().join("settings.json"), home.path().join("dotfiles.json"));
    std::fs::write(&file, SETTINGS).unwrap();
    std::fs::hard_link(&file, &other).unwrap();
    let refused = watchbill(home.path(), None, &["hooks", "install", "--settings", "settings.json"]);
    let (_, err) = output_texts(&refused);
    assert!(!refused.status.success() && err.contains("it has 2 hard links"), "{err}");
    let inode = |path: &Path| std::fs::metadata(path).unwrap().ino();
    assert_eq!(inode(&file), inode(&other));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), SETTINGS);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 4, "the two, bin and the folder for events");
    std::fs::remove_file(&other).unwrap();
    ok(&watchbill(home.path(), None, &["hooks", "install", "--settings", "settings.json"]));
}

#[test]
fn a_data_folder_that_is_not_utf_8_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join(OsStr::from_bytes(b"d\xff"));
    let hooks = |words: &[&OsStr]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_watchbill"));
        command.env_clear().env("HOME", home.path()).current_dir(home.path()).arg("hooks").args(words);
        command.output().unwrap()
    };
    let words = [OsStr::new("install"), OsStr::new("--data-dir"), data.as_os_str()];
    let refused = hooks(&words);
    let (_, err) = output_texts(&refused);
    assert!(!refused.status.success() && err.contains("is not valid UTF-8"), "{err}");
    assert!(!home.path().join(".claude").exists() && !data.exists());

    // The path of the agent's folder is not written into settings.
    let root = home.path().join(OsStr::from_bytes(b"c\xff"));
    let out = ok(&hooks(&[OsStr::new("install"), OsStr::new("--claude-dir"), root.as_os_str()]));
    assert!(out.contains("undo: watchbill hooks uninstall, with the same options"), "{out}");
    let text = std::fs::read_to_string(root.join("settings.json")).unwrap();
    assert!(!text.contains('\u{fffd}'), "{text}");
    ok(&hooks(&[OsStr::new("uninstall"), OsStr::new("--claude-dir"), root.as_os_str()]));
    assert!(!root.join("settings.json").exists());
}
