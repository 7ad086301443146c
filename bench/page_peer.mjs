/* page_peer.mjs: how long another viewer takes in Chromium until it has drawn. Prints JSON, in milliseconds.
 *
 * usage: page_peer.mjs NODE_MODULES CHROMIUM URL SELECTOR [WORD]
 *
 * It has drawn when there is an element of the selector, the title has the word, and a picture of the screen has gone by. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, executablePath, url, selector, word] = process.argv.slice(2);
const { chromium } = createRequire(pathToFileURL(`${modules}/x.js`))("playwright-core");
const browser = await chromium.launch({ executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-unsafe-swiftshader"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(180000);
const begun = performance.now();
await page.goto(url, { waitUntil: "load" });
await page.waitForFunction(([wanted, title]) => document.querySelector(wanted) && document.title.includes(title || ""), [selector, word]);
await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0))));
console.log(JSON.stringify({ painted: Math.round(performance.now() - begun) }));
await browser.close();
