//! The data of each record, in checksummed pieces, one after another.
//!
//! A piece holds the number of ids, eight bytes for each, and then the requests: eight bytes of key and four numbers.

use super::seal::{self, SnapshotError};
use crate::session::record_data::RecordData;
use crate::session::usage::RequestTokens;

/// The new ids and requests as one sealed piece.
pub fn take_new(memory: RecordData<'_>) -> Option<Vec<u8>> {
    if !(memory.seen.has_new() || memory.ledger.has_new()) {
        return None;
    }
    let (ids, requests) = (memory.seen.take_new(), memory.ledger.take_new());
    let mut bytes = seal::begin();
    bytes.reserve(5 + ids.len() * 8 + requests.len() * 18);
    put_number(&mut bytes, u32::try_from(ids.len()).unwrap_or(u32::MAX));
    for id in ids {
        bytes.extend_from_slice(&id.to_le_bytes());
    }
    for (key, entry) in requests {
        bytes.extend_from_slice(&key.to_le_bytes());
        for number in [entry.input, entry.output, entry.cache_read, entry.cache_write] {
            put_number(&mut bytes, number);
        }
    }
    Some(seal::finish(bytes, 0))
}

/// Gives a fold its pieces back.
pub fn take_up(memory: RecordData<'_>, mut all: &[u8]) -> Result<(), SnapshotError> {
    let (mut ids, mut requests) = (Vec::new(), Vec::new());
    while !all.is_empty() {
        let (piece, rest) = seal::open(all)?;
        read_piece(piece, &mut ids, &mut requests).ok_or(SnapshotError::Damaged)?;
        all = rest;
    }
    let whole = memory.seen.restore_pieces(&ids) & memory.ledger.take_up(&requests);
    if whole { Ok(()) } else { Err(SnapshotError::Damaged) }
}

fn read_piece(piece: &[u8], ids: &mut Vec<u64>, requests: &mut Vec<(u64, RequestTokens)>) -> Option<()> {
    let mut rest = piece;
    let count = number(&mut rest)? as usize;
    let (own, mut rest) = rest.split_at_checked(count.checked_mul(8)?)?;
    ids.extend(own.as_chunks::<8>().0.iter().map(|id| u64::from_le_bytes(*id)));
    while let Some((key, numbers)) = rest.split_first_chunk::<8>() {
        rest = numbers;
        let [input, output, cache_read, cache_write] =
            [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
        requests.push((u64::from_le_bytes(*key), RequestTokens { input, output, cache_read, cache_write }));
    }
    rest.is_empty().then_some(())
}

/// Seven bits a byte; the last byte lacks the high bit.
fn put_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let mut number = 0u64;
    for shift in 0..5 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << (7 * shift);
        if byte & 0x80 == 0 {
            return u32::try_from(number).ok();
        }
    }
    None
}
