//! What the windows ask about hooks: how they are, what a step would change, and to make it.

use std::sync::Arc;

use tauri::{State, async_runtime};
use watchbill_engine::hook_setup::HookSetup;
use watchbill_protocol::doctor::HookSettings;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::hooks::{HooksPreview, HooksStep};
use watchbill_settings::Configuration;

use crate::desk::Desk;

/// How the hooks are, scope by scope; nothing where only made-up sessions are shown.
#[tauri::command]
pub async fn hooks_status(desk: State<'_, Desk>) -> Result<Vec<HookSettings>, ApiError> {
    if desk.is_demo() {
        return Ok(Vec::new());
    }
    desk.ask(|engine| engine.hooks()).await
}

/// What a step would change in the person's settings below a root.
#[tauri::command]
pub async fn hooks_preview(
    configuration: State<'_, Arc<Configuration>>,
    root: String,
    step: HooksStep,
) -> Result<HooksPreview, ApiError> {
    with_setup(&configuration, root, move |setup| setup.preview(step)).await
}

/// Makes the change that was shown; `token` says which one that was.
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
        Err(ApiError::new(ErrorCode::Internal, "the hooks could not be looked at; the log says why"))
    })
}
