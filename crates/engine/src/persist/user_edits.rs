//! Reads and writes user edits in the tables of the store. Reads the titles that the model proposes, too.

use std::sync::Arc;

use watchbill_core::chain::ManualLink;
use watchbill_core::ids::{ChainId, SessionId};
use watchbill_core::time::Timestamp;
use watchbill_core::user::{Deferral, EditChange, SeenActivity, UserEdits};
use watchbill_store::tables::links::LinkRow;
use watchbill_store::tables::snoozed_or_put_away::SnoozeRow;
use watchbill_store::{Store, StoreError, WriteTransaction};

/// The reason of a link that the user made or refused.
pub const MANUAL: &str = "manual";
/// The confidence of a link that the user made.
const JOINED: &str = "proven";
/// The confidence of a refused link: the user split the later session from every origin.
const SPLIT: &str = "refused";

/// Reads all user edits.
///
/// # Errors
/// When the database cannot be read.
pub fn read(store: &Store) -> Result<UserEdits, StoreError> {
    let mut user_edits = UserEdits::default();
    for (chain, name) in store.chain_names()? {
        user_edits.apply(EditChange::SetChainName(ChainId::of_text(&chain), Some(Arc::from(name))));
    }
    for row in store.links()?.into_iter().filter(|row| row.reason == MANUAL) {
        user_edits.apply(EditChange::AddLink(link_of(&row)));
    }
    for row in store.all_set_aside()? {
        let away = row.away.map(|(active_at, since)| SeenActivity { active_at, since });
        let aside = Deferral { snoozed_until: row.snoozed_until, away };
        user_edits.apply(EditChange::SetDeferral(SessionId::new(&row.session_id), aside));
    }
    user_edits.set_proposed_titles(store.proposed_titles()?);
    Ok(user_edits)
}

/// Stores changed user edits.
///
/// # Errors
/// When the database cannot be written.
pub fn write(step: &mut WriteTransaction<'_>, changes: &[EditChange]) -> Result<(), StoreError> {
    for change in changes {
        match change {
            EditChange::SetChainName(chain, name) => step.name_chain(chain.as_str(), name.as_deref())?,
            EditChange::AddLink(link) => step.put_link(&row_of(link))?,
            EditChange::RemoveLink(link) => {
                let LinkRow { earlier, later, reason, .. } = row_of(link);
                step.remove_link(&earlier, &later, &reason)?;
            }
            EditChange::SetDeferral(session, aside) => step.put_snooze(&SnoozeRow {
                session_id: session.to_string(),
                snoozed_until: aside.snoozed_until,
                away: aside.away.map(|seen| (seen.active_at, seen.since)),
            })?,
        }
    }
    Ok(())
}

fn row_of(link: &ManualLink) -> LinkRow {
    let (earlier, later, confidence) = match link {
        ManualLink::Join { from, to, .. } => (from.to_string(), to, JOINED),
        ManualLink::Split { session, .. } => (String::new(), session, SPLIT),
    };
    LinkRow {
        earlier,
        later: later.to_string(),
        reason: MANUAL.to_owned(),
        confidence: confidence.to_owned(),
        at: Some(link.at()),
    }
}

fn link_of(row: &LinkRow) -> ManualLink {
    let at = row.at.unwrap_or(Timestamp::from_millis(0));
    let later = SessionId::new(&row.later);
    if row.confidence == SPLIT {
        ManualLink::Split { at, session: later }
    } else {
        ManualLink::Join { at, from: SessionId::new(&row.earlier), to: later }
    }
}
