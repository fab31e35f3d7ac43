// Controls around the canvas: title, colors, slider, clicked point.

import { type Choices, SAMPLES, type Samples } from "./choices";
import { RAMPS, type Ramp } from "./colors";
import type { Cloud } from "./data";
import { fill, numberField } from "./field";
import { legend } from "./legend";
import { choicesOf, type Shading } from "./shading";
import { count, element, percent, short } from "./text";

/** Callbacks for changed settings. */
export interface Events {
  /** Colors or limits changed. */
  recolor(): void;
  /** Any other drawing setting changed. */
  redraw(): void;
  key(key: string): void;
  /** The panel was opened or closed. */
  layout(): void;
}

const KEYS: [string, string][] = [
  ["drag", "rotate"],
  ["right or middle drag", "move"],
  ["wheel", "zoom to the pointer"],
  ["double click", "rotate about that point"],
  ["click", "coordinates; a second click: distance"],
  ["1 to 7", "top, bottom, front, back, left, right, oblique"],
  ["P", "perspective or parallel"],
  ["+ and -", "point size"],
  ["E", "eye-dome lighting"],
  ["B", "light or dark background"],
  ["R", "view as at the start"],
  ["S", "save a picture"],
  ["Esc", "clear the clicked points"],
];

const RADIUS = "covering radius: no point of the cloud is farther from a shown one; type one to go there";

const SAMPLE_WORDS: Record<Samples, string> = {
  dots: "dots where there is room",
  alone: "alone, without the cloud",
  hidden: "hidden",
};

export class Panel {
  private readonly slider = element("input", "slider");
  private readonly shown = element("div", "shown");
  private readonly radius = numberField(RADIUS, (radius) => {
    if (radius < 0) return "a radius is not negative";
    this.choices.at = firstWithin(this.cloud.meta.prefixes.radius, radius);
    this.events.redraw();
    return "";
  });
  private readonly toggles: [HTMLElement, () => boolean][] = [];
  private readonly legend = element("div", "legend");
  private readonly clicked = element("div", "clicked");
  private readonly by = element("select");
  private readonly ramp = element("select");
  private readonly samples = element("select", "samples");
  private readonly side = element("aside", "side");
  private readonly base = element("div", "bottom");
  private readonly message = element("div", "message");
  readonly stats = element("pre", "stats");

  constructor(
    place: HTMLElement,
    private readonly cloud: Cloud,
    private readonly choices: Choices,
    private readonly events: Events,
  ) {
    const fold = element("button", "fold", "☰");
    fold.title = "show or hide the panel";
    fold.setAttribute("aria-label", fold.title);
    const foldTo = (folded: boolean) => {
      place.classList.toggle("folded", folded);
      fold.setAttribute("aria-expanded", String(!folded));
    };
    fold.addEventListener("click", () => {
      foldTo(!place.classList.contains("folded"));
      events.layout();
    });
    foldTo(window.innerWidth < 600);
    this.side.append(this.title(), this.colors(), this.legend, this.help());
    this.message.hidden = this.clicked.hidden = this.stats.hidden = true;
    this.clicked.setAttribute("role", "status");
    this.bottom();
    place.append(this.side, fold, this.clicked, this.base, this.message, this.stats);
  }

  /** Size of the part of the window above the slider and beside the panel. */
  freeArea(): [number, number] {
    const { innerWidth, innerHeight } = window;
    const [side, base] = [this.side.getBoundingClientRect(), this.base.getBoundingClientRect()];
    // In a narrow window the panel covers the canvas.
    const beside = side.width > 0 && side.width < innerWidth / 2;
    return [beside ? side.left - 12 : innerWidth, base.top - 12 || innerHeight];
  }

  private title(): HTMLElement {
    const { meta } = this.cloud;
    const head = element("header");
    head.append(element("h1", "", meta.name));
    const shown = meta.shown < meta.total ? `, ${count(meta.shown)} of them here` : "";
    head.append(element("p", "", `${count(meta.total)} points${shown}`));
    if (meta.panes.length) head.append(element("p", "", `${meta.panes.length} samplers`));
    if (meta.crs) head.append(element("p", "crs", meta.crs));
    return head;
  }

  private colors(): HTMLElement {
    const box = element("div", "colors");
    for (const [name, words] of choicesOf(this.cloud)) this.by.append(option(name, words));
    for (const name of RAMPS) this.ramp.append(option(name, name));
    this.by.setAttribute("aria-label", "color by");
    this.ramp.setAttribute("aria-label", "colors");
    this.by.addEventListener("change", () => {
      this.choices.by = this.by.value;
      this.choices.limits = null;
      this.choices.hidden = [];
      this.events.recolor();
    });
    this.ramp.addEventListener("change", () => {
      this.choices.ramp = this.ramp.value as Ramp;
      this.events.recolor();
    });
    box.append(element("span", "", "color by"), this.by, this.ramp);
    if (this.cloud.panes.length) box.append(element("span", "", "samples"), this.sampled());
    return box;
  }

