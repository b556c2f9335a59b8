import { expect, test } from "vitest";

import type { Doctor } from "./bindings/Doctor";
import { wrongIn } from "./doctor";
import { UNWELL } from "./host/mock/presets";

test("the first line of the panel counts the marked lines", () => {
  // A folder that is missing, a registry that cannot be read, a limit that is too low.
  expect(wrongIn(UNWELL)).toBe(3);
  const well: Doctor = { ...UNWELL, roots: UNWELL.roots.slice(0, 1), registry: { readable: true, files: 0, live: 0 }, limits: [] };
  expect(wrongIn(well)).toBe(0);
  const settings = { scope: "user", path: "/x", state: "program_missing", missing: [], programs: [] } as unknown as NonNullable<Doctor["hooks"]>["settings"][number];
  const hooks = { settings: [settings], sessions: 0, waiting: 0, damaged: 2, dropped: 0 } as unknown as NonNullable<Doctor["hooks"]>;
  expect(wrongIn({ ...well, hooks }), "what was lost is not shown where no hooks are").toBe(1);
  expect(wrongIn({ ...well, hooks: { ...hooks, settings: [{ ...settings, state: "installed" }] } })).toBe(1);
});
