//! A picture of a window, and the difference of two.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Red, green and blue of each pixel, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

/// The difference of two pictures.
#[derive(Debug)]
pub struct Difference {
    /// The number of different pixels.
    pub off: usize,
    /// Those pixels in red, the rest pale; nothing if the sizes differ.
    pub shown: Option<Picture>,
}

impl Picture {
    /// Reads a PNG with eight bits a channel.
    ///
    /// # Errors
    /// When the file is missing or is no such picture.
    pub fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("could not open {}", path.display()))?;
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
        let mut reader = decoder.read_info()?;
        let size = reader.output_buffer_size().context("the picture is too large")?;
        let mut bytes = vec![0; size];
        let info = reader.next_frame(&mut bytes)?;
        bytes.truncate(info.buffer_size());
        let pixels = match info.color_type {
            png::ColorType::Rgb => bytes,
            png::ColorType::Rgba => {
                bytes.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
            }
            png::ColorType::Grayscale => bytes.iter().flat_map(|grey| [*grey; 3]).collect(),
            other => bail!("{} has pixels of the kind {other:?}", path.display()),
        };
        Ok(Self { width: info.width, height: info.height, pixels })
    }

    /// Writes it as a PNG with the best compression.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("could not write {}", path.display()))?;
        let mut encoder = png::Encoder::new(BufWriter::new(file), self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(())
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// The part at the left that is so wide, or all of it.
    #[must_use]
    pub fn left(&self, width: u32) -> Self {
        let width = width.min(self.width);
        let lines = self.pixels.chunks_exact(self.width as usize * 3);
        let pixels = lines.flat_map(|line| &line[..width as usize * 3]).copied().collect();
        Self { width, height: self.height, pixels }
    }

    /// Compares with another picture. A pixel differs when one of its channels differs by more than `shade` steps of
    /// 255.
    pub fn compare(&self, other: &Self, shade: u8) -> Difference {
        if self.size() != other.size() {
            let most = |picture: &Self| picture.pixels.len() / 3;
            return Difference { off: most(self).max(most(other)), shown: None };
        }
        let pairs = self.pixels.chunks_exact(3).zip(other.pixels.chunks_exact(3));
        let mut off = 0;
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for (one, another) in pairs {
            if one.iter().zip(another).any(|(one, another)| one.abs_diff(*another) > shade) {
                off += 1;
                pixels.extend([255, 0, 0]);
            } else {
                pixels.extend(one.iter().map(|channel| 192 + channel / 4));
            }
        }
        let shown = Self { width: self.width, height: self.height, pixels };
        Difference { off, shown: Some(shown) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(shades: &[u8]) -> Picture {
        Picture {
            width: shades.len() as u32,
            height: 1,
            pixels: shades.iter().flat_map(|shade| [*shade; 3]).collect(),
        }
    }

    #[test]
    fn a_written_picture_is_read_again() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("one.png");
        let picture = grey(&[0, 7, 255]);
        picture.write(&path)?;
        assert_eq!(Picture::read(&path)?, picture);
        assert!(Picture::read(&folder.path().join("none.png")).is_err());
        std::fs::write(&path, "no picture")?;
        assert!(Picture::read(&path).is_err());
        Ok(())
    }

    #[test]
    fn pixels_differ_by_their_worst_channel_and_other_sizes_in_every_pixel() {
        let one = grey(&[10, 10, 10]);
        assert_eq!(one.compare(&grey(&[10, 18, 19]), 8).off, 1);
        assert_eq!(one.compare(&one, 0).off, 0);
        let mut tinted = one.clone();
        tinted.pixels[1] = 30;
        assert_eq!(one.compare(&tinted, 8).off, 1);
        assert_eq!(one.compare(&grey(&[10]), 255).off, 3);
    }
}
