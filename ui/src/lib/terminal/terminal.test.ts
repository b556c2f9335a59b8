import { Unicode11Addon } from "@xterm/addon-unicode11";
import { type ITerminalAddon, Terminal } from "@xterm/headless";
import { describe, expect, test } from "vitest";

import type { OwnCommand } from "../bindings/OwnCommand";
import { fromBase64, toBase64 } from "../base64";
import { Feed } from "./feed";
import { addressesIn, webAddress } from "./link";
import { linesOf, needsLook } from "./paste";
import { quieten } from "./suppress-replies";
import { KeyQueue } from "./key-queue";

function view(cols = 40, rows = 6) {
  const term = new Terminal({ cols, rows, allowProposedApi: true });
  term.loadAddon(new Unicode11Addon() as unknown as ITerminalAddon);
  term.unicode.activeVersion = "11";
  quieten(term.parser);
  const typed: string[] = [];
  term.onData((data) => typed.push(data));
  term.onBinary((data) => typed.push(data));
  const write = (text: string | Uint8Array): Promise<void> => new Promise((done) => term.write(text, done));
  const line = (y: number): string => term.buffer.active.getLine(term.buffer.active.viewportY + y)?.translateToString(true) ?? "";
  return { term, typed, write, line };
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("what a terminal shows", () => {
  test("wide characters and emoji take two cells, combining marks none", async () => {
    const { term, write, line } = view();
    await write("日本x\r\n🦀y\r\ne\u0301z");
    const width = (x: number, y: number) => term.buffer.active.getLine(y)?.getCell(x)?.getWidth();
    expect([width(0, 0), width(1, 0), width(4, 0)]).toEqual([2, 0, 1]);
    expect([width(0, 1), width(2, 1)]).toEqual([2, 1]);
    expect([line(0), line(1), line(2)]).toEqual(["日本x", "🦀y", "e\u0301z"]);
    expect(term.buffer.active.getLine(2)?.getCell(1)?.getChars()).toBe("z");
  });

  test("a character that comes in two pieces is whole", async () => {
    const { write, line } = view();
    const bytes = utf8("🦀é");
    for (const byte of bytes) await write(Uint8Array.of(byte));
    expect(line(0)).toBe("🦀é");
  });

  test("the alternate screen comes and goes, and the first one is as it was", async () => {
    const { term, write, line } = view();
    await write("before\x1b[?1049h\x1b[Hinside");
    expect([term.buffer.active.type, line(0)]).toEqual(["alternate", "inside"]);
    await write("\x1b[?1049l");
    expect([term.buffer.active.type, line(0)]).toEqual(["normal", "before"]);
  });

  test("modes of paste and mouse are known", async () => {
    const { term, write } = view();
    await write("\x1b[?2004h\x1b[?1000h\x1b[?1006h\x1b[?1h");
    expect(term.modes).toMatchObject({ bracketedPasteMode: true, mouseTrackingMode: "vt200", applicationCursorKeysMode: true });
    await write("\x1b[?2004l\x1b[?1000l");
    expect(term.modes).toMatchObject({ bracketedPasteMode: false, mouseTrackingMode: "none" });
  });

  test("colours of 24 bits", async () => {
    const { term, write } = view();
    await write("\x1b[38;2;1;2;3m\x1b[48:2::4:5:6mx");
    const cell = term.buffer.active.getLine(0)?.getCell(0);
    expect([cell?.isFgRGB(), cell?.getFgColor(), cell?.getBgColor()]).toEqual([true, 0x010203, 0x040506]);
  });
});

/** Everything that a terminal may answer with typed bytes. */
const QUERIES = [
  "\x1b[c", "\x1b[0c", "\x1b[>c", "\x1b[>0c", "\x1b[=c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?15n", "\x1b[?996n", "\x1b[4$p", "\x1b[?2026$p", "\x1b[?1$p", "\x1b[>q", "\x1b[>0q",
  "\x1b[?u", "\x1b[14t", "\x1b[16t", "\x1b[18t", "\x1b[20t", "\x1b[21t", "\x1b[x", "\x1bZ", "\x1b]4;1;?\x07", "\x1b]4;1;?;2;?\x07", "\x1b]10;?\x07", "\x1b]11;?\x1b\\", "\x1b]12;?\x07", "\x1b]10;?;?;?\x07",
  "\x1b]52;c;?\x07", "\x1bP$qm\x1b\\", "\x1bP$qr\x1b\\", "\x1bP$q\"p\x1b\\", "\x1bP+q544e\x1b\\", "\x05",
];

describe("what a terminal never does", () => {
  test.each(QUERIES.map((query) => [JSON.stringify(query), query]))("it does not answer %s", async (_, query) => {
    const { typed, write } = view();
    await write(`a${query}b`);
    expect(typed).toEqual([]);
  });

  test("titles, clipboard and notifications have no effect, and print nothing", async () => {
    const { term, write, line } = view();
    const titles: string[] = [];
    term.onTitleChange((title) => titles.push(title));
    await write("a\x1b]0;rm -rf\x07b\x1b]2;x\x1b\\c\x1b]52;c;ZXZpbA==\x07d\x1b]9;note\x07e\x1b]777;notify;a;b\x07f\x1b]1337;File=:AAAA\x07g");
    expect([titles, line(0)]).toEqual([[], "abcdefg"]);
  });

  test("unfinished and senseless sequences do not stop what follows", async () => {
    const { write, line, typed } = view();
    await write(`\x1b[999999999;;;;z\x1b[?${"1;".repeat(5000)}h\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\x1bP${"x".repeat(20_000)}\x1b\\\x1b[38;2;999m\x9b\x1b[`);
    await write("\x18\x1b[2J\x1b[Hhere");
    expect([line(0), typed]).toEqual(["here", []]);
  });
});

describe("the feed", () => {
  const size = { cols: 40, rows: 6 };

  test("nothing may be typed until the screen is drawn, and each new screen mutes again", async () => {
    const { term } = view();
    const feed = new Feed(term, () => undefined);
    expect(feed.muted).toBe(true);
    for (let time = 0; time < 2; time += 1) {
      const drawn = new Promise<void>((done) => feed.screen(utf8("\x1b[6n\x1b[c$ "), size, done));
      expect(feed.muted).toBe(true);
      await drawn;
      expect(feed.muted).toBe(false);
    }
  });

  test("a screen takes the place of all that was there", async () => {
    const { term, line, write } = view(20, 4);
    const feed = new Feed(term, () => undefined);
    await write("\x1b[?1049h\x1b[31mold");
    await new Promise<void>((done) => feed.screen(utf8("new"), size, done));
    feed.output(utf8(" and on"));
    await write("");
    expect([line(0), term.buffer.active.type, term.cols]).toEqual(["new and on", "normal", 40]);
  });

  test("a view that cannot follow asks for a new screen once, and takes no more output until then", () => {
    const written: number[] = [];
    let asked = 0;
    const feed = new Feed({ write: (data) => written.push(data.length), resize: () => undefined, reset: () => undefined }, () => (asked += 1));
    feed.screen(utf8("$"), size);
    for (let i = 0; i < 10; i += 1) feed.output(new Uint8Array(1_000_000));
    expect([asked, written.length, feed.muted]).toEqual([1, 5, true]);
    feed.screen(utf8("$"), size);
    feed.output(utf8("x"));
    expect([asked, written.length]).toEqual([1, 7]);
  });
});

describe("the keyQueue", () => {
  test("keys arrive in order, one command at a time, and a paste stays between the keys around it", async () => {
    const sent: OwnCommand[] = [];
    const open: (() => void)[] = [];
    const keyQueue = new KeyQueue((command) => (sent.push(command), new Promise((done) => open.push(done))), () => undefined);
    const turn = async () => {
      open.shift()?.();
      await new Promise((done) => setTimeout(done, 0));
    };
    keyQueue.type("a");
    keyQueue.type("b");
    keyQueue.type("é");
    keyQueue.paste("1\n2");
    keyQueue.type("c");
    expect(sent).toHaveLength(1);
    for (let i = 0; i < 6; i += 1) await turn();
    const text = (bytes: string) => new TextDecoder().decode(fromBase64(bytes));
    expect(sent.map((command) => (command.do === "type" ? text(command.bytes) : command.do === "paste" ? `[${command.text}]` : ""))).toEqual(["a", "bé", "[1\n2]", "c"]);
  });

  test("after a failure the rest is not typed, because it would mean something else", async () => {
    const sent: OwnCommand[] = [];
    const failures: unknown[] = [];
    const keyQueue = new KeyQueue((command) => (sent.push(command), Promise.reject(new Error("gone"))), (error) => failures.push(error));
    keyQueue.type("y");
    keyQueue.type("\r");
    await new Promise((done) => setTimeout(done, 0));
    expect([sent.length, failures.length]).toEqual([1, 1]);
    keyQueue.type("x");
    expect(sent).toHaveLength(2);
  });
});

test("several lines and control characters are looked at before they are pasted", () => {
  expect(["ls -la", "日本", "a\tb"].map(needsLook)).toEqual([false, false, false]);
  expect(["ls\n", "a\nb", "ls\x1b[201~id\r", "\x03", "x".repeat(2001)].map(needsLook)).toEqual([true, true, true, true, true]);
  expect(["a", "a\n", "a\nb", "a\r\nb\r\n"].map(linesOf)).toEqual([1, 1, 2, 2]);
});

test("web addresses are found without the punctuation behind them, and nothing else is opened", () => {
  expect(addressesIn("see https://a.example/x?y=1). Or <http://b.example>, javascript:alert(1)")).toEqual([{ at: 4, text: "https://a.example/x?y=1" }, { at: 34, text: "http://b.example" }]);
  expect(["javascript:alert(1)", "file:///etc/passwd", "https://user:pw@a.example", "x"].map(webAddress)).toEqual([undefined, undefined, undefined, undefined]);
});

test("bytes survive Base64", () => {
  const bytes = Uint8Array.from({ length: 30_000 }, (_, i) => (i * 7) % 256);
  expect(fromBase64(toBase64(bytes))).toEqual(bytes);
});
