// The answers to the questions of one request, until they are sent.

import type { RequestAnswer } from "../bindings/RequestAnswer";
import type { RequestQuestion } from "../bindings/RequestQuestion";
import { visibleLine } from "../visible";

type Draft = { readonly options: readonly number[]; readonly text: string };

export class Choices {
  readonly questions: readonly RequestQuestion[];
  /** The question that is shown. */
  at = $state(0);
  /** The option that the user touched last; Space chooses it. */
  cursor = $state<number | undefined>();
  #drafts = $state.raw<readonly Draft[]>([]);

  constructor(questions: readonly RequestQuestion[]) {
    this.questions = questions;
    this.#drafts = questions.map(() => ({ options: [], text: "" }));
  }

  get question(): RequestQuestion | undefined {
    return this.questions[this.at];
  }

  get draft(): Draft {
    return this.#drafts[this.at] ?? { options: [], text: "" };
  }

  /** Chooses an option by its place from 0. Where several may be chosen, a second time takes it back. */
  pick(place: number): void {
    const { question } = this;
    if (question?.options[place] === undefined) return;
    this.cursor = place;
    const { options } = this.draft;
    const without = options.filter((option) => option !== place);
    if (!question.several) this.#set({ options: [place], text: "" });
    else this.#set({ options: without.length < options.length ? without : inOrder(question, [...options, place]), text: "" });
  }

  /** The user's own words take the place of the options. */
  write(text: string): void {
    this.#set({ options: text.trim() === "" ? this.draft.options : [], text });
  }

  go(to: number): void {
    this.at = Math.max(0, Math.min(to, this.questions.length - 1));
    this.cursor = undefined;
  }

  isAnswered(index = this.at): boolean {
    const draft = this.#drafts[index];
    return draft !== undefined && (draft.options.length > 0 || draft.text.trim() !== "");
  }

  /** The place of the first question without an answer. */
  get open(): number | undefined {
    const place = this.questions.findIndex((_, index) => !this.isAnswered(index));
    return place === -1 ? undefined : place;
  }

  /** The answer to the shown question in one line. */
  get words(): string {
    const { options, text } = this.draft;
    if (text.trim() !== "") return visibleLine(text, 40);
    return visibleLine(options.map((place) => this.question?.options[place]?.label ?? "").join(", "), 40);
  }

  answers(): RequestAnswer[] {
    return this.#drafts.map(({ options, text }) => (text.trim() === "" ? { options: [...options] } : { text }));
  }

  #set(draft: Draft): void {
    this.#drafts = this.#drafts.map((old, index) => (index === this.at ? draft : old));
  }
}

function inOrder(question: RequestQuestion, places: readonly number[]): number[] {
  return question.options.flatMap((_, place) => (places.includes(place) ? [place] : []));
}
