//! Tokens that several files tell of, each request counted once.

use std::path::PathBuf;

use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::session::usage::RequestLedger;

use super::Engine;
use crate::files::FilePath;
use crate::session::{Session, Shared, minus};

impl Engine {
    /// Takes off what a session shares with another, so that each request is counted once: a fork's copied
    /// history counts where it came from, and a compaction worker's with its parent.
    pub(super) fn share_out(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let shared = Some(self.shared(id, session));
        if session.shared == shared {
            return;
        }
        for path in self.files_shared_with(id, session) {
            self.take_up(&path);
        }
        let Some(session) = self.sessions.get(id) else { return };
        let own = self.fold(id).map(|fold| fold.ledger());
        let origin = self.origins.get(id).and_then(|from| Some(self.fold(from)?.ledger()));
        let inherited = match (own, origin) {
            (Some(own), Some(origin)) => minus(own.total(), own.total_without(origin)),
            _ => Default::default(),
        };
        let tokens: Vec<_> = self
            .copies(session)
            .map(|(path, copy)| (path.clone(), own.map_or(copy.total(), |own| copy.total_without(own))))
            .collect();
        // Taking up may have begun a file anew: then it is compared again once that is read.
        let shared = Some(self.shared(id, session));
        let Some(session) = self.sessions.get_mut(id) else { return };
        (session.inherited, session.shared) = (inherited, shared);
        for (path, tokens) in tokens {
            session.set_agent_tokens(&path, tokens);
        }
        self.keep_shares(id);
    }

    /// The numbers that sharing out depends on.
    fn shared(&self, id: &SessionId, session: &Session) -> Shared {
        let requests = |id: &SessionId| self.fold(id).map(RestingFold::requests);
        Shared {
            own: requests(id).unwrap_or(0),
            origin: self.origins.get(id).and_then(|from| Some((from.clone(), requests(from)?))),
            copies: self.copies(session).map(|(_, copy)| copy.len()).sum(),
        }
    }

    fn copies<'a>(
        &'a self,
        session: &'a Session,
    ) -> impl Iterator<Item = (&'a FilePath, &'a RequestLedger)> + 'a {
        session.copies.iter().filter_map(|path| Some((path, self.files.get(path)?.agent()?.ledger())))
    }

    /// The files whose requests have to be compared; none where the session shares nothing.
    fn files_shared_with(&self, id: &SessionId, session: &Session) -> Vec<PathBuf> {
        let origin = self.origins.get(id).and_then(|from| self.main_file(from));
        if origin.is_none() && session.copies.is_empty() {
            return Vec::new();
        }
        let mains = self.main_file(id).into_iter().chain(origin).map(|(path, _)| path.to_path_buf());
        mains.chain(session.copies.iter().map(|path| path.to_path_buf())).collect()
    }
}
