//! Foreign texts in one line of ours: titles, commands and names may hold any character.

/// Puts a text on one line, without characters that would disturb the line around it.
pub fn one_line(text: &str) -> String {
    // Direction overrides could make a title reorder its neighbours. Letters of any script stay.
    let disturbs = |c: char| watchbill_engine::is_steering(c) && !c.is_control();
    let kept: String =
        text.chars().filter(|c| !disturbs(*c)).map(|c| if c.is_control() { ' ' } else { c }).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text to this many characters; the last one is then an ellipsis.
pub fn cut(text: String, length: usize) -> String {
    if text.chars().count() <= length {
        return text;
    }
    let cut: String = text.chars().take(length.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_drops_line_breaks_and_direction_overrides() {
        assert_eq!(one_line(" two\nlines\t and\u{7} a bell "), "two lines and a bell");
        assert_eq!(one_line("over\u{202e}ride\u{200f} שלום"), "override שלום");
        assert_eq!(one_line("\u{1b}[31m\0"), "[31m");
    }

    #[test]
    fn a_cut_counts_characters_not_bytes() {
        assert_eq!(cut("äöü".into(), 3), "äöü");
        assert_eq!(cut("äöüß".into(), 3), "äö…");
        assert_eq!(cut("a bc".into(), 3), "a…");
        assert_eq!(cut("ab".into(), 0), "…");
    }
}
