//! Parts that all drivers share: prompts, blocks of text, requests, forms, lines of JSON-RPC, arguments.

pub(crate) mod blocks;
pub(crate) mod calls;
pub(crate) mod facts;
pub(crate) mod failure;
pub(crate) mod form;
pub(crate) mod json;
pub(crate) mod line;
pub(crate) mod prompts;
pub(crate) mod requests;
pub(crate) mod rpc;

/// Arguments from words.
pub(crate) fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}
