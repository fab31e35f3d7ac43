// Legend: the meaning of colors, and the distribution of points over them.

import { css, onRamp } from "./colors";
import type { Choices } from "./choices";
import type { Shading } from "./shading";
import { Mode } from "./shading";
import { fill, numberField } from "./field";
import { count, element, gpsTime, limit, percent, short } from "./text";

export interface LegendEvents {
  limits(limits: [number, number] | null): void;
  hide(value: number, hidden: boolean): void;
}

export function legend(place: HTMLElement, shading: Shading, choices: Choices, events: LegendEvents): void {
  place.replaceChildren();
  if (shading.mode === Mode.Rgb) return;
  if (shading.classes.length) place.append(classes(shading, choices, events));
  else place.append(histogram(shading, choices), limits(shading, choices, events));
}

/** Draws a histogram in the colors of the ramp. */
function histogram(shading: Shading, choices: Choices): HTMLElement {
  const canvas = element("canvas", "histogram");
  const [width, height] = [240, 44];
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  const parts = shading.histogram.length;
  const largest = Math.max(1, ...shading.histogram);
  const drawn = canvas.getContext("2d");
  if (!drawn) return canvas;
  drawn.scale(2, 2);
  shading.histogram.forEach((points, i) => {
    drawn.fillStyle = css(onRamp(choices.ramp, shading.first + ((1 - shading.first) * (i + 0.5)) / parts));
    const bar = points === 0 ? 0 : Math.max(1, (points / largest) * (height - 9));
    drawn.fillRect((i * width) / parts, height - 8 - bar, width / parts + 0.5, bar);
    drawn.fillRect((i * width) / parts, height - 7, width / parts + 0.5, 7);
  });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `points by ${shading.title}, ${short(shading.limits[0])} to ${short(shading.limits[1])}`);
  return canvas;
}

function limits(shading: Shading, choices: Choices, events: LegendEvents): HTMLElement {
  const row = element("div", "limits");
  const unit = shading.unit ? ` (${shading.unit})` : "";
  const inputs = shading.limits.map((value, i) => {
    const input = numberField(`${i === 0 ? "lowest" : "highest"} value of the colors${unit}`, (entered) => {
      const other = Number(inputs[1 - i].value);
      const changed: [number, number] = i === 0 ? [entered, other] : [other, entered];
      if (!(changed[0] < changed[1])) return i === 0 ? `must be below ${inputs[1].value}` : `must be above ${inputs[0].value}`;
      events.limits(changed);
      return "";
    });
    fill(input, choices.limits ? String(Number(value.toPrecision(12))) : limit(value, shading.limits));
    return input;
  });
  row.append(inputs[0], element("span", "unit", shading.unit), inputs[1]);
  const { time, limits } = shading;
  if (time) {
    const [from, to] = limits.map((value) => gpsTime(value, time, (limits[1] - limits[0]) / 300));
    row.append(element("span", "unit times", `${from} to ${to} (GPS time)`));
  }
  if (!choices.limits) return row;
  const back = element("button", "link", "2 to 98 %");
  back.title = "limits as at the start";
  back.addEventListener("click", () => events.limits(null));
  row.append(back);
  return row;
}

function classes(shading: Shading, choices: Choices, events: LegendEvents): HTMLElement {
  const list = element("ul", "classes");
  const all = shading.classes.reduce((sum, one) => sum + one.points, 0);
  for (const one of shading.classes) {
    const row = element("li");
    const label = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.checked = !choices.hidden.includes(one.value);
    box.disabled = Number.isNaN(one.value);
    box.addEventListener("change", () => events.hide(one.value, !box.checked));
    const color = element("i");
    color.style.background = css(one.color);
    const number = Number.isNaN(one.value) ? "" : String(one.value);
    const name = element("span", "name", [number, one.name].filter(Boolean).join(" "));
    const share = element("span", "share", percent(one.points / all));
    share.title = `${count(one.points)} points of the page`;
    label.append(box, color, name, share);
    row.append(label);
    list.append(row);
  }
  return list;
}
