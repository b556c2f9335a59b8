// Heights of very many items, measured or estimated, with fast sums.

const BLOCK = 256;

/** Sums are kept per block, so that finding an offset among 100,000 items reads only some hundred numbers. */
export class Heights {
  readonly estimate: number;
  #length = 0;
  /** Longer than needed, so that a timeline that grows by one item is not copied each time. */
  #heights = new Float64Array(0);
  #sums = new Float64Array(0);

  constructor(estimate: number) {
    this.estimate = estimate;
  }

  get length(): number {
    return this.#length;
  }

  /** Grows with the estimate, or shrinks. */
  resize(length: number): void {
    const before = this.#length;
    this.#length = length;
    if (length > this.#heights.length) this.#reserve(Math.ceil((length * 1.25) / BLOCK) * BLOCK);
    if (length > before) this.#heights.fill(this.estimate, before, length);
    else this.#heights.fill(0, length, before);
    const blocks = Math.ceil(Math.max(before, length) / BLOCK);
    for (let block = Math.floor(Math.min(before, length) / BLOCK); block < blocks; block += 1) {
      // A wholly new block holds only estimates, so its sum needs no loop. A long timeline arrives at once.
      const isNew = block * BLOCK >= before && (block + 1) * BLOCK <= length;
      this.#sums[block] = isNew ? BLOCK * this.estimate : this.#sumOfBlock(block);
    }
  }

  /** Sets a new length. Known heights move with their items to the new indexes. */
  move(length: number, to: (index: number) => number | undefined): void {
    const before = this.#heights.slice(0, this.#length);
    this.resize(0);
    this.resize(length);
    before.forEach((height, index) => {
      const place = height === this.estimate ? undefined : to(index);
      if (place !== undefined) this.set(place, height);
    });
  }

  get(index: number): number {
    return index < this.#length ? (this.#heights[index] ?? 0) : 0;
  }

  /** Returns the change of the height. */
  set(index: number, height: number): number {
    if (index >= this.#length) return 0;
    const change = height - this.get(index);
    this.#heights[index] = height;
    this.#sums[Math.floor(index / BLOCK)]! += change;
    return change;
  }

  total(): number {
    let sum = 0;
    for (let block = 0; block < this.#blocks(); block += 1) sum += this.#sums[block]!;
    return sum;
  }

  /** The offset at which the item begins. */
  offsetOf(index: number): number {
    const block = Math.floor(Math.min(index, this.length) / BLOCK);
    let offset = 0;
    for (let b = 0; b < block; b += 1) offset += this.#sums[b]!;
    for (let i = block * BLOCK; i < Math.min(index, this.length); i += 1) offset += this.#heights[i]!;
    return offset;
  }

  /** The item at the offset: the last one that begins at or before it and has a height. */
  indexAt(offset: number): number {
    let rest = Math.max(0, offset);
    let block = 0;
    while (block < this.#blocks() - 1 && rest >= this.#sums[block]!) rest -= this.#sums[block++]!;
    let i = block * BLOCK;
    while (i < this.length - 1 && rest >= this.#heights[i]!) rest -= this.#heights[i++]!;
    return Math.max(0, i);
  }

  #blocks(): number {
    return Math.ceil(this.#length / BLOCK);
  }

  #sumOfBlock(block: number): number {
    let sum = 0;
    for (let i = block * BLOCK; i < Math.min(this.#length, (block + 1) * BLOCK); i += 1) sum += this.#heights[i]!;
    return sum;
  }

  #reserve(length: number): void {
    const heights = new Float64Array(length);
    heights.set(this.#heights);
    this.#heights = heights;
    const sums = new Float64Array(length / BLOCK);
    sums.set(this.#sums);
    this.#sums = sums;
  }
}
