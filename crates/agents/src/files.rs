//! The folders of agents, and which agent's layout and parser a path has.

use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::ids::{Agent, SessionId};

use crate::paths::{ClientPath, ClientPathKind, below};
use crate::traits::{Database, Layout, NamesFile, Parser, StatusServer, TopFolder};
use crate::{claude, traits};

/// A folder in which an agent keeps its sessions. It stands for its path.
///
/// On the command line and in the settings it is `AGENT=PATH`; a path alone is the default agent's, and `AGENT=` says that
/// the agent is not watched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Root {
    /// The agent whose layout the folder has.
    pub agent: Agent,
    /// The folder.
    pub path: Arc<Path>,
}

impl Root {
    /// The folder of this agent.
    pub fn new(agent: Agent, path: impl Into<PathBuf>) -> Self {
        Self { agent, path: path.into().into() }
    }

    /// Reads `AGENT=PATH`, or the path alone of the default agent's folder. [`Root::named`] writes it.
    pub fn parse(text: &OsStr) -> Self {
        let of = |agent: &Agent| {
            let rest = text.as_encoded_bytes().strip_prefix(agent.as_str().as_bytes())?.strip_prefix(b"=")?;
            let begin = text.len() - rest.len();
            Some(Self::new(*agent, text.to_str()?.get(begin..)?))
        };
        Agent::ALL.iter().find_map(of).unwrap_or_else(|| text.into())
    }

    /// The same for what a person types: a wrong name before `=` is no folder.
    ///
    /// # Errors
    /// When the name is not that of an agent whose sessions are found.
    pub fn of_option(text: &OsStr) -> Result<Self, String> {
        let root = Self::parse(text);
        let name = text.to_str().and_then(|text| text.split_once('=')).map(|(name, _)| name);
        let Some(name) = name.filter(|name| name.chars().all(|c| c.is_ascii_alphabetic())) else {
            return Ok(root);
        };
        if Agent::of(name).is_some() {
            return Ok(root);
        }
        let found = Agent::ALL.map(Agent::as_str).join(" or ");
        Err(format!("sessions of `{name}` are not found; write DIR, or AGENT=DIR with {found}"))
    }

    /// The root as [`Root::parse`] reads it.
    pub fn named(&self) -> OsString {
        let mut text = OsString::new();
        if self.agent != Agent::default() {
            text.push(self.agent.as_str());
            text.push("=");
        }
        text.push(&*self.path);
        text
    }

    /// The same root at another path.
    pub fn at(&self, path: PathBuf) -> Self {
        Self::new(self.agent, path)
    }

    fn ask<T>(&self, path: &Path, question: impl FnOnce(&Layout) -> fn(&Path) -> T) -> Option<T> {
        Some(question(traits(self.agent).layout)(below(self, path)?))
    }

    /// The folders below it that can hold the agent's files.
    pub fn folders(&self) -> &'static [TopFolder] {
        traits(self.agent).layout.folders
    }

    /// The folder that has a file for each of the agent's processes, or for each session that runs.
    pub fn registry(&self) -> Option<PathBuf> {
        traits(self.agent).layout.registry.map(|name| self.join(name))
    }

    /// The file that the process of a session keeps locked; `None` if the agent has no such files.
    pub fn lock_of(&self, session: &SessionId) -> Option<PathBuf> {
        traits(self.agent).layout.lock_of.map(|name| self.join(name(session)))
    }

    /// Whether its registry has locked files.
    pub fn keeps_locks(&self) -> bool {
        traits(self.agent).layout.lock_of.is_some()
    }

    /// The agent's server that tells the states of sessions, if it has one.
    pub fn server(&self) -> Option<&'static StatusServer> {
        traits(self.agent).layout.server
    }

    /// The database with the agent's sessions, and its path; `None` if the sessions are in files.
    pub fn database(&self) -> Option<(&'static Database, PathBuf)> {
        let database = traits(self.agent).layout.database?;
        Some((database, self.join(database.file)))
    }

    /// The file with the names of its sessions, if the agent has one.
    pub fn names(&self) -> Option<&'static NamesFile> {
        traits(self.agent).layout.names
    }

    /// The meaning of a path; `None` too for a path elsewhere.
    pub fn classify(&self, path: &Path) -> Option<ClientPath> {
        self.ask(path, |layout| layout.classify)?
    }

    /// See [`Layout::removes_old`].
    pub fn removes_old(&self) -> bool {
        traits(self.agent).layout.removes_old
    }

    /// See [`Layout::kind_of`].
    pub fn kind_of(&self, path: &Path) -> Option<ClientPathKind> {
        match traits(self.agent).layout.kind_of {
            Some(kind_of) => kind_of(below(self, path)?),
            None => self.classify(path).map(|place| place.kind()),
        }
    }

    /// See [`Layout::may_hold`].
    pub fn may_hold(&self, folder: &Path) -> bool {
        self.ask(folder, |layout| layout.may_hold).unwrap_or(true)
    }

    /// See [`Layout::may_miss`].
    pub fn may_miss(&self, path: &Path) -> bool {
        self.ask(path, |layout| layout.may_miss).unwrap_or_default()
    }

    /// See [`Layout::is_copy`].
    pub fn is_copy(&self, path: &Path) -> bool {
        self.ask(path, |layout| layout.is_copy).unwrap_or_default()
    }
}

/// A folder whose agent is not named is the default agent's.
impl<P: Into<PathBuf>> From<P> for Root {
    fn from(path: P) -> Self {
        Self::new(Agent::default(), path)
    }
}

impl Deref for Root {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for Root {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// The innermost root that holds a path.
pub fn root_of<'r>(roots: &'r [Root], path: &Path) -> Option<&'r Root> {
    roots.iter().filter(|root| below(root, path).is_some()).max_by_key(|root| root.as_os_str().len())
}

/// The meaning of a stored path. It may lie below a root that is not watched now.
pub fn place_of(path: &Path) -> Option<ClientPath> {
    found(path).map(|(_, place)| place)
}

/// The layout that knows a stored path. The place of a subagent does not name its agent.
fn found(path: &Path) -> Option<(&'static Layout, ClientPath)> {
    // The default agent's rule is the widest one.
    let layouts = Agent::ALL.into_iter().rev().map(|agent| traits(agent).layout);
    layouts.into_iter().find_map(|layout| Some((layout, (layout.find)(path)?)))
}

/// The project of a transcript, as Claude Code names the folder of a project: the working folder with a hyphen for each character
/// but letters and digits.
pub fn project_of(path: &Path, cwd: Option<&str>) -> Option<String> {
    match found(path).map(|(layout, _)| layout.names_projects) {
        Some(false) => Some(cwd?.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()),
        _ => Some(path.parent()?.file_name()?.to_string_lossy().into_owned()),
    }
}

/// A session of an agent, as its files name it, from the whole id.
pub fn session_of(agent: Agent, id: &str) -> SessionId {
    SessionId::new((traits(agent).layout.name_of)(id))
}

/// The file with the working folder of the transcript at this path, if no record names that.
pub fn working_folder_of(path: &Path) -> Option<PathBuf> {
    (found(path)?.0.working_folder)(path)
}

/// The parser of the lines of the transcript at this path.
pub fn parser_of(path: &Path) -> Parser {
    found(path).map_or(&claude::LAYOUT, |(layout, _)| layout).parse_line
}
