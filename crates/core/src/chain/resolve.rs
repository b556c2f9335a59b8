//! Turns facts into work chains: the one entry of this module.

use super::chains::{Chains, assemble};
use super::copies::Copies;
use super::forest::Forest;
use super::markers::apply_markers;
use super::nodes::Nodes;
use super::parents::find_parents;
use crate::ids::SessionId;

pub use super::facts::{LineageFacts, ManualLink};

/// Ties sessions into work chains.
///
/// The result depends on the facts alone, not on their order. Every session with a transcript and every
/// live session is in exactly one chain. Links between sessions never form a cycle, even if the facts contradict each
/// other.
pub fn resolve(facts: &LineageFacts<'_>) -> Chains {
    resolve_for(facts, &|_| true)
}

/// The chains that hold a `wanted` session, equal to those of [`resolve`]. A caller that shows few sessions does not
/// pay for the chains of thousands.
pub fn resolve_for(facts: &LineageFacts<'_>, wanted: &dyn Fn(&SessionId) -> bool) -> Chains {
    let nodes = Nodes::collect(facts);
    let copies = Copies::find(&nodes);
    let parents = find_parents(&nodes, &copies, facts);
    let mut forest = Forest::from_origins(&nodes, parents, facts);
    let mut announced = apply_markers(&nodes, &mut forest, facts);
    announced.add_hooks(&nodes, &forest, facts);
    let mut chains = assemble(&nodes, &forest, &announced, facts.names, wanted);
    chains.neighbours = announced.neighbours;
    chains
}
