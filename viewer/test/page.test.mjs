// The page in a browser, from file://, as a person opens it. Software WebGL is slow: few points.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const POINTS = 20_000;
const SAMPLES = 400;
const TIME = (Date.UTC(2026, 10, 27, 12) - Date.UTC(1980, 0, 6)) / 1000 - 1e9;
const program = process.env.FARPOINT;
const folder = mkdtempSync(join(tmpdir(), "farpoint-view-"));
let browser;
let rows;

/** A wavy surface with a class, an intensity with a gap, a constant, and a name that is no HTML. */
function cloud() {
  const lines = ["x,y,z,classification,intensity,red,green,blue,same"];
  rows = [];
  for (let i = 0; i < POINTS; i++) {
    const [x, y] = [(i % 200) / 10, Math.floor(i / 200) / 10];
    const z = Math.sin(x) * Math.cos(y);
    const row = [x, y, +z.toFixed(4), z > 0 ? 6 : 2, i % 7 ? i : "nan", i % 256, 128, 255 - (i % 256), 3];
    rows.push(row);
    lines.push(row.join(","));
  }
  writeFileSync(join(folder, "a&b.csv"), lines.join("\n"));
}

/** The first points with GPS times counted from 1980, as a LAS file. */
function timed() {
  const lines = ["x,y,z,a_rather_long_name_of_an_attribute,gps_time"];
  // 2026-11-27 12:00:00 GPS time, less a billion seconds.
  rows.slice(0, 2000).forEach(([x, y, z], i) => lines.push([x, y, z, i % 9, TIME + i / 1000].join(",")));
  writeFileSync(join(folder, "timed.csv"), lines.join("\n"));
  execFileSync(program, ["convert", join(folder, "timed.csv"), "-o", join(folder, "timed.las"), "--quiet"]);
  const bytes = readFileSync(join(folder, "timed.las"));
  bytes[6] |= 1;
  writeFileSync(join(folder, "timed.las"), bytes);
  execFileSync(program, ["view", join(folder, "timed.las"), "-o", join(folder, "timed.html"), "--quiet"]);
}

before(async () => {
  assert.ok(program, "FARPOINT names the program");
  cloud();
  timed();
  execFileSync(program, ["view", join(folder, "a&b.csv"), "-o", join(folder, "page.html"), "--quiet"]);
  const compared = ["--algorithms", "auto,random,grid:centroid", "--view", join(folder, "panes.html"), "--quiet"];
  execFileSync(program, ["compare", join(folder, "a&b.csv"), "-n", String(SAMPLES), ...compared]);
  browser = await puppeteer.launch({
    executablePath: execFileSync("which", [process.env.BROWSER_PROGRAM ?? "chromium"]).toString().trim(),
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
  });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens the page and closes it again; nothing may be requested and nothing complained about. */
async function open(width, height, hash, look, file = "page.html") {
  const page = await browser.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (message) => {
    // Software WebGL says that reading pixels is slow; what a lost context held is deleted after it came back.
    const known = /GPU stall|swiftshader|delete: object does not belong to this context/i;
    if (["error", "warn"].includes(message.type()) && !known.test(message.text())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  await page.setViewport({ width, height });
  const url = pathToFileURL(join(folder, file)).href;
  await page.goto(url + hash);
  await look(page);
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests.filter((one) => !one.startsWith("data:") && !one.startsWith("blob:")), [url + hash]);
  await page.close();
}

const drawn = (page) => page.evaluate(() => Number(document.documentElement.dataset.drawn ?? 0));
const draws = (page, points) =>
  page.waitForFunction((expected) => Number(document.documentElement.dataset.drawn) === expected, { timeout: 20_000 }, points);

/** A part of the picture, as base64. */
const picture = (page, clip) => page.screenshot({ encoding: "base64", clip });

/** How many colors a part of the picture has. */
async function colors(page, clip = { x: 200, y: 150, width: 300, height: 300 }) {
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
    return new Set(pixels).size;
  }, await picture(page, clip));
}

/** What the box about clicked points says. */
const clickedValues = (page) =>
  page.$$eval(".clicked dt", (all) => Object.fromEntries(all.map((one) => [one.textContent, one.nextSibling.textContent])));

test("all points are drawn, and the picture is not blank", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    assert.ok((await colors(page)) > 200);
    assert.equal(await page.title(), "a&b.csv");
    assert.equal(await page.$eval("h1", (head) => head.textContent), "a&b.csv");
    assert.match(await page.$eval("header p", (line) => line.textContent), /20,000 points/);
    assert.match(await page.$eval("details", (box) => box.textContent), /same 3/);
  });
});

