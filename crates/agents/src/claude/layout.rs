//! Classifies a path below the agent's folder by its name alone.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use watchbill_core::ids::{Agent, SessionId};

pub use crate::paths::{
    ClientPath, ClientPathKind, META_LIMIT, ROOT_ALIAS, ROOT_NAME, ROOT_OPTION, ROOT_VARIABLE, below,
};
use crate::traits::TopFolder;

/// The folder of transcripts below the agent's folder.
pub const TRANSCRIPTS: &str = "projects";
/// The folder of registry files below the agent's folder.
pub const REGISTRY: &str = "sessions";
/// Both.
pub const FOLDERS: &[TopFolder] =
    &[TopFolder { name: TRANSCRIPTS, deep: true }, TopFolder { name: REGISTRY, deep: false }];
/// The folder of subagents' transcripts in a session's folder.
const SUBAGENTS: &str = "subagents";
/// The folder of workflows in that one.
const WORKFLOWS: &str = "workflows";
/// The registry file of a process, below an agent's folder.
pub fn registry_file(root: &Path, pid: u32) -> PathBuf {
    root.join(REGISTRY).join(format!("{pid}.json"))
}

/// Classifies a path relative to the agent's folder or to a working folder. `None` for all files that Watchbill must
/// not read, above all the key files beside the registry.
pub fn classify(relative: &Path) -> Option<ClientPath> {
    recognize(relative).map(Recognized::place)
}

/// Classifies a path below a root that is not known.
pub fn find(path: &Path) -> Option<ClientPath> {
    let root = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == TRANSCRIPTS))?;
    classify(below(root.parent()?, path)?)
}

/// The kind of [`classify`]'s result, without allocating its names.
pub fn kind_of(relative: &Path) -> Option<ClientPathKind> {
    recognize(relative).map(|place| place.kind())
}

/// A place that borrows its names from the path.
enum Recognized<'p> {
    Transcript { session: &'p [u8] },
    Subagent { session: &'p OsStr, agent: &'p [u8], meta: bool },
    FlatSubagent { agent: &'p [u8] },
    Registry { pid: u32 },
    Marker { session: &'p [u8] },
    StatusFile { session: &'p [u8] },
}

impl Recognized<'_> {
    fn kind(&self) -> ClientPathKind {
        match self {
            Self::Transcript { .. } => ClientPathKind::Transcript,
            Self::Subagent { meta: false, .. } => ClientPathKind::Subagent,
            Self::Subagent { meta: true, .. } => ClientPathKind::SubagentMeta,
            Self::FlatSubagent { .. } => ClientPathKind::FlatSubagent,
            Self::Registry { .. } => ClientPathKind::Registry,
            Self::Marker { .. } => ClientPathKind::Marker,
            Self::StatusFile { .. } => ClientPathKind::StatusFile,
        }
    }

    fn place(self) -> ClientPath {
        let id = |name: &[u8]| SessionId::new(&text_of(name));
        let text = |name: &[u8]| Arc::from(text_of(name));
        match self {
            Self::Transcript { session } => {
                ClientPath::Transcript { agent: Agent::Claude, session: id(session) }
            }
            Self::Subagent { session, agent, meta } => {
                let (session, agent) = (id(session.as_encoded_bytes()), text(agent));
                match meta {
                    true => ClientPath::SubagentMeta { session, agent },
                    false => ClientPath::Subagent { session, agent },
                }
            }
            Self::FlatSubagent { agent } => ClientPath::FlatSubagent { agent: text(agent) },
            Self::Registry { pid } => ClientPath::Registry { pid },
            Self::Marker { session } => ClientPath::Marker { session: id(session) },
            Self::StatusFile { session } => ClientPath::StatusFile { session: id(session) },
        }
    }
}

/// A name as text. Checking for valid text is quick; the lossy conversion takes ten times as long.
fn text_of(name: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(name).map_or_else(|_| String::from_utf8_lossy(name), Cow::Borrowed)
}

fn recognize(relative: &Path) -> Option<Recognized<'_>> {
    let mut names = [OsStr::new(""); PLAIN];
    match split_plainly(relative, &mut names) {
        Some(names) => recognize_names(names),
        None => recognize_names(&split(relative)?),
    }
}

fn recognize_names<'p>(names: &[&'p OsStr]) -> Option<Recognized<'p>> {
    match names {
        [first, _, rest @ ..] if *first == TRANSCRIPTS => in_project(rest),
        [first, name] if *first == REGISTRY => registry_pid(name).map(|pid| Recognized::Registry { pid }),
        [name] => in_working_folder(name),
        [folder, name] if *folder == ".claude" => in_working_folder(name),
        _ => None,
    }
}

/// Most names of a path that `split_plainly` takes. Real paths have at most seven.
const PLAIN: usize = 8;

