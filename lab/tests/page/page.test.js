// Opens the report of a synthetic run in Chromium and asks of it what its readers would: that it reads offline, without
// errors, by keyboard, on a phone, in print and in the dark, and that its charts show what results.json holds.
//
// REPORT_DIR holds results.json and report.html; CHROMIUM is the browser. scripts/test-page sets both.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const dir = resolve(process.env.REPORT_DIR ?? "report");
const url = pathToFileURL(join(dir, "report.html")).href;
const results = JSON.parse(readFileSync(join(dir, "results.json"), "utf8"));
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const phone = { width: 390, height: 844 };
const desktop = { width: 1280, height: 900 };

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
});
after(() => browser?.close());

// A page of its own, with everything it complains of and asks for.
async function open(options = {}) {
  const context = await browser.newContext({ viewport: desktop, ...options });
  const page = await context.newPage();
  const complaints = [], requests = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  return { page, context, complaints, requests };
}

// The rows of the table beside a chart, as objects by column title.
const tableOf = (page, figure) => page.locator(`[id="${figure}"] table`).evaluate((table) => {
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  return [...table.tBodies[0].rows].map((row) =>
    Object.fromEntries([...row.cells].map((cell, i) => [titles[i], cell.textContent])));
});

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b), middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
};
const counted = (profile, scenario, target) => results.trials.filter((trial) => trial.outcome === "counted"
  && trial.profile === profile && trial.scenario === scenario && trial.target === target);
const within = (got, wanted, share) => assert.ok(Math.abs(got / wanted - 1) <= share, `${got}, not ${wanted}`);
const number = (text) => Number(text.replaceAll(",", ""));

test("it opens without a complaint and asks for nothing but itself", async () => {
  const { page, context, complaints, requests } = await open();
  await page.locator("#trials-table summary").click();
  await page.locator("#trials-table table").waitFor();
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests.filter((request) => !request.startsWith("data:")), [url]);
  await context.close();
});

