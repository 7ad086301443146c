/* page_clicks.mjs: how long a page takes in Chromium: until it is first painted with its data, for each
 * view, for a search in the table, and for frames of the flame while it is zoomed. Prints JSON, in
 * milliseconds.
 *
 * usage: page_clicks.mjs PAGE.html NODE_MODULES CHROMIUM */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [file, modules, executablePath] = process.argv.slice(2);
const { chromium } = createRequire(pathToFileURL(`${modules}/x.js`))("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const said = {};

/* The frame that has the first row in it, from the beginning of the navigation. */
await page.addInitScript(() => {
    window.firstRow = new Promise(done => {
        const look = () => document.querySelector("main table.rows tbody tr:not(.spacer)")
            ? setTimeout(() => done(performance.now()), 0) : requestAnimationFrame(look);
        requestAnimationFrame(look);
    });
});
await page.goto(`${pathToFileURL(file)}#view=functions`, { waitUntil: "commit" });
said.shown = await page.evaluate(() => window.firstRow);
await page.waitForLoadState("load");
await page.waitForTimeout(1000); /* what is unpacked behind the first view */

/* From the click to the frame after what it changed. */
async function timed(name, action) {
    said[name] = await page.evaluate(([source]) => new Promise(done => {
        const begun = performance.now();
        new Function(source)();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun), 0));
    }), [action]);
}

await timed("sort by name", "[...document.querySelectorAll('th button')].find(b => b.textContent.startsWith('function')).click()");
await timed("search", "const f = document.querySelector('input[type=search]'); f.value = 'par.*9'; f.dispatchEvent(new Event('input'))");
await timed("scroll", "document.querySelector('div.rows').scrollTop = 1e6");
const views = await page.$$eval("nav a", links => links.map(a => a.textContent));
for (const view of views)
    await timed(view, `[...document.querySelectorAll('nav a')].find(a => a.textContent === ${JSON.stringify(view)}).click()`);
await browser.close();
console.log(JSON.stringify(Object.fromEntries(Object.entries(said).map(([key, value]) => [key, Math.round(value)]))));
