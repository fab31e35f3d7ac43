// User settings, and their encoding in the URL hash.

import { RAMPS, type Ramp } from "./colors";

/** Color source: "rgb", "height", "distance" (to the nearest sample of a pane), or an attribute's name. */
export interface Choices {
  by: string;
  /** Drawing mode of the samples of panes. */
  samples: Samples;
  ramp: Ramp;
  /** Limits of the color ramp, if set by the user. */
  limits: [number, number] | null;
  /** Hidden classes. */
  hidden: number[];
  /** Position of the slider. */
  at: number;
  size: number;
  lighting: boolean;
  dark: boolean;
  orthographic: boolean;
  /** Camera and pivot, in the file's coordinates. */
  camera: number[] | null;
}

/** Over the cloud if dots are large enough, alone, or not at all. */
export const SAMPLES = ["dots", "alone", "hidden"] as const;
export type Samples = (typeof SAMPLES)[number];

/** Reads settings from the URL hash; invalid parts are ignored. */
export function readHash(hash: string, choices: Choices): void {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const numbers = (name: string, length: number): number[] | null => {
    const values = (parameters.get(name) ?? "").split(",").map(Number);
    const right = parameters.has(name) && values.length === length && values.every(Number.isFinite);
    return right ? values : null;
  };
  const flag = (name: string, now: boolean) => (parameters.has(name) ? parameters.get(name) === "1" : now);
  choices.by = parameters.get("by") ?? choices.by;
  const ramp = parameters.get("ramp") as Ramp;
  if (RAMPS.includes(ramp)) choices.ramp = ramp;
  const samples = parameters.get("samples") as Samples;
  if (SAMPLES.includes(samples)) choices.samples = samples;
  choices.limits = numbers("limits", 2) as [number, number] | null;
  const hidden = parameters.get("hide");
  if (hidden) choices.hidden = hidden.split(",").map(Number).filter(Number.isInteger);
  choices.at = numbers("at", 1)?.[0] ?? choices.at;
  choices.size = numbers("size", 1)?.[0] ?? choices.size;
  choices.lighting = flag("edl", choices.lighting);
  choices.dark = flag("dark", choices.dark);
  choices.orthographic = flag("ortho", choices.orthographic);
  choices.camera = numbers("camera", 6);
}

/** Returns the URL hash of these settings, without defaults. */
export function hashOf(choices: Choices, first: Choices, stats: boolean): string {
  const parts: string[] = stats ? ["stats"] : [];
  const put = (name: string, value: string | number, start: string | number) => {
    if (value !== start) parts.push(`${name}=${encodeURIComponent(value)}`);
  };
  const flag = (value: boolean) => (value ? 1 : 0);
  put("by", choices.by, first.by);
  put("ramp", choices.ramp, first.ramp);
  put("samples", choices.samples, first.samples);
  if (choices.limits) parts.push(`limits=${choices.limits.join(",")}`);
  if (choices.hidden.length) parts.push(`hide=${choices.hidden.join(",")}`);
  put("at", choices.at, first.at);
  put("size", +choices.size.toPrecision(3), first.size);
  put("edl", flag(choices.lighting), flag(first.lighting));
  put("dark", flag(choices.dark), flag(first.dark));
  put("ortho", flag(choices.orthographic), flag(first.orthographic));
  if (choices.camera) parts.push(`camera=${choices.camera.map((value) => +value.toPrecision(9)).join(",")}`);
  return parts.length ? `#${parts.join("&")}` : "";
}
