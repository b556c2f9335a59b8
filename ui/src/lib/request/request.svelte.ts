// The card of a request: when its answers count, the sent answer, and its outcome.

import type { Request } from "../bindings/Request";
import type { RequestDecision } from "../bindings/RequestDecision";
import type { TrackedSession } from "../bindings/TrackedSession";
import { secondWords } from "../age";
import { type Host, reasonOf } from "../host/host";
import { titleOf } from "../roster/words";
import { cardWords, ELSEWHERE, NO_EFFECT, NOT_DELIVERED, notSent, sentWords, whyNot } from "./words";

/** The same card must be in sight this long, in milliseconds, before an answer counts. */
export const IN_SIGHT = 400;
/** How long the end of a request is shown, in milliseconds. A refusal takes longer to read. */
const NOTE = 2000;
/** After this time, in milliseconds, an answer that was not delivered is told. The engine refuses it from then on. */
export const DELIVERY = 5000;
const REFUSAL = 6000;

export type Card = { readonly sessionId: string; readonly title: string; readonly request: Request; readonly canStop: boolean };

export class RequestModel {
  card = $state.raw<Card | undefined>();
  /** The card was in sight for long enough. */
  ready = $state(false);
  /** The whole text was in sight once. */
  whole = $state(false);
  /** "Allowed, 14:02:38" */
  sent = $state("");
  refusal = $state("");
  /** The request is over, and its card stays while the user types in it. */
  over = $state(false);
  /** What became of the last request, for a moment. */
  note = $state("");

  #host: Host;
  #at: () => number;
  #say: (words: string) => void;
  #newest: TrackedSession | undefined;
  #inSight = false;
  #typing = false;
  #readyTimer: ReturnType<typeof setTimeout> | undefined;
  #noteTimer: ReturnType<typeof setTimeout> | undefined;
  #deliveryTimer: ReturnType<typeof setTimeout> | undefined;

  /** `at` is the engine's time. `say` announces to screen readers. */
  constructor(host: Host, at: () => number, say: (words: string) => void) {
    this.#host = host;
    this.#at = at;
    this.#say = say;
  }

  /** Takes the newest row of the session. */
  take(session: TrackedSession): void {
    this.#newest = session;
    const before = this.card;
    const { request } = session;
    if (before !== undefined && request !== undefined && isSame(before, cardOf(session, request))) {
      this.card = cardOf(session, request);
      this.over = false;
      if (request.progress === "failed" && before.request.progress !== "failed") this.#say(NO_EFFECT);
    } else if (before !== undefined && this.#typing) {
      // Without its field, the next keys that the user types would be answers to the next card.
      if (!this.over) this.#say(ELSEWHERE);
      this.over = true;
    } else if (before !== undefined || request !== undefined) {
      this.#change(session);
    }
  }

  /** Whether the window is visible and nothing covers the card. */
  setInSight(inSight: boolean): void {
    if (inSight === this.#inSight) return;
    this.#inSight = inSight;
    this.#restart();
  }

  /** Whether the focus is in a text field of the card. */
  setTyping(typing: boolean): void {
    this.#typing = typing;
    if (!typing && this.over && this.#newest !== undefined) this.#change(this.#newest);
  }

  /** Why this decision does not count now; undefined if it counts. */
  refuses(decision: RequestDecision["do"]): "gone" | "soon" | "scroll" | "none" | undefined {
    const request = this.card?.request;
    if (request === undefined || this.over || this.sent !== "" || request.progress !== "open" || whyNot(request) !== undefined) return "gone";
    const isQuestion = request.kind === "question";
    const allows = decision === "allow" || decision === "allow_always";
    if (allows ? isQuestion : decision === "choose" && !isQuestion) return "none";
    if (decision === "allow_always" && request.kind === "permission" && (request.always ?? []).length === 0) return "none";
    if (!this.ready) return "soon";
    return allows && !this.whole ? "scroll" : undefined;
  }

  /** Sends the answer to the card that is shown, if it counts now. */
  async send(decision: RequestDecision): Promise<void> {
    const card = this.card;
    if (card === undefined || this.refuses(decision.do) !== undefined) return;
    const words = sentWords(decision, card.request.kind);
    this.sent = `${words}, ${secondWords(this.#at())}`;
    this.refusal = "";
    const late = (this.#deliveryTimer = setTimeout(() => this.#late(card), DELIVERY));
    try {
      await this.#host.ask("answer", { session: card.sessionId, requestId: card.request.id, seen: card.request.digest, decision });
      if (this.refusal === NOT_DELIVERED) this.refusal = "";
      this.#say(`${words}.`);
    } catch (error) {
      this.#refused(card, notSent(reasonOf(error)));
    } finally {
      clearTimeout(late);
    }
  }

  stop(): void {
    clearTimeout(this.#readyTimer);
    clearTimeout(this.#noteTimer);
    clearTimeout(this.#deliveryTimer);
  }

  /** The answer is under way for too long. Its outcome is still to come. */
  #late(card: Card): void {
    if (this.card === undefined || !isSame(this.card, card)) return;
    this.refusal = NOT_DELIVERED;
    this.#say(NOT_DELIVERED);
  }

  #refused(card: Card, words: string): void {
    this.#say(words);
    if (this.card === undefined || !isSame(this.card, card)) return this.#tell(words, REFUSAL);
    this.sent = "";
    this.refusal = words;
  }

  #change(session: TrackedSession): void {
    const before = this.card;
    const { request } = session;
    const progress = before?.request.progress;
    const wasAnswered = progress !== "failed" && (this.sent !== "" || progress !== "open");
    const wasSaid = this.over;
    this.card = request && cardOf(session, request);
    this.over = this.whole = false;
    this.sent = this.refusal = "";
    this.#tell("", 0);
    this.#restart();
    if (request !== undefined) return this.#say(cardWords(titleOf(session), request));
    // If the session still waits, the hook has ended without an answer, and the terminal asks on.
    if (wasAnswered || session.state === "waiting_for_approval" || session.sessionId !== before?.sessionId) return;
    this.#tell(ELSEWHERE, NOTE);
    if (!wasSaid) this.#say(`${ELSEWHERE}.`);
  }

  #tell(words: string, during: number): void {
    clearTimeout(this.#noteTimer);
    this.note = words;
    if (words !== "") this.#noteTimer = setTimeout(() => (this.note = ""), during);
  }

  #restart(): void {
    clearTimeout(this.#readyTimer);
    this.ready = false;
    if (this.#inSight && this.card !== undefined) this.#readyTimer = setTimeout(() => (this.ready = true), IN_SIGHT);
  }
}

function cardOf(session: TrackedSession, request: Request): Card {
  // The hooks of other agents only allow or deny.
  const canStop = session.agent === "claude" || request.answerable !== "hook";
  return { sessionId: session.sessionId, title: titleOf(session), request, canStop };
}

/** The same request with the same content. */
function isSame(a: Card, b: Card): boolean {
  return a.sessionId === b.sessionId && a.request.id === b.request.id && a.request.digest === b.request.digest;
}
