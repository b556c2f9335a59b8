// Made-up usage of the last days.

import type { LimitUse } from "../../bindings/LimitUse";
import type { PlanLimit } from "../../bindings/PlanLimit";
import type { UsageDay } from "../../bindings/UsageDay";
import type { UsagePage } from "../../bindings/UsagePage";
import type { UsageSum } from "../../bindings/UsageSum";
import { ENGINE_START, everydayRows, iso } from "./rows";

const DAY = 86_400_000;
const KINDS = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-next-1"] as const;
/** Dollars on a day of the week, from Sunday on. */
const WEEK = [4, 49, 53, 0, 42, 44, 15] as const;
const PARTS: readonly number[] = [0.6, 0.33, 0.07, 0];

function sum(usd: number): UsageSum {
  const tokens = Math.round(usd * 9_000);
  return { requests: Math.round(usd * 21), tokens: { input: tokens, output: Math.round(tokens / 3), cacheRead: tokens * 60, cacheWrite: tokens * 2 }, cost: { usd, by: "list" } };
}

export function everydayUsage(days: number): UsagePage {
  const all: UsageDay[] = Array.from({ length: days }, (_, number) => {
    const at = ENGINE_START - (days - 1 - number) * DAY;
    const usd = (WEEK[new Date(at).getUTCDay()] ?? 0) * (1 + (number % 5) / 10);
    return { date: iso(at).slice(0, 10), total: sum(usd), byKind: PARTS.map((part) => sum(usd * part)) };
  });
  const usd = all.reduce((total, day) => total + day.total.cost.usd, 0);
  const total = sum(usd);
  const unpriced = { ...sum(0), requests: 12, tokens: { input: 40_000, output: 9_000, cacheRead: 0, cacheWrite: 0 }, cost: { usd: 0, by: "list" as const, unpricedTokens: 49_000 } };
  return {
    total: { ...total, cost: { ...total.cost, unpricedTokens: 49_000 } },
    today: all.at(-1)?.total ?? sum(0),
    kinds: [...KINDS],
    days: all,
    projects: [["api-server", 0.3], ["shop", 0.22], ["billing", 0.18], ["desk", 0.15], ["scheduler", 0.1], ["", 0.05]].map(([name, part]) => ({ name: String(name), sum: sum(usd * Number(part)) })),
    models: KINDS.map((name, number) => ({ name, sum: name === "claude-next-1" ? unpriced : sum(usd * (PARTS[number] ?? 0)) })),
    chains: everydayRows().slice(0, 4).map((row, number) => ({ name: row.title ?? "", sessionId: row.sessionId, sum: sum(usd * (0.12 - number / 50)) })),
    parts: ([["cache_read", 0.46], ["cache_write", 0.24], ["input", 0.05], ["output", 0.25], ["subagents", 0.19]] as const).map(([part, share]) => ({ part, usd: usd * share, tokens: Math.round(usd * share * 30_000) })),
    prices: [{ date: "2026-03-01", source: "https://prices.example/list" }],
    unpriced: ["claude-next-1"],
  };
}

/** Who used these limits. */
export function limitUse(limits: readonly PlanLimit[]): LimitUse[] {
  const rows = everydayRows();
  return limits.map((limit) => {
    const shares = [0.4, 0.2, 0.16].map((part, number) => ({ name: rows[number]?.title ?? "", sessionId: rows[number]?.sessionId ?? "", percent: limit.percent * part, lastHour: number === 1 ? 0 : limit.percent * part * 0.4 }));
    return { limit, shares, rest: limit.percent * 0.24 };
  });
}

/** Nothing was used. */
export function noUsage(days: number): UsagePage {
  const page = everydayUsage(days);
  const nothing = sum(0);
  return { ...page, total: nothing, today: nothing, days: page.days.map((day) => ({ ...day, total: nothing, byKind: [] })), kinds: [], projects: [], models: [], chains: [], unpriced: [] };
}
