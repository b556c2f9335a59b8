// The limits of plans, as the foot of the roster and the usage show them. Pure.

import { ageWords, durationWords, timeWords } from "../age";
import type { LimitUse } from "../bindings/LimitUse";
import type { PlanLimit } from "../bindings/PlanLimit";
import { agentWords } from "../own/words";

/** Until this much is used, the pace says nothing. */
const LITTLE = 10;
const ALMOST_FULL = 95;
/** A word of the agent is old from this age on. */
const OLD = 15 * 60_000;
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

export type Meter = {
  readonly key: string;
  /** "5 h", "week"; with the agent if there are several accounts. */
  readonly name: string;
  readonly title: string;
  /** How much is used. */
  readonly percent: number;
  /** How much of the time is over. */
  readonly over: number;
  /** `near`: it would be full before it is reset. */
  readonly tone: "plain" | "near" | "full";
  readonly pace: string;
  readonly resets: string;
  readonly limit: PlanLimit;
  readonly old: boolean;
};

/** The limits whose spans run. */
export function metersOf(limits: readonly PlanLimit[], now: number): Meter[] {
  const accounts = new Set(limits.map(({ agent, folder }) => `${agent} ${folder}`));
  const agents = new Set(limits.map(({ agent }) => agent));
  return limits.filter(({ resetsAt }) => Date.parse(resetsAt) > now).map((limit) => {
    const account = agents.size < accounts.size ? `${agentWords(limit.agent)} ${limit.folder.split(/[\\/]/).at(-1) ?? ""} ` : agents.size > 1 ? `${agentWords(limit.agent)} ` : "";
    return meterOf(limit, account, now);
  });
}

function meterOf(limit: PlanLimit, account: string, now: number): Meter {
  const end = Date.parse(limit.resetsAt);
  const span = limit.minutes * 60_000;
  const begin = end - span;
  const percent = Math.min(100, Math.max(0, limit.percent));
  // The percentage is of the time at which it was said.
  const fullAt = begin + ((Date.parse(limit.saidAt) - begin) * 100) / Math.max(percent, 0.01);
  const tooFast = percent >= LITTLE && fullAt < end;
  const pace = percent >= 100 ? "Used up" : percent < LITTLE ? "Little is used" : !tooFast ? "Enough, at this pace" : fullAt > now ? `At this pace full at ${timeWords(new Date(fullAt).toISOString(), now)}` : "At this pace full by now";
  return {
    key: `${limit.agent} ${limit.folder} ${limit.minutes}`,
    name: account + spanWords(limit.minutes, "5 h", "week"),
    title: account + spanWords(limit.minutes, "5 hours", "Week"),
    percent,
    over: Math.min(100, Math.max(0, ((now - begin) * 100) / span)),
    tone: percent >= ALMOST_FULL ? "full" : tooFast ? "near" : "plain",
    pace,
    resets: `resets ${timeWords(limit.resetsAt, now)}, in ${end - now < DAY ? durationWords(Math.max(MINUTE, end - now)).replace(/ \d+ s$/, "") : ageWords(end - now)}`,
    limit,
    old: now - Date.parse(limit.saidAt) > OLD,
  };
}

type Share = { readonly name: string; readonly sessionId?: string; readonly percent: number; readonly hour: string };

/** Shares of a limit below this many percent go to the others. */
const SMALL = 0.5;
const MOST = 5;

/** Which work used how much of a limit, at most five. Others and other machines stand last. */
export function sharesOf(limit: PlanLimit, uses: readonly LimitUse[]): Share[] {
  const use = uses.find(({ limit: of }) => of.agent === limit.agent && of.folder === limit.folder && of.minutes === limit.minutes && of.resetsAt === limit.resetsAt);
  const large = use?.shares.filter(({ percent }) => percent >= SMALL).slice(0, MOST) ?? [];
  const shares = large.map(({ lastHour, ...share }) => ({ ...share, hour: lastHour >= SMALL ? `last hour ${Math.round(lastHour)} %` : "" }));
  const rest = (use?.limit.percent ?? 0) - large.reduce((sum, { percent }) => sum + percent, 0);
  return rest < SMALL || shares.length === 0 ? shares : [...shares, { name: "Others, or not on this machine", percent: rest, hour: "" }];
}

function spanWords(minutes: number, five: string, week: string): string {
  if (minutes === 300) return five;
  if (minutes === 10_080) return week;
  return durationWords(minutes * 60_000).replace(/ 0 min$/, "");
}
