// Drafts of prompts, one for each work chain. Kept in local storage, so that they outlive the window.

import type { OwnImage } from "../bindings/OwnImage";

export type Draft = { readonly text: string; readonly images: readonly OwnImage[] };

export const NO_DRAFT: Draft = { text: "", images: [] };

const keyOf = (chain: string): string => `watchbill.draft.${chain}`;

export function readDraft(chain: string): Draft {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(chain)) ?? "null");
    if (typeof kept !== "object" || kept === null) return NO_DRAFT;
    const { text, images } = kept as Record<string, unknown>;
    return { text: typeof text === "string" ? text : "", images: Array.isArray(images) ? images.filter(isImage) : [] };
  } catch {
    return NO_DRAFT;
  }
}

/** Returns whether all of it was kept. Pictures may be too large for the storage; then the text alone is kept. */
export function keepDraft(chain: string, draft: Draft): boolean {
  if (draft.text === "" && draft.images.length === 0) return put(chain, undefined);
  return put(chain, draft) || (put(chain, { text: draft.text, images: [] }) && draft.images.length === 0);
}

function put(chain: string, draft: Draft | undefined): boolean {
  try {
    if (draft === undefined) localStorage.removeItem(keyOf(chain));
    else localStorage.setItem(keyOf(chain), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

function isImage(value: unknown): value is OwnImage {
  if (typeof value !== "object" || value === null) return false;
  const { media, data } = value as Record<string, unknown>;
  return typeof media === "string" && typeof data === "string";
}