for (const [name, options] of Object.entries({
  "in the light": { colorScheme: "light" },
  "in the dark": { colorScheme: "dark" },
  "on a phone": { viewport: phone, isMobile: true, hasTouch: true },
  "without motion and with more contrast": { reducedMotion: "reduce", forcedColors: "active" },
})) {
  test(`axe finds no violation ${name}`, async () => {
    const { page, context } = await open(options);
    await page.evaluate(() => document.querySelectorAll("details").forEach((folded) => { folded.open = true; }));
    await page.locator("#trials-table table").waitFor();
    // Eight hundred rows alike take axe half a minute and tell it nothing that twenty do not.
    await page.evaluate(() => [...document.querySelectorAll("#trials-table tbody tr")].slice(20).forEach((row) => row.remove()));
    await page.addScriptTag({ path: axe });
    const found = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
    assert.ok(found.passes.length > 20, "axe looked at something");
    assert.deepEqual(found.violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes[0].html})`), []);
    await context.close();
  });
}

test("every chart has a name, a description, something drawn, and its table", async () => {
  const { page, context } = await open();
  const charts = await page.locator("figure").evaluateAll((figures) => figures.map((figure) => ({
    id: figure.id,
    name: figure.querySelector("svg > title")?.textContent,
    description: figure.querySelector("svg > desc")?.textContent,
    shapes: figure.querySelectorAll("svg path, svg rect").length,
    rows: figure.querySelectorAll("table tbody tr").length,
    overflow: (() => {
      const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((text) => {
        const { left, right } = text.getBoundingClientRect();
        return left < box.left - 1 || right > box.right + 1;
      }).map((text) => text.textContent);
    })(),
  })));
  const kinds = new Set(charts.map((chart) => chart.id.split("-")[0]));
  assert.deepEqual([...kinds], ["forest", "quantiles", "ladder", "bars", "strip", "timeline"]);
  for (const chart of charts) {
    assert.ok(chart.name && chart.description, chart.id);
    assert.ok(chart.shapes > 2 && chart.rows > 0, chart.id);
    assert.deepEqual(chart.overflow, [], `${chart.id}: text outside its chart`);
  }
  await context.close();
});

test("the tables beside the charts hold the values of results.json", async () => {
  const { page, context } = await open();

  const [curve] = (await tableOf(page, "quantiles-fixed-rate-hello")).filter((row) => row.target === "component");
  const trials = counted("fixed-rate", "hello", "component");
  assert.equal(number(curve.requests), trials.reduce((sum, trial) => sum + trial.figures.latency.n, 0));
  const p = (wanted) => median(trials.map(({ figures }) => figures.latency.quantiles.find((q) => q.p === wanted).ms));
  within(number(curve.p50), p(0.5), 0.02);
  within(number(curve.p99), p(0.99), 0.05);

  const cold = (await tableOf(page, "bars-cold-start")).find((row) => row.target === "native-go");
  const starts = counted("cold-start", "hello", "native-go").map(({ figures }) => median(figures.cold_start.spawns_ms));
  within(number(cold.ms), median(starts), 0.005);

  const ladder = (await tableOf(page, "ladder-capacity-hello")).find((row) => row.target === "component-fresh");
  const best = counted("capacity", "hello", "component-fresh")
    .map(({ figures }) => Math.max(...figures.ladder.filter((step) => step.passed).map((step) => step.rate)));
  within(number(ladder.capacity), median(best), 0.005);

  const forest = await tableOf(page, "forest-component-native-rust");
  const ratio = forest.find((row) => row.metric === "p50 latency" && row.load === "hello, fixed-rate");
  // Drawn with a true ratio of 1.31: the interval has to hold it, and the verdict to say so.
  assert.ok(number(ratio.low) < 1.31 && 1.31 < number(ratio.high), JSON.stringify(ratio));
  assert.equal(ratio.verdict, "slower");
  await context.close();
});

test("the cards say what the charts say, with their labels", async () => {
  const { page, context } = await open();
  const card = page.locator(".card", { hasText: "component against native-rust" }).first();
  const p50 = card.locator("li", { hasText: "p50 latency" }).first();
  assert.match(await p50.innerText(), /slower[^]*1\.\d\d×/);
  assert.match(await card.locator("li", { hasText: "capacity" }).innerText(), /lower bound only/);
  const refused = page.locator("#verdicts li", { hasText: "native-gin against native-go" });
  assert.match(await refused.innerText(), /failed 1 of 12 contract cases/);
  assert.equal(await page.locator(".card", { hasText: "native-gin against" }).count(), 0);
  assert.match(await page.locator(".badge").innerText(), /A\/A control[^]*agrees/);
  await context.close();
});

test("what a card says stays inside it", async () => {
  const { page, context } = await open();
  const outside = await page.locator(".card").evaluateAll((cards) => cards.flatMap((card) => {
    // As long as an interval gets: the widest level and a block count of three digits.
    card.querySelectorAll(".interval").forEach((interval) => { interval.textContent = "12.345 to 67.890 (99.98 %), 100 blocks"; });
    const edge = card.getBoundingClientRect().right + 1;
    return [...card.querySelectorAll(".interval")].filter((interval) => {
      const range = document.createRange();
      range.selectNodeContents(interval);
      return range.getBoundingClientRect().right > edge;
    }).map((interval) => interval.textContent);
  }));
  assert.deepEqual(outside, []);
  await context.close();
});

test("it is used by keyboard alone", async () => {
  const { page, context } = await open();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.match(page.url(), /#verdicts$/);
  await page.locator("#forest-component-native-rust summary").focus();
  await page.keyboard.press("Enter");
  assert.ok(await page.locator("#forest-component-native-rust table").isVisible());
  await context.close();
});

test("the downloaded CSV has a line for every trial", async () => {
  const { page, context } = await open();
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#download").click()]);
  assert.equal(download.suggestedFilename(), "trials.csv");
  const csv = readFileSync(await download.path(), "utf8");
  assert.equal(csv, readFileSync(join(dir, "trials.csv"), "utf8"));
  await page.locator("#trials-table summary").click();
  assert.equal(await page.locator("#trials-table tbody tr").count(), results.trials.length);
  await context.close();
});

test("a phone scrolls inside charts and tables, never the page", async () => {
  const { page, context } = await open({ viewport: phone, isMobile: true, hasTouch: true });
  await page.evaluate(() => document.querySelectorAll("details").forEach((folded) => { folded.open = true; }));
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), phone.width);
  await context.close();
});

test("it reads without scripts", async () => {
  const { page, context } = await open({ javaScriptEnabled: false });
  assert.match(await page.locator("noscript").innerText(), /trials\.csv/);
  assert.ok(await page.locator("#quantiles-fixed-rate-hello svg").isVisible());
  await context.close();
});

test("the dark has a dark paper, print a white one", async () => {
  const { page, context } = await open({ colorScheme: "dark" });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await paper(), "rgb(16, 19, 23)");
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await paper(), "rgb(255, 255, 255)");
  await context.close();
});

// For eyes, and for the documentation: SCREENSHOTS names a directory for them.
if (process.env.SCREENSHOTS) test("the screenshots are taken", async () => {
  const shots = resolve(process.env.SCREENSHOTS);
  mkdirSync(shots, { recursive: true });
  for (const [name, options] of Object.entries({
    desktop: {}, dark: { colorScheme: "dark" }, phone: { viewport: phone, isMobile: true, deviceScaleFactor: 2 },
  })) {
    const { page, context } = await open(options);
    await page.screenshot({ path: join(shots, `${name}.png`) });
    await page.locator("#latency").screenshot({ path: join(shots, `${name}-latency.png`) });
    await context.close();
  }
});
