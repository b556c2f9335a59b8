// Syntax colours. The library is loaded with the first code that is shown; until then code is plain.

import type { createLowlight } from "lowlight";

type Library = ReturnType<typeof createLowlight>;
type Tree = ReturnType<Library["highlight"]>;
type Node = Tree["children"][number];

/** What a piece of code is; undefined: nothing special. */
export type Part = { readonly text: string; readonly kind?: string };

/** Longer code is plain: colours would cost more than they help. For words without signs, C++ takes a tenth of a second. */
const LONGEST = 10_000;
/** So is code with a longer line: for some languages the time grows with the square of its length. */
const LONG_LINE = /.{1001}/;

/** The library's words for what gets a colour. */
const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    word: "keyword literal built_in type selector-tag name tag meta",
    text: "string regexp char.escape subst symbol attr-value link",
    note: "comment quote doctag",
    name: "title section attr attribute property variable.language selector-class selector-id function",
    number: "number",
  }).flatMap(([kind, words]) => words.split(" ").map((word) => [`hljs-${word}`, kind] as const)),
);

let library = $state.raw<Library>();
let loading = false;

async function load(): Promise<void> {
  loading = true;
  const { common, createLowlight: create } = await import("lowlight");
  // Markdown takes a minute for 20,000 opened brackets.
  const { markdown: _, ...grammars } = common;
  library = create(grammars);
}

/** The pieces of a text in a language, which may be a name of it or the ending of a file's name. */
export function partsOf(text: string, language: string | undefined): readonly Part[] {
  if (language === undefined || language === "" || text.length > LONGEST || LONG_LINE.test(text)) return [{ text }];
  if (library === undefined) {
    if (!loading) load().catch(() => (loading = false));
    return [{ text }];
  }
  const name = language.toLowerCase();
  try {
    return library.registered(name) ? flat(library.highlight(name, text).children) : [{ text }];
  } catch {
    // Too deep, such as thousands of comments in each other.
    return [{ text }];
  }
}

/** The language of a file, by the ending of its name. */
export function languageOf(path: string | undefined): string | undefined {
  const ending = path?.split(/[/\\]/).at(-1)?.match(/\.([a-z0-9+#]+)$/i)?.[1]?.toLowerCase();
  return ending === undefined ? undefined : (ENDINGS.get(ending) ?? ending);
}

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["svelte", "xml"],
  ["vue", "xml"],
  ["toml", "ini"],
]);

/** The pieces of the text from one place to another. */
export function cutParts(parts: readonly Part[], from: number, to: number): readonly Part[] {
  let at = 0;
  return parts.flatMap((part) => {
    const start = at;
    at += part.text.length;
    const text = part.text.slice(Math.max(0, from - start), Math.max(0, to - start));
    return text === "" ? [] : [{ ...part, text }];
  });
}

function flat(nodes: readonly Node[], outer?: string): Part[] {
  return nodes.flatMap((node): Part[] => {
    if (node.type === "text") return [outer === undefined ? { text: node.value } : { text: node.value, kind: outer }];
    if (node.type !== "element") return [];
    const names = Array.isArray(node.properties.className) ? node.properties.className : [];
    const kind = names.map((name) => KINDS.get(String(name))).find((found) => found !== undefined);
    return flat(node.children, kind ?? outer);
  });
}
