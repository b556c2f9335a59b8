// The model of the roster: the host's newest rows, the selection, and the announcement.

import { EngineClock } from "../clock.svelte";
import type { Group } from "../bindings/Group";
import type { RosterMessage } from "../bindings/RosterMessage";
import type { TrackedSession } from "../bindings/TrackedSession";
import { type Host, isNotFound, reasonOf } from "../host/host";
import { applyDelta, fromSnapshot, headOf, isLessThan, newlyNeeding, NO_ROSTER, type Roster } from "./apply";
import { countsOf, folds, layoutOf, sameLayout, type Section, unseenIn, withText } from "./layout";
import { runsOf } from "./runs";
import { RosterView } from "./view.svelte";
import { announcementOf } from "./words";

/** The place of a search hit in a session. */
export type WantedPlace = { readonly sessionId: string; readonly agentId: string | undefined; readonly offset: number };

type Awaited = { readonly id: string; readonly place: WantedPlace | undefined };

export class RosterModel {
  readonly clock = new EngineClock();
  readonly view = new RosterView(() => this.release());
  roster = $state.raw<Roster>(NO_ROSTER);
  phase = $state<"connecting" | "live" | "failed">("connecting");
  failure = $state("");
  showAll = $state(false);
  /** `time` changes if the same words are news again. */
  announcement = $state.raw({ words: "", time: 0 });
  text = $state("");
  groups = $state.raw<ReadonlySet<Group>>(new Set());
  /** The selected session as last seen. It stays when the roster drops its row: the user may still read it. */
  selected = $state.raw<TrackedSession | undefined>();
  opened = $state(false); // Whether the detail pane shows the selected session.
  /** The segment to scroll to, if a superseded session was asked for. */
  wantedSegment = $state.raw<{ sessionId: string } | undefined>();
  /** The place to scroll to, if a search hit was chosen. */
  wantedPlace = $state.raw<WantedPlace | undefined>();
  /** Asked for from outside the list, which scrolls to it. */
  asked = $state.raw<{ sessionId: string; found: boolean; reason?: string } | undefined>();
  /** A new number starts a new pane. A successor goes on in the same pane. */
  pane = $state(0);

