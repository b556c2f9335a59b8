//! Counts of tokens: of one request, and of a session so far.

use serde::{Deserialize, Serialize};

use crate::limits::Limit;

/// Tokens of one request. No count is greater than [`Usage::MAX_TOKENS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// `input_tokens`.
    pub input: u64,
    /// `output_tokens`.
    pub output: u64,
    /// `cache_read_input_tokens`.
    pub cache_read: u64,
    /// `cache_creation_input_tokens`.
    pub cache_write: u64,
}

impl Usage {
    /// No request uses more tokens of one kind. A greater count was written by mistake and is cut to this. So a sum
    /// over two billion requests still fits 63 bits.
    pub const MAX_TOKENS: u64 = u32::MAX as u64;

    /// Adds the counts of another request.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }

    /// The sum of the counts.
    pub fn all(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// The counts without those of `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
        }
    }

    /// No count above [`Usage::MAX_TOKENS`].
    pub fn cut(self) -> Self {
        let [input, output, cache_read, cache_write] =
            [self.input, self.output, self.cache_read, self.cache_write]
                .map(|count| count.min(Self::MAX_TOKENS));
        Self { input, output, cache_read, cache_write }
    }

    /// Whether a count was cut to [`Usage::MAX_TOKENS`]. No correct count comes near it.
    pub fn was_cut(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_write].contains(&Self::MAX_TOKENS)
    }
}

/// The tokens that a session has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenTotal {
    /// All of them, if it says them. A count may be greater than [`Usage::MAX_TOKENS`], which limits one request.
    pub total: Option<Usage>,
    /// Those of the newest request.
    pub last: Option<Usage>,
    /// The tokens in the context.
    pub context: Option<u64>,
    /// What the agent says of the limits of the account.
    pub limits: [Option<Limit>; 2],
}
