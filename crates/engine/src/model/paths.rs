//! Paths that are compared, ordered and hashed as bytes.
//!
//! `Path` splits itself into components for all three. Together with the standard library's hash, that took a sixth of
//! a start that finds everything unchanged. Here, a file has one spelling: below the canonical root, as a scan found
//! it.

use std::borrow::Borrow;
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashSet;

/// A path that is compared, ordered and hashed as bytes. Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(Arc<OsStr>);

impl From<&Path> for FilePath {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().into())
    }
}

impl Deref for FilePath {
    type Target = Path;
    fn deref(&self) -> &Path {
        Path::new(&*self.0)
    }
}

/// Any string of the same spelling finds it.
impl Borrow<OsStr> for FilePath {
    fn borrow(&self) -> &OsStr {
        &self.0
    }
}

/// A set of paths.
pub type Paths = FxHashSet<OsString>;
