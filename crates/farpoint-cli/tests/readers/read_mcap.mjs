// Everything in MCAP files as @mcap/core reads it, a line of JSON for each file.

import { McapStreamReader } from "@mcap/core";
import { loadDecompressHandlers } from "@mcap/support";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

const decompressHandlers = await loadDecompressHandlers();
for (const path of process.argv.slice(2)) {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  reader.append(readFileSync(path));
  const found = { schemas: {}, channels: {}, messages: [], attachments: [], metadata: [] };
  for (let record; (record = reader.nextRecord()); ) {
    switch (record.type) {
      case "Header":
        [found.profile, found.library] = [record.profile, record.library];
        break;
      case "Schema":
        found.schemas[record.id] = [record.name, record.encoding, digest(record.data)];
        break;
      case "Channel":
        found.channels[record.id] = [record.topic, record.messageEncoding, record.schemaId, [...record.metadata]];
        break;
      case "Message":
        found.messages.push({
          topic: found.channels[record.channelId][0],
          channel: record.channelId,
          sequence: record.sequence,
          times: [String(record.logTime), String(record.publishTime)],
          digest: digest(record.data),
        });
        break;
      case "Attachment":
        found.attachments.push([record.name, record.mediaType, String(record.logTime), digest(record.data)]);
        break;
      case "Metadata":
        found.metadata.push([record.name, [...record.metadata]]);
        break;
      case "Statistics":
        found.counts = [...record.channelMessageCounts].map(([channel, count]) => [channel, String(count)]);
        break;
    }
  }
  if (!reader.done()) throw new Error(`${path}: ends early`);
  console.log(JSON.stringify(found));
}
