// A COPC file as copc and laz-perf read it: its pages and nodes as a line of JSON, and the records of all
// nodes one after another in a file.

import { Copc, Las } from "copc";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { finished } from "node:stream/promises";

const [path, target] = process.argv.slice(2);
const file = await open(path);
/** Bytes from `begin` up to `end`; a file that ends before is none. */
const get = async (begin, end) => {
  const bytes = new Uint8Array(end - begin);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, begin);
  return bytes.subarray(0, bytesRead);
};
const copc = await Copc.create(get);
/** A viewer leaves out a node by its cube: no point may be outside of it. */
const inside = (key, view) => {
  const [level, ...place] = key.split("-").map(Number);
  const side = (copc.info.cube[3] - copc.info.cube[0]) / 2 ** level;
  ["X", "Y", "Z"].forEach((axis, i) => {
    const [low, at] = [copc.info.cube[i] + place[i] * side, view.getter(axis)];
    const step = copc.header.scale[i];
    for (let row = 0; row < view.pointCount; row++) {
      if (at(row) < low - step || at(row) > low + side + step) throw new Error(`${key}: ${axis} ${at(row)} is outside`);
    }
  });
};
const out = createWriteStream(target);
const [nodes, pages] = [[], []];
const waiting = [copc.info.rootHierarchyPage];
while (waiting.length > 0) {
  const page = waiting.shift();
  pages.push([page.pageOffset, page.pageLength]);
  const found = await Copc.loadHierarchyPage(get, page);
  waiting.push(...Object.values(found.pages));
  for (const [key, node] of Object.entries(found.nodes)) {
    nodes.push([...key.split("-").map(Number), node.pointDataOffset, node.pointDataLength, node.pointCount]);
    if (node.pointCount === 0) continue;
    const compressed = await Copc.loadCompressedPointDataBuffer(get, node);
    if (compressed.length !== node.pointDataLength) throw new Error(`${key} is truncated`);
    const records = await Las.PointData.decompressChunk(compressed, { ...copc.header, pointCount: node.pointCount });
    inside(key, Las.View.create(records, copc.header, copc.eb));
    out.write(records);
  }
}
out.end();
await finished(out);
await file.close();
console.log(JSON.stringify({ points: copc.header.pointCount, spacing: copc.info.spacing, wkt: copc.wkt ?? null, nodes, pages }));
