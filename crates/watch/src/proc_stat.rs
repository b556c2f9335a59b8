//! Parses a line of `/proc/<pid>/stat`.

/// State and start time from `/proc/<pid>/stat`. The program's name in parentheses may contain spaces, parentheses
/// and bytes that are not UTF-8. So only the part after the last parenthesis counts.
pub(crate) fn parse_stat(stat: &[u8]) -> Option<(u8, &str)> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?.bytes().next()?;
    // The state is field 3, so 18 fields lie between it and field 22.
    fields.nth(18).map(|start| (state, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_name_cannot_confuse_the_fields() {
        let tail = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 213025 20 21";
        for name in ["claude", "a) S 1 (b", "two words", "((((", ""] {
            let stat = format!("77 ({name}) S {tail}\n");
            assert_eq!(parse_stat(stat.as_bytes()), Some((b'S', "213025")), "{name}");
        }
        let mut odd = b"77 (\xff\xfe) Z ".to_vec();
        odd.extend_from_slice(tail.as_bytes());
        assert_eq!(parse_stat(&odd), Some((b'Z', "213025")));
        for short in ["", "77 (claude", "77 (claude)", "77 (claude) S 1 2 3"] {
            assert_eq!(parse_stat(short.as_bytes()), None, "{short}");
        }
    }
}
