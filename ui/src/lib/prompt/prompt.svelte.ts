// A prompt that is being written: its text and pictures, until the receiver has accepted them.

import type { OwnImage } from "../bindings/OwnImage";
import type { PromptWhen } from "../bindings/PromptWhen";
import { reasonOf } from "../host/host";
import { type Draft, keepDraft, readDraft } from "./draft";
import { readPicture, whyNotPicture } from "./pictures";

/** Resolves when the prompt is accepted. A prompt with an id that the receiver knows is not taken twice. */
export type Receive = (id: string, draft: Draft, when: PromptWhen) => Promise<void>;

export class PromptModel {
  text = $state("");
  images = $state.raw<readonly OwnImage[]>([]);
  sending = $state(false);
  /** Why it was not sent, or not taken. */
  failure = $state("");

  #chain: string;
  #receive: Receive;
  /** The id of this text. It stays after a failure, because the receiver may have the prompt. */
  #id: string | undefined;
  #last = "";

  constructor(chain: string, receive: Receive) {
    this.#chain = chain;
    this.#receive = receive;
    ({ text: this.text, images: this.images } = readDraft(chain));
  }

  get empty(): boolean {
    return this.text.trim() === "" && this.images.length === 0;
  }

  /** The work goes on in another chain, after a join or a split. */
  moveTo(chain: string): void {
    if (chain === this.#chain) return;
    this.#chain = chain;
    if (this.empty) ({ text: this.text, images: this.images } = readDraft(chain));
    else this.#keep();
  }

  edit(text: string): void {
    this.text = text;
    this.#changed();
  }

  put({ text, images }: Draft): void {
    [this.text, this.images] = [text, images];
    this.#changed();
  }

  /** The last prompt comes back into an empty box. */
  recall(): boolean {
    if (!this.empty || this.#last === "") return false;
    this.edit(this.#last);
    return true;
  }

  async addPictures(files: readonly File[]): Promise<void> {
    const refused: string[] = [];
    for (const file of files) {
      const why = whyNotPicture(file, this.images.length);
      if (why === undefined) this.images = [...this.images, await readPicture(file)];
      else refused.push(why);
    }
    this.#changed();
    if (refused.length > 0) this.failure = refused.join(" ");
  }

  removePicture(at: number): void {
    this.images = this.images.filter((_, i) => i !== at);
    this.#changed();
  }

  /** Sends it, and clears it when it is accepted. Otherwise it stays, with the reason. */
  async send(when: PromptWhen): Promise<boolean> {
    if (this.sending || this.empty) return false;
    const id = (this.#id ??= crypto.randomUUID());
    this.sending = true;
    this.failure = "";
    try {
      await this.#receive(id, { text: this.text, images: this.images }, when);
      this.known(id);
      return true;
    } catch (error) {
      if (this.#id === id) this.failure = reasonOf(error);
      return false;
    } finally {
      this.sending = false;
    }
  }

  /** The receiver has a prompt with this id, even if its answer to the sender was lost. */
  known(id: string): void {
    if (id !== this.#id) return;
    this.#last = this.text;
    this.put({ text: "", images: [] });
  }

  #changed(): void {
    this.#id = undefined;
    this.failure = "";
    this.#keep();
  }

  #keep(): void {
    if (!keepDraft(this.#chain, { text: this.text, images: this.images })) this.failure = "The pictures are too large to keep: they are lost if the window closes before you send.";
  }
}