/** How many pixels of a part of the picture are white, as marks are. */
async function white(page, clip) {
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer).filter((pixel) => pixel === 0xffffffff).length;
  }, await picture(page, clip));
}

test("clicked points are marked, with a line between two", async () => {
  await open(1280, 800, "#by=.classification", async (page) => {
    await draws(page, POINTS);
    const around = ([x, y]) => ({ x: x - 14, y: y - 14, width: 28, height: 28 });
    const places = [[400, 300], [600, 450]];
    const parts = [...places, [500, 375]].map(around);
    const counts = () => Promise.all(parts.map((clip) => white(page, clip)));
    assert.deepEqual(await counts(), [0, 0, 0]);
    for (const [x, y] of places) {
      await page.mouse.click(x, y);
      await new Promise((done) => setTimeout(done, 500));
    }
    const [first, second, middle] = await counts();
    assert.ok(first > 60 && second > 60 && middle > 40, `${[first, second, middle]}`);
    await page.keyboard.press("1");
    await page.keyboard.press("p");
    await page.keyboard.press("Escape");
    await new Promise((done) => setTimeout(done, 500));
    assert.deepEqual(await counts(), [0, 0, 0]);
  });
});

test("times are dates, and no label is cut off", async () => {
  for (const [width, height] of [[1280, 800], [400, 800]]) {
    await open(width, height, "#by=.gps_time", async (page) => {
      await draws(page, 2000);
      if (width < 600) await page.click(".fold");
      assert.match(await page.$eval(".times", (line) => line.textContent), /^2026-11-27 12:00:00.* to 2026-11-27 12:00:01/);
      const limits = await page.$$eval(".limits input", (all) => all.map((one) => Number(one.value)));
      assert.ok(Math.abs(limits[0] - TIME - 0.04) < 0.01 && Math.abs(limits[1] - TIME - 1.96) < 0.01, `${limits}`);
      const cut = await page.$$eval(".side *, .bottom *", (all) => all.filter((one) => {
        if (one.matches("select")) {
          const whole = one.cloneNode(true);
          whole.style.cssText = "position: absolute; flex: none; max-width: none; width: max-content";
          document.body.append(whole);
          const needed = whole.offsetWidth;
          whole.remove();
          return one.offsetWidth > 0 && one.offsetWidth < needed;
        }
        return one.clientWidth > 0 && one.scrollWidth > one.clientWidth;
      }).map((one) => one.outerHTML));
      assert.deepEqual(cut, []);
      if (width < 600) return;
      await page.mouse.click(500, 350);
      await page.waitForFunction(() => !document.querySelector(".clicked").hidden);
      const values = await clickedValues(page);
      const seconds = Number(values.row.replace(/,/g, "")) / 1000;
      assert.ok(Math.abs(parseFloat(values.gps_time) - TIME - seconds) < 1e-3, values.gps_time);
      assert.match(values.gps_time, /^\d+\.\d{3,} s$/);
      assert.equal(values["GPS time"], `2026-11-27 12:00:0${seconds.toFixed(3)}`);
    }, "timed.html");
  }
});

test("numbers with a comma are read right or refused", async () => {
  await open(1280, 800, "#by=.intensity", async (page) => {
    await draws(page, POINTS);
    const type = async (field, text) => {
      await page.$eval(field, (input, text) => {
        input.value = text;
        input.dispatchEvent(new Event("change"));
      }, text);
      const state = (input) => [input.value, input.getAttribute("aria-invalid"), input.validationMessage];
      return page.$eval(field, state);
    };
    const low = ".limits input";
    assert.equal((await type(low, "1,234.5"))[0], "1234.5");
    assert.equal((await type(low, "1.234,75"))[0], "1234.75");
    assert.equal((await type(low, "12 000"))[0], "12000");
    assert.match(await page.evaluate(() => location.hash), /limits=12000,/);
    const [text, invalid, reason] = await type(low, "1,234");
    assert.deepEqual([text, invalid], ["1,234", "true"]);
    assert.match(reason, /write 1234 or 1.234/);
    for (const wrong of ["12,34,5", "many", "", "1e", "0x10", "30000"]) {
      assert.equal((await type(low, wrong))[1], "true", wrong);
    }
    assert.match(await page.evaluate(() => location.hash), /limits=12000,/);
    await type(".radius", "0,5");
    await page.waitForFunction(() => Number(document.documentElement.dataset.drawn) > 300);
    assert.ok(Number(await page.$eval(".radius", (input) => input.value)) > 0.4);
    assert.equal((await type(".radius", "-1"))[1], "true");
  });
});

