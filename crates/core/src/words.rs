//! The error of a word that no variant of an enum has. The derived parsers name it by this path.

/// Why a word is no variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// No variant has the word.
    #[error("this word is not known")]
    VariantNotFound,
}
