// The facts of an own session besides its entries.

import type { OwnProcess } from "../bindings/OwnProcess";

export type QueuedPrompt = { readonly id: string; readonly text: string; readonly images: number };

export type OwnEnd = { readonly at: string; readonly words: string; readonly asked: boolean };

/** What is known of the session besides its entries. */
export type OwnFacts = {
  readonly working: boolean;
  /** The ids of open requests. */
  readonly asks: readonly string[];
  /** Prompts that the host has not sent yet, in order. */
  readonly queue: readonly QueuedPrompt[];
  /** Prompts of which it is not known whether the agent has them. */
  readonly lost: readonly QueuedPrompt[];
  /** Why the queue waits for the user; undefined while it does not. */
  readonly held: string | undefined;
  /** When the queue goes on by itself, as the user said. */
  readonly heldUntil: string | undefined;
  readonly model: string | undefined;
  readonly mode: string | undefined;
  readonly models: readonly string[];
  readonly modes: readonly string[];
  readonly commands: readonly string[];
  readonly context: { readonly used: number; readonly size?: number } | undefined;
  readonly pid: number | undefined;
  /** Processes that are left while it ends. */
  readonly ending: readonly OwnProcess[] | undefined;
  readonly ended: OwnEnd | undefined;
  /** When the newest event was logged; empty before the first. */
  readonly at: string;
};

export const NO_FACTS: OwnFacts = {
  working: false,
  asks: [],
  queue: [],
  lost: [],
  held: undefined,
  heldUntil: undefined,
  model: undefined,
  mode: undefined,
  models: [],
  modes: [],
  commands: [],
  context: undefined,
  pid: undefined,
  ending: undefined,
  ended: undefined,
  at: "",
};
