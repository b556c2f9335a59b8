//! How far the full-text index is behind, and how its segments are merged.

/// How far the index is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lag {
    /// Id of the first text that is not in it.
    pub first: i64,
    /// Bytes of texts that are not in it.
    pub bytes: usize,
}

/// How the segments of the index are merged now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum MergeState {
    /// The index merges its segments as they come.
    #[default]
    None,
    /// A bulk insert: segments are merged only when there are very many.
    Bulk,
    /// Much is stored beside other work: each step merges a little.
    Background,
    /// Large segments wait to be merged. The number counts the steps since then.
    Untidy(u64),
}
