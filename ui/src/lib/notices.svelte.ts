// The notice at the foot of the window: what was done, for some seconds.

export class Notices {
  words = $state("");
  undo: (() => void) | undefined = $state.raw();
  #hiding: ReturnType<typeof setTimeout> | undefined;

  /** Shows a notice. One with Undo stays longer, so that the user can see what was done; so does a long one. */
  readonly say = (words: string, undo?: () => void): void => {
    [this.words, this.undo] = [words, undo];
    clearTimeout(this.#hiding);
    this.#hiding = setTimeout(() => (this.words = ""), undo === undefined ? Math.max(2500, words.length * 60) : 8000);
  };

  takeBack(): void {
    const { undo } = this;
    this.say("");
    undo?.();
  }

  end(): void {
    clearTimeout(this.#hiding);
  }
}
