//! Who started this program. A window that an agent started, or that a program controls, answers nothing: its keys are no
//! person's.

use watchbill_drive::socket::caller::why_no_person_started_this;

/// The variable by which a WebDriver controls the page (Tauri).
const CONTROLLED: &str = "TAURI_WEBVIEW_AUTOMATION";

/// Whether another program may press the keys of the page.
pub fn is_controlled() -> bool {
    std::env::var_os(CONTROLLED).is_some_and(|value| value == "true")
}

/// Why this window may not answer. `scripts`: scripts may. Ask at the start: the processes above this one may end.
pub fn refusal(scripts: bool) -> Option<String> {
    let why = if is_controlled() && !scripts {
        Some(format!("a program controls it ({CONTROLLED}), and scripts may not answer"))
    } else {
        why_no_person_started_this()
    };
    why.map(|why| format!("this window answers nothing: {why}"))
}
