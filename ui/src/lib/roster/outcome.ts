// What came of a turn. Pure.

import type { Outcome } from "../bindings/Outcome";
import { plural } from "../text";

/** "4 files, tests pass, 11 min" */
export function outcomeWords({ files, passed, seconds = 0 }: Outcome): string {
  const tests = passed === undefined ? [] : [passed ? "tests pass" : "tests fail"];
  return [...(files > 0 ? [plural(files, "file")] : []), ...tests, ...(seconds >= 60 ? [`${Math.floor(seconds / 60)} min`] : [])].join(", ");
}
