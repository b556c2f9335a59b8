//! Invisible characters: those that act on the program that shows them, and those that hide a part of a text.

/// Whether a character steers a terminal, changes the writing direction of its neighbours, or takes no room and hides that two texts
/// differ. Joiners of letters and of emoji stay. Transcripts, file names
/// and messages of other programs may hold such characters. No output shows them, and a line to be pasted spells them
/// out.
pub fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::is_steering;

    #[test]
    fn what_is_not_seen_is_steering_and_what_joins_letters_is_not() {
        for c in "\u{1b}\n\u{85}\u{9d}\u{ad}\u{200b}\u{202e}\u{2060}\u{2064}\u{206f}\u{180e}\u{feff}\u{fffa}\u{e0041}".chars() {
            assert!(is_steering(c), "{c:?}");
        }
        for c in "a \u{a0}ß日\u{200c}\u{200d}\u{fe0f}🙂".chars() {
            assert!(!is_steering(c), "{c:?}");
        }
    }
}
