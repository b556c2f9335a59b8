//! Measures how deeply a JSON text is nested, before a recursive parser reads it.

/// Deepest nesting that is parsed. No small file of the agent and no hook payload nests deeper.
pub const DEPTH_LIMIT: usize = 32;

/// Whether the brackets and quotes of a text are balanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// Every bracket and quote is closed.
    Closed,
    /// The text stops within a string, a list or an object.
    Open,
    /// Deeper than [`DEPTH_LIMIT`]: a recursive parser could overflow the stack, which ends the program.
    TooDeep,
}

/// Counts brackets outside of strings.
pub fn nesting(text: &[u8]) -> Nesting {
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
