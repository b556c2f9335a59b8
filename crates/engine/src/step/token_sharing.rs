//! Counts the tokens of each request once, although several files may hold the request.

use watchbill_core::ids::SessionId;

use super::ingest::restore_fold;
use super::rooms::Rooms;

/// Subtracts the tokens that a session shares with another. A fork's copied history counts in its origin, and a
/// compaction worker's in its parent.
pub(super) fn subtract_shared_tokens(rooms: &mut Rooms, id: &SessionId) {
    let Some(session) = rooms.sessions.get(id) else { return };
    let origin = rooms.chains.origin_of(id);
    if session.request_counts == rooms.sessions.shared(id, origin) {
        return;
    }
    for path in rooms.sessions.files_shared_with(id, origin) {
        restore_fold(rooms, &path);
    }
    let origin = rooms.chains.origin_of(id);
    let (inherited, tokens) = rooms.sessions.tokens_by_file(id, origin);
    // A restore may have begun a file again. Then compare again after its read.
    let shared = rooms.sessions.shared(id, origin);
    let Some(session) = rooms.sessions.get_mut(id) else { return };
    (session.inherited, session.request_counts) = (inherited, shared);
    for (path, tokens) in tokens {
        session.set_agent_tokens(&path, tokens);
    }
    let pending = &mut rooms.pending;
    session.mains.iter().chain(&session.copies).for_each(|path| pending.file(path));
}
