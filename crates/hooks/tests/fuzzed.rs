//! Runs the inputs that the fuzzer has found worth keeping with the other tests.
#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "a broken expectation should fail loudly")]

use std::path::Path;

#[path = "../../../fuzz/bodies/hooks.rs"]
mod hooks;

#[test]
fn envelopes_and_settings_of_any_bytes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/hooks");
    let mut inputs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        let checked = std::panic::catch_unwind(|| hooks::check(&input));
        assert!(checked.is_ok(), "{}", path.display());
        inputs += 1;
    }
    assert!(inputs > 10, "{inputs} inputs in {}", folder.display());
}
