// Point data: bytes from the page's inert script tags, decoded once.

import type { Attribute, Meta } from "./meta";

type Decoder = { fromBase64?: (text: string) => Uint8Array };

/** Bytes by the name of their script tag. */
export type Parts = Map<string, Uint8Array>;

/** Reads all data of the page, decompresses it where marked, and removes its tags. */
export async function readParts(): Promise<Parts> {
  const tags = [...document.querySelectorAll<HTMLScriptElement>('script[type="application/octet-stream"]')];
  const read = async (tag: HTMLScriptElement): Promise<[string, Uint8Array]> => {
    const bytes = fromBase64((tag.textContent ?? "").trim());
    tag.remove();
    const [each, near] = [tag.dataset.packed, tag.dataset.near].map((number) => Number(number ?? 0));
    if (!each) return [tag.id, bytes];
    const values = interleave(await unpack(bytes), each);
    if (near) sum(values, each, near);
    return [tag.id, values];
  };
  return new Map(await Promise.all(tags.map(read)));
}

/** Decompresses zlib data. */
async function unpack(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Interleaves byte planes: the first bytes of all values of `each` bytes, then the second, and so on. */
function interleave(planes: Uint8Array, each: number): Uint8Array {
  if (each === 1) return planes;
  if (planes.length % each) throw new Error(`the page holds ${planes.length} bytes of values of ${each}`);
  const bytes = new Uint8Array(planes.length);
  for (let k = 0, from = 0; k < each; k++) {
    for (let to = k; to < bytes.length; to += each) bytes[to] = planes[from++];
  }
  return bytes;
}

/** Adds to each number of `width` bytes the one of the value before, in place. */
function sum(bytes: Uint8Array, each: number, width: number): void {
  if (width === 2) {
    const numbers = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
    for (let at = each / 2; at < numbers.length; at++) numbers[at] += numbers[at - each / 2];
    return;
  }
  for (let at = each; at < bytes.length; at += width) {
    let carry = 0;
    for (let k = at; k < at + width; k++) {
      carry += bytes[k] + bytes[k - each];
      bytes[k] = carry;
      carry >>= 8;
    }
  }
}

/** Adds green to red and blue, which are stored relative to it. */
function absolute(rgb: Uint8Array): Uint8Array {
  for (let i = 0; i < rgb.length; i += 3) {
    rgb[i] += rgb[i + 1];
    rgb[i + 2] += rgb[i + 1];
  }
  return rgb;
}

function fromBase64(text: string): Uint8Array {
  const decode = (Uint8Array as unknown as Decoder).fromBase64;
  if (decode) return decode(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Decodes variable-length integers of 7 bits per byte, lowest first; the top bit marks a continuation. */
function variable(bytes: Uint8Array, take: (value: number) => void): void {
  let value = 0;
  let weight = 1;
  for (const byte of bytes) {
    value += (byte & 127) * weight;
    weight *= 128;
    if (byte < 128) {
      take(value);
      value = 0;
      weight = 1;
    }
  }
}

/** Decodes rows of the file: ascending within the new part of each prefix, stored as differences. */
function rowsOf(bytes: Uint8Array, meta: Meta): Uint32Array {
  const rows = new Uint32Array(meta.shown);
  const ends = meta.prefixes.count;
  let [at, last, prefix] = [0, -1, 0];
  variable(bytes, (difference) => {
    if (at === ends[prefix]) {
      last = -1;
      prefix++;
    }
    last += 1 + difference;
    rows[at++] = last;
  });
  if (at !== meta.shown) throw new Error(`the page holds ${at} row numbers for ${meta.shown} points`);
  return rows;
}

/** Result of a sampler. */
export interface PaneData {
  /** Indices of the page's points that are samples. */
  samples: Uint32Array;
  /** Positions of further samples, like those of the points. */
  beside: Float32Array;
  /** Distance of each point to its nearest sample, as a byte. */
  distances: Uint8Array;
}

/** Decodes coordinates in steps. */
function stepsOf(bytes: Uint8Array, each: number): Float32Array {
  const steps = new Float32Array(bytes.length / each);
  for (let i = 0, at = 0; i < steps.length; i++, at += each) {
    steps[i] = bytes[at] + 256 * bytes[at + 1] + (each === 3 ? 65536 * bytes[at + 2] : 0);
  }
  return steps;
}

export class Cloud {
  /** Positions in steps from the center of the bounding box, exact in single precision. */
  readonly positions: Float32Array;
  readonly rows: Uint32Array;
  readonly rgb: Uint8Array | null;
  readonly values: (Uint8Array | Uint16Array)[];
  readonly panes: PaneData[];
  /** Center of the bounding box, in steps. */
  readonly middle: [number, number, number];
  /** Bounding box of all points, in steps from its center. */
  readonly low: [number, number, number];
  readonly high: [number, number, number];

  constructor(readonly meta: Meta, parts: Parts) {
    const bytesOf = (id: string): Uint8Array => {
      const bytes = parts.get(id);
      if (!bytes) throw new Error(`the page lacks its part '${id}'; it may have been cut off while it was copied`);
      return bytes;
    };
    const bytes = bytesOf("fp-xyz");
    if (bytes.length !== 3 * meta.bytes * meta.shown) {
      throw new Error(`the page holds ${bytes.length} bytes of coordinates for ${meta.shown} points of ${3 * meta.bytes}`);
    }
    const [low, high] = [[0, 0, 0], [0, 0, 0]];
    const positions = stepsOf(bytes, meta.bytes);
    for (let axis = 0; axis < 3; axis++) {
      let [min, max] = [Infinity, -Infinity];
      for (let i = axis; i < positions.length; i += 3) {
        const step = positions[i];
        if (step < min) min = step;
        if (step > max) max = step;
      }
      [low[axis], high[axis]] = [min, max];
    }
    this.middle = [0, 1, 2].map((axis) => Math.round((low[axis] + high[axis]) / 2)) as [number, number, number];
    this.center(positions);
    this.low = low.map((value, axis) => value - this.middle[axis]) as [number, number, number];
    this.high = high.map((value, axis) => value - this.middle[axis]) as [number, number, number];
    this.positions = positions;
    this.rows = rowsOf(bytesOf("fp-rows"), meta);
    this.rgb = meta.rgb ? absolute(bytesOf("fp-rgb")) : null;
    this.values = meta.attributes.map((attribute, i) => {
      const bytes = bytesOf(`fp-value-${i}`);
      return attribute.bytes === 1 ? bytes : new Uint16Array(bytes.buffer, bytes.byteOffset, meta.shown);
    });
    this.panes = meta.panes.map((_, i) => this.pane(i, bytesOf));
  }

  private pane(i: number, bytesOf: (id: string) => Uint8Array): PaneData {
    const samples: number[] = [];
    let last = -1;
    variable(bytesOf(`fp-samples-${i}`), (difference) => samples.push((last += 1 + difference)));
    if (last >= this.meta.shown) throw new Error(`the page holds ${this.meta.shown} points, and a sample is its ${last + 1}th`);
    const beside = stepsOf(bytesOf(`fp-beside-${i}`), this.meta.bytes);
    this.center(beside);
    const distances = bytesOf(`fp-distances-${i}`);
    if (distances.length !== this.meta.shown) {
      throw new Error(`the page holds ${distances.length} distances for ${this.meta.shown} points`);
    }
    return { samples: Uint32Array.from(samples), beside, distances };
  }

  /** Converts steps to positions relative to the center of the bounding box. */
  private center(steps: Float32Array): void {
    const [x, y, z] = this.middle;
    for (let i = 0; i < steps.length; i += 3) {
      steps[i] -= x;
      steps[i + 1] -= y;
      steps[i + 2] -= z;
    }
  }

  /** Returns the distance of a point to the nearest sample of a pane, to within about 1 % of the largest. */
  distance(pane: number, point: number): number {
    return unpacked(this.panes[pane].distances[point], this.meta.panes[pane].farthest);
  }

  /** Returns the coordinates of a point in the file's system, to within half a step. */
  coordinates(point: number): [number, number, number] {
    const { origin, step } = this.meta;
    return [0, 1, 2].map((axis) => {
      return origin[axis] + (this.positions[3 * point + axis] + this.middle[axis]) * step;
    }) as [number, number, number];
  }

  /** Returns the value of an attribute, or null if it is missing. */
  value(attribute: number, point: number): number | null {
    return decoded(this.meta.attributes[attribute], this.values[attribute][point]);
  }
}

/** Decodes a distance from a byte. */
export function unpacked(stored: number, farthest: number): number {
  return farthest * (stored / 255) ** 2;
}

/** Decodes a stored number; null if it is missing. */
export function decoded(attribute: Attribute, stored: number): number | null {
  return stored === missing(attribute) ? null : attribute.offset + attribute.scale * stored;
}

/** Returns the stored number of a missing value. */
export function missing(attribute: Attribute): number {
  return attribute.bytes === 1 ? 255 : 65535;
}
