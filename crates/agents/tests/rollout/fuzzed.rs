//! The fuzz target over its seeds.

#[path = "../../../../fuzz/bodies/agents.rs"]
pub mod body;

#[test]
fn seeds_keep_the_rules() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/agents");
    let mut count = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        body::check(&std::fs::read(seed.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 10, "{count} seeds");
}
