//! Counts repeated requests of a session.

use crate::ids::stable_hash;

use super::request::Request;

/// The inputs that are remembered.
const MAX_REMEMBERED: usize = 32;

/// The requests of a session, newest last, each with its count.
#[derive(Debug, Default)]
pub(super) struct Repeats(Vec<(u64, u32)>);

impl Repeats {
    /// Counts a request, and gives how often its input came, this time included. The input that came least recently is
    /// forgotten first.
    pub fn count(&mut self, request: &Request) -> u32 {
        let input = stable_hash(format!("{} {}", request.tool, request.input).as_bytes());
        let before = self.0.iter().position(|(of, _)| *of == input).map_or(0, |at| self.0.remove(at).1);
        if self.0.len() >= MAX_REMEMBERED {
            self.0.remove(0);
        }
        let times = before.saturating_add(1);
        self.0.push((input, times));
        times
    }
}
