/* page_clicks.mjs: how long a page takes in Chromium: until it is first painted with its data, opened at the
 * functions, the call tree and the stack chart; for each view, for a search in a table, for a graph of 300
 * functions, and how often the flame is drawn in a second while it is dragged.
 * Prints JSON: `painted` and clicks in milliseconds, and `pans a second`.
 *
 * usage: page_clicks.mjs NODE_MODULES CHROMIUM PAGE.html */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const PANS = 60;
const [modules, executablePath, file] = process.argv.slice(2);
const { chromium } = createRequire(pathToFileURL(`${modules}/x.js`))("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const said = {};

/* The picture of the screen that has the first row in it, from the beginning of the navigation. */
await page.addInitScript(() => {
    window.firstRow = new Promise(done => {
        const look = () => document.querySelector("main table.rows tbody tr:not(.spacer)")
            ? setTimeout(() => done(performance.now()), 0) : requestAnimationFrame(look);
        requestAnimationFrame(look);
    });
});
await page.goto(`${pathToFileURL(file)}#view=functions`, { waitUntil: "commit" });
await page.waitForSelector("main[class]");
const hasFunctions = await page.$("main.functions");
if (!hasFunctions)
    await page.goto(`${pathToFileURL(file)}#view=coverage`);
said.painted = await page.evaluate(() => window.firstRow);
await page.waitForLoadState("load");
await page.waitForTimeout(1500); /* what is unpacked behind the first view */

/* From the click to the picture after what it changed: a view is there when it has content. */
async function timed(name, action) {
    said[name] = await page.evaluate(([source]) => new Promise(done => {
        const begun = performance.now();
        const main = document.querySelector("main");
        new Function(source)();
        const look = () => source.includes("nav a") && (document.querySelector("main") === main || !document.querySelector("main").firstChild)
            ? requestAnimationFrame(look) : requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun), 0));
        requestAnimationFrame(look);
    }), [action]);
    await page.waitForTimeout(100);
}

const click = text => `[...document.querySelectorAll('nav a')].find(a => a.textContent === ${JSON.stringify(text)}).click()`;
await timed("sort by name", "[...document.querySelectorAll('th button')].find(b => /function|file/.test(b.textContent)).click()");
await timed("search", "const f = document.querySelector('input[type=search]'); f.value = '.*9'; f.dispatchEvent(new Event('input'))");
await timed("scroll", "document.querySelector('div.rows').scrollTop = 1e6");
for (const view of (await page.$$eval("nav a", links => links.map(a => a.textContent))).reverse())
    await timed(view, click(view));
if (await page.$("nav a[data-view=graph]"))
    await timed("graph of 300 functions (nav a)", "location.hash = '#view=graph&least=0'");

/* Zoomed until it is ten times as wide, then dragged by some pixels a picture. */
async function pan() {
    await page.evaluate(() => [...document.querySelectorAll("nav a")].find(a => a.textContent === "Flame").click());
    await page.waitForSelector("main.flame canvas");
    await page.waitForTimeout(500);
    said["pans a second"] = await page.evaluate(pans => new Promise(done => {
        const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
        const at = x => ({ clientX: box.left + x, clientY: box.top + 50, button: 0, buttons: 1, pointerId: 1, bubbles: true, cancelable: true });
        canvas.setPointerCapture = () => {};
        canvas.dispatchEvent(new WheelEvent("wheel", { ...at(600), ctrlKey: true, deltaY: -460 }));
        canvas.dispatchEvent(new PointerEvent("pointerdown", at(600)));
        let n = 0, begun;
        const next = time => {
            begun = begun || time;
            if (n === pans)
                return done(Math.round(1000 * n / (time - begun)));
            canvas.dispatchEvent(new PointerEvent("pointermove", at(600 - 8 * ++n)));
            return requestAnimationFrame(next);
        };
        requestAnimationFrame(next);
    }), PANS);
}

if (await page.evaluate(() => [...document.querySelectorAll("nav a")].some(a => a.textContent === "Flame")))
    await pan();

/* Opened there, as from a link that somebody sent. */
for (const [view, content] of [["tree", "div.tree tbody tr:not(.spacer)"], ["chart", "div.flame canvas[data-part]"]]) {
    if (!await page.$(`nav a[data-view=${view}]`))
        continue;
    const another = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await another.addInitScript(selector => {
        window.firstPicture = new Promise(done => {
            const look = () => document.querySelector(selector) ? setTimeout(() => done(performance.now()), 0) : requestAnimationFrame(look);
            requestAnimationFrame(look);
        });
    }, content);
    await another.goto(`${pathToFileURL(file)}#view=${view}`, { waitUntil: "commit" });
    await another.waitForSelector("main[class]");
    said[`painted ${view}`] = await another.evaluate(() => window.firstPicture);
    await another.close();
}
await browser.close();
console.log(JSON.stringify(Object.fromEntries(Object.entries(said).map(([key, value]) => [key, Math.round(value)]))));
