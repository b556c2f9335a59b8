//! Blocks of text that arrive in parts.

use watchbill_protocol::own::event::OwnWhat;

/// The most bytes of all growing blocks. A block that grows on keeps its deltas, and gets no whole text.
const MAX_BYTES: usize = 2 << 20;

/// The most blocks that grow at once.
const MAX_GROWING: usize = 64;

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
    is_cut: bool,
}

impl Blocks {
    /// A block grew.
    pub(crate) fn grew(&mut self, block: &str, thinking: bool, delta: &str) -> OwnWhat {
        let size: usize = self.growing.iter().map(|growing| growing.text.len()).sum();
        let fits = size + delta.len() <= MAX_BYTES;
        let may_begin = self.growing.len() < MAX_GROWING;
        match self.growing.iter_mut().find(|growing| growing.block == block) {
            Some(growing) if fits && !growing.is_cut => growing.text.push_str(delta),
            Some(growing) => (growing.text, growing.is_cut) = (String::new(), true),
            None if may_begin => {
                let text = if fits { delta.to_owned() } else { String::new() };
                self.growing.push(Growing { block: block.to_owned(), thinking, text, is_cut: !fits });
            }
            None => {}
        }
        let (block, delta) = (block.to_owned(), delta.to_owned());
        if thinking { OwnWhat::Thinking { block, delta } } else { OwnWhat::Text { block, delta } }
    }

    /// A block is whole, and this record of the transcript has it. `None` for a block without text: its deltas, if there were any, stay.
    pub(crate) fn whole(
        &mut self,
        block: &str,
        thinking: bool,
        text: &str,
        record: Option<&str>,
    ) -> Option<OwnWhat> {
        self.growing.retain(|growing| growing.block != block);
        (!text.is_empty()).then(|| OwnWhat::Block {
            block: block.to_owned(),
            text: text.to_owned(),
            thinking,
            record: record.map(str::to_owned),
        })
    }

    /// Every growing block ended as it is.
    pub(crate) fn end(&mut self) -> Vec<OwnWhat> {
        let ended = self.growing.drain(..).filter(|growing| !growing.text.is_empty());
        ended
            .map(|Growing { block, thinking, text, .. }| OwnWhat::Block {
                block,
                text,
                thinking,
                record: None,
            })
            .collect()
    }

    /// The agent begins its answer again: every growing block is dropped.
    pub(crate) fn drop_all(&mut self) -> Vec<OwnWhat> {
        let dropped = self.growing.drain(..);
        dropped
            .map(|Growing { block, thinking, .. }| OwnWhat::Block {
                block,
                text: String::new(),
                thinking,
                record: None,
            })
            .collect()
    }
}
