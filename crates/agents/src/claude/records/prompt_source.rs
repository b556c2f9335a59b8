//! Who wrote a prompt: a person, a program, a finished task or another session.

use super::fields::Fields;
use watchbill_core::transcript::record::PromptOrigin;

/// The origin of a prompt that the user did not write: a finished task or another session.
pub(super) fn other_origin(f: &Fields<'_>, text: &str) -> Option<PromptOrigin> {
    match f.origin.get("kind").word() {
        Some("human") => None,
        kind => origin_of_kind(kind).or_else(|| origin_of_text(text).filter(|_| !typed_by_a_person(f))),
    }
}

/// The origin of a prompt that came out of the queue; `None` if the user put it there.
pub(super) fn queued_origin(f: &Fields<'_>, text: &str) -> Option<PromptOrigin> {
    let attached = &f.attached;
    match (attached.origin.get("kind").word(), attached.mode.word()) {
        (Some("human"), _) => None,
        (_, Some("task-notification")) => Some(PromptOrigin::TaskNotification),
        (kind, _) => origin_of_kind(kind).or_else(|| origin_of_text(text)),
    }
}

fn origin_of_kind(kind: Option<&str>) -> Option<PromptOrigin> {
    match kind? {
        "task-notification" => Some(PromptOrigin::TaskNotification),
        "peer" | "coordinator" | "teammate" => Some(PromptOrigin::Peer),
        _ => None,
    }
}

/// The origin that the first words of a prompt name, if the user did not write it.
pub fn origin_of_text(text: &str) -> Option<PromptOrigin> {
    let text = text.trim_start();
    if text.starts_with("<task-notification>") {
        Some(PromptOrigin::TaskNotification)
    } else if text.starts_with("<cross-session-message")
        || text.starts_with("<teammate-message")
        || text.starts_with("Another Claude session sent a message:")
    {
        Some(PromptOrigin::Peer)
    } else {
        None
    }
}

/// Whether the record has the marks of a prompt that the user typed or a program sent. The text does not count.
pub(super) fn typed_by_a_person(f: &Fields<'_>) -> bool {
    matches!(f.prompt_source.word(), Some("typed" | "queued" | "sdk" | "suggestion_accepted"))
}

/// Whether a person typed a prompt, as far as its record shows. Clients before 2.1.207 do not name the source. A name that is not
/// known here is no sign of a person.
pub(super) fn is_typed(f: &Fields<'_>) -> bool {
    let [record, attached] = [&f.origin, &f.attached.origin]
        .map(|origin| !origin.is_there() || matches!(origin.get("kind").word(), Some("human" | "user")));
    let is_of_mode = !f.attached.mode.is_there() || f.attached.mode.word() == Some("prompt");
    let entrypoint = f.entrypoint.word().unwrap_or_default();
    let is_typed = match f.prompt_source.word() {
        None => !f.prompt_source.is_there() && !entrypoint.starts_with("sdk"),
        Some("typed" | "queued") => true,
        // An editor and the desktop application show a field to type in, and drive the client through its library.
        Some("sdk") => matches!(entrypoint, "claude-vscode" | "claude-desktop"),
        Some(_) => false,
    };
    record && attached && is_of_mode && is_typed && !f.plan_content.is_there() && !f.meta.is_true()
}
