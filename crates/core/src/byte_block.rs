//! Compares 16 to 64 bytes at once. The result is a number with one bit for each byte.
//!
//! Parsers search texts and transcripts for a few characters among very many others. A test of each byte is a branch,
//! and the processor mispredicts it exactly at the bytes that match.

use wide::u8x16;

/// Bytes that one instruction compares.
const LANE: usize = 16;

/// `LANES` times 16 bytes; `LANES` is at most four.
#[derive(Debug, Clone, Copy)]
pub struct Block<const LANES: usize>([u8x16; LANES]);

impl<const LANES: usize> Block<LANES> {
    /// How many bytes it holds.
    pub const LEN: usize = LANES * LANE;

    /// Reads the bytes from `at` on; `None` when the text ends sooner.
    #[inline]
    pub fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let (lanes, _) = bytes.get(at..at.checked_add(Self::LEN)?)?.as_chunks::<LANE>();
        Some(Self(lanes.first_chunk::<LANES>()?.map(u8x16::from)))
    }

    /// Reads the rest of a text from `at` on, padded with `fill`.
    pub fn rest(bytes: &[u8], at: usize, fill: u8) -> Self {
        let rest = bytes.get(at..).unwrap_or_default();
        let mut lanes = [[fill; LANE]; LANES];
        for (room, byte) in lanes.as_flattened_mut().iter_mut().zip(rest) {
            *room = *byte;
        }
        Self(lanes.map(u8x16::from))
    }

    /// One bit for each byte that equals `byte`.
    #[inline]
    pub fn equal(&self, byte: u8) -> u64 {
        let wanted = u8x16::splat(byte);
        self.bits(|lane| lane.simd_eq(wanted))
    }

    /// One bit for each byte from `first` to `last`.
    #[inline]
    pub fn within(&self, first: u8, last: u8) -> u64 {
        let (from, count) = (u8x16::splat(first), u8x16::splat(last - first));
        self.bits(|lane| {
            let above = lane - from;
            above.min(count).simd_eq(above)
        })
    }

    /// Bit n is the answer of `matches_in` for byte n.
    #[inline]
    fn bits(&self, matches_in: impl Fn(u8x16) -> u8x16) -> u64 {
        const { assert!(LANES <= 4, "there are no more bits") };
        let bits_of = |lane: u8x16| u64::from(matches_in(lane).to_bitmask());
        self.0.iter().rev().fold(0, |bits, lane| bits << LANE | bits_of(*lane))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, byte by byte.
    fn slowly(bytes: &[u8], matches_in: impl Fn(u8) -> bool) -> u64 {
        bytes.iter().enumerate().fold(0, |bits, (n, byte)| bits | u64::from(matches_in(*byte)) << n)
    }

    #[test]
    fn bytes_match_only_themselves_and_their_range() {
        for byte in 0..=255 {
            for other in 0..=255 {
                let block = Block::<1>::rest(&[other], 0, byte);
                assert_eq!(block.equal(byte), if other == byte { 0xffff } else { 0xfffe });
                let within = other.is_ascii_lowercase();
                assert_eq!(block.within(b'a', b'z') & 1, u64::from(within), "{other}");
            }
        }
    }

    #[test]
    fn a_block_that_would_reach_beyond_the_end_is_none() {
        assert!(Block::<4>::at(&[b' '; 64], 0).is_some());
        assert!(Block::<4>::at(&[b' '; 64], 1).is_none());
        assert!(Block::<1>::at(&[b' '; 64], 48).is_some());
        assert!(Block::<1>::at(&[b' '; 64], usize::MAX).is_none());
    }

    proptest! {
        #[test]
        fn each_bit_stands_for_its_byte(
            bytes in prop::collection::vec(any::<u8>(), 0..150), at in 0usize..160, first: u8, more: u8
        ) {
            let last = first.saturating_add(more);
            let rest = bytes.get(at..).unwrap_or_default();
            let mut filled = rest.to_vec();
            filled.resize(64.max(rest.len()), b'!');
            let four = Block::<4>::rest(&bytes, at, b'!');
            prop_assert_eq!(four.within(first, last), slowly(&filled[..64], |byte| (first..=last).contains(&byte)));
            prop_assert_eq!(four.equal(first), slowly(&filled[..64], |byte| byte == first));
            let one = Block::<1>::at(&bytes, at);
            prop_assert_eq!(one.is_some(), rest.len() >= 16);
            if let Some(one) = one {
                prop_assert_eq!(one.within(first, last), slowly(&rest[..16], |byte| (first..=last).contains(&byte)));
            }
        }
    }
}
