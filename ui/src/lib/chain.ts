// The chain strip: the width of each segment, and its tie to the neighbour.

import type { Boundary } from "./bindings/Boundary";
import type { Link } from "./bindings/Link";
import type { Segment } from "./bindings/Segment";
import type { WorkChain } from "./bindings/WorkChain";

export type StripPart = {
  readonly segment: Segment;
  /** Share of the strip, from its duration. */
  readonly grow: number;
  readonly current: boolean;
  /** The boundary that ended the segment before. */
  readonly boundary?: Boundary;
  /** The link from the session before, if another session begins here. */
  readonly link?: Link;
};

/** A fork to or from a session outside the chain. */
export type Branch = {
  readonly sessionId: string;
  readonly into: boolean;
  /**
   * Where in the strip it leaves or joins, from 0 to 1. The time of a fork is not recorded, so it leaves in the middle
   * of its segment.
   */
  readonly at: number;
};

export function stripOf(chain: WorkChain, now: number): StripPart[] {
  const last = chain.segments.length - 1;
  const durations = chain.segments.map((segment, i) => durationOf(segment, chain.segments[i + 1], now));
  const sum = durations.reduce((total, duration) => total + duration, 0) || 1;
  return chain.segments.map((segment, i) => {
    const before = chain.segments[i - 1];
    const link =
      before === undefined || before.sessionId === segment.sessionId
        ? undefined
        : chain.links.find((candidate) => candidate.to === segment.sessionId && candidate.from !== segment.sessionId);
    return {
      segment,
      grow: Math.max(0.02, (durations[i] ?? 0) / sum),
      current: i === last,
      ...(before?.boundary ? { boundary: before.boundary } : {}),
      ...(link ? { link } : {}),
    };
  });
}

function durationOf(segment: Segment, next: Segment | undefined, now: number): number {
  const start = Date.parse(segment.startedAt ?? "");
  const end = Date.parse(segment.endedAt ?? next?.startedAt ?? "");
  const duration = (Number.isNaN(end) ? now : end) - start;
  return Number.isFinite(duration) ? Math.max(0, duration) : 0;
}

/** Forks to and from sessions outside the chain, in the order of the strip. */
export function branchesOf(chain: WorkChain, parts: readonly StripPart[]): Branch[] {
  const sum = parts.reduce((total, part) => total + part.grow, 0) || 1;
  let edge = 0;
  const places = parts.map(({ segment, grow }) => {
    const start = edge / sum;
    edge += grow;
    return { sessionId: segment.sessionId, start, middle: (start + edge / sum) / 2 };
  });
  const inside = new Set(places.map((place) => place.sessionId));
  return places.flatMap(({ sessionId, start, middle }, i) => {
    const begins = places.findIndex((place) => place.sessionId === sessionId) === i;
    const ends = places.findLastIndex((place) => place.sessionId === sessionId) === i;
    const from = chain.links.filter((link) => begins && link.to === sessionId && !inside.has(link.from));
    const into = chain.links.filter((link) => ends && link.from === sessionId && !inside.has(link.to));
    return [...from.map((link) => ({ sessionId: link.from, into: false, at: start })), ...into.map((link) => ({ sessionId: link.to, into: true, at: middle }))];
  });
}
