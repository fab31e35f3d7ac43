// Colors of values: color ramps for numbers, a palette for classes.

/** Ramps of 17 equal steps each. Viridis: S. van der Walt and N. Smith (CC0); turbo: A. Mikhailov. */
const STOPS = {
  viridis:
    "44015448186a472d7b4240863b528b33638d2c728e26828e21918c1fa08828ae803fbc735ec96284d44baddc30d8e219fde725",
  turbo:
    "30123b4040a2466be34294ff28bceb18ddc232f2986dfe62a4fc3ccdec34eecf3afdac34fb7e21eb500ed02f05a916017a0403",
  grey: "202020ffffff",
};

export type Ramp = keyof typeof STOPS;
export const RAMPS = Object.keys(STOPS) as Ramp[];

/** Color-blind safe colors, for classes without a conventional color. */
const PALETTE = ["4477aa", "ee6677", "228833", "ccbb44", "66ccee", "aa3377", "bbbbbb", "ee8866", "44bb99", "ffaabb"];

/** Conventional colors of LAS classes: ground brown, plants green, buildings red, water blue. */
const USUAL: Record<string, string> = {
  "never classified": "999999",
  unclassified: "bbbbbb",
  ground: "a87a4d",
  "low vegetation": "b5d56a",
  "medium vegetation": "6fb545",
  "high vegetation": "2f7d32",
  building: "d1605e",
  "low noise": "e040fb",
  "high noise": "c000d8",
  water: "3d8bd9",
  rail: "7e57c2",
  "road surface": "6d6d6d",
  "bridge deck": "c9a227",
};

export type Color = [number, number, number];

function parsed(hex: string): Color {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Color;
}

/** Returns the color at a position of the ramp, 0 to 1. */
export function onRamp(ramp: Ramp, share: number): Color {
  const stops = STOPS[ramp].match(/.{6}/g) as string[];
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const first = Math.min(Math.floor(at), stops.length - 2);
  const [a, b] = [parsed(stops[first]), parsed(stops[first + 1])];
  return a.map((value, i) => Math.round(value + (b[i] - value) * (at - first))) as Color;
}

/** Returns the color of a class by its name, else by its number. */
export function ofClass(value: number, name: string | undefined): Color {
  const usual = name === undefined ? undefined : USUAL[name.toLowerCase()];
  return parsed(usual ?? PALETTE[((value % PALETTE.length) + PALETTE.length) % PALETTE.length]);
}

export function css(color: Color): string {
  return `rgb(${color.join(" ")})`;
}
