//! A part of a window as a screen reader gets it: role, name, states and children; also as lines of text.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Names of the states, by their numbers (`AtspiStateType` of AT-SPI 2.46, in its order).
const STATES: [&str; 44] = [
    "invalid",
    "active",
    "armed",
    "busy",
    "checked",
    "collapsed",
    "defunct",
    "editable",
    "enabled",
    "expandable",
    "expanded",
    "focusable",
    "focused",
    "has tooltip",
    "horizontal",
    "iconified",
    "modal",
    "multi line",
    "multiselectable",
    "opaque",
    "pressed",
    "resizable",
    "selectable",
    "selected",
    "sensitive",
    "showing",
    "single line",
    "stale",
    "transient",
    "vertical",
    "visible",
    "manages descendants",
    "indeterminate",
    "required",
    "truncated",
    "animated",
    "invalid entry",
    "supports autocompletion",
    "selectable text",
    "is default",
    "visited",
    "checkable",
    "has popup",
    "read only",
];

/// Names of the roles, by their numbers (`AtspiRole` of AT-SPI 2.46, in its order).
const ROLES: [&str; 130] = [
    "invalid",
    "accelerator label",
    "alert",
    "animation",
    "arrow",
    "calendar",
    "canvas",
    "check box",
    "check menu item",
    "color chooser",
    "column header",
    "combo box",
    "date editor",
    "desktop icon",
    "desktop frame",
    "dial",
    "dialog",
    "directory pane",
    "drawing area",
    "file chooser",
    "filler",
    "focus traversable",
    "font chooser",
    "frame",
    "glass pane",
    "html container",
    "icon",
    "image",
    "internal frame",
    "label",
    "layered pane",
    "list",
    "list item",
    "menu",
    "menu bar",
    "menu item",
    "option pane",
    "page tab",
    "page tab list",
    "panel",
    "password text",
    "popup menu",
    "progress bar",
    "push button",
    "radio button",
    "radio menu item",
    "root pane",
    "row header",
    "scroll bar",
    "scroll pane",
    "separator",
    "slider",
    "spin button",
    "split pane",
    "status bar",
    "table",
    "table cell",
    "table column header",
    "table row header",
    "tearoff menu item",
    "terminal",
    "text",
    "toggle button",
    "tool bar",
    "tool tip",
    "tree",
    "tree table",
    "unknown",
    "viewport",
    "window",
    "extended",
    "header",
    "footer",
    "paragraph",
    "ruler",
    "application",
    "autocomplete",
    "editbar",
    "embedded",
    "entry",
    "chart",
    "caption",
    "document frame",
    "heading",
    "page",
    "section",
    "redundant object",
    "form",
    "link",
    "input method window",
    "table row",
    "tree item",
    "document spreadsheet",
    "document presentation",
    "document text",
    "document web",
    "document email",
    "comment",
    "list box",
    "grouping",
    "image map",
    "notification",
    "info bar",
    "level bar",
    "title bar",
    "block quote",
    "audio",
    "video",
    "definition",
    "article",
    "landmark",
    "log",
    "marquee",
    "math",
    "rating",
    "timer",
    "static",
    "math fraction",
    "math root",
    "subscript",
    "superscript",
    "description list",
    "description term",
    "description value",
    "footnote",
    "content deletion",
    "content insertion",
    "mark",
    "suggestion",
    "push button menu",
];

/// States that nearly everything has, or that mean nothing to a user.
const SILENT_STATES: &[&str] = &[
    "enabled",
    "sensitive",
    "showing",
    "visible",
    "opaque",
    "resizable",
    "horizontal",
    "vertical",
    "single line",
    "multi line",
    "selectable text",
    "supports autocompletion",
    "checkable",
];

/// Attributes that a screen reader speaks or uses.
const SPOKEN_ATTRIBUTES: &[&str] = &[
    "level",
    "posinset",
    "setsize",
    "current",
    "live",
    "roledescription",
    "keyshortcuts",
    "placeholder-text",
];

/// One accessible object of a window with all its children, as it was when it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accessible {
    /// Its role, such as `push button`.
    pub role: String,
    /// Its name; empty when it has none.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its own text, if it has one; each child stands as U+FFFC.
    pub text: String,
    /// Its states, by AT-SPI's names.
    pub states: Vec<&'static str>,
    /// Its other attributes from the page, such as `level`.
    pub attributes: BTreeMap<String, String>,
    /// Its children.
    pub children: Vec<Accessible>,
}

