//! Queries of a program to its terminal. The host answers them from its grid. Views do not get them, so no view answers too.
//!
//! Source: xterm's "Control Sequences". Questions that only a real screen can answer (its colours, its clipboard, its size in
//! pixels) get no answer, as on terminals that do not know them.

/// A query in a control sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalQuery {
    /// DA1: which terminal this is.
    Attributes,
    /// DA2.
    MoreAttributes,
    /// DSR 5: whether it works.
    Status,
    /// DSR 6: where the cursor is.
    Cursor,
    /// DECRQM: whether a private mode is set.
    Mode(u16),
    /// The size in cells.
    Size,
    /// DECRQSS.
    Setting,
    /// XTGETTCAP.
    Capability,
    /// It has no answer here, and no view may give one.
    Unanswered,
}

/// The query of a whole control sequence; `None` if it is no query.
pub fn terminal_query(sequence: &[u8]) -> Option<TerminalQuery> {
    match sequence.get(1)? {
        b'[' => csi(&sequence[2..]),
        b']' => osc(&sequence[2..]),
        b'P' if sequence[2..].starts_with(b"$q") => Some(TerminalQuery::Setting),
        b'P' if sequence[2..].starts_with(b"+q") => Some(TerminalQuery::Capability),
        // DECID, the old form of DA1.
        b'Z' => Some(TerminalQuery::Attributes),
        _ => None,
    }
}

fn csi(body: &[u8]) -> Option<TerminalQuery> {
    let (last, rest) = body.split_last()?;
    let params = std::str::from_utf8(rest).ok()?;
    match (last, params) {
        (b'c', "" | "0") => Some(TerminalQuery::Attributes),
        (b'c', ">" | ">0") => Some(TerminalQuery::MoreAttributes),
        (b'c', _) => Some(TerminalQuery::Unanswered),
        (b'n', "5") => Some(TerminalQuery::Status),
        (b'n', "6") => Some(TerminalQuery::Cursor),
        (b'n', _) if !params.starts_with('>') => Some(TerminalQuery::Unanswered),
        (b'p', _) if params.ends_with('$') => {
            let mode = params.strip_prefix('?').and_then(|rest| rest.strip_suffix('$')?.parse().ok());
            Some(mode.map_or(TerminalQuery::Unanswered, TerminalQuery::Mode))
        }
        (b'q', _) if params.starts_with('>') => Some(TerminalQuery::Unanswered),
        (b'u', _) if params.starts_with('?') => Some(TerminalQuery::Unanswered),
        (b'm', _) if params.starts_with('?') => Some(TerminalQuery::Unanswered),
        (b't', "18") => Some(TerminalQuery::Size),
        (b't', _) => {
            let first = params.split(';').next()?.parse::<u16>().ok()?;
            // Reports; and what moves, resizes or raises the window of a view.
            (first <= 21).then_some(TerminalQuery::Unanswered)
        }
        (b'x', "" | "0" | "1") => Some(TerminalQuery::Unanswered),
        (b'y', _) if params.ends_with('*') => Some(TerminalQuery::Unanswered),
        (b'w', _) if params.ends_with('$') => Some(TerminalQuery::Unanswered),
        _ => None,
    }
}

/// Colours and the clipboard. The clipboard is neither read nor written.
fn osc(body: &[u8]) -> Option<TerminalQuery> {
    let end = body.iter().position(|byte| matches!(byte, 0x07 | 0x1b | 0x18 | 0x1a)).unwrap_or(body.len());
    let mut words = body[..end].split(|byte| *byte == b';');
    // Terminals read it as a number, and skip control characters in it.
    let digits = words.next()?.iter().filter(|byte| byte.is_ascii_digit());
    let number =
        digits.fold(0_u32, |number, digit| number.saturating_mul(10).saturating_add((digit - b'0').into()));
    let is_clipboard = match number {
        // xterm's, and kitty's with types.
        52 | 5522 => true,
        // iTerm2's.
        1337 => body.to_ascii_lowercase().windows(4).any(|part| part == b"copy"),
        _ => false,
    };
    let asks = is_clipboard || words.any(|word| word == b"?" || word.ends_with(b"=?"));
    asks.then_some(TerminalQuery::Unanswered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_known() {
        let cases: &[(&str, Option<TerminalQuery>)] = &[
            ("\x1b[c", Some(TerminalQuery::Attributes)),
            ("\x1b[0c", Some(TerminalQuery::Attributes)),
            ("\x1bZ", Some(TerminalQuery::Attributes)),
            ("\x1b[>c", Some(TerminalQuery::MoreAttributes)),
            ("\x1b[=c", Some(TerminalQuery::Unanswered)),
            ("\x1b[5n", Some(TerminalQuery::Status)),
            ("\x1b[6n", Some(TerminalQuery::Cursor)),
            ("\x1b[?6n", Some(TerminalQuery::Unanswered)),
            ("\x1b[?996n", Some(TerminalQuery::Unanswered)),
            ("\x1b[?2004$p", Some(TerminalQuery::Mode(2004))),
            ("\x1b[18t", Some(TerminalQuery::Size)),
            ("\x1b[14t", Some(TerminalQuery::Unanswered)),
            ("\x1b[8;1;1t", Some(TerminalQuery::Unanswered)),
            ("\x1b[22;0t", None),
            ("\x1b[>q", Some(TerminalQuery::Unanswered)),
            ("\x1b[?u", Some(TerminalQuery::Unanswered)),
            ("\x1bP$qm\x1b\\", Some(TerminalQuery::Setting)),
            ("\x1bP+q544e\x1b\\", Some(TerminalQuery::Capability)),
            ("\x1b]11;?\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]4;1;?\x1b\\", Some(TerminalQuery::Unanswered)),
            ("\x1b]52;c;aGk=\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]052;c;aGk=\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]0000000000000052;c;aGk=\x1b\\", Some(TerminalQuery::Unanswered)),
            ("\x1b] 52;c;aGk=\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]5\x002;c;aGk=\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]5522;type=write\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]1337;CopyToClipboard=\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]1337;Copy=:aGk=\x07", Some(TerminalQuery::Unanswered)),
            ("\x1b]1337;CurrentDir=/\x07", None),
            ("\x1b]520;c;aGk=\x07", None),
            ("\x1b]0;what?\x07", None),
            ("\x1b]8;;https://example.invalid/?\x07", None),
            ("\x1b[31m", None),
            ("\x1b[2 q", None),
            ("\x1b[?1049h", None),
            ("\x1b[u", None),
            ("\x1b[!p", None),
        ];
        for (sequence, wanted) in cases {
            assert_eq!(terminal_query(sequence.as_bytes()), *wanted, "{sequence:?}");
        }
    }
}
