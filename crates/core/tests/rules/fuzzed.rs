//! Runs the kept fuzzer inputs again with each run of the tests.

use std::path::Path;

#[path = "../../../../fuzz/bodies/lines.rs"]
mod lines;
#[path = "../../../../fuzz/bodies/timeline.rs"]
mod timeline;

/// Checks every kept input of a target; there must be some.
fn each(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut inputs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let input = std::fs::read(&path).unwrap();
        let checked = std::panic::catch_unwind(|| check(&input));
        assert!(checked.is_ok(), "{}", path.display());
        inputs += 1;
    }
    assert!(inputs > 10, "{inputs} inputs in {}", folder.display());
}

#[test]
fn lines_in_any_chunks() {
    each("lines", lines::check);
}

#[test]
fn timelines_of_any_lines() {
    each("timeline", timeline::check);
}
