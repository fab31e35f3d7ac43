// Shading of points: values for the shader, limits, and numbers of the legend.

import { DataTexture, NearestFilter, RGBAFormat } from "three";
import type { Choices } from "./choices";
import { type Color, ofClass, onRamp } from "./colors";
import { type Cloud, decoded, missing, unpacked } from "./data";
import type { Attribute } from "./meta";
import type { GpsTime } from "./text";

/** Color mode of the shader. */
export enum Mode {
  Rgb = 0,
  Height = 1,
  Value = 2,
  /** One color per stored number. */
  Table = 3,
  /** One color for all. */
  Ink = 4,
}

/** Class with its number of points. */
export interface ClassCount {
  /** Stored value, and value in the file. */
  stored: number;
  value: number;
  name: string;
  color: Color;
  points: number;
}

export interface Shading {
  mode: Mode;
  /** One number per point for the shader; null for colors and heights. */
  values: Uint8Array | Uint16Array | null;
  /** Limits in the units of the shader. */
  low: number;
  high: number;
  /** Stored number of a missing value, -1 if there is none. */
  missing: number;
  /** Table of 256 colors: of the ramp, or of the classes by stored number. */
  table: DataTexture;
  title: string;
  unit: string;
  /** Limits in the units of the file. */
  limits: [number, number];
  /** Kind of GPS time of the values, if they are one. */
  time: GpsTime | null;
  /** Position in the ramp of the lower limit. */
  first: number;
  /** Histogram of all points of the page, in 48 equal bins between the limits. */
  histogram: number[];
  classes: ClassCount[];
}

const PARTS = 48;
/** Position in the ramp where distances begin: most are small, and must be visible on a dark page. */
const NEAR = 0.25;

/** Returns the available color sources, with their labels. */
export function choicesOf(cloud: Cloud): [string, string][] {
  const choices: [string, string][] = [];
  if (cloud.panes.length) choices.push(["distance", "distance"]);
  if (cloud.rgb) choices.push(["rgb", "color"]);
  choices.push(["height", "height"]);
  cloud.meta.attributes.forEach((attribute) => choices.push([`.${attribute.name}`, attribute.name]));
  return choices;
}

export function shadingOf(cloud: Cloud, choices: Choices, pane: number): Shading {
  if (choices.by === "distance" && cloud.panes.length) return byDistance(cloud, choices, pane);
  if (choices.by === "rgb" && cloud.rgb) return plain(Mode.Rgb, "color");
  const at = cloud.meta.attributes.findIndex((attribute) => `.${attribute.name}` === choices.by);
  if (at < 0) return byHeight(cloud, choices);
  const attribute = cloud.meta.attributes[at];
  const values = cloud.values[at];
  return attribute.kind === "class" ? byClass(attribute, values, choices) : byValue(attribute, values, choices);
}

function plain(mode: Mode, title: string): Shading {
  const table = tableOf(() => [255, 255, 255, 255]);
  const none = { values: null, low: 0, high: 1, missing: -1, unit: "", time: null, first: 0, histogram: [], classes: [] };
  return { mode, table, title, limits: [0, 1], ...none };
}

function ramp(choices: Choices): DataTexture {
  return tableOf((i) => [...onRamp(choices.ramp, i / 255), 255]);
}

function byHeight(cloud: Cloud, choices: Choices): Shading {
  const { meta, positions, middle } = cloud;
  const up = meta.up;
  const height = (stored: number) => meta.origin[up] + (stored + middle[up]) * meta.step;
  const stored = (value: number) => (value - meta.origin[up]) / meta.step - middle[up];
  const every = Math.max(1, Math.floor(meta.shown / 100_000));
  const some: number[] = [];
  for (let i = 0; i < meta.shown; i += every) some.push(positions[3 * i + up]);
  some.sort((a, b) => a - b);
  const at = (share: number) => height(some[Math.round(share * (some.length - 1))] ?? 0);
  const limits = choices.limits ?? [at(0.02), at(0.98)];
  const [low, high] = limits.map(stored);
  const histogram = counted(meta.shown, (i) => positions[3 * i + up], low, high);
  return { ...plain(Mode.Height, "height"), table: ramp(choices), low, high, unit: meta.unit, limits, histogram };
}

