//! Where to put the window, as a pure function of its last place and of the present screens.

use serde::{Deserialize, Serialize};

/// Where a window was, in physical pixels, with the scale of its screen. With the scale, it looks equally large on
/// another screen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Place {
    /// Left edge of the frame.
    pub x: i32,
    /// Upper edge of the frame.
    pub y: i32,
    /// Width without the frame.
    pub width: u32,
    /// Height without the frame.
    pub height: u32,
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// It was maximized; the other values are from before that.
    pub maximized: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self { x: 0, y: 0, width: 0, height: 0, scale: 1.0, maximized: false }
    }
}

/// The part of a screen that windows may cover, in physical pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Screen {
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// Physical pixels per logical pixel.
    pub scale: f64,
}

/// Room for a title bar and edges, in logical pixels. The size of the frame is not known before the window is shown.
const FRAME: f64 = 40.0;

impl Place {
    /// No place is remembered, or the values cannot be those of a window.
    pub fn is_nowhere(&self) -> bool {
        self.width == 0 || self.height == 0 || !(0.1..=16.0).contains(&self.scale)
    }

    /// It covers a whole screen with its panels without being maximized: it is in full screen. `screens` are whole
    /// screens as well.
    pub fn fills_one_of(&self, screens: &[Screen]) -> bool {
        let mine = (self.x, self.y, self.width, self.height);
        !self.maximized
            && screens.iter().any(|screen| (screen.x, screen.y, screen.width, screen.height) == mine)
    }

    /// The same place with another size, in logical pixels.
    pub fn resized(self, (width, height): (f64, f64)) -> Self {
        let scale = if self.is_nowhere() { 1.0 } else { self.scale };
        Self { width: whole(width * scale), height: whole(height * scale), scale, ..self }
    }

    /// The place on the present screens: equally large to the eye, on the screen that held most of it, and wholly
    /// visible. `smallest` is in logical pixels. `None` if there is no screen, or no remembered place.
    pub fn fitted(&self, screens: &[Screen], smallest: (f64, f64)) -> Option<Self> {
        if self.is_nowhere() {
            return None;
        }
        let screen =
            screens.iter().filter(|screen| screen.width > 0 && screen.height > 0).max_by(|a, b| {
                let rank = |screen: &Screen| (self.overlap(screen), -self.distance(screen));
                rank(a).cmp(&rank(b))
            })?;
        let frame = (FRAME * screen.scale).round();
        let size = |was: u32, least: f64, room: u32| {
            let wanted = (f64::from(was) / self.scale).max(least) * screen.scale;
            whole(wanted.min((f64::from(room) - frame).max(1.0)))
        };
        let (width, height) =
            (size(self.width, smallest.0, screen.width), size(self.height, smallest.1, screen.height));
        let edge = |was: i32, from: i32, room: u32, size: u32, frame: f64| {
            let last = i64::from(from) + i64::from(room) - i64::from(size) - i64::from(whole(frame));
            i32::try_from(i64::from(was).clamp(i64::from(from), last.max(i64::from(from)))).unwrap_or(from)
        };
        Some(Self {
            // Only the top edge of a frame is wide.
            x: edge(self.x, screen.x, screen.width, width, 0.0),
            y: edge(self.y, screen.y, screen.height, height, frame),
            width,
            height,
            scale: screen.scale,
            maximized: self.maximized,
        })
    }

    /// How many pixels of it lie on a screen.
    fn overlap(&self, screen: &Screen) -> i64 {
        let along = |at: i32, long: u32, from: i32, room: u32| {
            let end = (i64::from(at) + i64::from(long)).min(i64::from(from) + i64::from(room));
            (end - i64::from(at.max(from))).max(0)
        };
        along(self.x, self.width, screen.x, screen.width)
            * along(self.y, self.height, screen.y, screen.height)
    }

    /// Distance of its middle from the screen's middle, for a window that lies on no screen.
    fn distance(&self, screen: &Screen) -> i64 {
        let along = |at: i32, long: u32, from: i32, room: u32| {
            (i64::from(at) + i64::from(long) / 2 - i64::from(from) - i64::from(room) / 2).abs()
        };
        along(self.x, self.width, screen.x, screen.width)
            + along(self.y, self.height, screen.y, screen.height)
    }
}

