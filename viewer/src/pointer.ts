// Pointer input over panes: the camera's controls query the canvas for its position and size, and receive those of the
// pane under the pointer, so that zooming and panning work in every pane as on a separate canvas.

import type { Rectangle } from "./stage";

export function withinPanes(canvas: HTMLCanvasElement, at: (x: number, y: number) => Rectangle): void {
  let pane: Rectangle = at(0, 0);
  let pressed = false;
  const follow = (event: PointerEvent | WheelEvent) => {
    // A drag stays in the pane where it began.
    if (!pressed) pane = at(event.clientX, event.clientY);
  };
  const begin = (event: PointerEvent) => {
    follow(event);
    pressed = true;
  };
  canvas.addEventListener("pointermove", follow, { capture: true });
  canvas.addEventListener("wheel", follow, { capture: true, passive: true });
  canvas.addEventListener("pointerdown", begin, { capture: true });
  for (const name of ["pointerup", "pointercancel"] as const) {
    window.addEventListener(name, () => (pressed = false), { capture: true });
  }
  canvas.getBoundingClientRect = () => new DOMRect(...pane);
  Object.defineProperty(canvas, "clientWidth", { get: () => pane[2] });
  Object.defineProperty(canvas, "clientHeight", { get: () => pane[3] });
}
