// The scroll position in a timeline. The items in view stay in view when items before them are measured, arrive or are
// counted.

import { tick, untrack } from "svelte";

import { PointerHold } from "./pointer-hold";
import { Heights } from "./heights";
import type { Moves } from "./moves";

const AT_END = 32;
/** Above the first item and below the last one, as in the view's style. */
const PADDING = 20;
/** The part of it that is above. */
const ABOVE = 8;
/** A view is at rest after this many milliseconds without a scroll. */
const REST = 120;

export class Place {
  /** The scrolled element. */
  view: HTMLElement | undefined = $state();
  height = $state(0);
  /** Height of what is drawn below the items. */
  tail = $state(0);
  /** At the end: new items push the old ones up. */
  pinned = $state(true);
  /** The user scrolls too fast to read. Entries are drawn when it slows down. */
  rushing = $state(false);
  /**
   * How much the items above the view grew during a scroll. The items are drawn that much higher, and the view is
   * moved when it is at rest: moving it earlier would interrupt the scrolling.
   */
  shift = $state(0);

  readonly grip = new PointerHold();

  #heights = new Heights(30);
  #scrolled = $state(0);
  /** Rises when a height changes, because the sums are not reactive. */
  #measured = $state(0);
  /** The position that this class scrolled to. The event of that scroll comes a frame later. */
  #kept: number | undefined;
  /** That event is still to come. */
  #coming = false;
  /** The user scrolls. */
  #scrolling = false;
  #resting: ReturnType<typeof setTimeout> | undefined;
  /** The index of a requested item. It is held at the top until its neighbours are measured. */
  #wanted: number | undefined = undefined;
  /** How far below its upper edge the view begins in that item. */
  #depth: (index: number) => number;

  constructor(depth: (index: number) => number) {
    this.#depth = depth;
  }

