import { expect, test } from "vitest";

import { visible, visibleLine } from "./visible";

// The lists of `crates/core/src/requests/visible.rs`.
const HIDDEN = [
  0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x61c, 0x200b, 0xfeff, 0xe0100, 0xe0041, 0xa0, 0x3164, 0x2800, 0x1b,
  0x0d, 0xf8ff, 0x2028, 0x85, 0x3000,
];

test.each(HIDDEN)("a character that hides is drawn (%i)", (code) => {
  const drawn = code.toString(16).toUpperCase().padStart(4, "0");
  expect(visible(`a${String.fromCodePoint(code)}b`)).toBe(`a⟨U+${drawn}⟩b`);
});

test.each(["cargo test -p a", "naïve 日本語 Ελλάδα العربية 🙂", "two\nlines\tand a tab", ""])("ordinary text stays as it is (%#)", (text) => {
  expect(visible(text)).toBe(text);
});

test("a line shows its breaks and its cut", () => {
  expect(visibleLine("a\nb\tc", 10)).toBe("a⏎b c");
  expect(visibleLine("abcdef", 3)).toBe("abc…");
});
