// Rendering: the points of each pane to color and depth textures, then eye-dome lighting to the canvas.

import {
  BufferAttribute, BufferGeometry, DepthTexture, GLSL3, Matrix4, Mesh, Points, RawShaderMaterial, Scene,
  UnsignedIntType, Vector2, Vector3, WebGLRenderer, WebGLRenderTarget, Camera,
} from "three";
import type { View } from "./camera";
import type { Samples } from "./choices";
import { Marks } from "./marks";
import type { Cloud } from "./data";
import {
  PICK_FRAGMENT, PICK_VERTEX, POINTS_FRAGMENT, POINTS_VERTEX, SCREEN_FRAGMENT, SCREEN_VERTEX,
} from "./shaders";
import { Mode, type Shading } from "./shading";

/** Left, top, width and height in CSS pixels. */
export type Rectangle = [number, number, number, number];

/** Drawing parameters of the points. */
export interface Drawing {
  camera: View;
  /** Number of points of the prefix to draw. */
  points: number;
  /** Width of a point in the cloud's unit. */
  width: number;
  /** Drawing mode of the samples of panes, and the width of a dot. */
  samples: Samples;
  dot: number;
  lighting: boolean;
  dark: boolean;
  /** Clicked points, in the cloud's unit from its middle. */
  marks: Vector3[];
  /** Part of each pane that the camera's view fills, with no label or panel over it; the view goes on around it. */
  free: Rectangle;
}

/** Samples of a pane: points of the cloud's buffers, and additional points. */
interface Dots {
  own: Points;
  beside: Points;
}

/** Minimum width of dots over the cloud, in CSS pixels: narrower dots are not drawn, since they would hide it. */
const NARROWEST = 2.5;

/** Search radius around the pointer for picking, in pixels. */
const REACH = 7;
const NONE = new Float32Array(0);

export const PAPER = { dark: [16, 18, 22], light: [250, 250, 248] } as const;

export class Stage {
  readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly picked = new Scene();
  private readonly screen = new Scene();
  private readonly geometry = new BufferGeometry();
  private readonly dots: Dots[];
  private readonly points: RawShaderMaterial;
  private readonly numbers: RawShaderMaterial;
  private readonly lit: RawShaderMaterial;
  private readonly target: WebGLRenderTarget;
  private readonly small: WebGLRenderTarget;
  private readonly drawn: Points;
  private readonly numbered: Points;
  private readonly dotMaterial: RawShaderMaterial;
  private readonly besideMaterial: RawShaderMaterial;
  private shadings: Shading[] = [];
  private buffers = new Map<object, BufferAttribute>();
  width = 1;
  height = 1;
  /** Part of the canvas that is drawn, shared by panes. */
  area: [number, number] = [1, 1];
  private readonly marks = new Marks();

  constructor(canvas: HTMLCanvasElement, private readonly cloud: Cloud) {
    const context = canvas.getContext("webgl2", { alpha: false, antialias: false, preserveDrawingBuffer: false });
    if (!context) throw new NoWebGl();
    this.renderer = new WebGLRenderer({ canvas, context });
    this.renderer.autoClear = false;
    const depth = new DepthTexture(1, 1, UnsignedIntType);
    this.target = new WebGLRenderTarget(1, 1, { depthTexture: depth });
    const side = 2 * REACH + 1;
    this.small = new WebGLRenderTarget(side, side);
    this.points = material(POINTS_VERTEX, POINTS_FRAGMENT, {
      width: 1, least: 1.5, pixels: 1, round: true, mode: 0, up: cloud.meta.up, low: 0, high: 1, missing: -1, table: null,
      ahead: 0, narrowest: 0, ink: new Vector3(1, 1, 1),
    });
    this.dotMaterial = this.points.clone();
    this.besideMaterial = this.points.clone();
    this.numbers = material(PICK_VERTEX, PICK_FRAGMENT, {
      width: 1, least: 5, pixels: 1, round: false, mode: 0, table: null, ahead: 0,
    });
    this.lit = material(SCREEN_VERTEX, SCREEN_FRAGMENT, {
      colors: this.target.texture, depths: depth, pixel: new Vector2(), strength: 0, near: 1, far: 2,
      orthographic: false, background: new Vector3(),
    });
    this.geometry.setAttribute("position", new BufferAttribute(cloud.positions, 3));
    const rgb = cloud.rgb ?? new Uint8Array(3 * cloud.meta.shown);
    this.geometry.setAttribute("rgb", new BufferAttribute(rgb, 3, true));
    this.drawn = this.add(this.scene, this.geometry, this.points);
    this.numbered = this.add(this.picked, this.geometry, this.numbers);
    this.dots = cloud.panes.map((_, pane) => this.samples(pane));
    const corners = new BufferGeometry();
    corners.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    const full = new Mesh(corners, this.lit);
    full.frustumCulled = false;
    this.screen.add(full);
  }