test("buttons show what is on", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    const pressed = () => page.$$eval("[aria-pressed]", (all) => all.map((one) => [one.textContent, one.getAttribute("aria-pressed")].join()));
    assert.deepEqual(await pressed(), ["parallel,false", "lighting,true", "light,false"]);
    for (const key of ["p", "e", "b"]) await page.keyboard.press(key);
    assert.deepEqual(await pressed(), ["parallel,true", "lighting,false", "light,true"]);
    assert.equal(await page.$eval(".fold", (fold) => fold.getAttribute("aria-expanded")), "true");
    await page.click(".fold");
    assert.equal(await page.$eval(".fold", (fold) => fold.getAttribute("aria-expanded")), "false");
  });
});

test("a single cloud has the window above the slider", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    // Beside the panel, the slider, and all points: the page's own color.
    const corners = [[2, 2], [1277, 797], [2, 797]].map(([x, y]) => picture(page, { x, y, width: 1, height: 1 }));
    assert.equal(new Set(await Promise.all(corners)).size, 1);
    await page.keyboard.press("1");
    for (let i = 0; i < 12; i++) await page.mouse.wheel({ deltaY: -200 });
    await new Promise((done) => setTimeout(done, 1000));
    assert.ok((await colors(page, { x: 1000, y: 400, width: 270, height: 290 })) > 50);
    await page.$eval(".bottom", (bar) => (bar.style.visibility = "hidden"));
    const bar = await page.$eval(".bottom", (bar) => bar.getBoundingClientRect().toJSON());
    assert.equal(await colors(page, { x: 0, y: bar.top, width: 1280, height: 800 - bar.top }), 1);
  });
});

test("the slider goes through prefixes, and a radius moves it", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    await page.$eval(".slider", (slider) => {
      slider.value = "40";
      slider.dispatchEvent(new Event("input"));
    });
    await draws(page, 41);
    assert.match(await page.$eval(".shown", (shown) => shown.textContent), /^41 points/);
    const radius = Number(await page.$eval(".radius", (input) => input.value));
    assert.ok(radius > 1 && radius < 4, `${radius}`);
    await page.$eval(".radius", (input) => {
      input.value = "0.5";
      input.dispatchEvent(new Event("change"));
    });
    await page.waitForFunction(() => Number(document.documentElement.dataset.drawn) > 300);
    assert.ok(Number(await page.$eval(".radius", (input) => input.value)) <= 0.5);
    assert.ok((await drawn(page)) < 2000);
  });
});

test("colors by class and number, with a legend", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    await page.select(".colors select", ".classification");
    const classes = await page.$$eval(".classes li", (all) => all.map((one) => one.textContent));
    assert.equal(classes.length, 2);
    assert.match(classes[0], /^2/);
    const before = await colors(page);
    await page.click(".classes li input");
    await new Promise((done) => setTimeout(done, 500));
    assert.notEqual(await colors(page), before);
    await page.select(".colors select", ".intensity");
    await page.waitForSelector(".histogram");
    const limits = await page.$$eval(".limits input", (all) => all.map((one) => Number(one.value)));
    assert.ok(Math.abs(limits[0] - 0.02 * POINTS) < 20 && Math.abs(limits[1] - 0.98 * POINTS) < 20, `${limits}`);
  });
});

test("a click shows the point of the file", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    await page.mouse.click(600, 400);
    await page.waitForFunction(() => !document.querySelector(".clicked").hidden);
    const first = await clickedValues(page);
    const row = rows[Number(first.row.replace(/,/g, ""))];
    ["x", "y", "z"].forEach((axis, i) => assert.ok(Math.abs(Number(first[axis]) - row[i]) < 1e-3, `${axis} ${first[axis]} ${row}`));
    assert.equal(first.classification.split(" ")[0], String(row[3]));
    assert.equal(first.intensity, row[4] === "nan" ? "no value" : String(row[4]));
    assert.equal(first.color, row.slice(5, 8).join(", "));
    await page.mouse.click(500, 420);
    await page.waitForFunction(() => document.querySelector(".clicked").textContent.includes("distance"));
    const second = await clickedValues(page);
    const other = rows[Number(second.row.replace(/,/g, ""))];
    const difference = Math.hypot(...[0, 1, 2].map((axis) => row[axis] - other[axis]));
    assert.ok(Math.abs(parseFloat(second.distance) - difference) < 0.01, `${second.distance} ${difference}`);
  });
});

