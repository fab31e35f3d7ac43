// Main page: one cloud, farthest first, so that every position of the slider is an even sample.

import { Vector3 } from "three";
import { Cameras, SIDES } from "./camera";
import { type Choices, hashOf, readHash, SAMPLES } from "./choices";
import { Cloud, readParts } from "./data";
import { withinPanes } from "./pointer";
import { type Attribute, readMeta } from "./meta";
import { Panel } from "./panel";
import { choicesOf, type Shading, shadingOf } from "./shading";
import { type Drawing, NoWebGl, type Rectangle, Stage } from "./stage";
import { count, element, gpsTime, precise, rough, short } from "./text";

/** Frame time budget while the camera moves, which limits the points drawn. */
const FRAME_MS = 33;
/** Delay after the last movement before all points are drawn. */
const REST_MS = 160;
const MIN_POINTS = 20_000;

class Page {
  private readonly first: Choices;
  private readonly choices: Choices;
  private readonly stage: Stage;
  private readonly cameras: Cameras;
  private readonly panel: Panel;
  private shadings: Shading[] = [];
  private clicks: number[] = [];
  /** Number of points drawn while moving. */
  private budget = 1_000_000;
  private movedAt = -Infinity;
  private frameRequested = false;
  private lastFrame = 0;
  private readonly stats: boolean;
  private readonly labels: HTMLElement[] = [];

