// Fields for numbers: what can't be read as one number is refused and stays in its field.

import { element, readNumber } from "./text";

/** Creates a field; `take` receives a number and returns why it can't be used, or an empty text. */
export function numberField(title: string, take: (value: number) => string): HTMLInputElement {
  const input = element("input", "number");
  input.type = "text";
  input.inputMode = "decimal";
  input.title = title;
  input.setAttribute("aria-label", title);
  input.addEventListener("input", () => refuse(input, ""));
  input.addEventListener("change", () => {
    const value = readNumber(input.value);
    refuse(input, typeof value === "string" ? value : take(value));
    input.reportValidity();
  });
  return input;
}

/** Shows a number in its field, which becomes as wide as that needs. */
export function fill(input: HTMLInputElement, text: string): void {
  refuse(input, "");
  input.value = text;
  input.style.width = `calc(${Math.max(6, text.length)}ch + 18px)`;
}

function refuse(input: HTMLInputElement, reason: string): void {
  input.setCustomValidity(reason);
  input.setAttribute("aria-invalid", String(reason !== ""));
}
