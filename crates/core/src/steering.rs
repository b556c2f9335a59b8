//! Invisible characters that act on the program that shows them.

/// Whether a character steers a terminal, or changes the writing direction of its neighbours. Transcripts, file names
/// and messages of other programs may hold such characters. No output shows them, and a line to be pasted spells them
/// out.
pub fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
