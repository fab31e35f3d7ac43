// Formatting of numbers.

/** Formats an integer in groups of three digits. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** Formats a number with about four digits, without trailing zeros. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(2);
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  const text = value.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : count(value);
}

/** Formats a number with two digits. */
export function rough(value: number): string {
  return short(Number(value.toPrecision(2)));
}

/** Formats a number with the digits that are significant for a step size. */
export function precise(value: number, step: number): string {
  return value.toFixed(Math.min(9, Math.max(0, Math.ceil(-Math.log10(step)))));
}

/** Formats a fraction in percent. */
export function percent(share: number): string {
  return `${share >= 0.1 ? (100 * share).toFixed(0) : (100 * share).toPrecision(2)} %`;
}

/** Creates an element with a class and text, which is never parsed as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name = "",
  text = "",
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag);
  if (name) created.className = name;
  if (text) created.textContent = text;
  return created;
}