  constructor(private readonly cloud: Cloud, canvas: HTMLCanvasElement, place: HTMLElement) {
    this.stage = new Stage(canvas, cloud);
    this.cameras = new Cameras(cloud, canvas);
    this.first = {
      by: choicesOf(cloud)[0][0], samples: "dots", ramp: "viridis", limits: null, hidden: [], size: 1, lighting: true,
      dark: true, orthographic: false, camera: null, at: cloud.meta.prefixes.count.length - 1,
    };
    this.choices = { ...this.first };
    readHash(location.hash, this.choices);
    this.stats = /(^#|&)stats\b/.test(location.hash);
    this.checkChoices();
    this.panel = new Panel(place, cloud, this.choices, {
      recolor: () => this.recolor(),
      redraw: () => this.redraw(),
      key: (key) => this.key(key),
      layout: () => this.layout(),
    });
    this.panel.stats.hidden = !this.stats;
    if (cloud.panes.length) {
      place.classList.add("panes");
      this.labelPanes(place);
    }
    withinPanes(canvas, (x, y) => {
      const [left, top] = this.stage.rectangle(this.stage.paneAt(x, y) ?? 0);
      const [right, down, width, height] = this.free;
      return [left + right, top + down, width, height];
    });
    this.layout();
    this.cameras.setOrthographic(this.choices.orthographic);
    this.reset(this.choices.camera);
    this.listen(canvas);
    this.recolor();
    // The contents of the panel and the slider determine their size.
    this.layout();
  }

  /** Replaces settings from the URL that the page does not have. */
  private checkChoices(): void {
    if (!choicesOf(this.cloud).some(([name]) => name === this.choices.by)) this.choices.by = this.first.by;
    const last = this.cloud.meta.prefixes.count.length - 1;
    this.choices.at = Math.min(last, Math.max(0, Math.round(this.choices.at)));
    this.choices.size = Math.min(8, Math.max(0.1, this.choices.size));
  }

  private labelPanes(place: HTMLElement): void {
    for (const pane of this.cloud.meta.panes) {
      const label = element("div", "pane");
      const words = element("div", "words");
      words.append(element("b", pane.exact ? "" : "approximate", pane.title), element("span", "", pane.note));
      label.append(words);
      place.append(label);
      this.labels.push(label);
    }
  }

  private listen(canvas: HTMLCanvasElement): void {
    this.cameras.controls.addEventListener("change", () => {
      this.movedAt = performance.now();
      this.requestFrame();
    });
    this.cameras.controls.addEventListener("end", () => this.remember());
    window.addEventListener("resize", () => this.layout());
    window.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type === "text";
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      this.key(event.key.toLowerCase());
    });
    let pressed = [0, 0];
    canvas.addEventListener("pointerdown", (event) => (pressed = [event.clientX, event.clientY]));
    canvas.addEventListener("click", (event) => {
      const moved = Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]);
      if (moved < 4) this.click(event.clientX, event.clientY);
    });
    canvas.addEventListener("dblclick", (event) => this.pivotAt(event.clientX, event.clientY));
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.panel.showMessage("The graphics context was lost; the picture will come back by itself.");
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.panel.showMessage("");
      this.requestFrame();
    });
  }

  private key(key: string): void {
    const { choices } = this;
    const side = Number(key);
    if (side >= 1 && side <= SIDES.length) {
      this.cameras.look(SIDES[side - 1][1](this.cloud.meta.up), this.aspect);
    } else if (key === "p") {
      choices.orthographic = !choices.orthographic;
      this.cameras.setOrthographic(choices.orthographic);
    } else if (key === "+" || key === "=") choices.size = Math.min(8, choices.size * 1.25);
    else if (key === "-") choices.size = Math.max(0.1, choices.size / 1.25);
    else if (key === "e") choices.lighting = !choices.lighting;
    else if (key === "b") choices.dark = !choices.dark;
    else if (key === "r") this.reset(null);
    else if (key === "s") this.save();
    else if (key === "d" && this.cloud.panes.length) {
      choices.samples = SAMPLES[(SAMPLES.indexOf(choices.samples) + 1) % SAMPLES.length];
      this.panel.show(this.shadings[0]);
    }
    else if (key === "escape") {
      this.clicks = [];
      this.panel.showClicked([]);
    } else return;
    this.remember();
    this.requestFrame();
  }

  private get aspect(): number {
    const [, , width, height] = this.free;
    return width / height;
  }

  /** Part of a pane without the words above it, or of the single cloud beside the panel. */
  private get free(): Rectangle {
    const [, , width, height] = this.stage.rectangle(0);
    if (!this.labels.length) return [0, 0, Math.max(1, Math.min(width, this.panel.freeArea()[0])), Math.max(1, height)];
    const words = Math.max(...this.labels.map((label) => (label.firstElementChild as HTMLElement).offsetHeight));
    const top = words < height / 2 ? words : 0;
    return [0, top, Math.max(1, width), Math.max(1, height - top)];
  }

  private reset(place: number[] | null): void {
    const middle = this.middle;
    if (place) this.cameras.place = place.map((value, i) => value - middle[i % 3]);
    else this.cameras.look(new Vector3(...this.cloud.meta.toward), this.aspect);
    this.requestFrame();
  }

  /** Center of the cloud in the file's coordinates. */
  private get middle(): number[] {
    const { origin, step } = this.cloud.meta;
    return origin.map((value, axis) => value + this.cloud.middle[axis] * step);
  }

  private layout(): void {
    const free = this.panel.freeArea();
    // A single cloud goes on behind the panel.
    const width = this.cloud.panes.length ? free[0] : window.innerWidth;
    this.stage.resize(window.innerWidth, window.innerHeight, [width, free[1]]);
    this.labels.forEach((label, pane) => {
      const rectangle = this.stage.rectangle(pane);
      const [left, top, width, height] = rectangle.map((length) => `${length}px`);
      Object.assign(label.style, { left, top, width, height });
      // Leaves room for the button of the panel.
      label.classList.toggle("corner", rectangle[1] === 0 && rectangle[0] + rectangle[2] > window.innerWidth - 60);
    });
    this.requestFrame();
  }

  private recolor(): void {
    const panes = Array.from({ length: this.stage.panes }, (_, pane) => pane);
    this.shadings = panes.map((pane) => shadingOf(this.cloud, this.choices, pane));
    this.stage.setShadings(this.shadings);
    this.redraw();
    this.panel.show(this.shadings[0]);
  }

  private redraw(): void {
    document.documentElement.classList.toggle("light", !this.choices.dark);
    this.panel.showPrefix();
    this.remember();
    this.requestFrame();
  }

  /** Stores the view in the URL, so that it can be shared. */
  private remember(): void {
    const middle = this.middle;
    if (this.movedAt > 0) this.choices.camera = this.cameras.place.map((value, i) => value + middle[i % 3]);
    document.documentElement.classList.toggle("light", !this.choices.dark);
    this.panel.showToggles();
    const hash = hashOf(this.choices, this.first, this.stats);
    history.replaceState(null, "", hash || location.pathname + location.search);
  }

  /** Requests a redraw with the next frame. */
  private requestFrame(): void {
    if (this.frameRequested) return;
    this.frameRequested = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.frameRequested = false;
    const moving = performance.now() - this.movedAt < REST_MS;
    const passed = now - this.lastFrame;
    this.lastFrame = now;
    if (moving && passed < 1000) this.adapt(passed);
    const drawing = this.drawing(moving);
    this.stage.draw(drawing);
    if (this.stats) this.panel.stats.textContent = `${passed.toFixed(0)} ms, ${count(drawing.points)} points`;
    if (!document.documentElement.dataset.drawn) performance.mark("fp-drawn");
    document.documentElement.dataset.drawn = String(drawing.points);
    if (moving) window.setTimeout(() => this.requestFrame(), REST_MS / 2);
  }

  private adapt(passed: number): void {
    const all = this.stage.panes * this.cloud.meta.prefixes.count[this.choices.at];
    if (passed > 1.2 * FRAME_MS) this.budget = Math.max(MIN_POINTS, Math.min(this.budget, all) * 0.7);
    else if (passed < 0.7 * FRAME_MS) {
      this.budget = Math.min(this.stage.panes * this.cloud.meta.shown, this.budget * 1.15);
    }
  }

  private drawing(moving: boolean): Drawing {
    const { prefixes } = this.cloud.meta;
    let at = this.choices.at;
    if (moving) while (at > 0 && this.stage.panes * prefixes.count[at] > this.budget) at--;
    const { lighting, dark, size, samples } = this.choices;
    const { free } = this;
    const camera = this.cameras.prepare(this.aspect);
    const marks = this.clicks.map((point) => this.position(point));
    const points = prefixes.count[at];
    const largest = Math.max(0, ...this.cloud.panes.map((pane) => pane.samples.length + pane.beside.length / 3));
    // Dots are separate, with the cloud visible between them; in the cloud's colors they close its surface.
    const dot = (samples === "alone" && this.choices.by !== "distance" ? 1.5 : 0.4) * size * this.spacing(largest);
    return { camera, points, width: 1.5 * size * this.spacing(points), samples, dot, lighting, dark, marks, free };
  }

  /**
   * Returns the typical spacing of a number of points: half of them cover within 1.4 times the radius of all, so that
   * discs 1.5 times as wide close the surface for any number.
   */
  private spacing(points: number): number {
    const { count, radius } = this.cloud.meta.prefixes;
    const half = count.findIndex((count) => 2 * count >= points);
    return radius[half < 0 ? radius.length - 1 : half] || this.cloud.meta.step;
  }

  private click(x: number, y: number): void {
    const picked = this.stage.pick(x, y, this.drawing(false));
    this.requestFrame();
    if (!picked) return;
    this.clicks = this.clicks.length === 1 ? [this.clicks[0], picked.point] : [picked.point];
    this.panel.showClicked([...this.describe(picked.point), ...this.distance()]);
  }

  private describe(point: number): [string, string][] {
    const { meta } = this.cloud;
    const place = this.cloud.coordinates(point).map((value) => precise(value, meta.step));
    const lines: [string, string][] = ["x", "y", "z"].map((axis, i) => [axis, place[i]]);
    lines.push(["", `± ${short(meta.step / 2)}${meta.unit && ` ${meta.unit}`}`]);
    lines.push(["row", count(this.cloud.rows[point])]);
    if (this.cloud.rgb) lines.push(["color", [...this.cloud.rgb.subarray(3 * point, 3 * point + 3)].join(", ")]);
    meta.attributes.forEach((attribute, i) => {
      lines.push(...valueLines(attribute, this.cloud.value(i, point)));
    });
    if (meta.panes.length) lines.push(["nearest sample", ""]);
    meta.panes.forEach((pane, i) => {
      const value = this.cloud.distance(i, point);
      lines.push([pane.title, value > 0 ? `${rough(value)}${meta.unit && ` ${meta.unit}`}` : "0"]);
    });
    return lines;
  }

  private distance(): [string, string][] {
    if (this.clicks.length < 2) return [];
    const { unit } = this.cloud.meta;
    const [a, b] = this.clicks.map((point) => this.cloud.coordinates(point));
    const difference = b.map((value, axis) => value - a[axis]);
    const suffix = unit && ` ${unit}`;
    return [
      ["distance", `${short(Math.hypot(...difference))}${suffix}`],
      ["along x, y, z", difference.map(short).join(", ")],
    ];
  }

  private pivotAt(x: number, y: number): void {
    const picked = this.stage.pick(x, y, this.drawing(false));
    this.requestFrame();
    if (!picked) return;
    this.cameras.pivot(this.position(picked.point));
    this.remember();
  }

  /** Position of a point relative to the middle of the cloud. */
  private position(point: number): Vector3 {
    return new Vector3().fromArray(this.cloud.positions, 3 * point).multiplyScalar(this.cloud.meta.step);
  }

  private save(): void {
    this.stage.picture(this.drawing(false), (picture) => {
      if (!picture) return;
      const link = element("a");
      link.href = URL.createObjectURL(picture);
      link.download = `${this.cloud.meta.name.replace(/[^\w.-]+/g, "_")}.png`;
      link.click();
      window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    });
    this.requestFrame();
  }
}

