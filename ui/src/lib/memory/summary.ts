// The five fields of a summary as titled lists. The engine fills them, by rules.

import type { SessionSummary } from "../bindings/SessionSummary";

export type SummaryField = { title: string; lines: readonly string[] };

/** The fields that say something, in the order of the work. */
export function summaryFields({ request, investigated, learned, completed, nextSteps }: SessionSummary): SummaryField[] {
  const one = (text: string | undefined): readonly string[] => (text === undefined || text === "" ? [] : [text]);
  const fields = [
    { title: "Request", lines: one(request) },
    { title: "Investigated", lines: one(investigated) },
    { title: "Learned", lines: learned },
    { title: "Completed", lines: one(completed) },
    { title: "Next steps", lines: nextSteps },
  ];
  return fields.filter(({ lines }) => lines.length > 0);
}
