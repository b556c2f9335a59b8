// The part of the window's interface that is about what was learned.

import type { MemoryChange } from "../bindings/MemoryChange";
import type { MemoryChanged } from "../bindings/MemoryChanged";
import type { MemoryDetail } from "../bindings/MemoryDetail";
import type { MemoryPage } from "../bindings/MemoryPage";
import type { MemoryPreview } from "../bindings/MemoryPreview";
import type { SummaryPage } from "../bindings/SummaryPage";

export interface MemoryHost {
  /** What was learned in the session's project, and what was said to the sessions of its chain. */
  page(sessionId: string): Promise<MemoryPage>;
  /** The summary of the session's chain, and a hand-over to a new session. */
  summary(sessionId: string): Promise<SummaryPage>;
  /** One memory with its evidence. */
  detail(id: string): Promise<MemoryDetail>;
  /** What an agent in this folder would be told. With a session, what its agent remembers by itself is left out. */
  preview(cwd: string, sessionId: string | undefined): Promise<MemoryPreview>;
  change(change: MemoryChange): Promise<MemoryChanged>;
}