  private add(scene: Scene, geometry: BufferGeometry, drawn: RawShaderMaterial): Points {
    const points = new Points(geometry, drawn);
    points.frustumCulled = false;
    points.matrixAutoUpdate = false;
    points.matrix = new Matrix4().makeScale(this.cloud.meta.step, this.cloud.meta.step, this.cloud.meta.step);
    points.matrixWorldNeedsUpdate = true;
    scene.add(points);
    return points;
  }

  /** Creates the samples of a pane, drawn after the cloud. */
  private samples(pane: number): Dots {
    const { samples, beside } = this.cloud.panes[pane];
    const own = new BufferGeometry();
    own.setAttribute("position", this.geometry.getAttribute("position"));
    own.setAttribute("rgb", this.geometry.getAttribute("rgb"));
    own.setIndex(new BufferAttribute(samples, 1));
    const others = new BufferGeometry();
    others.setAttribute("position", new BufferAttribute(beside, 3));
    const dots = {
      own: this.add(this.scene, own, this.dotMaterial),
      beside: this.add(this.scene, others, this.besideMaterial),
    };
    dots.own.renderOrder = dots.beside.renderOrder = 1;
    return dots;
  }

  /** Number of panes; 1 for a cloud without panes. */
  get panes(): number {
    return Math.max(1, this.dots.length);
  }

  /** Sets the shadings, one per pane. */
  setShadings(shadings: Shading[]): void {
    this.shadings.forEach((shading) => shading.table.dispose());
    this.shadings = shadings;
  }

  /** Number of columns and rows of panes, with panes as square as possible. */
  get grid(): [number, number] {
    let best: [number, number] = [1, this.panes];
    let largest = 0;
    for (let columns = 1; columns <= this.panes; columns++) {
      const rows = Math.ceil(this.panes / columns);
      const side = Math.min(this.area[0] / columns, this.area[1] / rows);
      if (side > largest) [largest, best] = [side, [columns, rows]];
    }
    return best;
  }

  /** Returns left, top, width and height of a pane in CSS pixels. */
  rectangle(pane: number): Rectangle {
    const [columns, rows] = this.grid;
    const [width, height] = [Math.floor(this.area[0] / columns), Math.floor(this.area[1] / rows)];
    return [(pane % columns) * width, Math.floor(pane / columns) * height, width, height];
  }

  /** Returns the pane at a position on the canvas, in CSS pixels. */
  paneAt(x: number, y: number): number | null {
    for (let pane = 0; pane < this.panes; pane++) {
      const [left, top, width, height] = this.rectangle(pane);
      if (x >= left && x < left + width && y >= top && y < top + height) return pane;
    }
    return null;
  }

  /** Resizes the canvas, of which the part `area` is drawn. */
  resize(width: number, height: number, area: [number, number]): void {
    this.width = width;
    this.height = height;
    this.area = [Math.max(1, area[0]), Math.max(1, area[1])];
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
  }

