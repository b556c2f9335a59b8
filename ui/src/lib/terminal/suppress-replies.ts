// Stops a terminal view from answering queries: the host's grid answers them.

import type { IParser } from "@xterm/xterm";

type Csi = { readonly prefix?: string; readonly intermediates?: string; readonly final: string };

/**
 * Queries that xterm.js 6 would answer with typed bytes: device attributes, status and cursor reports, modes, the
 * version, window reports.
 */
const QUERIES: readonly Csi[] = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { prefix: ">", final: "q" },
  { prefix: "?", final: "u" },
  { final: "t" },
  { final: "x" },
];
/** Titles, the folder, colours that are asked for, the clipboard, and notifications. */
const TITLES = [0, 1, 2, 7, 9, 52, 99, 777];
const COLOURS = [4, 5, 10, 11, 12, 13, 17, 19];

/** Makes the view swallow these sequences. Two viewers, or a replayed screen, would otherwise type into the agent. */
export function quieten(parser: Pick<IParser, "registerCsiHandler" | "registerOscHandler" | "registerDcsHandler" | "registerEscHandler">): void {
  for (const query of QUERIES) parser.registerCsiHandler(query, () => true);
  for (const code of TITLES) parser.registerOscHandler(code, () => true);
  for (const code of COLOURS) parser.registerOscHandler(code, (data) => data.includes("?"));
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true);
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, () => true);
  parser.registerEscHandler({ final: "Z" }, () => true);
}