/// The same as [`split`] for nearly all paths, because few are long or oddly spelled. A start calls it thousands of
/// times, and it needs no allocation for the names.
#[cfg(unix)]
fn split_plainly<'n, 'p>(relative: &'p Path, names: &'n mut [&'p OsStr; PLAIN]) -> Option<&'n [&'p OsStr]> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = relative.as_os_str().as_bytes();
    let (mut count, mut from) = (0, 0);
    for to in memchr::memchr_iter(b'/', bytes).chain([bytes.len()]) {
        let name = &bytes[from..to];
        if matches!(name, b"" | b"." | b"..") {
            return None;
        }
        *names.get_mut(count)? = OsStr::from_bytes(name);
        (count, from) = (count + 1, to + 1);
    }
    Some(&names[..count])
}

#[cfg(not(unix))]
fn split_plainly<'n, 'p>(_: &'p Path, _: &'n mut [&'p OsStr; PLAIN]) -> Option<&'n [&'p OsStr]> {
    None
}

/// The names in a path; `None` if it leads upwards or is absolute.
fn split(relative: &Path) -> Option<Vec<&OsStr>> {
    let normal = |component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    };
    relative.components().map(normal).collect()
}

/// Whether a folder can hold the agent's files. Tool results can be many thousand files.
pub fn may_hold(relative: &Path) -> bool {
    let mut names = relative.iter();
    let top = names.next();
    let rest = [names.next(), names.next(), names.next(), names.next(), names.next()];
    match rest {
        [inside, ..] if top.is_some_and(|top| top == REGISTRY) => inside.is_none(),
        [Some(_), Some(_), Some(folder), None, _] => folder == SUBAGENTS,
        [Some(_), Some(_), Some(_), Some(folder), None] => folder == WORKFLOWS,
        _ => true,
    }
}

/// Whether a path is in a session's folder and is not its folder of subagents, the only one that matters there.
pub fn may_miss(relative: &Path) -> bool {
    relative.starts_with(TRANSCRIPTS) && relative.iter().count() == 4 && !relative.ends_with(SUBAGENTS)
}

/// Whether a path is a copy of a session's transcript that a sync tool, a backup or a person has made beside it.
pub fn is_copy(relative: &Path) -> bool {
    let Some(names) = split(relative) else { return false };
    let [projects, _, name] = names.as_slice() else { return false };
    *projects == TRANSCRIPTS && stem(name, b".jsonl").is_some_and(|stem| !is_id(stem) && uuid_within(stem))
}

/// Whether a name can be an id. The agent makes no id with a blank, a dot or a parenthesis: names of copies have them. A longer
/// name with a UUID within is a copy too, such as `<id>-HOST` of OneDrive.
fn is_id(name: &[u8]) -> bool {
    is_plain(name) && (name.len() <= UUID || !uuid_within(name))
}

/// Whether a name has none of the characters by which sync tools and file managers mark a copy.
fn is_plain(name: &[u8]) -> bool {
    !name.is_empty() && !name.iter().any(|byte| b" .()~".contains(byte))
}

/// The length of a UUID as text.
const UUID: usize = 36;

fn uuid_within(name: &[u8]) -> bool {
    name.windows(UUID).any(|part| {
        part.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    })
}

fn in_working_folder(name: &OsStr) -> Option<Recognized<'_>> {
    let marker = between(name, b"compacted.", b".marker").map(|session| Recognized::Marker { session });
    marker.or_else(|| between(name, b"status.", b".md").map(|session| Recognized::StatusFile { session }))
}

fn between<'p>(name: &'p OsStr, before: &[u8], after: &[u8]) -> Option<&'p [u8]> {
    let id = name.as_encoded_bytes().strip_prefix(before)?.strip_suffix(after)?;
    is_id(id).then_some(id)
}

fn in_project<'p>(rest: &[&'p OsStr]) -> Option<Recognized<'p>> {
    match rest {
        [name] => {
            let stem = stem(name, b".jsonl")?;
            match agent_of(stem) {
                Some(agent) => Some(Recognized::FlatSubagent { agent }),
                None => is_id(stem).then_some(Recognized::Transcript { session: stem }),
            }
        }
        [session, folder, middle @ .., name] if *folder == SUBAGENTS && is_id(session.as_encoded_bytes()) => {
            if middle.first().is_some_and(|first| *first != WORKFLOWS) {
                return None;
            }
            let of_agent =
                |stem, meta| agent_of(stem).map(|agent| Recognized::Subagent { session, agent, meta });
            match stem(name, b".jsonl") {
                Some(stem) => of_agent(stem, false),
                None => of_agent(stem(name, b".meta.json")?, true),
            }
        }
        _ => None,
    }
}

/// The name without its ending; `None` for hidden files and for files that the agent has set aside.
fn stem<'a>(name: &'a OsStr, ending: &[u8]) -> Option<&'a [u8]> {
    let stem = name.as_encoded_bytes().strip_suffix(ending)?;
    // The agent's own names have no dot.
    let set_aside =
        stem.contains(&b'.') && stem.windows(b".orphaned-".len()).any(|part| part == b".orphaned-");
    (!stem.is_empty() && !stem.starts_with(b".") && !set_aside).then_some(stem)
}

fn agent_of(stem: &[u8]) -> Option<&[u8]> {
    stem.strip_prefix(b"agent-").filter(|id| is_plain(id))
}

/// Only digits, as the agent writes them: neither `pid-7.json` of old agents nor `007.json`.
fn registry_pid(name: &OsStr) -> Option<u32> {
    let digits = name.to_str()?.strip_suffix(".json")?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests;
