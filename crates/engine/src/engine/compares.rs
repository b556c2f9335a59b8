//! What a scan found, compared with what is known.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use watchbill_watch::layout::Kind;
use watchbill_watch::scan::Found;

use super::Engine;
use crate::input::Output;
use crate::persist::kept::MetaStamp;

impl Engine {
    /// Compares what a scan found with what is known: what is unchanged costs nothing more.
    pub(super) fn reconcile(&mut self, mut found: Vec<Found>, out: &mut Vec<Output>) {
        // At most starts every file is there, and as it was: then each is looked up once, and there is nothing to search for.
        let is_meta = |found: &Found| found.kind == Kind::SubagentMeta;
        let unchanged: Vec<bool> =
            found.iter().map(|found| !is_meta(found) && self.is_unchanged(found)).collect();
        let known = |(found, unchanged): &(&Found, &bool)| **unchanged || self.is_known(found);
        let here = found.iter().zip(&unchanged).filter(known).count();
        let all_here = here == self.files.len() + self.registry.count();
        let mut missing = if all_here { BTreeSet::new() } else { self.missing(&found, &|_| true) };
        self.forget_twins(&found, &mut missing);
        let metas: HashSet<PathBuf> = found
            .iter()
            .filter(|found| is_meta(found))
            .map(|found| found.path.with_extension("").with_extension("jsonl"))
            .collect();
        let vanished: Vec<PathBuf> = self
            .files
            .iter()
            .filter(|(path, file)| file.meta().is_some() && !metas.contains(*path))
            .map(|(path, _)| path.with_extension("meta.json"))
            .collect();
        if !self.problems.any_unreadable() {
            let mut unchanged = unchanged.into_iter();
            found.retain(|_| !unchanged.next().unwrap_or(false));
        }
        self.look_at_found(found, missing, out);
        for meta in vanished {
            self.read_meta(&meta);
        }
    }

    fn is_known(&self, found: &Found) -> bool {
        match found.kind {
            Kind::Registry => self.registry.contains(&found.path),
            _ => self.files.contains(&found.path),
        }
    }

    /// Whether a found file is as it was when it was read, or its companion is.
    pub(super) fn is_unchanged(&mut self, found: &Found) -> bool {
        if found.kind == Kind::SubagentMeta {
            let transcript = found.path.with_extension("").with_extension("jsonl");
            let stamp = MetaStamp { mtime: found.stat.mtime, len: found.stat.len };
            return self.files.get(&transcript).is_some_and(|file| file.meta() == Some(stamp));
        }
        self.files.get_mut(&found.path).is_some_and(|file| file.is_as(&found.stat))
    }
}