  draw(drawing: Drawing): void {
    this.renderer.setRenderTarget(null);
    const [red, green, blue] = drawing.dark ? PAPER.dark : PAPER.light;
    this.renderer.setClearColor((red << 16) | (green << 8) | blue, 1);
    this.renderer.clear();
    for (let pane = 0; pane < this.panes; pane++) this.drawPane(pane, drawing);
  }

  private drawPane(pane: number, drawing: Drawing): void {
    const ratio = this.renderer.getPixelRatio();
    const [left, top, width, height] = this.rectangle(pane);
    const size = [Math.max(1, Math.floor(width * ratio)), Math.max(1, Math.floor(height * ratio))];
    if (this.target.width !== size[0] || this.target.height !== size[1]) this.target.setSize(size[0], size[1]);
    this.shade(this.points, this.geometry, this.shadings[pane]);
    const set = this.points.uniforms;
    [set.width.value, set.pixels.value, set.least.value] = [drawing.width, size[1], 1.5 * ratio];
    this.geometry.setDrawRange(0, drawing.points);
    this.drawn.visible = drawing.samples !== "alone" || !this.dots.length;
    this.dots.forEach((dots, i) => {
      dots.own.visible = dots.beside.visible = i === pane && drawing.samples !== "hidden";
    });
    if (this.dots.length) this.dot(pane, drawing, size[1], ratio);
    const [freeLeft, freeTop, freeWidth, freeHeight] = drawing.free;
    drawing.camera.setViewOffset(freeWidth, freeHeight, -freeLeft, -freeTop, width, height);
    this.renderer.setRenderTarget(this.target);
    this.renderer.clear();
    this.renderer.render(this.scene, drawing.camera);
    this.renderer.setRenderTarget(null);
    this.light(drawing, size);
    const bottom = this.height - top - height;
    this.renderer.setViewport(left, bottom, width, height);
    this.renderer.setScissor(left, bottom, width, height);
    this.renderer.setScissorTest(true);
    this.renderer.render(this.screen, new Camera());
    if (this.marks.place(drawing.marks, drawing.camera, width, height)) this.renderer.render(this.marks.scene, new Camera());
    this.renderer.setScissorTest(false);
    drawing.camera.clearViewOffset();
  }

  /** Sets the style of a pane's samples: alone like a cloud, else as dots in front of it. */
  private dot(pane: number, drawing: Drawing, pixels: number, ratio: number): void {
    const [alone, shading] = [drawing.samples === "alone", this.shadings[pane]];
    // All samples have distance 0, which would be uninformative.
    const colored = alone && shading.values !== this.cloud.panes[pane].distances;
    this.shade(this.dotMaterial, this.dots[pane].own.geometry, shading);
    this.shade(this.besideMaterial, this.dots[pane].beside.geometry, shading);
    const ink = drawing.dark ? 1 : 0.05;
    for (const drawn of [this.dotMaterial, this.besideMaterial]) {
      const set = drawn.uniforms;
      [set.width.value, set.pixels.value, set.least.value] = [drawing.dot, pixels, 1.5 * ratio];
      [set.narrowest.value, set.ahead.value] = alone ? [0, 0] : [NARROWEST * ratio, drawing.width];
      set.ink.value.setScalar(ink);
      const known = drawn === this.dotMaterial || shading.mode === Mode.Height;
      if (!colored || !known) set.mode.value = Mode.Ink;
    }
  }

  private light(drawing: Drawing, size: number[]): void {
    const { camera } = drawing;
    const set = this.lit.uniforms;
    set.pixel.value.set(1 / size[0], 1 / size[1]).multiplyScalar(this.renderer.getPixelRatio());
    set.strength.value = drawing.lighting ? 60 : 0;
    [set.near.value, set.far.value] = [camera.near, camera.far];
    set.orthographic.value = "isOrthographicCamera" in camera;
    const paper = drawing.dark ? PAPER.dark : PAPER.light;
    set.background.value.set(paper[0] / 255, paper[1] / 255, paper[2] / 255);
  }

