//! The checked-in TypeScript types match the Rust types.
//!
//! After a change of a type: `WATCHBILL_BINDINGS=write cargo test -p watchbill-protocol bindings`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ts_rs::{Config, TS};
use watchbill_protocol::api::{ApiMessage, ApiReply, ApiRequest, ApiSubscription};
use watchbill_protocol::error::ApiError;
use watchbill_protocol::event::StoreEvent;
use watchbill_protocol::export::ExportChain;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::host::{HostHello, HostMessage};
use watchbill_protocol::prompt::{PromptCall, PromptSent};
use watchbill_protocol::request::{AnswerCall, AnswerRecord};
use watchbill_protocol::status::Status;
use watchbill_protocol::store::{ForgetReport, IndexReport, Stats};
use watchbill_protocol::timeline::What;

fn generate(folder: &Path) {
    if folder.exists() {
        fs::remove_dir_all(folder).unwrap();
    }
    // JSON numbers arrive as JavaScript numbers; none of ours comes near 2^53.
    let config = Config::new().with_large_int("number").with_out_dir(folder);
    // This also exports all types that these types mention.
    ApiRequest::export_all(&config).unwrap();
    ApiReply::export_all(&config).unwrap();
    ApiSubscription::export_all(&config).unwrap();
    ApiMessage::export_all(&config).unwrap();
    StoreEvent::export_all(&config).unwrap();
    What::export_all(&config).unwrap();
    Status::export_all(&config).unwrap();
    ApiError::export_all(&config).unwrap();
    IndexReport::export_all(&config).unwrap();
    Stats::export_all(&config).unwrap();
    ForgetReport::export_all(&config).unwrap();
    ExportChain::export_all(&config).unwrap();
    AnswerCall::export_all(&config).unwrap();
    AnswerRecord::export_all(&config).unwrap();
    PromptCall::export_all(&config).unwrap();
    PromptSent::export_all(&config).unwrap();
    HostHello::export_all(&config).unwrap();
    HostMessage::export_all(&config).unwrap();
    OwnWhat::export_all(&config).unwrap();
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
            (name, text)
        })
        .collect()
}

#[test]
fn the_checked_in_bindings_are_fresh() {
    let checked_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/lib/bindings");
    if std::env::var_os("WATCHBILL_BINDINGS").is_some_and(|wish| wish == "write") {
        generate(&checked_in);
    }
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings");
    generate(&fresh);
    let (fresh, checked_in) = (files(&fresh), files(&checked_in));
    assert!(fresh.len() > 20, "the types are exported at all");
    for (name, text) in &fresh {
        assert_eq!(
            checked_in.get(name),
            Some(text),
            "{name} is stale: run `WATCHBILL_BINDINGS=write cargo test -p watchbill-protocol bindings`"
        );
    }
    let left_over: Vec<&String> = checked_in.keys().filter(|name| !fresh.contains_key(*name)).collect();
    assert!(left_over.is_empty(), "no type gives these files any more: {left_over:?}");
}
