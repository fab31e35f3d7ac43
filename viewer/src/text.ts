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
  const digits = Math.max(0, Math.ceil(-Math.log10(step)));
  return digits > 12 || Math.abs(value) >= 1e20 ? String(Number(value.toPrecision(6))) : value.toFixed(digits);
}

/** Formats a limit of a range with the digits that make a difference of a 300th of it. */
export function limit(value: number, [low, high]: [number, number]): string {
  const text = precise(value, (high - low) / 300 || 1);
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

/**
 * Reads a number as people write it: 1234.5, 1,234.5, 1.234,5 or 0,5. Returns the reason if it is none, or may be two:
 * in 1,234 the comma may separate thousands or decimals.
 */
export function readNumber(text: string): number | string {
  const plain = text.replace(/\s/g, "").replace("−", "-");
  const [, whole, thousands] = /^[+-]?([1-9]\d{0,2}),(\d{3})$/.exec(plain) ?? [];
  if (whole) return `${text.trim()} can be read in two ways; write ${whole}${thousands} or ${whole}.${thousands}`;
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return Number(plain);
  if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(plain)) return Number(plain.replace(/,/g, ""));
  if (/^[+-]?(\d*|[1-9]\d{0,2}(\.\d{3})+),\d+$/.test(plain)) return Number(plain.replace(/\./g, "").replace(",", "."));
  return `'${text.trim()}' is not a number; write one such as 1234.5`;
}

/** Kinds of GPS time in LAS files: seconds of the week, or since 1980-01-06 less a billion. */
export type GpsTime = "week" | "standard";

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Formats GPS time, known to within a step, as a date, or as a day of its week, to within a millisecond. */
export function gpsTime(value: number, kind: GpsTime, step: number): string {
  const digits = Math.min(3, Math.max(0, Math.ceil(-Math.log10(step))));
  // Rounded first: 59.996 s are not 60.00 s of the same minute.
  const time = Number(value.toFixed(digits));
  const seconds = Math.floor(time);
  const part = digits ? (time - seconds).toFixed(digits).slice(1) : "";
  const start = Date.UTC(1980, 0, 6) + (kind === "standard" ? 1e12 : 0);
  const date = new Date(start + 1000 * seconds);
  if (Number.isNaN(date.getTime())) return "no date";
  const [day, clock] = date.toISOString().slice(0, -5).split("T");
  return `${kind === "standard" ? day : DAYS[date.getUTCDay()]} ${clock}${part}`;
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
