//! Removes private text from exported documents, by the same rule as the store.

use std::borrow::Cow;

use watchbill_core::history::keep_public;
use watchbill_protocol::export::ExportChain;

/// The chain without private text in its names. Its items come from a timeline, which has none.
pub fn without_private(mut export: ExportChain) -> ExportChain {
    let public = |text: String| keep_public(&text).map(Cow::into_owned);
    export.title = export.title.and_then(public);
    export.chain.name = export.chain.name.and_then(public);
    export
}
