// Input methods: their keys are not meant for the window.

/** Whether the key belongs to the composition of a character. WebKit reports the Enter that ends one with the code 229 alone. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
