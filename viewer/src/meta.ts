// What the program that wrote the page says of the cloud.

/** One number per point, stored as `offset + scale * q`; the highest q is a missing value. */
export interface Attribute {
  name: string;
  /** How it is colored: classes and other few whole numbers by a palette, numbers by a ramp. */
  kind: "number" | "class";
  /** Names of classes, by their number. */
  names: Record<string, string>;
  /** Bytes per point. */
  bytes: 1 | 2;
  offset: number;
  scale: number;
  /** Whether the values are whole numbers, which are then exact. */
  whole: boolean;
  /** The values at 2 and 98 percent. */
  limits: [number, number];
  unit: string;
}

/** A sampler's result beside others (`farpoint compare --view`). */
export interface Pane {
  title: string;
  /** Its measures, in words. */
  note: string;
  /** Whether it is the farthest point sample. */
  exact: boolean;
  /** The distance that the byte 255 stands for; others stand for a share that is their square. */
  farthest: number;
  /** Samples that are not among the page's points. */
  beside: number;
}

export interface Meta {
  /** The layout of this record and of the data; this script reads 1. */
  version: 1;
  name: string;
  program: string;
  /** Points of the file that can be used, and how many of them the page holds. */
  total: number;
  shown: number;
  /** Unit of lengths, such as "m"; empty if the file states none. */
  unit: string;
  crs: string;
  /** The coordinates of the whole numbers (0, 0, 0), and the length of one step. */
  origin: [number, number, number];
  step: number;
  /** Bytes of a coordinate, 2 or 3. */
  bytes: 2 | 3;
  /** The axis that points up, and the unit vector from the cloud to the first view of it. */
  up: 0 | 1 | 2;
  toward: [number, number, number];
  rgb: boolean;
  /** Farthest-first prefixes, one for each position of the slider. */
  prefixes: { count: number[]; radius: number[]; spacing: number[] };
  attributes: Attribute[];
  /** Attributes of one value for all points. */
  constants: { name: string; value: number }[];
  panes: Pane[];
}

export function readMeta(): Meta {
  const text = document.getElementById("fp-meta")?.textContent ?? "";
  const meta = JSON.parse(text) as Meta;
  if (meta.version !== 1) throw new Error(`this page holds data of version ${meta.version}; its script reads 1`);
  return meta;
}
