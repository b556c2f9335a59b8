// A made-up day of the everyday sessions, and one of very many stretches.

import type { Day } from "../../bindings/Day";
import type { PastAlert } from "../../bindings/PastAlert";
import type { DayChain } from "../../bindings/DayChain";
import type { DayDoing } from "../../bindings/DayDoing";
import type { DayStretch } from "../../bindings/DayStretch";
import { ENGINE_START, everydayRows, iso } from "./rows";

const MINUTE = 60_000;
const BEGIN = Date.parse("2026-03-14T00:00:00.000Z");

const STATES: Record<DayDoing, Pick<DayStretch, "state" | "stateKind">> = {
  working: { state: "working" },
  waiting: { state: "waiting_for_approval", stateKind: "permission" },
  your_turn: { state: "waiting_for_input", stateKind: "turn_ended" },
  idle: { state: "idle" },
  failed: { state: "working", stateKind: "retrying" },
};

const LETTERS: Record<string, DayDoing> = { w: "working", n: "waiting", q: "waiting", t: "your_turn", i: "idle", l: "failed" };

/** `w27 n2`: from `at` on, the minutes of each stretch. The last one goes on until now. */
function stretches(sessionId: string, at: number, sketch: string): DayStretch[] {
  let from = at;
  return sketch.split(" ").map((word, number, all) => {
    const doing = LETTERS[word.charAt(0)] ?? "idle";
    const to = number === all.length - 1 ? ENGINE_START : from + Number(word.slice(1)) * MINUTE;
    const state = word.startsWith("q") ? { state: "waiting_for_approval", stateKind: "question" } : STATES[doing];
    const stretch: DayStretch = { from: iso(from), to: iso(to), ...state, doing, sessionId, ...(word.endsWith("5") && doing === "working" ? { inferred: true } : {}) };
    from = to;
    return stretch;
  });
}

const SKETCHES: readonly (readonly [title: string, project: string, at: number, sketch: string])[] = [
  ["Publish the 2.4 release", "api-server", 9 * 60 + 2, "w41 n3 w52 t35 w22 n3 w18 w17 n1"],
  ["Rate limits per key", "api-server", 8 * 60 + 24, "w27 n2 w37 t22 w23 n22 w25 t18"],
  ["Split the billing module", "billing", 10 * 60 + 20, "w11 q3 w79 n9"],
  ["Migrate sessions to Redis", "shop", 8 * 60 + 5, "w39 n1 w35 n21 w29 t21 w34 q19 w44 q4"],
  ["Fix flaky scheduler tests", "scheduler", 9 * 60 + 50, "w28 n1 w53 l18 w30"],
  ["Nightly dependency review", "infra", 7 * 60, "w35 t73 i222 w31"],
  ["Set up the devcontainer", "dotfiles", 7 * 60 + 10, "w12 n26 w22 t55 i165"],
];

/** Alerts of each kind and end. */
export function pastAlerts(): PastAlert[] {
  const rows = everydayRows();
  const past = (n: number, need: string, about: string | undefined, minutes: number, lasted: number | undefined, became: PastAlert["became"], answer?: string): PastAlert => {
    const session = rows[n % rows.length];
    const at = ENGINE_START - minutes * MINUTE;
    return { sessionId: session?.sessionId ?? "", title: session?.title ?? "", project: session?.cwd?.split("/").at(-1) ?? "", need, at: iso(at), became, ...(about === undefined ? {} : { about }), ...(lasted === undefined ? {} : { until: iso(at + lasted * MINUTE) }), ...(answer === undefined ? {} : { answer }) };
  };
  return [
    past(0, "approval", "Bash: npm publish --tag latest", 1, undefined, "open"),
    past(1, "question", "Which eviction policy do you want?", 23, 19, "went_on"),
    past(0, "approval", "Bash: git push --follow-tags origin release/2.4", 41, 3, "went_on", "allowed once (window)"),
    past(4, "error", "API Error: 529 overloaded", 96, 18, "went_on"),
    past(2, "plan", undefined, 150, 3, "stopped"),
    past(5, "dialog", undefined, 60 * 20, 41, "ended"),
  ];
}

