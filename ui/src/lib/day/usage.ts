// The words and measures of the usage. Pure.

import type { UsageKind } from "../bindings/UsageKind";
import type { UsageSum } from "../bindings/UsageSum";

export type Measure = "cost" | "tokens" | "requests";

export const MEASURES: readonly (readonly [Measure, string])[] = [["cost", "Cost"], ["tokens", "Tokens"], ["requests", "Requests"]];
export const RANGES: readonly number[] = [7, 30, 90];

/** Tokens without those that came from the cache. */
export const newTokens = ({ tokens }: UsageSum): number => tokens.input + tokens.output + tokens.cacheWrite;

export function valueOf(sum: UsageSum, measure: Measure): number {
  if (measure === "cost") return sum.cost.usd;
  return measure === "tokens" ? newTokens(sum) : sum.requests;
}

/** "$1,080", "$28.60", "$20", "< $0.01" */
export function usdWords(usd: number): string {
  if (usd > 0 && usd < 0.005) return "< $0.01";
  const digits = usd >= 100 || Number.isInteger(usd) ? 0 : 2;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** "412 M", "5.1 M", "12 k" */
export function countWords(count: number): string {
  const unit = ([[1e9, " G"], [1e6, " M"], [1e3, " k"]] as const).find(([one]) => count >= one);
  if (unit === undefined) return String(count);
  const many = count / unit[0];
  return `${many >= 100 ? Math.floor(many) : (Math.floor(many * 10) / 10).toString()}${unit[1]}`;
}

export const valueWords = (value: number, measure: Measure): string => (measure === "cost" ? usdWords(value) : countWords(value));

/** A cost, or that its models have no price. */
export function costWords({ cost }: UsageSum): string {
  return cost.usd === 0 && cost.unpricedTokens !== undefined ? "no price" : usdWords(cost.usd);
}

/** Round values for the lines of a chart, two or three of them. */
export function marks(most: number): number[] {
  if (most <= 0) return [];
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [power / 5, power / 2, power, power * 2, power * 5].find((one) => most / one < 4) ?? power;
  return Array.from({ length: Math.floor(most / step) }, (_, number) => (number + 1) * step);
}

const PARTS: Record<UsageKind, string> = {
  cache_read: "Cache reads",
  cache_write: "Cache writes",
  input: "Input",
  output: "Output",
  subagents: "Subagents, of all that",
};

export const partWords = (part: UsageKind): string => PARTS[part];
