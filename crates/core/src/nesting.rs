//! How deep a JSON text is nested, found out before a recursive parser is asked to follow it.

/// Nesting that no small file of the agent's or of a hook has.
pub(crate) const DEPTH_LIMIT: usize = 32;

/// What the brackets and quotes of a text say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// Everything that was opened is closed.
    Closed,
    /// The text stops within a string, a list or an object.
    Open,
    /// Deeper than [`DEPTH_LIMIT`]: to follow it would use up the stack, and that ends the program.
    TooDeep,
}

/// Counts brackets outside of strings.
pub(crate) fn nesting(text: &[u8]) -> Nesting {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_LIMIT {
            return Nesting::TooDeep;
        }
    }
    if depth > 0 || in_string { Nesting::Open } else { Nesting::Closed }
}