const secs = (doing: DayDoing, list: readonly DayStretch[]): number =>
  list.filter((one) => one.doing === doing).reduce((sum, { from, to }) => sum + (Date.parse(to) - Date.parse(from)) / 1000, 0);

function chainOf(title: string, project: string, list: readonly DayStretch[]): DayChain {
  const id = everydayRows().find((row) => row.title === title)?.workChainId ?? title;
  return { workChainId: id, title, project, worked: secs("working", list), waitedForYou: secs("waiting", list), stretches: [...list], compactions: project === "api-server" ? [iso(ENGINE_START - 80 * MINUTE)] : [] };
}

/** The figures as the engine counts them, from the chains. */
function dayOf(chains: readonly DayChain[]): Day {
  const all = chains.flatMap(({ workChainId, stretches }) => stretches.map((stretch) => ({ workChainId, stretch })));
  const waits = all.filter(({ stretch }) => stretch.doing === "waiting").map((one) => ({ ...one, secs: secs("waiting", [one.stretch]) }));
  const longest = waits.reduce<(typeof waits)[number] | undefined>((most, one) => (most === undefined || one.secs > most.secs ? one : most), undefined);
  const edges = [...new Set(all.flatMap(({ stretch }) => [stretch.from, stretch.to]))].sort();
  const band = edges.map((at) => {
    const there = all.filter(({ stretch }) => stretch.from <= at && at < stretch.to);
    return { at, working: there.filter(({ stretch }) => stretch.doing === "working").length, waiting: there.filter(({ stretch }) => stretch.doing === "waiting").length };
  });
  const during = (is: (count: (typeof band)[number]) => boolean): number =>
    band.reduce((sum, count, number) => sum + (is(count) ? (Date.parse(band[number + 1]?.at ?? count.at) - Date.parse(count.at)) / 1000 : 0), 0);
  return {
    date: "2026-03-14",
    zone: "UTC",
    from: iso(BEGIN),
    to: iso(BEGIN + 1440 * MINUTE),
    now: iso(ENGINE_START),
    waitedForYou: waits.reduce((sum, wait) => sum + wait.secs, 0),
    waits: waits.length,
    median: waits.map((wait) => wait.secs).sort((a, b) => a - b)[Math.floor(waits.length / 2)] ?? 0,
    longest: longest?.secs ?? 0,
    ...(longest === undefined ? {} : { longestWait: { workChainId: longest.workChainId, at: longest.stretch.from } }),
    twoOrMore: during(({ waiting }) => waiting > 1),
    worked: chains.reduce((sum, chain) => sum + chain.worked, 0),
    oneOrMore: during(({ working }) => working > 0),
    chains: [...chains],
    band,
    you: all.filter(({ stretch }) => stretch.doing === "working").flatMap(({ workChainId, stretch }, number) => ({ at: stretch.from, workChainId, answer: number % 2 === 1 })),
  };
}

export function everydayDay(): Day {
  const chains = SKETCHES.map(([title, project, at, sketch]) => {
    const id = everydayRows().find((row) => row.title === title)?.sessionId ?? title;
    return chainOf(title, project, stretches(id, BEGIN + at * MINUTE, sketch));
  });
  return dayOf(chains);
}

/** A day before on which nothing ran. */
export function emptyDay(date: string): Day {
  const begin = Date.parse(`${date}T00:00:00.000Z`);
  const { now: _, ...day } = dayOf([]);
  return { ...day, date, from: iso(begin), to: iso(begin + 1440 * MINUTE), lastDay: "2026-03-12" };
}

/** So many chains with ten stretches each. */
export function fullDay(chains: number): Day {
  const sketch = "w31 n4 w22 t9 w17 q6 w40 t12 l5 w1";
  return dayOf(Array.from({ length: chains }, (_, number) => chainOf(`Piece of work ${number + 1}`, `project-${number % 9}`, stretches(`many-${number}`, BEGIN + (420 + (number % 60)) * MINUTE, sketch))));
}
