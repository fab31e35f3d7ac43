// Cameras and their controls.

import { MOUSE, OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Cloud } from "./data";

export type View = PerspectiveCamera | OrthographicCamera;

const FIELD_OF_VIEW = 50;
/** Part of the field of view for all points; the rest is a margin. */
const SHOWN = 0.94;

/** Views of the keys 1 to 7: names and directions. */
export const SIDES: [string, (up: number) => Vector3][] = [
  ["top", (up) => along(up, 1)],
  ["bottom", (up) => along(up, -1)],
  ["front", (up) => along((up + 2) % 3, -1)],
  ["back", (up) => along((up + 2) % 3, 1)],
  ["left", (up) => along((up + 1) % 3, -1)],
  ["right", (up) => along((up + 1) % 3, 1)],
  ["oblique", (up) => new Vector3(-0.8, -0.8, -0.8).addScaledVector(along(up, 1), 1.4).normalize()],
];

function along(axis: number, sign: number): Vector3 {
  return new Vector3().setComponent(axis, sign);
}

export class Cameras {
  private readonly perspective = new PerspectiveCamera(FIELD_OF_VIEW, 1);
  private readonly orthographic = new OrthographicCamera();
  readonly controls: OrbitControls;
  current: View = this.perspective;
  /** Half the diagonal of the box around the points. */
  private readonly reach: number;
  /** Half the sides of that box. */
  private readonly half: number[];
  private readonly up: number;

  constructor(cloud: Cloud, element: HTMLElement) {
    const { meta } = cloud;
    this.up = meta.up;
    const sides = cloud.high.map((high, axis) => (high - cloud.low[axis]) * meta.step);
    this.half = sides.map((side) => side / 2);
    this.reach = Math.max(Math.hypot(...sides) / 2, meta.step, 1e-9);
    for (const camera of [this.perspective, this.orthographic]) camera.up.copy(along(meta.up, 1));
    this.controls = new OrbitControls(this.perspective, element);
    this.controls.zoomToCursor = true;
    this.controls.enableDamping = false;
    this.controls.mouseButtons = { LEFT: MOUSE.ROTATE, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.controls.minDistance = this.reach / 1e4;
    this.controls.maxDistance = this.reach * 50;
    this.orthographic.zoom = 1;
  }

  /** Looks from a direction, with all points in view. */
  look(toward: Vector3, aspect: number): void {
    const direction = toward.clone().normalize();
    // Looking straight down, "up" is undefined: tilted slightly, the second axis points up.
    const up = along(this.up, 1);
    if (Math.abs(direction.dot(up)) > 0.999) direction.addScaledVector(along((this.up + 2) % 3, -1), 1e-4).normalize();
    const distance = this.distance(direction, up, aspect);
    this.controls.target.set(0, 0, 0);
    this.current.position.copy(direction.multiplyScalar(distance));
    if (this.current === this.orthographic) this.current.zoom = 1;
    this.current.updateProjectionMatrix();
    this.controls.update();
  }

  /** Returns the distance of the camera from which all corners of the box around the points are seen. */
  private distance(direction: Vector3, up: Vector3, aspect: number): number {
    const tangent = SHOWN * Math.tan((FIELD_OF_VIEW / 2) * (Math.PI / 180));
    const right = up.clone().cross(direction).normalize();
    const upwards = direction.clone().cross(right);
    let distance = this.reach;
    for (let corner = 0; corner < 8; corner++) {
      const place = new Vector3(...this.half.map((half, axis) => ((corner >> axis) & 1 ? half : -half)));
      const needed = Math.max(Math.abs(place.dot(right)) / aspect, Math.abs(place.dot(upwards))) / tangent;
      distance = Math.max(distance, needed + place.dot(direction));
    }
    return distance;
  }

  /** Switches the projection, keeping the same part of the cloud in view. */
  setOrthographic(enabled: boolean): void {
    const now = this.current === this.orthographic;
    if (enabled === now) return;
    const next = enabled ? this.orthographic : this.perspective;
    next.position.copy(this.current.position);
    if (!enabled) {
      // The distance replaces the orthographic zoom.
      const away = next.position.sub(this.controls.target).divideScalar(this.orthographic.zoom);
      away.add(this.controls.target);
    }
    this.orthographic.zoom = 1;
    this.current = next;
    this.controls.object = next;
    this.controls.update();
  }

  /** Fits both cameras to a pane and to the points before drawing. */
  prepare(aspect: number): View {
    const distance = this.current.position.distanceTo(this.controls.target);
    const half = Math.tan((FIELD_OF_VIEW / 2) * (Math.PI / 180)) * distance;
    this.perspective.aspect = aspect;
    const flat = this.orthographic;
    [flat.left, flat.right, flat.top, flat.bottom] = [-half * aspect, half * aspect, half, -half];
    const middle = this.current.position.length();
    const far = middle + 1.01 * this.reach;
    const nearest = middle - 1.01 * this.reach;
    this.current.near = this.current === flat ? nearest : Math.max(nearest, far / 5000);
    this.current.far = far;
    this.current.updateProjectionMatrix();
    this.current.updateMatrixWorld();
    return this.current;
  }

  /** Sets the pivot of rotation and zoom. */
  pivot(place: Vector3): void {
    const away = this.current.position.clone().sub(this.controls.target);
    this.controls.target.copy(place);
    this.current.position.copy(place).add(away);
    this.controls.update();
  }

  /** Camera and pivot as six numbers, relative to the middle of the cloud. */
  get place(): number[] {
    const [at, to] = [this.current.position.clone(), this.controls.target];
    if (this.current === this.orthographic) at.sub(to).divideScalar(this.orthographic.zoom).add(to);
    return [...at.toArray(), ...to.toArray()];
  }

  set place(place: number[]) {
    this.current.position.fromArray(place);
    this.controls.target.fromArray(place, 3);
    this.controls.update();
  }
}
