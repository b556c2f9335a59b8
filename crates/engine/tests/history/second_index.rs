//! A second index stores of sessions that are new, and of those that have gone on, what a first one would have stored.

use std::path::Path;

use watchbill_core::time::Millis;
use watchbill_engine::index::{Options, run};
use watchbill_store::{Mode, Store};

use crate::schemas::{SESSION, TRANSCRIPT, house, rows};

#[test]
fn a_second_index_equals_a_first_one() {
    let folder = tempfile::tempdir().unwrap();
    let (twice, once) = (folder.path().join("twice"), folder.path().join("once"));
    let (mut settings, world, fs) = house(&twice);
    // What is known must have a row at once, whenever this runs: a session at rest gets its row later.
    settings.recent = Millis::from_secs(100 * 365 * 24 * 3600);
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();

    let other = SESSION.replace("0a000000", "0c000000");
    let path = Path::new("/home/dev/.claude/projects/-home-dev-work").join(format!("{other}.jsonl"));
    let text = TRANSCRIPT.replace(SESSION, &other).replace("\"u", "\"w").replace("\"id\":\"m", "\"id\":\"n");
    fs.append(path, text.as_bytes());
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();

    let mut fresh = settings;
    fresh.data_dir = Some(once.clone());
    run(&fresh, &world, Options::default(), &mut |_| true).unwrap();
    let wanted = rows(&Store::open(&once, Mode::Read).unwrap());
    let titled =
        |rows: &[String]| rows.iter().filter(|row| row.starts_with(&other)).cloned().collect::<Vec<_>>();
    assert!(titled(&wanted).iter().any(|row| row.contains("/home/dev/work")), "{wanted:#?}");
    let mut got = rows(&Store::open(&twice, Mode::Read).unwrap());
    let mut wanted = wanted;
    // The second one met the files in another order.
    got.sort();
    wanted.sort();
    assert_eq!(got, wanted);
}