test("the address holds what was chosen", async () => {
  await open(1280, 800, "#by=.classification&at=30&edl=0&dark=0&ortho=1", async (page) => {
    await draws(page, 31);
    assert.equal(await page.$eval(".colors select", (select) => select.value), ".classification");
    assert.ok(await page.evaluate(() => document.documentElement.classList.contains("light")));
    await page.keyboard.press("e");
    await page.keyboard.press("4");
    await page.waitForFunction(() => location.hash.includes("camera=") && !location.hash.includes("edl"));
  });
});

test("keys, dragging and the wheel", async () => {
  await open(1280, 800, "#stats", async (page) => {
    await draws(page, POINTS);
    for (const key of ["1", "2", "3", "4", "5", "6", "7", "p", "+", "-", "b", "r"]) await page.keyboard.press(key);
    await page.mouse.move(600, 400);
    await page.mouse.down();
    await page.mouse.move(700, 450, { steps: 3 });
    await page.mouse.up();
    await page.mouse.wheel({ deltaY: -200 });
    await page.mouse.click(600, 400, { count: 2 });
    await draws(page, POINTS);
    assert.match(await page.$eval(".stats", (stats) => stats.textContent), /ms, 20,000 points/);
  });
});

test("a lost context comes back", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    await page.evaluate(() => {
      const lose = document.getElementById("fp-canvas").getContext("webgl2").getExtension("WEBGL_lose_context");
      lose.loseContext();
      setTimeout(() => lose.restoreContext(), 300);
    });
    await page.waitForFunction(() => !document.querySelector(".message").hidden);
    await page.waitForFunction(() => document.querySelector(".message").hidden, { timeout: 20_000 });
    await new Promise((done) => setTimeout(done, 1000));
    assert.ok((await colors(page)) > 200);
  });
});

test("a telephone", async () => {
  await open(400, 800, "", async (page) => {
    await draws(page, POINTS);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(wide, 400);
    // All points are in view.
    for (const x of [0, 398]) assert.equal(await colors(page, { x, y: 0, width: 2, height: 800 }), 1);
    assert.equal(await page.$eval(".side", (side) => getComputedStyle(side).display), "none");
    await page.click(".fold");
    assert.equal(await page.$eval(".side", (side) => getComputedStyle(side).display), "block");
  });
});

/** The middle of each pane, below its words. */
const middles = (page) =>
  page.$$eval(".pane", (panes) =>
    panes.map((pane) => {
      const { left, top, width, height } = pane.getBoundingClientRect();
      return { x: left + width / 4, y: top + 70, width: width / 2, height: height - 90 };
    }),
  );

const pictures = async (page) => Promise.all((await middles(page)).map((clip) => picture(page, clip)));

async function differ(page, before, what) {
  for (let tries = 0; ; tries++) {
    const now = await pictures(page);
    const same = now.map((one, pane) => one === before[pane]);
    if (!same.includes(true)) return now;
    assert.ok(tries < 40, `${what}: panes that are as before: ${same}`);
    await new Promise((done) => setTimeout(done, 250));
  }
}

/** The rows of the farthest point sample, by the command itself. */
function chosen() {
  const npy = execFileSync(program, ["sample", join(folder, "a&b.csv"), "-n", String(SAMPLES), "--indices", "-", "--quiet"]);
  const start = 10 + npy.readUInt16LE(8);
  return Array.from({ length: SAMPLES }, (_, i) => Number(npy.readBigInt64LE(start + 8 * i)));
}

test("samplers side by side: one slider, one camera", async () => {
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    const titles = await page.$$eval(".pane b", (all) => all.map((one) => one.textContent));
    assert.deepEqual(titles.slice(1), ["random", "grid:centroid"]);
    assert.match(titles[0], /^farthest point/);
    assert.match(await page.$eval(".pane span", (note) => note.textContent), /^400 samples, radius/);
    const first = await pictures(page);
    assert.equal(new Set(first).size, 3);
    for (const clip of await middles(page)) assert.ok((await colors(page, clip)) > 50);
    await page.$eval(".slider", (slider) => {
      slider.value = "150";
      slider.dispatchEvent(new Event("input"));
    });
    const less = await differ(page, first, "slider");
    await page.keyboard.press("7");
    const oblique = await differ(page, less, "a view");
    const [, second] = await middles(page);
    await page.mouse.move(second.x + 20, second.y + 50);
    await page.mouse.down();
    await page.mouse.move(second.x + 120, second.y + 60, { steps: 3 });
    await page.mouse.up();
    await differ(page, oblique, "dragging");
  }, "panes.html");
});

