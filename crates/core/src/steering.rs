//! Characters that act on the program that shows them, instead of being seen.

/// Whether a character steers a terminal, or turns the direction of writing for its neighbours. Transcripts, names of files
/// and what other programs say may hold them: no output shows them, and a line to be pasted spells them out.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