  #outside = $state.raw<string | undefined>();
  #held = $state.raw<{ sections: readonly Section[]; rows: ReadonlyMap<string, TrackedSession> } | undefined>();
  #byId = $derived(new Map(this.roster.sessions.map((session) => [session.sessionId, session])));
  #filter = $derived(this.view.filter(this.groups, this.text));
  #layout = $derived(layoutOf(this.roster.sessions, this.#filter));
  runs = $derived(folds(this.#filter) ? runsOf(this.roster.sessions) : new Map<string, never>());

  counts = $derived(countsOf(this.roster.sessions, this.roster.rest));
  /** The counts that match the words of the filter; undefined without words. */
  found = $derived(this.text.trim() === "" ? undefined : countsOf(withText(this.roster.sessions, this.text)));
  /** The rows of the list: the engine's order, or the order held while the pointer is on the list. */
  sections = $derived<readonly Section[]>(this.#held?.sections ?? this.#layout);
  /** The held order differs from the engine's. */
  outOfDate = $derived(this.#held !== undefined && !sameLayout(this.#held.sections, this.#layout));
  /** While the order is held: number of sessions that need the user but are not in the held group "Needs you". */
  unseen = $derived(this.#held === undefined ? 0 : unseenIn(this.#held.sections, this.roster.sessions));
  /** The user's filter leaves rows out. */
  filtered = $derived(this.text.trim() !== "" || this.groups.size > 0 || this.view.refused);
  /** The roster does not show the selected session: a link or a search asked for it. */
  isOutside = $derived(this.selected !== undefined && this.#outside === this.selected.sessionId && !this.#byId.has(this.#outside));
  /** The selected session is no longer in the roster. Its row is from before. */
  vanished = $derived(this.selected !== undefined && !this.roster.reading && !this.#byId.has(this.selected.sessionId) && !this.isOutside);

  #host: Host;
  #unsubscribe: (() => void) | undefined;
  #subscription = 0;
  #baseOfDeltas = NO_ROSTER;
  /** The next snapshot is of another roster, so nothing in it is news. */
  #afresh = true;
  /** Asked for, but not in the roster yet. */
  #awaited: Awaited | undefined;
  #request = 0;

  constructor(host: Host) {
    this.#host = host;
  }

  async connect(): Promise<void> {
    const subscription = ++this.#subscription;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    if (this.#afresh && this.roster === NO_ROSTER) this.phase = "connecting";
    try {
      const unsubscribe = await this.#host.subscribe({ to: "roster", all: this.showAll }, (message) => {
        if (subscription === this.#subscription) this.#receive(message);
      });
      if (subscription === this.#subscription) this.#unsubscribe = unsubscribe;
      else unsubscribe();
    } catch (error) {
      if (subscription !== this.#subscription) return;
      this.phase = "failed";
      this.failure = reasonOf(error);
    }
  }

  row(id: string): TrackedSession | undefined {
    return this.#byId.get(id) ?? this.#held?.rows.get(id);
  }

  /** A held row that the roster no longer has. */
  isGone = (id: string): boolean => !this.#byId.has(id);

  setShowAll(all: boolean): void {
    this.showAll = all;
    this.#afresh = true;
    void this.connect();
  }

  setText(text: string): void {
    this.text = text;
    this.release();
  }

  toggleGroup(group: Group): void {
    const groups = new Set(this.groups);
    if (!groups.delete(group)) groups.add(group);
    this.groups = groups;
    this.release();
  }

  clearFilter(): void {
    this.groups = new Set();
    this.view.refused = false;
    this.setText("");
  }

  /** Keeps every row in its place, under the pointer, until `release`. The first rows of a snapshot are not held. */
  hold(): void {
    if (this.roster.rest === undefined) this.#held ??= { sections: this.#layout, rows: this.#byId };
  }

  release(): void {
    this.#held = undefined;
  }

  /** Selects a session; for a superseded one, the head of its chain. */
  select(id: string, open = this.opened, place?: WantedPlace): void {
    const row = this.row(id);
    if (row === undefined) return;
    this.#overtake();
    this.#take(id, headOf(this.roster.sessions, row) ?? row, open, place);
  }

  close(): void {
    this.#overtake();
    this.opened = false;
  }

  /** Drops earlier requests. */
  #overtake(): void {
    this.#request += 1;
    this.#awaited = undefined;
  }

  #take(id: string, head: TrackedSession, open: boolean, place?: WantedPlace): void {
    if (head.workChainId !== this.selected?.workChainId) this.pane += 1;
    this.selected = head;
    this.wantedPlace = place;
    this.wantedSegment = head.sessionId === id || place !== undefined ? undefined : { sessionId: id };
    this.opened = open;
  }

  /** Opens a session or a place in it. The filter may hide it, or it may be too old for the roster. The first reading knows only some. */
  ask(id: string, place?: WantedPlace): void {
    this.clearFilter();
    this.#awaited = { id, place };
    if (this.phase === "live" && !this.roster.reading) void this.#answer(this.#awaited);
    else if (this.phase === "failed") void this.connect();
  }

  /** Shows made-up sessions, or the real ones again. */
  async showDemo(on: boolean): Promise<void> {
    try {
      this.#afresh = true;
      await this.#host.ask(on ? "start_demo" : "leave_demo");
      await this.connect();
    } catch (error) {
      this.phase = "failed";
      this.failure = reasonOf(error);
    }
  }

  #receive(message: RosterMessage): void {
    switch (message.type) {
      case "snapshot":
        this.#show(fromSnapshot(message));
        break;
      case "delta": {
        const after = applyDelta(this.#baseOfDeltas, message);
        if (after !== null) return this.#show(after);
        // For `cargo xtask bench`, which counts these gaps: there should be none.
        performance.mark("roster gap");
        void this.connect();
        break;
      }
      case "select":
        this.ask(message.sessionId);
        break;
      case "stopped":
        this.phase = "failed";
        this.failure = "Watchbill has stopped watching the sessions; its log says why.";
        break;
    }
  }

  #show(after: Roster): void {
    const before = this.roster;
    this.#baseOfDeltas = after;
    if (isLessThan(before, after)) return;
    this.roster = after;
    this.phase = "live";
    this.failure = "";
    this.clock.sync(after.generatedAt);
    this.#follow(after);
    const news = this.#afresh || before.reading ? undefined : announcementOf(newlyNeeding(before, after, this.opened ? this.selected?.sessionId : undefined));
    if (news !== undefined) this.announcement = { words: news, time: this.announcement.time + 1 };
    this.#afresh = false;
    if (this.#awaited !== undefined && !after.reading) void this.#answer(this.#awaited);
  }

  async #answer({ id, place }: Awaited): Promise<void> {
    this.#awaited = undefined;
    const request = ++this.#request;
    if (this.row(id) !== undefined) {
      this.select(id, true, place);
      this.asked = { sessionId: id, found: true };
      return;
    }
    try {
      const head = await this.#host.ask("head", { session: id });
      // The user may have asked for or chosen another session meanwhile.
      if (request !== this.#request) return;
      const known = this.row(head.sessionId);
      if (known === undefined) this.#outside = head.sessionId;
      this.#take(id, known ?? head, true, place);
      this.asked = { sessionId: id, found: true };
    } catch (error) {
      if (request === this.#request) this.asked = { sessionId: id, found: false, ...(isNotFound(error) ? {} : { reason: reasonOf(error) }) };
    }
  }

  /** When the selected session is superseded, the selection moves to its successor. */
  #follow(after: Roster): void {
    if (this.selected === undefined) return;
    const head = headOf(after.sessions, this.selected);
    if (head !== undefined) this.selected = head;
  }
}
