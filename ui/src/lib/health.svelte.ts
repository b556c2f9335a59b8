// The health of watching, for the dot in the header. Asked only when there is a reason, never by a timer.

import type { Doctor } from "./bindings/Doctor";
import type { Problem } from "./bindings/Problem";
import type { Host } from "./host/host";
import type { RosterModel } from "./roster/roster.svelte";
import { isLineLost } from "./settings/hooks";
import { plural } from "./text";

export type Level = "good" | "note" | "reading" | "warn" | "bad";

export type Health = { readonly level: Level; readonly words: string };

const UNKEPT = "The history is not kept at the moment";

/** A full disk, a read-only folder, a locked or damaged database: the shown state is right all the same. */
const isOfStore = (problem: Problem): boolean => problem.kind === "store";

/** Sums up the doctor's answer; the gravest finding counts. */
export function healthOf(doctor: Doctor): Health {
  const unwatched = doctor.roots.filter((root) => !root.exists || root.watch === "none");
  if (unwatched.length > 0 && unwatched.length === doctor.roots.length) return { level: "warn", words: "There is no session folder to watch" };
  if (unwatched.length > 0) return { level: "warn", words: `${plural(unwatched.length, "folder")} not watched` };
  if (doctor.store?.trouble !== undefined || doctor.problems.some(isOfStore)) return { level: "warn", words: UNKEPT };
  if (doctor.problems.length > 0) return { level: "warn", words: `${plural(doctor.problems.length, "problem")} while reading` };
  if (doctor.limits.some((limit) => !limit.enough)) return { level: "warn", words: "A limit of the system is too low to watch everything" };
  if (doctor.roots.some((root) => root.watch === "poll")) return { level: "note", words: "Folders are polled: changes are seen late" };
  const settings = doctor.hooks?.settings ?? [];
  if (settings.some((file) => file.state === "program_missing")) return { level: "warn", words: "The hooks name a program that is not there" };
  if (settings.some(isLineLost)) return { level: "warn", words: "Your status line is not drawn: its program is not there" };
  if (settings.some((file) => file.state === "outdated")) return { level: "note", words: "The hooks are for another data folder or another version of Claude Code" };
  if (settings.length > 0 && !settings.some((file) => file.state === "installed")) {
    const what = settings.some((file) => file.answers) ? "Only the hook for answers is installed" : "Hooks are not installed";
    return { level: "note", words: `${what}: states come later and say less` };
  }
  return { level: "good", words: "All is watched" };
}

/** The roster has the present problems; the doctor's answer has those from when it was asked. */
function withoutTrouble({ store: _, ...doctor }: Doctor): Doctor {
  return { ...doctor, problems: [] };
}

export class HealthModel {
  #doctor = $state.raw<Doctor | undefined>();
  #host: Pick<Host, "ask">;
  #roster: RosterModel;
  #asking = false;
  #again = false;

  constructor(host: Pick<Host, "ask">, roster: RosterModel) {
    this.#host = host;
    this.#roster = roster;
  }

  now = $derived.by<Health>(() => {
    const { phase, roster, failure } = this.#roster;
    if (phase === "failed") return { level: "bad", words: failure === "" ? "The engine does not answer" : failure };
    if (phase === "connecting" || roster.reading) return { level: "reading", words: "Reading transcripts" };
    const count = roster.problems.length;
    if (roster.problems.some(isOfStore)) return { level: "warn", words: UNKEPT };
    if (count > 0) return { level: "warn", words: `${plural(count, "problem")} while reading` };
    return this.#doctor === undefined ? { level: "good", words: "All is watched" } : healthOf(withoutTrouble(this.#doctor));
  });

  /** Asks again: after the start, when problems changed, after the user has seen the panel or installed the hooks. */
  async ask(): Promise<void> {
    this.#again = true;
    if (this.#asking) return;
    this.#asking = true;
    // An answer on its way may miss a change, so ask once more.
    while (this.#again) {
      this.#again = false;
      try {
        this.#doctor = await this.#host.ask("doctor");
      } catch {
        // The roster reports when the engine is gone; the panel shows this error.
      }
    }
    this.#asking = false;
  }
}