/// Rounds to a number of pixels; values out of range become the nearest valid one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // The value is within the bounds here.
fn whole(pixels: f64) -> u32 {
    pixels.round().clamp(0.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAPTOP: Screen = Screen { x: 0, y: 0, width: 1280, height: 800, scale: 1.0 };
    const BIG: Screen = Screen { x: 1280, y: 0, width: 3840, height: 2160, scale: 2.0 };
    const SMALLEST: (f64, f64) = (320.0, 240.0);

    fn place(x: i32, y: i32, width: u32, height: u32, scale: f64) -> Place {
        Place { x, y, width, height, scale, maximized: false }
    }

    fn fitted(place: Place, screens: &[Screen]) -> (i32, i32, u32, u32) {
        let place = place.fitted(screens, SMALLEST).expect("there is a screen");
        (place.x, place.y, place.width, place.height)
    }

    #[test]
    fn a_window_in_full_screen_is_recognized() {
        let full = place(1280, 0, 3840, 2160, 2.0);
        assert!(full.fills_one_of(&[LAPTOP, BIG]));
        assert!(!full.fills_one_of(&[LAPTOP]));
        assert!(!Place { maximized: true, ..full }.fills_one_of(&[BIG]), "maximized is not full screen");
        assert!(!place(1280, 30, 3840, 2130, 2.0).fills_one_of(&[BIG]));
    }

    #[test]
    fn a_window_comes_back_where_it_was() {
        assert_eq!(fitted(place(100, 50, 420, 720, 1.0), &[LAPTOP, BIG]), (100, 40, 420, 720));
        assert_eq!(fitted(place(100, 40, 420, 600, 1.0), &[LAPTOP, BIG]), (100, 40, 420, 600));
        assert_eq!(fitted(place(2000, 300, 840, 1440, 2.0), &[LAPTOP, BIG]), (2000, 300, 840, 1440));
    }

    #[test]
    fn a_window_of_a_missing_screen_moves_to_another_at_the_same_visible_size() {
        assert_eq!(fitted(place(2000, 300, 840, 1440, 2.0), &[LAPTOP]), (860, 40, 420, 720));
        assert_eq!(fitted(place(-4000, -4000, 420, 600, 1.0), &[LAPTOP, BIG]), (0, 0, 420, 600));
    }

    #[test]
    fn a_window_shrinks_to_a_smaller_screen() {
        let small = Screen { width: 640, height: 480, ..LAPTOP };
        assert_eq!(fitted(place(100, 50, 1200, 900, 1.0), &[small]), (40, 0, 600, 440));
        let tiny = Screen { width: 200, height: 100, ..LAPTOP };
        assert_eq!(fitted(place(100, 50, 420, 720, 1.0), &[tiny]), (40, 0, 160, 60));
    }

    #[test]
    fn a_window_below_the_smallest_size_grows() {
        assert_eq!(fitted(place(0, 0, 3, 3, 1.0), &[LAPTOP]), (0, 0, 320, 240));
    }

    #[test]
    fn the_screen_with_the_largest_part_counts() {
        assert_eq!(fitted(place(1200, 100, 420, 600, 1.0), &[LAPTOP, BIG]), (1280, 100, 840, 1200));
        assert_eq!(fitted(place(900, 100, 420, 600, 1.0), &[LAPTOP, BIG]), (860, 100, 420, 600));
    }

    #[test]
    fn without_a_screen_or_a_memory_there_is_no_place() {
        assert_eq!(place(0, 0, 420, 720, 1.0).fitted(&[], SMALLEST), None);
        for nonsense in
            [place(0, 0, 0, 720, 1.0), place(0, 0, 420, 720, 0.0), place(0, 0, 420, 720, f64::NAN)]
        {
            assert_eq!(nonsense.fitted(&[LAPTOP], SMALLEST), None);
        }
    }

    #[test]
    fn extreme_places_do_not_panic_and_always_fit_on_a_screen() {
        for at in [i32::MIN, -1, 0, 5000, i32::MAX] {
            for long in [1, 419, u32::MAX] {
                for scale in [0.5, 1.0, 3.0] {
                    let (x, y, width, height) = fitted(place(at, at, long, long, scale), &[LAPTOP, BIG]);
                    let inside = |screen: &Screen| {
                        let ends = |at: i32, long: u32| i64::from(at) + i64::from(long);
                        x >= screen.x
                            && y >= screen.y
                            && ends(x, width) <= ends(screen.x, screen.width)
                            && ends(y, height) <= ends(screen.y, screen.height)
                    };
                    assert!(
                        [LAPTOP, BIG].iter().any(inside),
                        "{at} {long} {scale}: {x} {y} {width} {height}"
                    );
                }
            }
        }
    }
}
