//! The commands about memories: the page beside the timeline, evidence, a preview, and the user's decisions.

use tauri::State;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::memory::{
    MemoryChange, MemoryChanged, MemoryDetail, MemoryPage, MemoryPreview, SummaryPage,
};

use crate::desk::Desk;

/// The memory of a session's chain.
#[tauri::command]
pub async fn memory_page(desk: State<'_, Desk>, session_id: String) -> Result<MemoryPage, ApiError> {
    desk.ask(move |engine| engine.memory_page(&session_id)).await
}

/// The summary of a session's chain, and a hand-over to a new session.
#[tauri::command]
pub async fn work_summary(desk: State<'_, Desk>, session_id: String) -> Result<SummaryPage, ApiError> {
    desk.ask(move |engine| engine.work_summary(&session_id)).await
}

/// One memory with its evidence.
#[tauri::command]
pub async fn memory_detail(desk: State<'_, Desk>, id: String) -> Result<MemoryDetail, ApiError> {
    desk.ask(move |engine| engine.memory_detail(&id)).await
}

/// The lines that an agent would be told in a folder.
#[tauri::command]
pub async fn memory_preview(
    desk: State<'_, Desk>,
    cwd: String,
    session_id: Option<String>,
) -> Result<MemoryPreview, ApiError> {
    desk.ask(move |engine| engine.memory_preview(&cwd, session_id.as_deref())).await
}

/// Carries out a decision of the user.
#[tauri::command]
pub async fn memory_change(desk: State<'_, Desk>, change: MemoryChange) -> Result<MemoryChanged, ApiError> {
    desk.ask(move |engine| engine.change_memory(&change)).await
}
