// A COPC file shown by iTowns in a browser: what was drawn as a line of JSON, and a picture. The page and
// the file come from a server in this program, which answers ranges; nothing else may be asked for.

import { once } from "node:events";
import { createReadStream, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

const [cloud, picture, browserProgram, mode = "ELEVATION", width = "640", height = "480"] = process.argv.slice(2);
const modules = join(dirname(fileURLToPath(import.meta.url)), "node_modules");
const BACKGROUND = 0x1e1e1e;

const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<style>html, body, #view { margin: 0; width: 100%; height: 100%; overflow: hidden }</style>
<script type="importmap">{ "imports": {
  "three": "/three/build/three.module.min.js", "itowns": "/itowns/dist/itowns.js" } }</script>
<div id="view"></div>
<script type="module">
  import * as THREE from "three";
  import * as itowns from "itowns";
  itowns.LASParser.enableLazPerf(location.origin + "/laz-perf/lib/worker");
  const view = new itowns.View("EPSG:4326", document.getElementById("view"));
  view.mainLoop.gfxEngine.renderer.setClearColor(${BACKGROUND});
  const source = new itowns.CopcSource({ url: "/cloud.copc.laz" });
  const material = { mode: itowns.PNTS_MODE.${mode}, sizeMode: itowns.PNTS_SIZE_MODE.VALUE };
  const config = { source, crs: view.referenceCrs, material, pointBudget: 1e9, pointSize: 2 };
  const layer = new itowns.CopcLayer("cloud", config);
  await view.addLayer(layer);
  const [low, high] = [source.header.min, source.header.max].map((corner) => new THREE.Vector3(...corner));
  const [center, size] = [low.clone().add(high).divideScalar(2), high.clone().sub(low).length()];
  const camera = view.camera3D;
  camera.up.set(0, 0, 1);
  camera.near = size / 100;
  camera.far = size * 10;
  camera.position.copy(center).add(new THREE.Vector3(-0.45, -0.7, 0.5).multiplyScalar(size * 1.13));
  camera.lookAt(center.x, center.y - size * 0.05, center.z - size * 0.04);
  camera.updateProjectionMatrix();
  view.notifyChange(camera);
  /** Every level is asked for, however small it is on the screen. */
  const all = () => {
    layer.spacing *= 1e6;
    view.notifyChange(camera);
  };
  const levels = () => {
    const found = {};
    layer.group.children.filter((node) => node.visible).forEach(({ userData: { node } }) =>
      (found[node.depth] = (found[node.depth] ?? 0) + node.numPoints));
    return found;
  };
  const busy = () => view.mainLoop.scheduler.commandsWaitingExecutionCount() + view.mainLoop.scheduler.commandsRunningCount();
  window.shown = { all, levels, busy, count: () => layer.displayedCount ?? 0, points: source.header.pointCount, crs: source.crs };
</script>`;

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm" };
const FOLDERS = ["/three/build/", "/itowns/dist/", "/laz-perf/lib/"];

/** Answers with a file, or the range of it that was asked for. */
function answer(request, response, file) {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return response.writeHead(404).end();
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  if (!range) {
    response.writeHead(200, { "content-type": type, "content-length": size });
    return createReadStream(file).pipe(response);
  }
  const [start, end] = [Number(range[1]), Math.min(Number(range[2]), size - 1)];
  if (start > end) return response.writeHead(416).end();
  const head = { "content-type": type, "content-range": `bytes ${start}-${end}/${size}`, "content-length": end - start + 1 };
  response.writeHead(206, head);
  return createReadStream(file, { start, end }).pipe(response);
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  if (pathname === "/") return response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  if (pathname === "/cloud.copc.laz") {
    // The whole file is never asked for: that is what the format is for.
    if (!request.headers.range) return response.writeHead(400).end();
    return answer(request, response, cloud);
  }
  const known = FOLDERS.some((folder) => pathname.startsWith(folder)) && !pathname.includes("..");
  return known ? answer(request, response, join(modules, pathname)) : response.writeHead(404).end();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = `http://127.0.0.1:${server.address().port}/`;

const browser = await puppeteer.launch({
  executablePath: browserProgram,
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

/** How many colors a picture has, and the share of its pixels that is not background. */
const look = (page, data) =>
  page.evaluate(
    async (data, background) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
      context.drawImage(image, 0, 0);
      const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
      const drawn = pixels.filter((pixel) => (pixel & 0xffffff) !== background);
      return { colors: new Set(drawn).size, drawn: drawn.length / pixels.length };
    },
    Buffer.from(data).toString("base64"),
    BACKGROUND,
  );

try {
  const page = await browser.newPage();
  const [complaints, elsewhere] = [[], []];
  page.on("console", (message) => {
    // Software WebGL says that reading pixels is slow.
    if (["error", "warn"].includes(message.type()) && !/GPU stall|swiftshader/i.test(message.text())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(address)) elsewhere.push(request.url());
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.setViewport({ width: Number(width), height: Number(height) });
  await page.goto(address);
  const settled = (wanted) =>
    page.waitForFunction(
      (wanted) => window.shown && shown.count() >= Math.max(1, wanted) && shown.busy() === 0,
      { timeout: 60_000, polling: 200 },
      wanted,
    );
  try {
    await settled(0);
    const first = await page.evaluate(() => ({ points: shown.points, crs: shown.crs, first: shown.count(), levels: shown.levels() }));
    await page.evaluate(() => shown.all());
    await settled(first.points);
    // The frame with the last node.
    await new Promise((done) => setTimeout(done, 500));
    const shot = await page.screenshot({ type: "png" });
    writeFileSync(picture, shot);
    const after = await page.evaluate(() => ({ count: shown.count(), all: shown.levels() }));
    console.log(JSON.stringify({ ...first, ...after, ...(await look(page, shot)), complaints, elsewhere }));
  } catch (error) {
    throw new Error(`${error.message}; ${JSON.stringify({ complaints, elsewhere })}`);
  }
} finally {
  await browser.close();
  server.close();
  server.closeAllConnections();
}
