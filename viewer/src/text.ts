// Numbers as people read them.

/** A whole number in groups of three. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** About four digits, without needless zeros. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(2);
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  const text = value.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : count(value);
}

/** Two digits. */
export function rough(value: number): string {
  return short(Number(value.toPrecision(2)));
}

/** As many digits as a step of that length can tell. */
export function precise(value: number, step: number): string {
  return value.toFixed(Math.min(9, Math.max(0, Math.ceil(-Math.log10(step)))));
}

/** A share in percent. */
export function percent(share: number): string {
  return `${share >= 0.1 ? (100 * share).toFixed(0) : (100 * share).toPrecision(2)} %`;
}

/** An element with a class and text, which is never read as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name = "",
  text = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text) made.textContent = text;
  return made;
}
