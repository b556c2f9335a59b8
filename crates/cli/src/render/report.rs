//! `doctor --report`: the same facts as `doctor`, for a stranger who helps. It has no path, title, text or secret.

use std::collections::BTreeMap;

use watchbill_agents::Agent;
use watchbill_protocol::doctor::{Doctor, WatchMode};

use super::{plural, size};
use crate::terminal_text::one_line;

/// Variables that say which terminal and desktop this is. Their values name programs.
const SURROUNDINGS: [&str; 5] =
    ["TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"];

/// The report. `variable` is the environment.
pub fn render(doctor: &Doctor, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let mut out = format!("watchbill {} on {system} {machine}\n", doctor.versions.watchbill);
    for name in SURROUNDINGS {
        if let Some(value) = variable(name) {
            out.push_str(&format!("{name}={}\n", one_line(&value)));
        }
    }
    out.push_str(&format!("versions of agents: {}\n", one_line(&doctor.versions.agents.join(", "))));
    for root in doctor.roots.iter().filter(|root| root.exists) {
        let watch = match root.watch {
            WatchMode::Native => "told of changes",
            WatchMode::Poll => "polled",
            WatchMode::None => "read once",
        };
        let (sessions, files) =
            (plural(root.sessions as usize, "session"), plural(root.files as usize, "file"));
        out.push_str(&format!("{}: {sessions}, {files}, {}, {watch}\n", root.agent, size(root.bytes)));
    }
    let registry = &doctor.registry;
    out.push_str(&format!("registry: {} files, {} live\n", registry.files, registry.live));
    for limit in &doctor.limits {
        let verdict = if limit.enough { "" } else { ", too low" };
        out.push_str(&format!("{} = {}{verdict}\n", limit.name, limit.value));
    }
    if let Some(store) = &doctor.store {
        let trouble = if store.trouble.is_some() { ", in trouble" } else { "" };
        let schema = store.schema_version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        out.push_str(&format!(
            "store: schema {schema}, {}, {} damaged{trouble}\n",
            size(store.bytes),
            store.damaged.len()
        ));
    }
    if let Some(hooks) = &doctor.hooks {
        out.push_str(&format!(
            "hooks: {} heard in the last hour, {} waiting, {} damaged, {} dropped\n",
            plural(hooks.sessions as usize, "session"),
            hooks.waiting,
            hooks.damaged,
            hooks.dropped
        ));
        for settings in &hooks.settings {
            let agent = Agent::of(&settings.agent).unwrap_or_default();
            out.push_str(&format!("hooks of {}, {}: {}\n", agent.as_str(), settings.scope, settings.state));
        }
    }
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for problem in &doctor.problems {
        *kinds.entry(&problem.kind).or_default() += problem.count;
    }
    for (kind, count) in kinds {
        out.push_str(&format!("problem {kind}: {count}\n"));
    }
    out
}
