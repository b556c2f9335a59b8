// A picture as a PNG with a palette of at most 256 colours.

import { crc32, deflateSync } from "node:zlib";

const COLOURS = 256;
/** Number of colours that get a place because many pixels have them. */
const COMMON = 64;

/** Encodes a picture without transparency: `width`, `height`, and `data` with four bytes a pixel. */
export function indexed({ width, height, data }) {
  const palette = paletteOf(data);
  const places = new Map();
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = at(data, y * width + x);
      if (!places.has(colour)) places.set(colour, nearest(palette, colour));
      // The first byte of a row names its filter. None is used: neighbours in a palette need not be similar colours.
      rows[y * (width + 1) + 1 + x] = places.get(colour);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(name, content) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(content.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

function at(data, pixel) {
  return (data[pixel * 4] << 16) | (data[pixel * 4 + 1] << 8) | data[pixel * 4 + 2];
}

/**
 * Takes the commonest colour of each small cube of similar colours. Of these, the palette gets the commonest, and then
 * those farthest from the others.
 */
function paletteOf(data) {
  const counts = new Map();
  for (let pixel = 0; pixel < data.length / 4; pixel += 1) counts.set(at(data, pixel), (counts.get(at(data, pixel)) ?? 0) + 1);
  const cubes = new Map();
  for (const [colour, count] of counts) {
    const cube = colour & 0xf8f8f8;
    const { first = colour, most = 0, all = 0 } = cubes.get(cube) ?? {};
    cubes.set(cube, count > most ? { first: colour, most: count, all: all + count } : { first, most, all: all + count });
  }
  const ranked = [...cubes.values()].sort((a, b) => b.all - a.all || a.first - b.first);
  const colours = ranked.map(({ first }) => first);
  const palette = colours.splice(0, COMMON);
  // Then always adds the colour that is farthest from the palette: a rare colour may be the only red.
  let left = colours.map((colour) => ({ colour, far: Math.min(...palette.map((other) => apart(colour, other))) }));
  while (palette.length < COLOURS && left.length > 0) {
    const worst = left.reduce((one, other) => (other.far > one.far ? other : one));
    palette.push(worst.colour);
    left = left.filter((one) => one !== worst).map(({ colour, far }) => ({ colour, far: Math.min(far, apart(colour, worst.colour)) }));
  }
  return palette;
}

function nearest(palette, colour) {
  let best = 0;
  for (let place = 1; place < palette.length; place += 1) if (apart(palette[place], colour) < apart(palette[best], colour)) best = place;
  return best;
}

function apart(one, other) {
  return [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
}
