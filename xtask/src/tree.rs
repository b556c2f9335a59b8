//! The top of the source tree, and cargo's build folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The source tree and its build folder.
pub struct Tree {
    root: PathBuf,
    target: PathBuf,
}

impl Tree {
    /// Finds the tree this program was built from.
    pub fn find() -> Result<Self> {
        // Fixed at compile time: when cargo starts a test through this program, the environment variable of the same
        // name names that test's package.
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest
            .parent()
            .with_context(|| format!("{} has no parent folder", manifest.display()))?
            .to_owned();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// The same, with a test's own build folder.
    #[cfg(test)]
    pub fn building_into(target: &Path) -> Self {
        Self { root: Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(), target: target.to_owned() }
    }

    /// The top of the source tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file or folder of the source tree.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A file or folder under the build folder. These tasks write nowhere else, except where they say so.
    pub fn target(&self, relative: &str) -> PathBuf {
        self.target.join(relative)
    }

    /// A program that cargo built.
    pub fn program(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}

/// True if a program of this name is on the given search path.
pub fn on_path(search_path: &std::ffi::OsStr, program: &str) -> bool {
    std::env::split_paths(search_path)
        .any(|folder| folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_the_one_this_program_was_built_from() {
        let tree = Tree::find().unwrap();
        assert!(tree.path("ARCHITECTURE.md").is_file() && tree.path("xtask/Cargo.toml").is_file());
        assert!(tree.target("test-homes").is_absolute());
    }
}
