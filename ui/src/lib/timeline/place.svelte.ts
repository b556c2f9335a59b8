// Where somebody is in a timeline: whatever is measured, comes, or is counted before it, what is in sight stays there.

import { tick, untrack } from "svelte";

import { Grip } from "./grip";
import { Heights } from "./heights";
import type { Moves } from "./moves";

const AT_END = 32;
/** Above the first item and below the last one, as the style of the view has it. */
const PADDING = 20;
/** The part of it that is above. */
const ABOVE = 8;
/** A view that has not been scrolled for so long rests, in milliseconds. */
const REST = 120;

export class Place {
  /** What is scrolled. */
  view: HTMLElement | undefined = $state();
  height = $state(0);
  /** At the end: new items push the old ones up. */
  pinned = $state(true);
  /** Scrolled faster than anybody reads: entries are drawn when it slows down. */
  rushing = $state(false);
  /**
   * By how much what lies above the view grew while it was scrolled. The items are drawn that much higher, and
   * the view is moved when it rests: moving it earlier would break off the scrolling.
   */
  shift = $state(0);

  readonly grip = new Grip();

  #heights = new Heights(30);
  #scrolled = $state(0);
  /** Rises when a height changed, since the sums are not themselves reactive. */
  #measured = $state(0);
  /** Where we scrolled to ourselves; the event of that comes a frame later. */
  #kept: number | undefined;
  /** It is still to come. */
  #coming = false;
  /** The person scrolls. */
  #scrolling = false;
  #resting: ReturnType<typeof setTimeout> | undefined;
  /** An item asked for is held at the top until its neighbours are measured. */
  #wanted: number | undefined = undefined;
  /** How far below its upper edge that item is looked at. */
  #depth: (index: number) => number;

  constructor(depth: (index: number) => number) {
    this.#depth = depth;
  }

  readonly whole = $derived.by(() => {
    void this.#measured;
    return this.#heights.total();
  });
  /**
   * Where the view begins. At the end it is reckoned, not asked for: the first items to be drawn, and fetched, are then
   * the newest ones, and not those at the top where a view begins before it is scrolled.
   */
  readonly from = $derived(this.pinned && this.#wanted === undefined && this.shift === 0 ? Math.max(0, this.whole + PADDING - this.height) : this.#scrolled + this.shift);
  /** The item at the upper edge. */
  readonly upper = $derived(this.#at(this.from + ABOVE));

  /** The first item to be drawn when so much is drawn above the view. */
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

  /** After every change of heights the view stays where it was meant to be. */
  keep(): void {
    if (!this.view || (this.#wanted === undefined && !this.pinned)) return;
    this.shift = 0;
    // A view that has become shorter was moved by that, and the event of it is still to come as well. The effect that keeps
    // the place after changes must not come after each scroll: who leaves the end by small steps would be taken back at each.
    const [before, known] = [this.view.scrollTop, untrack(() => this.#scrolled)];
    this.view.scrollTop = this.#wanted === undefined ? this.view.scrollHeight : this.#within(this.#wanted);
    const now = this.view.scrollTop;
    // A way of our own is no rush.
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

  /** What was asked for moves the view no more. */
  release(): void {
    this.#wanted = undefined;
  }

  toEnd(): void {
    this.release();
    this.pinned = true;
    this.keep();
  }

  /** The first and the last item in sight, unless the end is. */
  inSight(): readonly [number, number] | undefined {
    return this.pinned ? undefined : [this.upper, this.last(0)];
  }

  /** Items stand elsewhere: says whether what is in sight is known to be among them, and stays there to the pixel. */
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
    // The view can be scrolled there when it is as long as that.
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
    // What comes between a scroll of our own and its event is below where we went, and yet nobody has left the end; and
    // who has left it meanwhile, by opening something, is not back at it.
    if (isOurs) return;
    // From what is known: asking the view for its extent would lay it out in the middle of a scroll. Only who is about
    // to leave the end asks, for a view that has just become taller was moved up by nobody.
    const below = this.whole + PADDING - top;
    this.pinned = this.#wanted === undefined && (below - this.height < AT_END || (this.pinned && below - this.view.clientHeight < AT_END));
    this.#scrolling = true;
    this.#rest();
  }

  /** Takes a height; what lies above the view must not push it, so the view moves along. */
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

  /** Where to look at an item. No deeper than it is known to be high: else it would not be drawn, and never measured. */
  #within(index: number): number {
    return this.#heights.offsetOf(index) + Math.min(this.#depth(index), this.#heights.get(index));
  }

  #rest(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#settle(), REST);
  }

  /** At rest: what the items were drawn higher becomes part of the scroll position. */
  #settle(): void {
    this.rushing = false;
    this.#scrolling = false;
    if (!this.view || this.shift === 0) return;
    if (this.grip.held) return void this.grip.free().then(() => this.#settle());
    const there = this.view.scrollTop + this.shift;
    this.view.scrollTop = there;
    this.#scrolled = this.view.scrollTop;
    // A view stands on whole pixels of the screen, and heights do not: the rest stays drawn, or lines would creep.
    const rest = there - this.#scrolled;
    this.shift = Math.abs(rest) < 1 ? rest : 0;
  }

  #at(offset: number): number {
    void this.#measured;
    return this.#heights.indexAt(offset);
  }
}