test("a click shows the distances to all samples, and the wheel zooms to the pointer in any pane", async () => {
  const samples = chosen().map((row) => rows[row]);
  await open(1280, 800, "", async (page) => {
    await draws(page, POINTS);
    const pane = (await middles(page))[2];
    const [x, y] = [Math.round(pane.x + pane.width / 2), Math.round(pane.y + pane.height / 2)];
    const click = async () => {
      await page.keyboard.press("Escape");
      await page.mouse.click(x, y);
      await page.waitForFunction(() => !document.querySelector(".clicked").hidden);
      const all = await clickedValues(page);
      return { all, row: rows[Number(all.row.replace(/,/g, ""))] };
    };
    const before = await click();
    const distance = (a, b) => Math.hypot(...[0, 1, 2].map((axis) => a[axis] - b[axis]));
    const truth = Math.min(...samples.map((sample) => distance(sample, before.row)));
    const name = Object.keys(before.all).find((one) => one.startsWith("farthest point"));
    assert.ok(Math.abs(parseFloat(before.all[name]) - truth) < 0.02 + 0.05 * truth, `${before.all[name]} ${truth}`);
    assert.ok("random" in before.all && "grid:centroid" in before.all);
    for (let i = 0; i < 8; i++) await page.mouse.wheel({ deltaY: -200 });
    await new Promise((done) => setTimeout(done, 800));
    const after = await click();
    assert.ok(distance(before.row, after.row) < 0.6, `${before.row} ${after.row}`);
    await page.click(".close");
    assert.ok(await page.$eval(".clicked", (box) => box.hidden));
  }, "panes.html");
});

test("samples alone, as dots and not at all", async () => {
  await open(1280, 800, "#samples=hidden", async (page) => {
    await draws(page, POINTS);
    const hidden = await pictures(page);
    await page.select(".samples", "alone");
    const alone = await differ(page, hidden, "alone");
    assert.ok(await page.$eval(".slider", (slider) => slider.disabled));
    assert.match(await page.evaluate(() => location.hash), /samples=alone/);
    await page.select(".colors select", "height");
    await differ(page, alone, "in colors");
    await page.keyboard.press("d");
    await page.keyboard.press("d");
    assert.equal(await page.$eval(".samples", (select) => select.value), "dots");
    assert.ok(!(await page.$eval(".slider", (slider) => slider.disabled)));
  }, "panes.html");
});

test("samplers on a telephone", async () => {
  await open(400, 800, "", async (page) => {
    await draws(page, POINTS);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 400);
    const panes = await page.$$eval(".pane", (all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    const base = await page.$eval(".bottom", (box) => box.getBoundingClientRect().top);
    assert.ok(panes.every((pane) => pane.right <= 400 && pane.bottom <= base), JSON.stringify(panes));
  }, "panes.html");
});

test("without WebGL 2 there is a picture and a reason", async () => {
  const page = readFileSync(join(folder, "page.html"), "utf8");
  // As in a browser that has none.
  const without = page.replaceAll('"webgl2"', '"webgl-none"');
  assert.notEqual(without, page);
  writeFileSync(join(folder, "none.html"), without);
  const look = async (shown) => {
    await shown.waitForFunction(() => document.documentElement.classList.contains("still"));
    assert.match(await shown.$eval("#fp-note", (note) => note.textContent), /no WebGL 2/);
    const size = await shown.$eval("#fp-still img", (image) => [image.naturalWidth, image.clientWidth]);
    assert.ok(size[0] > 300 && size[1] > 300, `${size}`);
  };
  await open(1280, 800, "", look, "none.html");
});

test("a page that was cut off says so", async () => {
  const page = readFileSync(join(folder, "page.html"), "utf8");
  const cut = page.replace(/(id="fp-rows"[^>]*>)[^<]{400}/, "$1");
  writeFileSync(join(folder, "cut.html"), cut);
  const shown = await browser.newPage();
  await shown.goto(pathToFileURL(join(folder, "cut.html")).href);
  await shown.waitForFunction(() => document.documentElement.classList.contains("still"));
  assert.match(await shown.$eval("#fp-note", (note) => note.textContent), /can.t be shown: /);
  await shown.close();
});