  private shade(drawn: RawShaderMaterial, geometry: BufferGeometry, shading: Shading): void {
    const set = drawn.uniforms;
    set.mode.value = shading.mode;
    set.table.value = shading.table;
    if (set.low) [set.low.value, set.high.value, set.missing.value] = [shading.low, shading.high, shading.missing];
    geometry.setAttribute("value", this.values(shading));
  }

  /** Returns the values of a shading on the GPU, cached. */
  private values(shading: Shading): BufferAttribute {
    const values = shading.values ?? NONE;
    let buffer = this.buffers.get(values);
    if (!buffer) {
      const filled = values.length ? values : new Uint8Array(this.cloud.meta.shown);
      buffer = new BufferAttribute(filled, 1);
      this.buffers.set(values, buffer);
    }
    return buffer;
  }

  /** Returns the point nearest to a position on the canvas, in CSS pixels, and its pane; null if there is none. */
  pick(x: number, y: number, drawing: Drawing): { point: number; pane: number } | null {
    const pane = this.paneAt(x, y);
    if (pane === null) return null;
    const [left, top] = this.rectangle(pane);
    const point = this.pickIn(pane, x - left, y - top, drawing);
    return point === null ? null : { point, pane };
  }

  private pickIn(pane: number, x: number, y: number, drawing: Drawing): number | null {
    const side = 2 * REACH + 1;
    const { camera } = drawing;
    const [left, top, wide, high] = drawing.free;
    const alone = this.dots.length > 0 && drawing.samples === "alone";
    this.numbered.geometry = alone ? this.dots[pane].own.geometry : this.geometry;
    this.shade(this.numbers, this.numbered.geometry, this.shadings[pane]);
    const set = this.numbers.uniforms;
    // The small target is a section of the whole view: points have the same size as in the whole.
    [set.width.value, set.pixels.value] = [alone ? drawing.dot : drawing.width, side];
    this.geometry.setDrawRange(0, drawing.points);
    camera.setViewOffset(wide, high, x - left - REACH, y - top - REACH, side, side);
    this.renderer.setRenderTarget(this.small);
    this.renderer.setClearColor(0, 0);
    this.renderer.clear();
    this.renderer.render(this.picked, camera);
    const bytes = new Uint8Array(4 * side * side);
    this.renderer.readRenderTargetPixels(this.small, 0, 0, side, side, bytes);
    this.renderer.setRenderTarget(null);
    camera.clearViewOffset();
    return nearest(bytes, side);
  }

  /** Renders an image of the current view, without the space around it; the next frame draws the window again. */
  picture(drawing: Drawing, done: (picture: Blob | null) => void): void {
    const { width, height, area } = this;
    this.resize(area[0], area[1], area);
    this.draw(drawing);
    this.renderer.domElement.toBlob(done, "image/png");
    this.resize(width, height, area);
  }
}

/** Error for browsers without WebGL 2. */
export class NoWebGl extends Error {}

function nearest(bytes: Uint8Array, side: number): number | null {
  let best: number | null = null;
  let minimum = Infinity;
  for (let i = 0; i < side * side; i++) {
    const number = bytes[4 * i] + 256 * bytes[4 * i + 1] + 65536 * bytes[4 * i + 2] + 16777216 * bytes[4 * i + 3];
    if (number === 0) continue;
    const [dx, dy] = [(i % side) - REACH, Math.floor(i / side) - REACH];
    if (dx * dx + dy * dy < minimum) [minimum, best] = [dx * dx + dy * dy, number - 1];
  }
  return best;
}

function material(vertex: string, fragment: string, values: Record<string, unknown>): RawShaderMaterial {
  const uniforms = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
  return new RawShaderMaterial({ glslVersion: GLSL3, vertexShader: vertex, fragmentShader: fragment, uniforms });
}

