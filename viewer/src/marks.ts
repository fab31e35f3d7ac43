// Clicked points: a ring around each and the line between two, over all points and of one width at any distance.

import { BufferAttribute, BufferGeometry, GLSL3, Mesh, RawShaderMaterial, Scene, Vector3 } from "three";
import type { View } from "./camera";
import { MARK_FRAGMENT, MARK_VERTEX } from "./shaders";

/** Radius of a ring, and half the width that it and the line need, in CSS pixels. */
const RADIUS = 7;
const MARGIN = 3;
/** Corners of two rings and a line, in two triangles each. */
const CORNERS = 18;

type Pixel = [number, number];

export class Marks {
  readonly scene = new Scene();
  private readonly geometry = new BufferGeometry();
  private readonly position = new BufferAttribute(new Float32Array(3 * CORNERS), 3);
  /** Offset from the center of a ring or from the line, and the radius. */
  private readonly around = new BufferAttribute(new Float32Array(3 * CORNERS), 3);
  private corners = 0;

  constructor() {
    this.geometry.setAttribute("position", this.position);
    this.geometry.setAttribute("around", this.around);
    const drawn = new RawShaderMaterial({
      glslVersion: GLSL3, vertexShader: MARK_VERTEX, fragmentShader: MARK_FRAGMENT, depthTest: false, depthWrite: false,
    });
    const mesh = new Mesh(this.geometry, drawn);
    mesh.frustumCulled = false;
    this.scene.add(mesh);
  }

  /** Places the marks of at most two points as a camera sees them; returns false if none is in front of it. */
  place(points: Vector3[], camera: View, width: number, height: number): boolean {
    this.corners = 0;
    const half: Pixel = [width / 2, height / 2];
    const seen = points.map((point) => point.clone().applyMatrix4(camera.matrixWorldInverse));
    const front = -camera.near * 1.001;
    const pixel = (at: Vector3): Pixel => {
      const { x, y } = at.clone().applyMatrix4(camera.projectionMatrix);
      return [x * half[0], y * half[1]];
    };
    for (const at of seen) if (at.z < front) this.ring(pixel(at), half);
    const line = seen.length === 2 ? clipped(seen[0], seen[1], front) : null;
    if (line) this.line(pixel(line[0]), pixel(line[1]), half);
    this.position.needsUpdate = this.around.needsUpdate = true;
    this.geometry.setDrawRange(0, this.corners);
    return this.corners > 0;
  }

  private ring([x, y]: Pixel, half: Pixel): void {
    const reach = RADIUS + MARGIN;
    this.quad((right, up) => [[x + right * reach, y + up * reach], [right * reach, up * reach, RADIUS]], half);
  }

  /** A line from ring to ring, so that it hides neither point. */
  private line(from: Pixel, to: Pixel, half: Pixel): void {
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy);
    if (length <= 2 * RADIUS) return;
    const [along, across] = [[dx / length, dy / length], [-dy / length, dx / length]];
    this.quad((end, side) => {
      const [start, inwards] = end < 0 ? [from, RADIUS] : [to, -RADIUS];
      const at = [0, 1].map((k) => start[k] + along[k] * inwards + across[k] * side * MARGIN);
      return [at as Pixel, [0, side * MARGIN, 0]];
    }, half);
  }

  private quad(corner: (right: number, up: number) => [Pixel, number[]], half: Pixel): void {
    for (const [right, up] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
      const [[x, y], around] = corner(right, up);
      this.position.setXYZ(this.corners, x / half[0], y / half[1], 0);
      this.around.setXYZ(this.corners++, around[0], around[1], around[2]);
    }
  }
}

/** Returns the part of a segment in front of the camera. */
function clipped(a: Vector3, b: Vector3, front: number): [Vector3, Vector3] | null {
  if (a.z >= front && b.z >= front) return null;
  const cut = (inside: Vector3, outside: Vector3) =>
    outside.z < front ? outside : inside.clone().lerp(outside, (front - inside.z) / (outside.z - inside.z));
  return [cut(b, a), cut(a, b)];
}
