//! Programs that do not contain the path of their build: folders of this machine get neutral names.
//!
//! A panic names its source file, and so do the messages of many libraries. Without this module, every packaged
//! program contains the builder's home folder, some hundred times. The same sources in another folder would give
//! another program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::tree::Tree;

/// Flags for the compiler that contain spaces, each ended by [`BETWEEN`] (cargo's documentation of its variables). If
/// it is set, cargo ignores the flags of its configuration files, so a package does not depend on the builder's own.
pub const VARIABLE: &str = "CARGO_ENCODED_RUSTFLAGS";
const BETWEEN: &str = "\u{1f}";

/// The flags: those of the environment, and a new name for each folder.
pub fn flags(tree: &Tree) -> Result<OsString> {
    let mut flags = given(&|name| std::env::var(name).ok());
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let cargo = cargo.context("neither CARGO_HOME nor a home folder is known")?;
    // If several match, the compiler takes the last one.
    for (folder, name) in
        [(cargo.as_path(), "/cargo"), (tree.root(), "/watchbill"), (&tree.target(""), "/build")]
    {
        flags.push(renamed(folder, name)?);
    }
    Ok(flags.join(BETWEEN).into())
}

/// The user's own compiler flags, from the first of cargo's two variables that is set.
fn given(variable: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    if let Some(encoded) = variable(VARIABLE) {
        return encoded.split(BETWEEN).filter(|flag| !flag.is_empty()).map(str::to_owned).collect();
    }
    variable("RUSTFLAGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn renamed(folder: &Path, name: &str) -> Result<String> {
    let folder = folder.to_str().with_context(|| format!("{} is no text", folder.display()))?;
    Ok(format!("--remap-path-prefix={}={name}", folder.trim_end_matches(std::path::MAIN_SEPARATOR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_compiler_flags_are_kept() {
        let of = |encoded: Option<&str>, plain: Option<&str>| {
            given(&|name| match name {
                VARIABLE => encoded.map(str::to_owned),
                "RUSTFLAGS" => plain.map(str::to_owned),
                _ => None,
            })
        };
        assert!(of(None, None).is_empty());
        assert_eq!(of(None, Some(" -C target-cpu=native ")), ["-C", "target-cpu=native"]);
        assert_eq!(of(Some("-C\u{1f}link-arg=a b"), Some("-C x")), ["-C", "link-arg=a b"]);
        assert!(of(Some(""), Some("-C x")).is_empty(), "cargo takes the empty one too");
    }

    #[test]
    fn folders_of_this_machine_get_neutral_names() {
        let root = Tree::find().unwrap();
        let flags = flags(&root).unwrap().into_string().unwrap();
        let wanted = format!("--remap-path-prefix={}=/watchbill", root.root().display());
        assert!(flags.split(BETWEEN).any(|flag| flag == wanted), "{flags}");
        assert_eq!(
            renamed(Path::new("/home/dev/target/"), "/build").unwrap(),
            "--remap-path-prefix=/home/dev/target=/build"
        );
    }
}
