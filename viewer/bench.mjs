// How long a page takes in Chromium until its points are decoded and until they are drawn: wall time, and CPU time
// of the page's thread, which says more on a machine that is shared. node bench.mjs PAGE.html...
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const browser = await puppeteer.launch({
  executablePath: process.env.BROWSER_PROGRAM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
const [width, height] = [1280, 800];
for (const file of process.argv.slice(2)) {
  const page = await browser.newPage();
  await page.setViewport({ width, height });
  await page.tracing.start({ categories: ["blink.user_timing"] });
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.drawn, { timeout: 120_000 });
  const { traceEvents } = JSON.parse(new TextDecoder().decode(await page.tracing.stop()));
  // Each renderer tells marks once; `tts` is its thread's CPU time, `ts` the time of day, both in microseconds.
  const mark = (name) => traceEvents.find((event) => event.name === name);
  const [begin, decoded, drawn] = ["fp-begin", "fp-decoded", "fp-drawn"].map(mark);
  const start = traceEvents.find((event) => event.name === "navigationStart" && event.ts <= begin.ts) ?? begin;
  const ms = (from, to, clock) => ((to[clock] - from[clock]) / 1000).toFixed(0);
  console.log(
    file,
    `decoded: ${ms(begin, decoded, "ts")} ms, CPU ${ms(begin, decoded, "tts")};`,
    `first frame after decoding: ${ms(decoded, drawn, "ts")} ms, CPU ${ms(decoded, drawn, "tts")};`,
    `from opening the page: ${ms(start, drawn, "ts")} ms`,
  );
  await page.close();
}
await browser.close();