function byValue(attribute: Attribute, values: Uint8Array | Uint16Array, choices: Choices): Shading {
  const limits = choices.limits ?? attribute.limits;
  const [low, high] = limits.map((value) => (value - attribute.offset) / attribute.scale);
  const lost = missing(attribute);
  const histogram = counted(values.length, (i) => (values[i] === lost ? NaN : values[i]), low, high);
  const { name, unit, time } = attribute;
  return {
    ...plain(Mode.Value, name), table: ramp(choices), values, low, high, missing: lost, unit, time, limits, histogram,
  };
}

function byClass(attribute: Attribute, values: Uint8Array | Uint16Array, choices: Choices): Shading {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const classes: ClassCount[] = [...counts].sort((a, b) => a[0] - b[0]).map(([stored, points]) => {
    const value = decoded(attribute, stored);
    if (value === null) return { stored, value: NaN, name: "no value", color: [90, 90, 90], points };
    const name = attribute.names[value] ?? "";
    return { stored, value, name, color: ofClass(value, name || undefined), points };
  });
  const classOf = new Map(classes.map((one) => [one.stored, one]));
  const table = tableOf((i) => {
    const one = classOf.get(i);
    if (!one) return [255, 255, 255, 255];
    return [...one.color, choices.hidden.includes(one.value) ? 0 : 255];
  });
  return { ...plain(Mode.Table, attribute.name), table, values, classes };
}

/** Returns the shading of a pane's distances; all panes share one scale, for comparison. */
function byDistance(cloud: Cloud, choices: Choices, pane: number): Shading {
  const values = cloud.panes[pane].distances;
  const limits = choices.limits ?? [0, usual(cloud)];
  const [low, high] = limits;
  const { farthest } = cloud.meta.panes[pane];
  const table = tableOf((stored) => {
    const share = Math.max(0, (unpacked(stored, farthest) - low) / (high - low || 1));
    return [...onRamp(choices.ramp, NEAR + (1 - NEAR) * share), 255];
  });
  const histogram = new Array<number>(PARTS).fill(0);
  cloud.panes.forEach((data, i) => {
    const { farthest } = cloud.meta.panes[i];
    counted(data.distances.length, (k) => unpacked(data.distances[k], farthest), low, high)
      .forEach((points, part) => (histogram[part] += points));
  });
  const title = "distance to the nearest sample, of all samplers";
  const shown = { values, low, high, unit: cloud.meta.unit, limits, first: NEAR, histogram };
  return { ...plain(Mode.Table, title), table, ...shown };
}

/** Returns the default upper limit of distances, which keeps the farthest point sample in the darker half. */
function usual(cloud: Cloud): number {
  const { panes } = cloud.meta;
  const exact = panes.filter((pane) => pane.exact).map((pane) => pane.farthest);
  return 2 * (exact.length ? Math.max(...exact) : Math.min(...panes.map((pane) => pane.farthest)));
}

function counted(length: number, value: (i: number) => number, low: number, high: number): number[] {
  const counts = new Array<number>(PARTS).fill(0);
  const scale = PARTS / (high - low || 1);
  for (let i = 0; i < length; i++) {
    const part = Math.floor((value(i) - low) * scale);
    // The highest value belongs to the last bin; missing values to none.
    if (part >= 0 && part <= PARTS) counts[Math.min(part, PARTS - 1)]++;
  }
  return counts;
}

function tableOf(color: (i: number) => number[]): DataTexture {
  const bytes = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) bytes.set(color(i), 4 * i);
  const texture = new DataTexture(bytes, 256, 1, RGBAFormat);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
}
