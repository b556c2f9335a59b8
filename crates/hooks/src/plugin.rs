//! The same hooks as a plugin folder of the agent, for users who prefer a plugin to edited settings.

use crate::install::EVENTS;

/// The plugin's manifest, `.claude-plugin/plugin.json`.
pub fn manifest() -> String {
    let manifest = serde_json::json!({
        "name": "watchbill",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Tells Watchbill what each session is doing, so that it can show who needs you.",
        "author": { "name": "Watchbill" },
        "license": "MIT OR Apache-2.0",
    });
    pretty(&manifest)
}

/// The plugin's hooks, `hooks/hooks.json`.
///
/// The agent finds the program by its `PATH`, because a plugin is the same on every machine. If it finds none, it
/// goes on and tells its model nothing: the shell's exit code for that is no veto. The plugin has all events. An old
/// client that does not know one complains of the plugin alone (thedotmack/claude-mem#2386), and its settings stay in
/// force.
pub fn hooks() -> String {
    let events: serde_json::Map<String, serde_json::Value> = EVENTS
        .iter()
        .map(|event| {
            let mut handler = serde_json::json!({ "type": "command", "command": "watchbill hook" });
            if !event.waits {
                handler["async"] = true.into();
            }
            (event.name.to_owned(), serde_json::json!([{ "hooks": [handler] }]))
        })
        .collect();
    pretty(&serde_json::json!({
        "description": "Passes events on to Watchbill on this machine.",
        "hooks": events,
    }))
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// `UPDATE=1` rewrites the folder.
    #[test]
    fn the_plugin_folder_in_the_tree_is_up_to_date() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/claude-plugin");
        for (name, text) in
            [(".claude-plugin/plugin.json", super::manifest()), ("hooks/hooks.json", super::hooks())]
        {
            let path = folder.join(name);
            if std::env::var_os("UPDATE").is_some() {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, &text).unwrap();
            }
            let there = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(there, text, "{name} is not what EVENTS say; run this test with UPDATE=1");
        }
    }
}
