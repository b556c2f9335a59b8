// One own session as the window shows it: its entries, its queue, and its actions.

import type { OwnCommand } from "../bindings/OwnCommand";
import type { OwnImage } from "../bindings/OwnImage";
import type { OwnNews } from "../bindings/OwnNews";
import type { OwnSpec } from "../bindings/OwnSpec";
import type { PromptWhen } from "../bindings/PromptWhen";
import { type Host, reasonOf } from "../host/host";
import { type QueuedPrompt } from "./facts";
import { type LiveItem, OwnFold } from "./fold";

/** `over`: its host has ended. `lost`: the connection to the host failed. */
export type Contact = "connecting" | "live" | "over" | "lost";

export class OwnSession {
  readonly id: string;
  contact = $state<Contact>("connecting");
  failure = $state("");
  spec = $state.raw<OwnSpec | undefined>();
  items = $state.raw<readonly LiveItem[]>([]);
  facts = $state.raw(new OwnFold("", false).facts);
  /** All past events have come. */
  caughtUp = $state(false);

  #host: Pick<Host, "ask" | "subscribe">;
  #keepsAll: boolean;
  #fold: OwnFold;
  /** A host has greeted, and what is in the log so far has not all come. */
  #hasHost = false;
  #attached = 0;
  #detach: (() => void) | undefined;
  #paint: (done: () => void) => void;
  #dirty = false;
  #pictures = new Map<string, readonly OwnImage[]>();
  #taken = new Map<string, (taken: boolean) => void>();
  /** Hears of each prompt that the host has, by its id. */
  onknown: (id: string) => void = () => undefined;

  /** `keepsAll`: no transcript shows the entries of past turns. `paint` calls back before the next painting. */
  constructor(host: Pick<Host, "ask" | "subscribe">, id: string, keepsAll: boolean, paint: (done: () => void) => void = (done) => void requestAnimationFrame(done)) {
    this.#host = host;
    this.id = id;
    this.#keepsAll = keepsAll;
    this.#fold = new OwnFold(id, keepsAll);
    this.#paint = paint;
  }

  /** Attaches from the beginning of the log. It only attaches: a session that has ended stays ended. */
  async connect(): Promise<void> {
    const attached = ++this.#attached;
    this.#detach?.();
    this.#detach = undefined;
    this.#fold = new OwnFold(this.id, this.#keepsAll);
    this.contact = "connecting";
    this.failure = "";
    try {
      const detach = await this.#host.subscribe({ to: "own", session: this.id, from: 0 }, (news) => {
        if (attached === this.#attached) this.#take(news);
      });
      if (attached === this.#attached) this.#detach = detach;
      else detach();
    } catch (error) {
      if (attached === this.#attached) this.#lose(reasonOf(error));
    }
  }

  close(): void {
    this.#attached += 1;
    this.#detach?.();
    this.#detach = undefined;
    for (const done of this.#taken.values()) done(false);
    this.#taken.clear();
  }

  command(command: OwnCommand): Promise<void> {
    return this.#host.ask("own_command", { session: this.id, command });
  }

  async prompt(id: string, text: string, images: readonly OwnImage[], when: PromptWhen): Promise<void> {
    if (images.length > 0) this.#pictures.set(id, images);
    await this.command({ do: "prompt", id, text, when, ...(images.length > 0 ? { images: [...images] } : {}) });
  }

  /** Whether its pictures are still here, so that it can be edited or sent again. */
  isWhole({ id, images }: QueuedPrompt): boolean {
    return images === 0 || this.#pictures.has(id);
  }

  picturesOf(id: string): readonly OwnImage[] {
    return this.#pictures.get(id) ?? [];
  }

  /** Takes a queued prompt back. Resolves to false if it went to the agent before. */
  async takeBack(id: string): Promise<boolean> {
    const taken = new Promise<boolean>((done) => this.#taken.set(id, done));
    try {
      await this.command({ do: "unqueue", id });
      return await taken;
    } finally {
      this.#taken.delete(id);
    }
  }

  #take(news: OwnNews): void {
    switch (news.own) {
      case "begin":
        this.spec = news.spec;
        this.contact = news.pid === undefined ? "over" : "live";
        this.#hasHost = news.pid !== undefined;
        break;
      case "over":
        if (news.failure !== undefined) this.#lose(news.failure);
        else this.contact = "over";
        break;
      case "host":
        if (news.message.host === "caught_up") {
          this.caughtUp = true;
          // A host that was started again says nothing before the next prompt: that it runs is what tells it. Later the
          // rest of the log may come from the file, with the end of the session in it.
          if (this.#hasHost) this.#fold.goesOn();
          this.#hasHost = false;
        }
        if (news.message.host === "events") for (const event of news.message.events) this.#hear(event);
        break;
    }
    this.#publish();
  }

  #hear(event: Parameters<OwnFold["apply"]>[0]): void {
    this.#fold.apply(event);
    if (event.event !== "prompt") return;
    this.onknown(event.id);
    if (event.place !== "queued") this.#taken.get(event.id)?.(event.place === "dropped");
    if (event.place === "done") this.#pictures.delete(event.id);
  }

  /** At most once a painting: text comes in many small pieces. */
  #publish(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    this.#paint(() => {
      this.#dirty = false;
      this.items = this.#fold.items;
      this.facts = this.#fold.facts;
    });
  }

  #lose(reason: string): void {
    this.contact = "lost";
    this.failure = reason;
    for (const done of this.#taken.values()) done(false);
  }
}
