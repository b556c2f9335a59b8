//! Paths as they are spelled: compared, ordered and hashed as bytes.
//!
//! `Path` takes itself apart for both, and with the standard library's hash on top that was a sixth of a start that finds
//! everything unchanged. One file has one spelling here: below the canonical root, as a scan found it.

use std::borrow::Borrow;
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashSet;

/// A path as it is spelled: compared, ordered and hashed as bytes. Whoever notes one that another knows shares its text.
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

/// Found by anything of the same spelling.
impl Borrow<OsStr> for FilePath {
    fn borrow(&self) -> &OsStr {
        &self.0
    }
}

/// Paths alone.
pub type Paths = FxHashSet<OsString>;