/** Describes a value of a clicked point; of a time both seconds and date. */
function valueLines(attribute: Attribute, value: number | null): [string, string][] {
  const { name, whole, scale, unit, time, names } = attribute;
  if (value === null) return [[name, "no value"]];
  const parts = [whole ? String(value) : precise(value, scale), names[value] ?? unit];
  const line: [string, string] = [name, parts.filter(Boolean).join(" ")];
  return time ? [line, ["GPS time", gpsTime(value, time, scale)]] : [line];
}

async function start(): Promise<void> {
  const place = document.getElementById("fp-page") as HTMLElement;
  const canvas = document.getElementById("fp-canvas") as HTMLCanvasElement;
  // Marks for the browser's profiler; viewer/bench.mjs reads them.
  performance.mark("fp-begin");
  try {
    const cloud = new Cloud(readMeta(), await readParts());
    performance.mark("fp-decoded");
    new Page(cloud, canvas, place);
    document.getElementById("fp-still")?.remove();
  } catch (error) {
    const what = error instanceof NoWebGl
      ? "This browser has no WebGL 2, so the points can't be turned. A picture of them:"
      : `The page can't be shown: ${error instanceof Error ? error.message : error}`;
    const note = document.getElementById("fp-note") as HTMLElement;
    note.textContent = what;
    document.documentElement.classList.add("still");
    if (!(error instanceof NoWebGl)) console.error(error);
  }
}

void start();
