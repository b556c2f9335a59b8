//! How far the full-text index is behind, and what it needs.

/// How far the index is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lag {
    /// Number of the first text that is not in it.
    pub first: i64,
    /// Bytes of texts that are not in it.
    pub bytes: usize,
}

/// What the index needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Care {
    /// Nothing: it merges its pieces as they come.
    #[default]
    None,
    /// Very many texts are stored, and pieces are merged only where there are very many of them.
    Many,
    /// Much is stored beside others: each step merges a little, and none of them much.
    Beside,
    /// Large pieces wait to be merged. So many steps were made meanwhile.
    Untidy(u64),
}