  private sampled(): HTMLElement {
    for (const how of SAMPLES) this.samples.append(option(how, SAMPLE_WORDS[how]));
    this.samples.setAttribute("aria-label", "samples");
    this.samples.addEventListener("change", () => {
      this.choices.samples = this.samples.value as Samples;
      this.events.recolor();
    });
    return this.samples;
  }

  private help(): HTMLElement {
    const details = element("details");
    details.append(element("summary", "", "mouse and keys"));
    const list = element("dl");
    for (const [keys, words] of KEYS) list.append(element("dt", "", keys), element("dd", "", words));
    if (this.cloud.panes.length) list.append(element("dt", "", "D"), element("dd", "", "samples: dots, alone, hidden"));
    const credit = element("p", "made", `Made by ${this.cloud.meta.program}; needs no network.`);
    const buttons = element("div", "buttons");
    const { choices } = this;
    const add = (key: string, words: string, pressed?: () => boolean) => {
      const button = element("button", "", words);
      button.addEventListener("click", () => this.events.key(key));
      buttons.append(button);
      if (pressed) this.toggles.push([button, pressed]);
    };
    add("p", "parallel", () => choices.orthographic);
    add("e", "lighting", () => choices.lighting);
    add("b", "light", () => !choices.dark);
    add("r", "reset");
    add("s", "picture");
    const constants = this.cloud.meta.constants;
    const same = constants.map(({ name, value }) => `${name} ${short(value)}`).join(", ");
    details.append(list);
    if (same) details.append(element("p", "", `The same for all points: ${same}.`));
    details.append(credit);
    const box = element("div", "help");
    box.append(buttons, details);
    return box;
  }

  private bottom(): void {
    const { prefixes, unit } = this.cloud.meta;
    this.slider.type = "range";
    [this.slider.min, this.slider.max] = ["0", String(prefixes.count.length - 1)];
    this.slider.title = "how many points, farthest first";
    this.slider.setAttribute("aria-label", this.slider.title);
    this.slider.addEventListener("input", () => {
      this.choices.at = Number(this.slider.value);
      this.events.redraw();
    });
    this.radius.classList.add("radius");
    const label = element("label", "covering");
    label.append(element("span", "", "covering radius "), this.radius, element("span", "", unit ? ` ${unit}` : ""));
    this.base.append(this.slider, this.shown, label);
  }

  /** Shows the current settings. */
  show(shading: Shading): void {
    this.by.value = this.choices.by;
    this.ramp.value = this.choices.ramp;
    this.samples.value = this.choices.samples;
    this.ramp.disabled = shading.histogram.length === 0;
    // Without the cloud the slider has no effect.
    this.slider.disabled = this.cloud.panes.length > 0 && this.choices.samples === "alone";
    legend(this.legend, shading, this.choices, {
      limits: (limits) => {
        this.choices.limits = limits;
        this.events.recolor();
      },
      hide: (value, hidden) => {
        const others = this.choices.hidden.filter((one) => one !== value);
        this.choices.hidden = hidden ? [...others, value] : others;
        this.events.recolor();
      },
    });
    this.showPrefix();
  }

  showPrefix(): void {
    const { prefixes, total, unit } = this.cloud.meta;
    const at = this.choices.at;
    this.slider.value = String(at);
    const points = prefixes.count[at];
    this.shown.replaceChildren(
      element("b", "", count(points)),
      document.createTextNode(` points${this.cloud.panes.length ? " of the cloud" : ""}, ${percent(points / total)}`),
      element("span", "apart", at > 0 || points > 1 ? `, ≥ ${short(prefixes.spacing[at])}${unit && ` ${unit}`} apart` : ""),
    );
    if (document.activeElement !== this.radius) fill(this.radius, short(prefixes.radius[at]).replace(/,/g, ""));
  }

  /** Shows which buttons are on. */
  showToggles(): void {
    for (const [button, pressed] of this.toggles) button.setAttribute("aria-pressed", String(pressed()));
  }

  /** Shows lines about the clicked point, or nothing. */
  showClicked(lines: [string, string][]): void {
    this.clicked.hidden = lines.length === 0;
    const list = element("dl");
    for (const [name, value] of lines) list.append(element("dt", "", name), element("dd", "", value));
    const close = element("button", "close", "×");
    close.title = "clear the clicked points";
    close.setAttribute("aria-label", close.title);
    close.addEventListener("click", () => this.events.key("escape"));
    this.clicked.replaceChildren(close, list);
  }

  /** Shows a message over the canvas; an empty text removes it. */
  showMessage(text: string): void {
    this.message.hidden = !text;
    this.message.textContent = text;
  }
}

function option(value: string, words: string): HTMLOptionElement {
  const created = element("option", "", words);
  created.value = value;
  return created;
}

/** Returns the first prefix whose covering radius is at most `limit`. */
function firstWithin(radii: number[], limit: number): number {
  const at = radii.findIndex((radius) => radius <= limit);
  return at < 0 ? radii.length - 1 : at;
}