impl Accessible {
    /// The first object of this role with this name or text, itself or a descendant.
    pub fn find(&self, role: &str, name: &str) -> Option<&Self> {
        self.all(role).into_iter().find(|one| one.name == name || (one.name.is_empty() && one.text == name))
    }

    /// All objects of this role, itself and descendants, in order.
    pub fn all(&self, role: &str) -> Vec<&Self> {
        let mut found: Vec<&Self> = Vec::new();
        if self.role == role {
            found.push(self);
        }
        found.extend(self.children.iter().flat_map(|child| child.all(role)));
        found
    }

    /// Whether it has this state.
    pub fn is(&self, state: &str) -> bool {
        self.states.contains(&state)
    }

    /// The innermost object with the focus, itself or a descendant.
    pub fn focused(&self) -> Option<&Self> {
        self.children.iter().find_map(Self::focused).or_else(|| self.is("focused").then_some(self))
    }

    /// The tree as lines: role, name, description, text, states; children are indented.
    pub fn outline(&self) -> String {
        let mut lines = String::new();
        self.write(0, &mut lines);
        lines
    }

    fn write(&self, depth: usize, lines: &mut String) {
        let mut line = format!("{}{}", "  ".repeat(depth), self.role);
        let mut say = |words: std::fmt::Arguments| {
            // Writing into a string never fails.
            let _ = line.write_fmt(words);
        };
        if !self.name.is_empty() {
            say(format_args!(" {:?}", self.name));
        }
        if !self.description.is_empty() {
            say(format_args!(" described {:?}", self.description));
        }
        // The text of an object that consists of others is their text.
        let own = self.text.replace('\u{fffc}', "");
        if !own.trim().is_empty() && self.text != self.name {
            say(format_args!(" = {:?}", self.text.replace('\u{fffc}', "◦")));
        }
        let mut words: Vec<String> = self
            .states
            .iter()
            .filter(|state| !SILENT_STATES.contains(state))
            .map(|state| (*state).to_owned())
            .collect();
        if !self.is("showing") {
            words.push("out of sight".to_owned());
        }
        if !self.is("enabled") {
            words.push("disabled".to_owned());
        }
        words.extend(
            SPOKEN_ATTRIBUTES
                .iter()
                .filter_map(|name| Some(format!("{name} {}", self.attributes.get(*name)?))),
        );
        if !words.is_empty() {
            say(format_args!(" [{}]", words.join(", ")));
        }
        lines.push_str(line.trim_end());
        lines.push('\n');
        for child in &self.children {
            child.write(depth + 1, lines);
        }
    }
}

/// The name of a role. WebKit reports only its number.
pub(crate) fn role_of(number: u32) -> String {
    let known = usize::try_from(number).ok().and_then(|number| ROLES.get(number));
    known.map_or_else(|| format!("role {number}"), |name| (*name).to_owned())
}

/// The names of the states whose bits are set, in the numbers' order.
pub(crate) fn states_of(bits: &[u32]) -> Vec<&'static str> {
    let is_set = |number: usize| bits.get(number / 32).is_some_and(|word| word >> (number % 32) & 1 == 1);
    STATES.iter().enumerate().filter(|(number, _)| is_set(*number)).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_from_both_words() {
        assert_eq!(states_of(&[1 << 11 | 1 << 25, 1 << (43 - 32)]), ["focusable", "showing", "read only"]);
        assert_eq!(states_of(&[]), Vec::<&str>::new());
    }

    #[test]
    fn an_outline_has_the_spoken_states_and_attributes_only() {
        let text = Accessible {
            role: "static".into(),
            text: "two".into(),
            states: vec!["enabled", "showing"],
            ..Accessible::default()
        };
        let button = Accessible {
            role: "push button".into(),
            name: "one two".into(),
            text: "one \u{fffc}".into(),
            states: vec!["enabled", "focusable", "focused", "showing", "visible"],
            attributes: BTreeMap::from([("posinset".into(), "1".into()), ("tag".into(), "button".into())]),
            children: vec![text],
            ..Accessible::default()
        };
        assert_eq!(
            button.outline(),
            "push button \"one two\" = \"one ◦\" [focusable, focused, posinset 1]\n  static = \"two\"\n"
        );
        assert_eq!(button.focused().map(|one| one.role.as_str()), Some("push button"));
        assert!(button.find("static", "two").is_some());
    }
}
