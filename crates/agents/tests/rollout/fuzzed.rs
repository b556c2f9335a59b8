//! The fuzz target over its seeds, as they are and damaged.

use proptest::prelude::*;

#[path = "../../../../fuzz/bodies/agents.rs"]
pub mod body;

/// Files of each agent, payloads of hooks, rows of databases.
fn seeds() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/agents");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|seed| seed.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn seeds_keep_the_rules() {
    let seeds = seeds();
    assert!(seeds.len() > 40, "{} seeds", seeds.len());
    seeds.iter().for_each(|seed| body::check(seed));
}

proptest! {
    /// What a crash, a full disk or a hand leaves: a file that is cut, with other bytes in it, with lines of another agent behind it.
    #[test]
    fn damaged_seeds_keep_the_rules(
        one in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let seeds = seeds();
        let mut seed = one.get(&seeds).clone();
        seed.truncate(cut.index(seed.len()) + 1);
        for (at, byte) in bytes {
            let at = at.index(seed.len());
            seed[at] = byte;
        }
        seed.extend(other.get(&seeds));
        body::check(&seed);
    }
}
