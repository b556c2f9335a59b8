// What the window's sources must never contain.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const root = new URL(".", import.meta.url).pathname;
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.(ts|svelte|css)$/.test(path) && !path.startsWith("lib/bindings/") && !path.endsWith(".test.ts"))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

function holders(pattern: RegExp): string[] {
  return files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
}

test("there are sources to look at", () => expect(files.length).toBeGreaterThan(40));
test("only one file knows the shell", () => expect(holders(/@tauri-apps/)).toEqual(["lib/host/tauri.ts"]));
test("text never becomes HTML", () => expect(holders(/\{@html|innerHTML|outerHTML|insertAdjacentHTML|document\.write/)).toEqual([]));
test("code is never made from text", () => expect(holders(/\beval\(|new Function\(/)).toEqual([]));
test("nothing is fetched", () => expect(holders(/(?<!#)\bfetch\(|XMLHttpRequest|WebSocket|@import|@font-face|url\(/)).toEqual([]));
test("nothing polls", () => expect(holders(/setInterval/)).toEqual([]));
test("nothing but the mock engine sorts", () => expect(holders(/\.(sort|toSorted)\(/)).toEqual(["lib/host/mock/day.ts", "lib/host/mock/rows.ts"]));

test("components and modules stay small", () => {
  const allowed = new Set(["App.svelte", "components/roster/Header.svelte", "components/detail/DetailHead.svelte", "components/timeline/Timeline.svelte"]);
  const long = files.filter(({ path, text }) => text.split("\n").length > 250 && !allowed.has(path) && !path.startsWith("lib/host/mock/"));
  expect(long.map(({ path }) => path)).toEqual([]);
});