  readonly whole = $derived.by(() => {
    void this.#measured;
    return this.#heights.total();
  });
  /**
   * The offset at which the view begins. At the end it is computed, not read from the view. So the newest items are
   * drawn and fetched first, and not those at the top, where a view is before it is scrolled.
   */
  readonly from = $derived(this.pinned && this.#wanted === undefined && this.shift === 0 ? Math.max(0, this.whole + this.tail + PADDING - this.height) : this.#scrolled + this.shift);
  /** The item at the upper edge. */
  readonly upper = $derived(this.#at(this.from + ABOVE));

  /** The first item to draw, if this height is drawn above the view. */
  first(above: number): number {
    return this.#at(this.from - ABOVE - above);
  }

  last(below: number): number {
    return Math.min(this.#heights.length - 1, this.#at(this.from + this.height + below));
  }

  heightOf(index: number): number {
    void this.#measured;
    return this.#heights.get(index);
  }

  topOf(index: number): number {
    void this.#measured;
    return this.#heights.offsetOf(index);
  }

  resize(length: number): void {
    this.#heights.resize(length);
    this.#measured += 1;
  }

  /** Estimates the heights of the newest items, as many as fill the view, before any item is measured. */
  guess(of: (index: number, width: number) => number): void {
    let below = 0;
    for (let index = this.#heights.length - 1; index >= 0 && below < this.height; index -= 1) {
      const tall = of(index, this.view?.clientWidth ?? 0);
      this.#heights.set(index, tall);
      below += tall;
    }
    this.#measured += 1;
  }

  /** Puts the view back in its place after every change of heights. */
  keep(): void {
    if (!this.view || (this.#wanted === undefined && !this.pinned)) return;
    this.shift = 0;
    // A view that became shorter was moved by that, and that event is still to come as well. The effect that calls
    // this after changes must not run after each scroll: it would take a user who leaves the end in small steps back
    // at each step.
    const [before, known] = [this.view.scrollTop, untrack(() => this.#scrolled)];
    this.view.scrollTop = this.#wanted === undefined ? this.view.scrollHeight : this.#within(this.#wanted);
    const now = this.view.scrollTop;
    // A scroll of our own does not count as rushing.
    this.#scrolled = now;
    this.#kept = now;
    this.#coming ||= now !== before || now !== known;
  }

  /** Scrolls to an item and stays there. */
  hold(index: number): void {
    this.pinned = false;
    this.#wanted = index;
    this.keep();
  }

  /** Earlier requests no longer move the view. */
  release(): void {
    this.#wanted = undefined;
  }

  toEnd(): void {
    this.release();
    this.pinned = true;
    this.keep();
  }

  /** The first and the last item in view; undefined at the end. */
  inSight(): readonly [number, number] | undefined {
    return this.pinned ? undefined : [this.upper, this.last(0)];
  }

  /** The items have moved. Keeps the items in view at the same pixel; returns whether they were recognized. */
  moved(moves: Moves, total: number): boolean {
    const last = this.last(0);
    let index = this.upper;
    while (index < last && moves.to(index) === undefined) index += 1;
    const before = this.#heights.offsetOf(index);
    const now = moves.to(index);
    this.#wanted = this.#wanted === undefined ? undefined : moves.to(this.#wanted);
    this.#heights.move(total, (item) => moves.to(item));
    this.#measured += 1;
    if (this.pinned || this.#wanted !== undefined) {
      void tick().then(() => this.keep());
      return true;
    }
    if (now === undefined) {
      this.shift = 0;
      return false;
    }
    this.shift += this.#heights.offsetOf(now) - before;
    // The view can be scrolled there once it is long enough.
    void tick().then(() => {
      if (!this.#scrolling) this.#settle();
    });
    return true;
  }

  onscroll(): void {
    if (!this.view) return;
    const top = this.view.scrollTop;
    if (Math.abs(top - this.#scrolled) > this.height) this.rushing = true;
    this.#scrolled = top;
    const isOurs = top === this.#kept && (this.pinned || this.#coming);
    this.#coming = false;
    // Items that come between our scroll and its event are below the new position, but the user has not left the end.
    // And a user who left the end meanwhile, by opening an entry, is not back at it.
    if (isOurs) return;
    // Computed from known sizes: reading the view's extent would force a layout during the scroll. The extent is read
    // only if the position is about to leave the end, because a view that has just become taller was not scrolled by
    // the user.
    const below = this.whole + this.tail + PADDING - top;
    this.pinned = this.#wanted === undefined && (below - this.height < AT_END || (this.pinned && below - this.view.clientHeight < AT_END));
    this.#scrolling = true;
    this.#rest();
  }

  /** Notes a measured height. An item above the view must not push the view, so the view moves along. */
  note(index: number, now: number): void {
    const isFree = untrack(() => !this.pinned && this.#wanted === undefined);
    const isAbove = isFree && this.#heights.offsetOf(index) + this.#heights.get(index) <= untrack(() => this.#scrolled + this.shift);
    const change = this.#heights.set(index, now);
    if (change === 0) return;
    queueMicrotask(() => {
      this.#measured += 1;
      if (!isAbove) return;
      this.shift += change;
      this.#rest();
    });
  }

  end(): void {
    clearTimeout(this.#resting);
    this.grip.release();
  }

  /**
   * The offset to scroll to for an item. Never deeper than its known height: otherwise it would not be drawn, and
   * never measured.
   */
  #within(index: number): number {
    return this.#heights.offsetOf(index) + Math.min(this.#depth(index), this.#heights.get(index));
  }

  #rest(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#settle(), REST);
  }

  /** At rest: the shift becomes part of the scroll position. */
  #settle(): void {
    this.rushing = false;
    this.#scrolling = false;
    if (!this.view || this.shift === 0) return;
    if (this.grip.held) return void this.grip.free().then(() => this.#settle());
    const there = this.view.scrollTop + this.shift;
    this.view.scrollTop = there;
    this.#scrolled = this.view.scrollTop;
    // A scroll position is in whole screen pixels, and heights are not. The fraction stays in the shift; otherwise
    // lines would creep.
    const rest = there - this.#scrolled;
    this.shift = Math.abs(rest) < 1 ? rest : 0;
  }

  #at(offset: number): number {
    void this.#measured;
    return this.#heights.indexAt(offset);
  }
}
