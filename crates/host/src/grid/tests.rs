//! The grid under output of every kind: it is drawn as it is, and asks nothing.

use proptest::prelude::*;

use super::*;

const SIZE: OwnSize = OwnSize { rows: 6, cols: 20 };

fn view(bytes: &[u8], size: OwnSize) -> Parser {
    let (rows, cols) = cells(size);
    let mut view = Parser::new(rows, cols, 20_000);
    view.process(bytes);
    view
}

fn asks(mut bytes: &[u8]) -> bool {
    while let Some(piece) = control_sequences::next(bytes) {
        if let control_sequences::Piece::Sequence(sequence) = piece
            && terminal_query(sequence).is_some()
        {
            return true;
        }
        bytes = &bytes[piece.bytes().len()..];
    }
    false
}

#[test]
fn questions_are_answered_and_not_passed_on() {
    let mut grid = Grid::new(SIZE);
    let fed = grid.feed(b"ab\x1b[6nc\x1b[c\x1b]11;?\x07d\x1b[?25$p\x1b[?7777$p\x1b[18t");
    assert_eq!(fed.shown, b"abcd");
    assert_eq!(fed.answers, b"\x1b[1;3R\x1b[?62;22c\x1b[?25;1$y\x1b[?7777;0$y\x1b[8;6;20t");
    assert_eq!(grid.feed(b"\x1b[").shown, b"");
    assert_eq!(grid.feed(b"6n").answers, b"\x1b[1;5R");
}

#[test]
fn no_output_grows_without_end() {
    for begin in ["\x1b]0;", "\x1b]52;c;", "\x1bP", "\x1b_", "\x1b[", "\u{9d}0;", "\u{90}"] {
        let mut grid = Grid::new(SIZE);
        grid.feed(begin.as_bytes());
        let mut cut = 0;
        for _ in 0..64 {
            let fed = grid.feed(&[b'0'; 64 << 10]);
            assert_eq!(fed.shown, b"", "{begin:?}");
            cut += u32::from(fed.has_cut);
            assert!(grid.held.capacity() <= 256 << 10, "{begin:?}");
        }
        assert_eq!(cut, 1, "{begin:?}");
        assert_eq!(grid.feed(b"0\x07\x1b\\on").shown, b"\x1b\\on", "{begin:?}");
    }
    // Each line is as long as a line can be, and each of its cells has a colour of its own.
    let mut grid = Grid::new(OwnSize { rows: 24, cols: 1000 });
    for line in 0..2_000_u32 {
        let cells: String = (0..1000)
            .map(|cell| format!("\x1b[38;2;{};{};{}mx", line % 256, cell % 256, cell / 256))
            .collect();
        grid.feed(format!("{cells}\r\n").as_bytes());
    }
    let kept: usize = grid.parser.callbacks().lines.iter().map(String::capacity).sum();
    assert!(kept <= MAX_SCROLLBACK_BYTES, "{kept}");
}

#[test]
fn no_form_of_the_clipboards_sequence_is_shown() {
    for begin in ["\x1b]", "\u{9d}"] {
        for number in ["52", "052", "00052", " 52", "5\x002"] {
            for end in ["\x07", "\x1b\\", "\u{9c}"] {
                let output = format!("a{begin}{number};c;aGVsbG8={end}b");
                for cut in 0..output.len() {
                    let mut grid = Grid::new(SIZE);
                    let mut shown = grid.feed(&output.as_bytes()[..cut]).shown;
                    shown.extend(grid.feed(&output.as_bytes()[cut..]).shown);
                    assert_eq!(shown, b"ab", "{output:?} cut at {cut}");
                }
            }
        }
    }
    assert_eq!(Grid::new(SIZE).feed(b"a\x9d52;c;aGVsbG8=\x9cb").shown, b"a52;c;aGVsbG8=b");
}

#[test]
fn ten_thousand_lines_stay() {
    let mut grid = Grid::new(SIZE);
    for number in 0..30_000 {
        grid.feed(format!("line {number}\r\n").as_bytes());
    }
    assert_eq!(grid.parser.callbacks().lines.len() + AS_CELLS, SCROLLBACK);
    let drawn = grid.draw();
    let mut view = view(&drawn, SIZE);
    let screen = view.screen_mut();
    screen.set_scrollback(usize::MAX);
    let mut rows = screen.rows(0, 40);
    assert_eq!(rows.next().unwrap().trim_end(), CUT);
    // Five lines and the cursor's are on the screen.
    assert_eq!(rows.next().unwrap().trim_end(), format!("line {}", 30_000 - SCROLLBACK - 5));
    drop(rows);
    grid.feed(b"\x1b[3J");
    assert!(grid.draw().len() < 1000, "a program may forget its lines");
}

fn output() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[a-zä你😀]{0,12}".prop_map(String::into_bytes),
        2 => Just(b"\r\n".to_vec()),
        1 => (1..9_u8, 1..25_u8).prop_map(|(row, col)| format!("\x1b[{row};{col}H").into_bytes()),
        1 => "\\x1b\\[[0-9;?]{0,6}[a-zA-Z]".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..10),
        1 => prop_oneof![Just(b"\x1b[?1049h".to_vec()), Just(b"\x1b[?1049l".to_vec()), Just(b"\x1b[2J".to_vec())],
        1 => Just(b"\x1b[38;2;1;2;3m".to_vec()),
        1 => Just(b"\x1b]0;title\x07".to_vec()),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_drawn_screen_looks_the_same_and_asks_nothing(bytes in output(), cut in 0_usize..200) {
        let mut grid = Grid::new(SIZE);
        let cut = cut.min(bytes.len());
        for part in [&bytes[..cut], &bytes[cut..]] {
            let fed = grid.feed(part);
            prop_assert!(!asks(&fed.shown), "{:?}", fed);
        }
        let drawn = grid.draw();
        prop_assert!(!asks(&drawn));
        let view = view(&drawn, SIZE);
        let (here, there) = (grid.parser.screen(), view.screen());
        prop_assert_eq!(here.contents(), there.contents());
        prop_assert_eq!(here.alternate_screen(), there.alternate_screen());
        prop_assert_eq!(here.bracketed_paste(), there.bracketed_paste());
        prop_assert_eq!(grid.draw(), drawn, "drawing changes nothing");
    }

    #[test]
    fn no_size_breaks_it(
        bytes in output(),
        sizes in proptest::collection::vec((0..300_u16, 0..300_u16), 0..4),
    ) {
        let mut grid = Grid::new(SIZE);
        for (rows, cols) in sizes {
            grid.resize(OwnSize { rows, cols });
            grid.feed(&bytes);
        }
        grid.draw();
    }
}
