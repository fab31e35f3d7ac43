// Shader programs: points in color, points as indices for picking, and eye-dome lighting.

const SIZED = /* glsl */ `
  uniform mat4 modelViewMatrix, projectionMatrix;
  /** The wanted width of a point, and the height of the view in pixels. */
  uniform float width, least, pixels;
  in vec3 position;
  /** So far in front of its place a point is drawn. */
  uniform float ahead;
  float place() {
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    float wide = width * projectionMatrix[1][1] * pixels * 0.5 / (projectionMatrix * seen).w;
    seen.z += ahead;
    gl_Position = projectionMatrix * seen;
    gl_PointSize = clamp(wide, least, 64.0);
    return wide;
  }
`;

const ROUND = /* glsl */ `
  uniform bool round;
  void cut() {
    vec2 from = gl_PointCoord - 0.5;
    if (round && dot(from, from) > 0.25) discard;
  }
`;

export const POINTS_VERTEX = /* glsl */ `
  precision highp float;
  ${SIZED}
  uniform int mode, up;
  uniform float low, high, missing;
  /** Narrower points are not drawn. */
  uniform float narrowest;
  uniform vec3 ink;
  uniform sampler2D table;
  in vec3 rgb;
  in float value;
  out vec3 color;
  void main() {
    float wide = place();
    float shown = mode == 1 ? position[up] : value;
    if (mode == 4) {
      color = ink;
    } else if (mode == 0) {
      color = rgb;
    } else if (mode == 3) {
      vec4 found = texelFetch(table, ivec2(int(min(shown, 255.0)), 0), 0);
      color = found.rgb;
      // Beyond the near plane: not drawn.
      if (found.a < 0.5) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    } else if (mode == 2 && shown == missing) {
      color = vec3(0.35);
    } else {
      float share = clamp((shown - low) / max(high - low, 1e-20), 0.0, 1.0);
      color = texelFetch(table, ivec2(int(share * 255.0 + 0.5), 0), 0).rgb;
    }
    if (wide < narrowest) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  }
`;

export const POINTS_FRAGMENT = /* glsl */ `
  precision highp float;
  ${ROUND}
  in vec3 color;
  out vec4 drawn;
  void main() {
    cut();
    drawn = vec4(color, 1.0);
  }
`;

/** Draws the index of each point plus one, lowest byte first. */
export const PICK_VERTEX = /* glsl */ `
  precision highp float;
  ${SIZED}
  uniform int mode;
  uniform sampler2D table;
  in float value;
  flat out vec4 number;
  void main() {
    place();
    if (mode == 3 && texelFetch(table, ivec2(int(min(value, 255.0)), 0), 0).a < 0.5) {
      gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    }
    uint id = uint(gl_VertexID) + 1u;
    number = vec4(id & 255u, (id >> 8) & 255u, (id >> 16) & 255u, id >> 24) / 255.0;
  }
`;

export const PICK_FRAGMENT = /* glsl */ `
  precision highp float;
  ${ROUND}
  flat in vec4 number;
  out vec4 drawn;
  void main() {
    cut();
    drawn = number;
  }
`;

export const MARK_VERTEX = /* glsl */ `
  precision highp float;
  in vec3 position, around;
  out vec3 place;
  void main() {
    place = around;
    gl_Position = vec4(position, 1.0);
  }
`;

/** White with a dark edge, which is seen on any color. */
export const MARK_FRAGMENT = /* glsl */ `
  precision highp float;
  in vec3 place;
  out vec4 drawn;
  void main() {
    float away = abs(length(place.xy) - place.z);
    if (away > 2.5) discard;
    drawn = vec4(vec3(away < 1.2 ? 1.0 : 0.05), 1.0);
  }
`;

export const SCREEN_VERTEX = /* glsl */ `
  precision highp float;
  in vec3 position;
  out vec2 at;
  void main() {
    at = position.xy * 0.5 + 0.5;
    gl_Position = vec4(position.xy, 0.0, 1.0);
  }
`;

/** Eye-dome lighting: a pixel is darker the farther it lies behind its neighbors (Boucheny 2009). */
export const SCREEN_FRAGMENT = /* glsl */ `
  precision highp float;
  uniform sampler2D colors, depths;
  uniform vec2 pixel;
  uniform float strength, near, far;
  uniform bool orthographic;
  uniform vec3 background;
  in vec2 at;
  out vec4 drawn;
  float depth(vec2 place) {
    float stored = texture(depths, place).r;
    if (stored >= 1.0) return -1.0;
    float length = orthographic ? near + stored * (far - near) : near * far / (far - stored * (far - near));
    return log2(length);
  }
  void main() {
    float here = depth(at);
    if (here < -0.5 && texture(depths, at).r >= 1.0) {
      drawn = vec4(background, 1.0);
      return;
    }
    float sum = 0.0;
    for (int i = 0; i < 8; i++) {
      float angle = float(i) * 0.7853981634;
      vec2 place = at + vec2(cos(angle), sin(angle)) * pixel * 1.4;
      if (texture(depths, place).r < 1.0) sum += max(0.0, here - depth(place));
    }
    float light = exp(-sum / 8.0 * strength);
    drawn = vec4(texture(colors, at).rgb * light, 1.0);
  }
`;
