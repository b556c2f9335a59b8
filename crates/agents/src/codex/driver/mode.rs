//! The mode of Codex: when it asks, and what its sandbox allows.
//!
//! Source: `AskForApproval`, `SandboxMode` and `SandboxPolicy` in the schema of 0.169.0.

use serde_json::{Map, Value, json};

/// When it asks.
pub(crate) const APPROVALS: [&str; 3] = ["untrusted", "on-request", "never"];

const SANDBOXES: [(&str, &str); 3] = [
    ("read-only", "readOnly"),
    ("workspace-write", "workspaceWrite"),
    ("danger-full-access", "dangerFullAccess"),
];

/// A mode, written as `on-request` or `on-request/workspace-write`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mode {
    /// When it asks.
    pub(crate) approval: String,
    /// What its sandbox allows; `None`: as configured.
    pub(crate) sandbox: Option<String>,
}

impl Mode {
    /// Reads a mode.
    ///
    /// # Errors
    /// With a text for the user.
    pub(crate) fn parse(mode: &str) -> Result<Self, String> {
        let (approval, sandbox) = match mode.split_once('/') {
            Some((approval, sandbox)) => (approval, Some(sandbox)),
            None => (mode, None),
        };
        let is_sandbox = |word: &str| SANDBOXES.iter().any(|(name, _)| *name == word);
        if APPROVALS.contains(&approval) && sandbox.is_none_or(is_sandbox) {
            return Ok(Self { approval: approval.to_owned(), sandbox: sandbox.map(str::to_owned) });
        }
        Err(format!(
            "Codex has no mode `{mode}`. Write untrusted, on-request or never; after a slash, read-only, workspace-write or \
             danger-full-access may follow."
        ))
    }

    /// The mode of a thread, as the agent tells it.
    pub(crate) fn told(thread: &Value) -> Option<String> {
        let approval = match thread.get("approvalPolicy")? {
            Value::String(word) => word.as_str(),
            _ => "granular",
        };
        let policy = thread.get("sandbox").and_then(|sandbox| sandbox.get("type")).and_then(Value::as_str);
        let sandbox = SANDBOXES.iter().find(|(_, told)| Some(*told) == policy).map(|(name, _)| *name);
        Some(sandbox.map_or_else(|| approval.to_owned(), |sandbox| format!("{approval}/{sandbox}")))
    }

    /// The mode in the parameters of a turn: for it and those after it.
    pub(crate) fn of_turn(params: &Value) -> Option<String> {
        let approval = params.get("approvalPolicy")?;
        Self::told(&json!({ "approvalPolicy": approval, "sandbox": params.get("sandboxPolicy") }))
    }

    /// Adds the mode to the parameters of a start.
    pub(crate) fn at_start(&self, params: &mut Map<String, Value>) {
        params.insert("approvalPolicy".to_owned(), self.approval.as_str().into());
        if let Some(sandbox) = &self.sandbox {
            params.insert("sandbox".to_owned(), sandbox.as_str().into());
        }
    }

    /// Adds the mode to the parameters of a turn.
    pub(crate) fn with_turn(&self, params: &mut Map<String, Value>) {
        params.insert("approvalPolicy".to_owned(), self.approval.as_str().into());
        let sandbox = SANDBOXES.iter().find(|(name, _)| Some(*name) == self.sandbox.as_deref());
        if let Some((_, policy)) = sandbox {
            params.insert("sandboxPolicy".to_owned(), json!({ "type": policy }));
        }
    }
}
