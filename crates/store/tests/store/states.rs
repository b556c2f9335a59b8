//! What the engine keeps of transcripts: heads in place, pieces one behind the other.

use watchbill_store::tables::states::StateRow;

use crate::rig::*;

#[test]
fn pieces_stand_in_the_order_in_which_they_came() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut all = Vec::new();
    for n in 0..3_000u32 {
        // Bytes that are no text, zeros among them.
        // Some are longer than what is kept in one row.
        let length = if n % 500 == 0 { 5_000 } else { 20 };
        let piece: Vec<u8> = (0..length).map(|at| (n.wrapping_mul(7) + at) as u8).collect();
        let mut step = store.step().unwrap();
        step.put_state("/home/dev/a.jsonl", "a", &n.to_le_bytes(), Some(&piece), n == 0).unwrap();
        step.commit().unwrap();
        all.extend(piece);
    }
    let StateRow { head, pieces } = store.state("/home/dev/a.jsonl").unwrap().unwrap();
    assert_eq!(head, 2_999u32.to_le_bytes());
    assert!(pieces == all, "{} of {} bytes", pieces.len(), all.len());
    let mut step = store.step().unwrap();
    step.put_state("/home/dev/a.jsonl", "a", b"new", Some(&[0, 1, 0]), true).unwrap();
    step.commit().unwrap();
    assert_eq!(
        store.state("/home/dev/a.jsonl").unwrap(),
        Some(StateRow { head: b"new".to_vec(), pieces: vec![0, 1, 0] })
    );
    let mut step = store.step().unwrap();
    step.put_state("/home/dev/b.jsonl", "", b"b", None, true).unwrap();
    step.remove_state("/home/dev/a.jsonl").unwrap();
    step.put_fact("moves", &[0, 255]).unwrap();
    step.commit().unwrap();
    assert_eq!(store.state("/home/dev/a.jsonl").unwrap(), None);
    assert_eq!(store.fact("moves").unwrap(), Some(vec![0, 255]));
    let mut heads = Vec::new();
    store.states(&mut |path, head| heads.push((path.to_owned(), head.to_vec()))).unwrap();
    assert_eq!(heads, [("/home/dev/b.jsonl".to_owned(), b"b".to_vec())]);
}
