//! Byte counts as text, the same in every output.

/// A byte count as rounded text: `950 bytes`, `13 kB`, `482 MB`, `9.6 GB`.
pub fn in_words(bytes: u64) -> String {
    let rounded = |unit: u64| bytes / unit + u64::from(bytes % unit >= unit.div_ceil(2));
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..999_500 => format!("{} kB", rounded(1_000)),
        999_500..999_500_000 => format!("{} MB", rounded(1_000_000)),
        _ => {
            let tenths = rounded(100_000_000);
            format!("{}.{} GB", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_are_rounded_and_shown_in_the_largest_unit() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_000, "1 kB"),
            (1_499, "1 kB"),
            (1_500, "2 kB"),
            (999_499, "999 kB"),
            (999_500, "1 MB"),
            (481_600_000, "482 MB"),
            (999_499_999, "999 MB"),
            (999_500_000, "1.0 GB"),
            (9_649_999_999, "9.6 GB"),
            (9_650_000_000, "9.7 GB"),
            (u64::MAX, "18446744073.7 GB"),
        ] {
            assert_eq!(in_words(bytes), words, "{bytes}");
        }
    }
}
