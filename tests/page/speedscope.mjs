/* speedscope.mjs: opens a profile in speedscope, in Chromium, and prints the table of its sandwich view
 * as JSON: [[function, total, self], ...], the figures as speedscope shows them.
 *
 * usage: speedscope.mjs PROFILE NODE_MODULES CHROMIUM [PICTURE.png]
 *
 * It fails if speedscope says anything on the console or asks for what is not beside it. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [profile, modules, chromiumPath, picture] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${modules}/x.js`));
const { chromium } = require("playwright-core");
const site = path.join(modules, "speedscope/dist/release/index.html");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "monarc-speedscope-"));
const script = path.join(folder, "profile.js");
const content = fs.readFileSync(profile).toString("base64");
fs.writeFileSync(script, `speedscope.loadFileFromBase64("profile.json", "${content}")`);

const said = [];
const browser = await chromium.launch({ executablePath: chromiumPath,
    args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-unsafe-swiftshader"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.on("console", message => message.type() === "error" && said.push(message.text()));
page.on("pageerror", error => said.push(error.message));
page.on("request", request => request.url().startsWith("http") && said.push(`asks for ${request.url()}`));
await page.goto(`${pathToFileURL(site)}#localProfilePath=${script}`);
await page.waitForFunction(() => document.title.includes("profile"), null, { timeout: 20000 }).catch(() => {});
await page.waitForTimeout(500);
await page.keyboard.press("3");
await page.waitForSelector("table tr");
if (picture)
    await page.screenshot({ path: picture });
const rows = await page.$$eval("table tr", found => found.map(
    row => [...row.querySelectorAll("td")].map(cell => cell.innerText)));
console.log(JSON.stringify({ title: await page.title(), rows, said }));
await browser.close();
fs.rmSync(folder, { recursive: true });
