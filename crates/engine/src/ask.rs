//! Answers to questions about one session: which one is meant, why it is so, what its chain is.

use std::path::{Path, PathBuf};

use watchbill_core::chain::ManualLink;
use watchbill_core::ids::SessionId;
use watchbill_protocol::chain::{Link, Segment, WorkChain};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::why::Why;
use watchbill_watch::layout::Place;

use crate::engine::Engine;
use crate::files::FilePath;
use crate::named::{Among, is_named, one};
use crate::stored::stored_alone;
use crate::timeline::agents::AgentFile;

/// Where the parts of a timeline lie, in chain order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelinePlan {
    /// The session that was asked for.
    pub session: SessionId,
    /// Its chain.
    pub chain: String,
    /// What the person calls it.
    pub name: Option<String>,
    /// Session, transcript, and how it is linked to the one before.
    pub parts: Vec<(SessionId, PathBuf, Option<&'static str>)>,
    /// The transcripts of its sessions' subagents.
    pub agents: Vec<AgentFile>,
}

impl Engine {
    /// The session that is meant: by its id, a unique beginning of it, or the id of its work chain or a unique beginning
    /// of that. What begins a session's id means that session, whatever chains begin so.
    ///
    /// # Errors
    /// When nothing matches, or more than one session, or chain, does.
    pub fn find(&self, asked: &str) -> Result<SessionId, ApiError> {
        is_named(asked)?;
        let known: Vec<SessionId> = self.known_sessions();
        if let Some(exact) = known.iter().find(|id| id.as_str() == asked) {
            return Ok(exact.clone());
        }
        let begin: Vec<&str> =
            known.iter().map(SessionId::as_str).filter(|id| id.starts_with(asked)).collect();
        if let Some(head) = self.head_of_chain(asked, &begin)? {
            return Ok(head);
        }
        if begin.is_empty()
            && let Some(session) = stored_alone(&self.settings, asked)
        {
            let message = format!(
                "the transcript of {session} is gone, probably by the agent's own clean-up; `watchbill search` still \
                 finds what is stored of it"
            );
            return Err(ApiError::new(ErrorCode::NotFound, message));
        }
        one(Among::Known, asked, &begin).map(|id| SessionId::new(id))
    }

    /// The head of the chain that is meant: by its id, or where no session begins so by a unique beginning of it.
    fn head_of_chain(&self, asked: &str, sessions: &[&str]) -> Result<Option<SessionId>, ApiError> {
        let mut chains = self.chains().iter().filter(|chain| chain.id.as_str().starts_with(asked));
        if !sessions.is_empty() {
            return Ok(chains.find(|chain| chain.id.as_str() == asked).map(|chain| chain.head.clone()));
        }
        let chains: Vec<_> = chains.collect();
        let ids: Vec<&str> = chains.iter().map(|chain| chain.id.as_str()).collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let meant = one(Among::KnownChains, asked, &ids)?;
        Ok(chains.iter().find(|chain| chain.id.as_str() == *meant).map(|chain| chain.head.clone()))
    }

    fn known_sessions(&self) -> Vec<SessionId> {
        let mut known: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| !session.mains.is_empty())
            .map(|(id, _)| id.clone())
            .collect();
        known.extend(self.registry().all().map(|witness| witness.entry.session.clone()));
        known.extend(self.hooks().sessions().map(|(id, _)| id.clone()));
        known.sort();
        known.dedup();
        known
    }

    /// The state of a session and every witness of it.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn why(&self, asked: &str) -> Result<Why, ApiError> {
        let id = self.find(asked)?;
        let verdict = self.verdict(&id).ok_or_else(|| ApiError {
            code: ErrorCode::NotFound,
            message: format!("nothing is known of session {id} any more"),
        })?;
        Ok(Why::new(&id, &verdict))
    }

    /// The work chain of a session.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn chain(&self, asked: &str) -> Result<WorkChain, ApiError> {
        let id = self.find(asked)?;
        let path_of = |id: &SessionId| {
            self.main_file(id).map(|(path, _)| path.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let Some(chain) = self.chains().of(&id) else {
            return Ok(WorkChain {
                work_chain_id: watchbill_core::ids::ChainId::derive(&id).to_string(),
                name: None,
                head: id.to_string(),
                segments: Vec::new(),
                links: Vec::new(),
                undoable: None,
            });
        };
        // The resolver ran when a fact of lineage last changed; the ends of segments move with each record.
        let segments =
            chain.sessions.iter().filter_map(|id| Some((id, self.fold(id)?))).flat_map(|(id, fold)| {
                let path = path_of(id);
                fold.lineage().segments.iter().map(move |segment| (id, segment, path.clone()))
            });
        let segments = segments
            .zip(0..)
            .map(|((id, segment, path), n): ((&SessionId, _, String), u32)| {
                let superseded = chain.superseded.contains_key(id) || segment.boundary.is_some();
                Segment::new(segment, id, n, &path, superseded)
            })
            .collect();
        Ok(WorkChain {
            work_chain_id: chain.id.to_string(),
            name: chain.name.as_ref().map(ToString::to_string),
            head: chain.head.to_string(),
            segments,
            links: chain.links.iter().map(Link::from).collect(),
            undoable: self.words().newest_of(&chain.sessions).map(|link| match link {
                ManualLink::Join { .. } => "join".to_owned(),
                ManualLink::Split { .. } => "split".to_owned(),
            }),
        })
    }

    /// Where the timeline of a session's chain is to be read from.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn timeline_plan(&self, asked: &str) -> Result<TimelinePlan, ApiError> {
        let id = self.find(asked)?;
        let chain = self.chains().of(&id);
        let sessions = chain.map_or_else(|| vec![id.clone()], |chain| chain.sessions.clone());
        let agents = sessions.iter().flat_map(|session| self.agent_files(session)).collect();
        let parts = sessions
            .into_iter()
            .filter_map(|session| {
                let path: &Path = self.main_file(&session)?.0;
                let reason = chain.and_then(|chain| {
                    let link = chain.links.iter().find(|link| link.to == session && link.from != session)?;
                    Some(link.reason.word())
                });
                Some((session, path.to_path_buf(), reason))
            })
            .collect();
        let name = chain.and_then(|chain| chain.name.as_ref()).map(ToString::to_string);
        let chain = chain.map_or_else(
            || watchbill_core::ids::ChainId::derive(&id).to_string(),
            |chain| chain.id.to_string(),
        );
        Ok(TimelinePlan { session: id, chain, name, parts, agents })
    }

    fn agent_files(&self, id: &SessionId) -> Vec<AgentFile> {
        let paths = self.sessions.get(id).into_iter().flat_map(|session| session.agents.keys());
        let file = |path: &FilePath| match &self.files.get(path)?.place {
            Place::Subagent { agent, .. } | Place::FlatSubagent { agent, .. } => {
                Some(AgentFile { session: id.clone(), agent: agent.clone(), path: path.to_path_buf() })
            }
            _ => None,
        };
        paths.filter_map(file).collect()
    }
}
