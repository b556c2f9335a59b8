//! A change of the agent: another agent goes on with the work of a session, and is told what was said before.

use watchbill_core::chain::link::{LinkConfidence, LinkReason};
use watchbill_core::session::facts::one_line;
use watchbill_drive::context::{Turn, block};
use watchbill_history::query::context::{Speaker, Words, words};
use watchbill_protocol::chain::{Link, WorkChain};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::spec::{OwnKind, OwnResume, OwnSpec, OwnSwitch, OwnSwitchCall};
use watchbill_protocol::roster::TrackedSession;
use watchbill_settings::Settings;

use crate::clock::{Clock, SystemClock};

/// How many characters of a call of a tool the other agent is told.
const TOOL: usize = 200;
/// Links to a session whose agent had the words of the earlier one. A copy has them itself. `/clear` took them away.
const TELLS: [LinkReason; 4] =
    [LinkReason::Switched, LinkReason::Marker, LinkReason::Hook, LinkReason::Manual];

/// The new session before it starts, with what its agent is told: `budget` bytes at most. `chain` gives the chain of a session.
///
/// # Errors
/// When nothing is stored of the session, or nothing fits.
pub fn plan(
    settings: &Settings,
    call: &OwnSwitchCall,
    row: &TrackedSession,
    chain: &dyn Fn(&str) -> Result<WorkChain, ApiError>,
) -> Result<OwnSwitch, ApiError> {
    let no_folder = || ApiError::new(ErrorCode::NotFound, "the folder of the session is not known");
    let context = block(&turns(settings, chain, &row.session_id, call.budget)?, call.budget);
    if context.is_empty() {
        let words = format!("nothing that was said in the session fits into {} bytes", call.budget);
        return Err(ApiError::new(ErrorCode::Invalid, words));
    }
    let spec = OwnSpec {
        session: call.id.clone(),
        agent: call.agent,
        kind: OwnKind::Stream,
        cwd: row.cwd.clone().ok_or_else(no_folder)?,
        model: None,
        mode: None,
        resume: None,
        command: Vec::new(),
        size: None,
        created_at: SystemClock.now().to_string(),
        root: None,
        switched: Some(OwnResume { session: row.session_id.clone(), fork: call.fork }),
        started_by_agent: false,
    };
    Ok(OwnSwitch { spec, context })
}

/// What was said in a session and in those before it, by the store.
fn turns(
    settings: &Settings,
    chain: &dyn Fn(&str) -> Result<WorkChain, ApiError>,
    session: &str,
    budget: usize,
) -> Result<Vec<Turn>, ApiError> {
    let mut sessions = vec![session.to_owned()];
    // An earlier session may be forgotten by now.
    while let Some(last) = sessions.last()
        && let Some(earlier) = chain(last).ok().and_then(|chain| before(&chain, last))
        && !sessions.contains(&earlier)
    {
        sessions.push(earlier);
    }
    let turn = |Words { speaker, text }: Words| match speaker {
        Speaker::User => Turn::User(text),
        Speaker::Agent => Turn::Agent(text),
        Speaker::Summary => Turn::Summary(text),
        Speaker::Tool(tool) => Turn::Tool { tool, summary: one_line(&text).chars().take(TOOL).collect() },
    };
    let mut all = Vec::new();
    for earlier in sessions.iter().rev() {
        match words(settings, earlier, budget) {
            Ok(words) => all.extend(words.into_iter().map(turn)),
            Err(error) if error.code == ErrorCode::NotFound && earlier != session => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// The session whose words come before those of this one.
fn before(chain: &WorkChain, session: &str) -> Option<String> {
    let tells = |link: &&Link| {
        let is_proven = link.confidence == LinkConfidence::Proven.as_str();
        let reason = |reason: &LinkReason| reason.as_str() == link.reason;
        link.to == session && link.from != session && is_proven && TELLS.iter().any(reason)
    };
    chain.links.iter().find(tells).map(|link| link.from.clone())
}
