// Metadata of the cloud, from the program that wrote the page.

import type { GpsTime } from "./text";

/** Attribute with one number per point, stored as `offset + scale * q`; the highest q is a missing value. */
export interface Attribute {
  name: string;
  /** Coloring: classes and other small sets of integers by a palette, numbers by a ramp. */
  kind: "number" | "class";
  /** Names of classes, by number. */
  names: Record<string, string>;
  /** Bytes per point. */
  bytes: 1 | 2;
  offset: number;
  scale: number;
  /** True for integers, which are exact. */
  whole: boolean;
  /** Values at the 2nd and 98th percentiles. */
  limits: [number, number];
  unit: string;
  /** Kind of GPS time, if the file says that this is one. */
  time: GpsTime | null;
}

/** Result of a sampler in a comparison (`farpoint compare --view`). */
export interface Pane {
  title: string;
  /** Text with its measures. */
  note: string;
  /** True for the farthest point sample. */
  exact: boolean;
  /** Distance of the byte 255; other bytes encode the square root of their fraction of it. */
  farthest: number;
  /** Number of samples that are not among the page's points. */
  beside: number;
}

export interface Meta {
  /** Version of this record and of the data; this script reads 1. */
  version: 1;
  name: string;
  program: string;
  /** Number of usable points of the file, and number of points in the page. */
  total: number;
  shown: number;
  /** Unit of lengths, such as "m"; empty if unknown. */
  unit: string;
  crs: string;
  /** Coordinates of the integers (0, 0, 0), and the length of one step. */
  origin: [number, number, number];
  step: number;
  /** Bytes per coordinate, 2 or 3. */
  bytes: 2 | 3;
  /** Up axis, and the unit vector from the cloud to the initial camera. */
  up: 0 | 1 | 2;
  toward: [number, number, number];
  rgb: boolean;
  /** Farthest-first prefixes, one per position of the slider. */
  prefixes: { count: number[]; radius: number[]; spacing: number[] };
  attributes: Attribute[];
  /** Attributes with one value for all points. */
  constants: { name: string; value: number }[];
  panes: Pane[];
}

export function readMeta(): Meta {
  const text = document.getElementById("fp-meta")?.textContent ?? "";
  const meta = JSON.parse(text) as Meta;
  if (meta.version !== 1) throw new Error(`this page holds data of version ${meta.version}; its script reads 1`);
  return meta;
}
