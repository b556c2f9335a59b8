// Parses the palette's text: words, and filters for the history (`project:api since:7d role:prompt tool:Bash`).

import { AGENTS } from "./agents";
import type { SearchQuery } from "./bindings/SearchQuery";

/** The filter names, each with a description. */
export const FILTERS = {
  project: "part of the project's name or path",
  agent: AGENTS.join(", "),
  since: "1h, 7d, 2026-11-20",
  role: "who said it",
  tool: "input and output of this tool",
} as const;

export type Filter = keyof typeof FILTERS;

/** Roles in the history, by the engine's names. */
export const ROLES = ["prompt", "answer", "thinking", "tool_input", "tool_result", "summary", "title", "command", "notice"] as const;

const TOOLS = ["Bash", "Read", "Edit", "Write", "Grep", "Glob", "Task", "WebFetch", "WebSearch"] as const;
const SINCES = ["1h", "1d", "7d", "30d", "365d"] as const;

export type Typed = {
  /** The words without the filters. */
  readonly words: string;
  readonly filters: readonly { readonly filter: Filter; readonly value: string }[];
  /** The error in the text, in words for the user. */
  readonly trouble: string;
};

const TOKEN = /(^|\s)(project|agent|since|role|tool):(?:"([^"]*)"?|(\S*))(?=\s|$)/giu;

export function readTyped(text: string, now: number): Typed {
  const filters: { filter: Filter; value: string }[] = [];
  let trouble = "";
  const words = text.replace(TOKEN, (_, before: string, name: string, quoted: string | undefined, plain: string | undefined) => {
    const filter = name.toLowerCase() as Filter;
    const value = (quoted ?? plain ?? "").trim();
    // While the user types the value, the filter is not active yet.
    if (value === "") return before;
    if (filter === "since" && momentOf(value, now) === undefined) trouble = `since:${value} is not a time: ${FILTERS.since}`;
    else if (filter === "role" && !roleOf(value)) trouble = `role:${value} is none of ${ROLES.join(", ")}`;
    else filters.push({ filter, value });
    return before;
  });
  return { words: words.replace(/\s+/g, " ").trim(), filters, trouble };
}

/** The query to the history. The last filter of a kind counts. */
export function queryOf({ words, filters }: Typed, now: number, limit: number): SearchQuery {
  const query: SearchQuery = { query: words, typing: true, limit };
  for (const { filter, value } of filters) {
    if (filter === "since") query.since = new Date(momentOf(value, now) ?? now).toISOString();
    else if (filter === "role") query.role = roleOf(value) ?? value;
    else query[filter] = value;
  }
  return query;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A span back from now, a date, or a time. */
function momentOf(value: string, now: number): number | undefined {
  const span = /^(\d{1,5})([mhdw])$/i.exec(value);
  if (span) return now - Number(span[1]) * (UNITS[(span[2] ?? "").toLowerCase()] ?? 0);
  if (!/^\d{4}-\d\d-\d\d(T.*)?$/.test(value)) return undefined;
  // A date alone means the beginning of the local day, not of the UTC day.
  const at = Date.parse(value.includes("T") ? value : `${value}T00:00`);
  return Number.isNaN(at) ? undefined : at;
}

function roleOf(value: string): string | undefined {
  const wanted = value.toLowerCase().replaceAll("-", "_");
  return ROLES.find((role) => role === wanted);
}

/** A completion of the last word: a filter's name, or a value for it. */
export type Completion = { readonly text: string; readonly shown: string; readonly about: string };

export function completionsFor(text: string, projects: readonly string[]): Completion[] {
  const last = /(?:^|\s)(\S*)$/.exec(text)?.[1] ?? "";
  const [name = "", value] = last.split(":", 2);
  const before = text.slice(0, text.length - last.length);
  if (value === undefined) {
    if (name.length < 2) return [];
    return (Object.keys(FILTERS) as Filter[])
      .filter((filter) => filter.startsWith(name.toLowerCase()))
      .map((filter) => ({ text: `${before}${filter}:`, shown: `${filter}:`, about: FILTERS[filter] }));
  }
  const values = valuesOf(name.toLowerCase(), projects).filter((known) => known !== value && known.toLowerCase().startsWith(value.toLowerCase()));
  return values.slice(0, 9).map((known) => {
    const written = /\s/.test(known) ? `"${known}"` : known;
    return { text: `${before}${name.toLowerCase()}:${written} `, shown: `${name.toLowerCase()}:${known}`, about: "" };
  });
}

function valuesOf(name: string, projects: readonly string[]): readonly string[] {
  switch (name) {
    case "project":
      return [...new Set(projects)].filter((project) => project !== "" && !project.includes('"'));
    case "agent":
      return AGENTS;
    case "since":
      return SINCES;
    case "role":
      return ROLES;
    case "tool":
      return TOOLS;
    default:
      return [];
  }
}
