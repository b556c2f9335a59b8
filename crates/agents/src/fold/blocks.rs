//! Blocks of text that arrive in parts.

use watchbill_protocol::own::event::OwnWhat;

/// The growing blocks of one agent, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    growing: Vec<Growing>,
}

#[derive(Debug)]
struct Growing {
    block: String,
    thinking: bool,
    text: String,
}

impl Blocks {
    /// A block grew.
    pub(crate) fn grew(&mut self, block: &str, thinking: bool, delta: &str) -> OwnWhat {
        match self.growing.iter_mut().find(|growing| growing.block == block) {
            Some(growing) => growing.text.push_str(delta),
            None => {
                self.growing.push(Growing { block: block.to_owned(), thinking, text: delta.to_owned() });
            }
        }
        let (block, delta) = (block.to_owned(), delta.to_owned());
        if thinking { OwnWhat::Thinking { block, delta } } else { OwnWhat::Text { block, delta } }
    }

    /// A block is whole. `None` for a block without text: its deltas, if there were any, stay.
    pub(crate) fn whole(&mut self, block: &str, thinking: bool, text: &str) -> Option<OwnWhat> {
        self.growing.retain(|growing| growing.block != block);
        (!text.is_empty()).then(|| OwnWhat::Block {
            block: block.to_owned(),
            text: text.to_owned(),
            thinking,
        })
    }

    /// Every growing block ended as it is.
    pub(crate) fn end(&mut self) -> Vec<OwnWhat> {
        let ended = self.growing.drain(..).filter(|growing| !growing.text.is_empty());
        ended.map(|Growing { block, thinking, text }| OwnWhat::Block { block, text, thinking }).collect()
    }

    /// The agent begins its answer again: every growing block is dropped.
    pub(crate) fn drop_all(&mut self) -> Vec<OwnWhat> {
        let dropped = self.growing.drain(..);
        dropped
            .map(|Growing { block, thinking, .. }| OwnWhat::Block { block, text: String::new(), thinking })
            .collect()
    }
}
