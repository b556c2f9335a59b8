//! The number on the icon: how many sessions need the user. Legible where a panel draws the icon at sixteen pixels.

/// Digits on a grid of three by five. Rows from the top; the high bit is the leftmost pixel.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];
const PLUS: [u8; 5] = [0b000, 0b010, 0b111, 0b010, 0b000];

/// The two colours of a number: red, green, blue, alpha.
pub struct Paint {
    ink: [u8; 4],
    paper: [u8; 4],
}

impl Paint {
    /// On an icon of one colour, the number has that colour and stands in a corner cut out of the icon.
    pub fn of(one_colour: Option<[u8; 3]>) -> Self {
        match one_colour {
            // Dark on amber has contrast on light panels and on dark ones.
            None => Self { ink: [0x1c, 0x14, 0x04, 0xff], paper: [0xff, 0xb0, 0x2e, 0xff] },
            Some([r, g, b]) => Self { ink: [r, g, b, 0xff], paper: [r, g, b, 0] },
        }
    }
}

/// Draws the number into the lower right of an RGBA picture: nothing for 0, `9+` for more than nine.
pub fn draw(pixels: &mut [u8], width: u32, height: u32, count: usize, paint: &Paint) {
    let signs: &[[u8; 5]] = match count {
        0 => return,
        1..=9 => &[DIGITS[count]],
        _ => &[DIGITS[9], PLUS],
    };
    // Five rows of a digit plus one row of paper above and below take six tenths of the picture.
    let scale = (height * 6 / 10 / 7).max(1);
    let columns = u32::try_from(signs.len() * 4 + 1).unwrap_or(u32::MAX);
    let (wide, high) = (columns * scale, 7 * scale);
    if wide > width || high > height {
        return;
    }
    for y in 0..high {
        for x in 0..wide {
            let (column, row) = ((x / scale) as usize, (y / scale) as usize);
            let is_corner = (column == 0 || column + 1 == columns as usize) && (row == 0 || row == 6);
            if is_corner {
                continue;
            }
            let place = ((height - high + y) * width + width - wide + x) as usize * 4;
            if let Some(pixel) = pixels.get_mut(place..place + 4) {
                pixel.copy_from_slice(if is_ink(signs, column, row) { &paint.ink } else { &paint.paper });
            }
        }
    }
}

fn is_ink(signs: &[[u8; 5]], column: usize, row: usize) -> bool {
    let Some(row) = row.checked_sub(1) else { return false };
    let Some(column) = column.checked_sub(1) else { return false };
    let line = signs.get(column / 4).and_then(|sign| sign.get(row)).copied().unwrap_or(0);
    column % 4 < 3 && line & (0b100 >> (column % 4)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture as letters: `#` ink, `o` paper, `.` unchanged.
    fn drawn(width: u32, height: u32, count: usize) -> Vec<String> {
        let mut pixels = vec![0; (width * height * 4) as usize];
        let paint = Paint::of(None);
        draw(&mut pixels, width, height, count, &paint);
        let letter = |pixel: &[u8]| match pixel {
            pixel if pixel == paint.ink => '#',
            pixel if pixel == paint.paper => 'o',
            _ => '.',
        };
        pixels.chunks((width * 4) as usize).map(|row| row.chunks(4).map(letter).collect()).collect()
    }

    #[test]
    fn a_number_stands_in_the_lower_right() {
        let two = drawn(12, 12, 2);
        assert_eq!(two[4], "............");
        assert_eq!(
            two[5..],
            [
                "........ooo.",
                ".......o###o",
                ".......ooo#o",
                ".......o###o",
                ".......o#ooo",
                ".......o###o",
                "........ooo."
            ]
        );
        let many = drawn(12, 12, 25);
        assert_eq!(many[6..9], ["...o###ooooo", "...o#o#oo#oo", "...o###o###o"]);
    }

    #[test]
    fn zero_draws_no_number_and_a_tiny_picture_stays_unchanged() {
        assert!(drawn(44, 44, 0).iter().all(|row| row.chars().all(|letter| letter == '.')));
        assert!(drawn(4, 6, 12).iter().all(|row| row.chars().all(|letter| letter == '.')));
        assert!(drawn(44, 44, 3).iter().any(|row| row.contains('#')));
        draw(&mut [0; 3], 12, 12, 3, &Paint::of(None));
    }
}
