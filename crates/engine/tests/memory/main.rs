//! The quality of memories and of the lines that agents are told, measured on 60 made-up histories with planted facts.
//!
//! `cargo xtask memory` writes the table into `docs/memory.md`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a broken test should fail loudly")]

mod histories;
mod measure;
mod transcript;
mod words;

use measure::Measured;

/// The page with the table, and the lines around it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/memory.md");
const BEGIN: &str = "<!-- table of cargo xtask memory -->\n";
const END: &str = "<!-- end of the table -->\n";

#[test]
fn sixty_histories_give_what_they_should_and_leak_nothing() {
    let measured = measure::measure();
    let table = table(&measured);
    println!("{table}");
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (old, after) = rest.split_once(END).unwrap();
    if std::env::var_os("WATCHBILL_MEMORY_TABLE").is_some_and(|word| word == "write") {
        std::fs::write(PAGE, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(old, table, "run `cargo xtask memory`: it writes the table into docs/memory.md");
    }
    assert_eq!((measured.leaks, measured.loops), (0, 0));
    assert!(measured.file_hits.share() >= 0.90, "{:?}", measured.file_hits);
    assert!(measured.prompt_hits.share() >= 0.75, "{:?}", measured.prompt_hits);
    assert!(measured.fitting.share() >= 0.60, "{:?}", measured.fitting);
    assert!(measured.quiet.share() >= 0.70, "{:?}", measured.quiet);
    assert!(measured.stale.share() <= 0.02, "{:?}", measured.stale);
    assert!(measured.tokens_per_hit() <= 250.0, "{}", measured.tokens_per_hit());
    assert!(measured.median_session() <= 600 && measured.greatest_session() <= 3_000);
}

fn table(measured: &Measured) -> String {
    let percent = |share: measure::Share| format!("{:.1} % of {}", share.share() * 100.0, share.all);
    let row = |what: &str, found: String, wanted: &str| format!("| {what} | {found} | {wanted} |\n");
    let mut table = String::from("\n| Measure | Measured | To reach |\n|---|---|---|\n");
    table += &row("sessions, in 60 histories", measured.sessions.to_string(), "");
    table += &row("a touched file brings its planted fact", percent(measured.file_hits), "≥ 90 %");
    table += &row("a paraphrased prompt brings its planted fact", percent(measured.prompt_hits), "≥ 75 %");
    table += &row("lines that fit their place", percent(measured.fitting), "≥ 60 %");
    table += &row("quiet where nothing fits", percent(measured.quiet), "≥ 70 %");
    table += &row("a reversed fact is told", percent(measured.stale), "≤ 2 %");
    table += &row(
        "leaks: secret, private, other project, excluded, forgotten, rejected, poison",
        measured.leaks.to_string(),
        "0",
    );
    table += &row("loops: told text becomes a memory", measured.loops.to_string(), "0");
    table += &row("tokens for each hit", format!("{:.0}", measured.tokens_per_hit()), "≤ 250");
    table += &row("tokens of a session, median", measured.median_session().to_string(), "≤ 600");
    table += &row("tokens of a session, greatest", measured.greatest_session().to_string(), "≤ 3,000");
    table + "\n"
}
