//! The commands about hooks: their state, a preview of a step, and the step itself.

use std::sync::Arc;

use tauri::{State, async_runtime};
use watchbill_engine::hook_setup::HookSetup;
use watchbill_protocol::doctor::HookSettings;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::hooks::{HooksPreview, HooksStep};
use watchbill_settings::Configuration;

use crate::desk::Desk;

/// The state of the hooks, scope by scope; empty in the demo.
#[tauri::command]
pub async fn hooks_status(desk: State<'_, Desk>) -> Result<Vec<HookSettings>, ApiError> {
    if desk.is_demo() {
        return Ok(Vec::new());
    }
    desk.ask(|engine| engine.hooks()).await
}

/// The change that a step would make in the user's settings below a root.
#[tauri::command]
pub async fn hooks_preview(
    configuration: State<'_, Arc<Configuration>>,
    root: String,
    step: HooksStep,
) -> Result<HooksPreview, ApiError> {
    with_setup(&configuration, root, move |setup| setup.preview(step)).await
}

/// Makes the change that the preview showed; `token` identifies that preview.
#[tauri::command]
pub async fn hooks_change(
    configuration: State<'_, Arc<Configuration>>,
    root: String,
    step: HooksStep,
    token: String,
) -> Result<(), ApiError> {
    with_setup(&configuration, root, move |setup| setup.make(step, &token)).await
}

async fn with_setup<T: Send + 'static>(
    configuration: &Configuration,
    root: String,
    then: impl FnOnce(&HookSetup) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let settings = configuration.settings();
    let work = move || then(&HookSetup::of(&settings, &root, &|name| std::env::var_os(name))?);
    async_runtime::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "work on hooks ended in a panic");
        Err(ApiError::new(ErrorCode::Internal, "the hooks could not be checked; the log says why"))
    })
}
