// Pictures of a prompt: which are taken, and how large they may be.

import type { OwnImage } from "../bindings/OwnImage";
import { toBase64 } from "../base64";

/** What the models' API takes (Claude's documents: 5 MB a picture, these four kinds). */
const KINDS: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
export const LARGEST_PICTURE = 5_000_000;
export const MOST_PICTURES = 8;

/** Why the file is no picture for a prompt; undefined if it is one. */
export function whyNotPicture({ type, size, name }: Pick<File, "type" | "size" | "name">, have: number): string | undefined {
  if (!KINDS.has(type)) return `${name || "The file"} is not a PNG, JPEG, GIF or WebP picture.`;
  if (size > LARGEST_PICTURE) return `${name || "The picture"} has ${(size / 1e6).toFixed(1)} MB; a picture may have ${LARGEST_PICTURE / 1e6} MB.`;
  if (have >= MOST_PICTURES) return `A prompt takes ${MOST_PICTURES} pictures at most.`;
  return undefined;
}

export async function readPicture(file: File): Promise<OwnImage> {
  return { media: file.type, data: toBase64(new Uint8Array(await file.arrayBuffer())) };
}
