//! Parts that all drivers share: prompts, blocks of text, requests, forms, lines of JSON-RPC.

pub(crate) mod blocks;
pub(crate) mod calls;
pub(crate) mod failure;
pub(crate) mod form;
pub(crate) mod json;
pub(crate) mod line;
pub(crate) mod prompts;
pub(crate) mod requests;
pub(crate) mod rpc;
