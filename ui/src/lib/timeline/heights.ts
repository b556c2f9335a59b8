// Heights of very many items, measured or estimated, with quick sums.

const BLOCK = 256;

/** Sums are kept per block, so that finding an offset among 100,000 items looks at some hundred numbers. */
export class Heights {
  readonly estimate: number;
  #heights: number[] = [];
  #sums: number[] = [];

  constructor(estimate: number) {
    this.estimate = estimate;
  }

  get length(): number {
    return this.#heights.length;
  }

  /** Grows with the estimate, or cuts off. */
  resize(length: number): void {
    if (length < this.#heights.length) {
      this.#heights.length = length;
      this.#sums.length = Math.ceil(length / BLOCK);
      if (length % BLOCK !== 0) this.#sums[this.#sums.length - 1] = this.#sumOfBlock(this.#sums.length - 1);
      return;
    }
    for (let i = this.#heights.length; i < length; i += 1) {
      this.#heights.push(this.estimate);
      const block = Math.floor(i / BLOCK);
      this.#sums[block] = (this.#sums[block] ?? 0) + this.estimate;
    }
  }

  get(index: number): number {
    return this.#heights[index] ?? 0;
  }

  /** Returns by how much the height changed. */
  set(index: number, height: number): number {
    const before = this.#heights[index];
    if (before === undefined || before === height) return 0;
    this.#heights[index] = height;
    const block = Math.floor(index / BLOCK);
    this.#sums[block] = (this.#sums[block] ?? 0) + height - before;
    return height - before;
  }

  total(): number {
    return this.#sums.reduce((sum, block) => sum + block, 0);
  }

  /** Where the item begins. */
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
    while (block < this.#sums.length - 1 && rest >= this.#sums[block]!) rest -= this.#sums[block++]!;
    let i = block * BLOCK;
    while (i < this.length - 1 && rest >= this.#heights[i]!) rest -= this.#heights[i++]!;
    return Math.max(0, i);
  }

  #sumOfBlock(block: number): number {
    let sum = 0;
    for (const height of this.#heights.slice(block * BLOCK, (block + 1) * BLOCK)) sum += height;
    return sum;
  }
}
