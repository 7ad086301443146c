/* browser.mjs: clicks and types through pages of `monarc html` in Chromium and compares what they show
 * with what the commands print as JSON. Prints TAP.
 *
 * usage: browser.mjs SPECIFICATION.json NODE_MODULES CHROMIUM
 *
 * The specification is what test_page.py writes: pages, each with the JSON of the commands on the same
 * data. No page may say anything on the console, ask for anything but itself, or raise an error. */

import fs from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { checkTasks } from "./tasks.mjs";
import { Visit, ok, result, same } from "./visit.mjs";

const [specificationFile, modules, chromiumPath] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${modules}/x.js`));
const { chromium } = require("playwright-core");
const axeSource = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const specification = JSON.parse(fs.readFileSync(specificationFile, "utf8"));

const digits = text => text.replace(/[^\d.?-]/g, "");
/* Procedures of Fortran's modules, as pages name them. */
const shownName = name => name.replace(/^__([^_]\w*?)_MOD_(\w+)$/, "$1::$2");
const percent = share => (100 * share).toFixed(2);
/* Without the digits that half the interval makes unsure, but one decimal at least. */
const known = (share, half) => (100 * share).toFixed(share > 1 - 1e-6 || 100 * half < 0.355 ? 2 : 1);
const isKnown = (shown, share, low, high) => [0.999, 1, 1.001].some(part => digits(shown) === known(share, part * (high - low) / 2));

/* --- figures ----------------------------------------------------------------------------------- */

async function checkFunctions(visit, name, flat) {
    await visit.view({ view: "functions" });
    const [shown] = await visit.rows("main table.rows");
    const byName = new Map();
    for (const row of flat.functions)
        byName.set(row.name, byName.has(row.name) ? null : row);
    let compared = 0;
    const whole = await visit.page.$$eval("main table.rows tbody tr:not(.spacer)", rows =>
        rows.map(row => row.querySelector("td.name a").title)); /* what the table shows is shorter */
    for (const [i, row] of shown.slice(0, 25).entries()) {
        const expected = byName.get(whole[i]);
        if (!expected)
            continue;
        compared++;
        if (flat.summary.has_samples && !(isKnown(row["self %"], expected.self_share, expected.self_share_low, expected.self_share_high) &&
            isKnown(row["total %"], expected.total_samples / (flat.summary.samples || 1), expected.total_share_low,
                expected.total_share_high)))
            ok(false, `${name}: ${row.function}`, JSON.stringify([row, expected]));
        if (row.calls !== undefined && digits(row.calls) !== (expected.calls ? String(expected.calls) : ""))
            ok(false, `${name}: calls of ${row.function}`, JSON.stringify([row, expected]));
    }
    const measured = flat.functions.filter(row => row.self_samples > 0 || row.calls);
    ok(compared >= Math.min(3, measured.length), `${name}: ${compared} functions have the figures of flat --json`);
}

/* A window of a recording, against the same command with --from and --to. */
async function checkParts(visit, name, parts) {
    for (const { from, to, flat } of parts) {
        await visit.view({ view: "functions", from, to });
        const [shown] = await visit.rows("main table.rows");
        const wanted = flat.functions.filter(row => row.total_samples > 0 && !/[([]/.test(row.name)).slice(0, 5);
        const found = wanted.map(({ name: wantedName }) => shown.find(row => row.function === wantedName))
            .map(row => row && [row["self %"], row["total %"]].map(text => Number(digits(text)).toFixed(1)).join(" "));
        const expected = wanted.map(row => [row.self_share, row.total_samples / flat.summary.samples].map(part =>
            (100 * part).toFixed(1)).join(" "));
        same(found, expected, `${name}: from ${from} to ${to} as flat --from --to`);
        await visit.press("1");
        same(visit.address().from, String(from), `${name}: the part stays chosen`);
    }
    await visit.view({ view: "timeline" });
    const box = await (await visit.page.$(".times canvas")).boundingBox();
    await visit.page.mouse.move(box.x + box.width / 4, box.y + 30);
    await visit.page.mouse.down();
    await visit.page.mouse.move(box.x + box.width / 2, box.y + 30, { steps: 4 });
    await visit.page.mouse.up();
    await visit.settled();
    ok(Number(visit.address().to) > Number(visit.address().from) && await visit.page.$(".part"), `${name}: dragging chooses a part`);
}

/* A hot function far below the others has an arrow, which says what it passes. */
async function checkWay(visit, name, { from, to, through }) {
    await visit.view({ view: "graph" });
    await visit.page.waitForFunction(() => !document.querySelector("svg.graph[aria-busy]"));
    const titles = await visit.page.$$eval("svg.graph title", all => all.map(title => title.textContent));
    const way = titles.find(title => title.includes(` calls ${to}: `)) || "no arrow";
    same([way.split(" ")[0], (/through (.*)/.exec(way) || ["", ""])[1].split(", ").length], [from, through], `${name}: the way to ${to}`);
}

/* All of the graph is in sight at first, with as many boxes as can be looked at; no label is over another or over a box. */
async function checkFirstGraph(visit, name, flat) {
    await visit.view({ view: "graph" });
    if (!await visit.page.$("svg.graph"))
        return;
    await visit.page.waitForFunction(() => !document.querySelector("svg.graph[aria-busy]"));
    const { over, outside, letters, boxes, heavy } = await visit.page.evaluate(() => {
        const svg = document.querySelector("svg.graph"), box = one => one.getBoundingClientRect(), all = selector => [...svg.querySelectorAll(selector)];
        const frame = box(svg), labels = all("text.label"), areas = [...labels, ...all("rect.node")].map(one => [one.textContent || "a box", box(one)]);
        const slack = 0.5, areOver = (a, b) => a.left < b.right - slack && b.left < a.right - slack && a.top < b.bottom - slack && b.top < a.bottom - slack;
        const over = [];
        for (let i = 0; i < labels.length; i++)
            for (let k = i + 1; k < areas.length; k++)
                if (areOver(areas[i][1], areas[k][1]))
                    over.push(`${areas[i][0]} and ${areas[k][0]}`);
        for (const line of all("path.edge")) { // of arrows, a point each few pixels
            const matrix = line.getScreenCTM(), length = line.getTotalLength();
            for (let at = 0; at < length; at += 4) {
                const point = line.getPointAtLength(at).matrixTransform(matrix), here = { left: point.x, right: point.x, top: point.y, bottom: point.y };
                over.push(...labels.filter((_, i) => areOver({ ...here, right: point.x + 1, bottom: point.y + 1 }, areas[i][1])).map(label => `${label.textContent} and an arrow`));
            }
        }
        const outside = all("rect.node").filter(one => box(one).left < frame.left - 1 || box(one).right > frame.right + 1 ||
            box(one).top < frame.top - 1 || box(one).bottom > frame.bottom + 1).length;
        const scale = Number(/scale\((.*)\)/.exec(svg.querySelector("g").getAttribute("transform"))[1]);
        const letters = scale * Math.min(...all("text.name").map(one => Number.parseFloat(one.style.fontSize)));
        return { over: over.slice(0, 5), outside, letters, boxes: all("rect.node").length, heavy: all("path.heavy").length };
    });
    same([over, outside], [[], 0], `${name}: the graph is in sight, and its labels are over nothing`);
    const functions = await visit.page.$eval("main .count", count => count.textContent), leftOut = Number(digits((/(\S+) smaller/.exec(functions) || ["", "0"])[1]));
    ok(boxes <= 70 && (boxes >= 12 || !leftOut), `${name}: ${boxes} boxes at first`, functions);
    ok(letters >= 11 || boxes < 16, `${name}: names in the graph can be read`, `${letters} px in ${boxes} boxes`);
    if (flat.summary.samples > 0 && boxes > 1)
        ok(heavy > 0 || !await visit.page.$("path.edge"), `${name}: the heaviest path is marked`);
}

/* A click on a cell chooses its stretch of time, which the address keeps, and another view shows. */
async function checkHeatMap(visit, name, flat) {
    await visit.view({ view: "heatmap" });
    const cell = /^([\d.]+) s to ([\d.]+) s: ([\d.]+)/.exec(await visit.page.textContent("p.frame")); /* the hottest one is told at first */
    ok(cell && Number(cell[3]) > 0, `${name}: the heat map tells its hottest cell`, await visit.page.textContent("p.frame"));
    const box = await (await visit.page.$("div.heatmap canvas")).boundingBox();
    await visit.page.mouse.move(box.x + 80, box.y + 30);
    const under = /^([\d.]+) s to ([\d.]+) s/.exec(await visit.page.textContent("p.frame"));
    await visit.page.mouse.click(box.x + 80, box.y + 30);
    await visit.settled();
    const chosen = visit.address();
    same([chosen.view, Number(chosen.from || 0).toFixed(3), Number(chosen.to).toFixed(3)], ["heatmap", under[1], under[2]], `${name}: a click chooses the stretch of its cell`);
    ok(await visit.page.$(".part"), `${name}: what is chosen is said`);
    await visit.page.click("nav a[data-view=functions]");
    await visit.settled();
    same([visit.address().from, visit.address().to].map(Number), [chosen.from, chosen.to].map(Number), `${name}: the stretch is what functions show`);
    await visit.view({ view: "heatmap" });
    await visit.page.focus("div.heatmap canvas");
    await visit.press("Enter");
    same([Number(visit.address().from || 0).toFixed(3), Number(visit.address().to).toFixed(3)], [cell[1], cell[2]], `${name}: Enter chooses the cell`);
    if (flat.summary.rate > 0)
        ok(Math.abs(Number(digits((await visit.page.textContent(".part")).split(":").pop())) - Number(cell[3])) < 0.35 * Number(cell[3]) + 0.02,
            `${name}: its time is what the cell says`, `${await visit.page.textContent(".part")} ${cell}`);
}

/* The heat map of ranks says what 'monarc ranks' does: the row that costs most, its rank and its seconds. */
async function checkRanks(visit, name, ranks) {
    await visit.view({ view: "ranks" });
    const dearest = ranks.rows.filter(row => row.name !== "[outside of MPI]").reduce((l, r) => r.cost_time > l.cost_time ? r : l);
    const told = /^(\S+) on rank (\d+): ([\d.]+) s; at most ([\d.]+) s, on rank (\d+); imbalance costs ([\d.]+) s/
        .exec(await visit.page.textContent("p.frame"));
    same(told && [told[1], Number(told[2]), Number(told[5])], [dearest.name, dearest.max_rank, dearest.max_rank], `${name}: the dearest row of ranks`);
    ok(told && Math.abs(told[4] - dearest.max_time) < 0.0006 && Math.abs(told[6] - dearest.cost_time) < 0.0006, `${name}: its seconds`, String(told));
    await visit.page.focus("div.heatmap canvas");
    await visit.press("ArrowRight");
    ok((await visit.page.textContent("p.frame")).startsWith(`${dearest.name} on rank ${dearest.max_rank + 1}: `), `${name}: an arrow goes to the next rank`);
    await visit.press("Enter");
    await visit.settled();
    same(visit.address().view, "callers", `${name}: Enter shows the function`);
}

/* Every call among the functions that are shown is an edge of the picture, though few are drawn at once. */
async function checkGraph(visit, name, graph) {
    await visit.view({ view: "graph", least: "0" });
    if (!await visit.page.$("svg.graph"))
        return;
    await visit.page.waitForFunction(() => !document.querySelector("svg.graph[aria-busy]"));
    const texts = selector => visit.page.$$eval(selector, all => all.flatMap(title => title.textContent.split("\n")[0]));
    const shown = await texts("svg.graph a > title");
    const all = graph.entries.filter(e => e.kind === "function").map(e => e.name); // two files may have a peek each
    const names = new Set(shown.filter(each => all.indexOf(each) === all.lastIndexOf(each)));
    const expected = graph.entries.filter(e => e.kind === "function" && names.has(e.name)).flatMap(e => e.callees
        .filter(line => line.kind === "arc" && line.calls && line.name !== e.name && names.has(line.name))
        .map(line => `${e.name} calls ${line.name}`));
    const found = (await visit.page.$$eval("svg.graph path.edge > title", all => all.map(title => title.textContent))).join("\n");
    const missing = expected.filter(call => !found.includes(`${call}:`));
    same(missing, [], `${name}: ${expected.length} calls of graph --json are edges`);
    /* Which functions have a sample is up to chance, and names of C++ are shortened: none of a small program's calls may be left. */
    if (name.startsWith("C, "))
        ok(expected.length, `${name}: where there are calls there are edges`);
}

async function checkCallers(visit, name, graph) {
    const entries = graph.entries.filter(e => e.kind === "function" && !e.cycle && e.callees.length).slice(0, 4);
    for (const entry of entries) {
        await visit.view({ view: "callers", fn: keyOf(entry) });
        const tables = await visit.rows("main table.rows");
        const callees = tables[tables.length - 1].filter(row => row.callee);
        const expected = entry.callees.filter(line => line.kind === "arc" && line.calls && !line.name.includes("("))
            .map(line => `${shownName(line.name)} ${line.calls}`).sort();
        const found = callees.map(row => `${row.callee} ${digits(row.calls || "")}`);
        const missing = expected.filter(line => !found.includes(line));
        same(missing, [], `${name}: callees of ${entry.name} have the calls of graph --json`);
    }
}

function keyOf(entry) {
    return entry.object ? `${entry.linkage_name}@${entry.object}` : entry.linkage_name;
}

/* Frames by object, and one thread of a recording. */
async function checkFlameChoices(visit, name) {
    const choose = async (label, value) => {
        const select = (await visit.page.$$("main label.choice")).map(async one => (await one.innerText()).trim().startsWith(label) ? one : null);
        const found = (await Promise.all(select)).find(Boolean);
        await (await found.$("select")).selectOption(value);
        await visit.settled();
    };
    await visit.view({ view: "flame" });
    await choose("frames", "objects");
    await visit.press("ArrowDown");
    ok(/^(the program|[\w.+-]+): [\d.]+/.test(await visit.page.textContent("p.frame")), `${name}: frames of objects`, await visit.page.textContent("p.frame"));
    const thread = await visit.page.$$eval("main label.choice", all => {
        const found = all.find(one => one.innerText.trim().startsWith("thread"));
        return found ? [...found.querySelectorAll("option")].pop().value : null;
    });
    if (thread === null)
        return;
    await choose("thread", thread);
    ok(visit.address().thread === thread && await visit.page.$(".part"), `${name}: one thread in the flame`);
    await choose("thread", "");
    ok(visit.address().thread === undefined && !await visit.page.$(".part"), `${name}: all threads in the flame`);
}

async function checkFlame(visit, name, flat) {
    const top = [...flat.functions].filter(row => !row.name.match(/[(<[]/)).sort((l, r) => r.self_samples - l.self_samples)[0];
    await visit.view({ view: "flame", search: `^${shownName(top.name)}$` });
    const text = await visit.page.textContent("p.frame");
    const share = Number(digits(text.split("match")[0]));
    const expected = 100 * top.total_samples / flat.summary.samples, atMost = 100 * flat.functions.filter(f => f.name === top.name)
        .reduce((sum, f) => sum + f.total_samples, 0) / flat.summary.samples;
    ok(share > 0.95 * 100 * top.self_share - 0.1 && share < atMost + 0.1, `${name}: the flame has ${share} % of ${top.name}`, expected);
    await visit.view({ view: "flame" });
    if (flat.functions.filter(f => f.self_samples > 0).length > 2)
        await checkFlamePart(visit, name);
    await visit.view({ view: "flame", way: "callers" });
    await visit.view({ view: "flame", fn: keyOf(top) });
    const whole = await visit.page.textContent("p.frame");
    ok(/%/.test(whole), `${name}: callers of ${top.name} in the flame`, whole);
}

/* Wider by keys and by the wheel, moved by dragging, which is no click; Escape shows all of it again. */
async function checkFlamePart(visit, name) {
    /* With the part that is drawn: the middle of a wide frame looks the same wherever it is. */
    const picture = () => visit.page.$eval("div.flame canvas", canvas => `${canvas.dataset.part} ${canvas.toDataURL()}`);
    const box = await (await visit.page.$("div.flame canvas")).boundingBox();
    const seen = [await picture()];
    /* The browser hands on what the wheel does, and draws, when it comes to it: another picture, which then stays. */
    const look = async () => {
        const end = Date.now() + 10000;
        let before = seen.at(-1), now = await picture();
        while (Date.now() < end && (now === seen.at(-1) || now !== before)) {
            await visit.settled();
            [before, now] = [now, await picture()];
        }
        seen.push(now);
    };
    await visit.page.focus("div.flame canvas");
    await visit.press("+", "+");
    await look();
    await visit.press("Shift+ArrowRight");
    await look();
    await visit.page.mouse.move(box.x + 300, box.y + 30);
    await visit.page.mouse.down();
    await visit.page.mouse.move(box.x + 250, box.y + 30, { steps: 3 });
    await visit.page.mouse.up();
    await look();
    await visit.page.keyboard.down("Control");
    await visit.page.mouse.wheel(0, -200);
    await look();
    await visit.page.keyboard.up("Control");
    same([...new Set(seen)].length, seen.length, `${name}: the flame can be made wider and moved`);
    await visit.press("Escape");
    await visit.page.mouse.move(1, 1);
    await look();
    ok(seen.pop() === seen[0], `${name}: Escape shows all of the flame`);
}

/* Rows of the call tree: depth, name and totals, as they are shown. */
async function treeRows(visit) {
    return visit.page.$$eval("div.tree tbody tr:not(.spacer)", rows => rows.map(row => {
        const cells = [...row.children].map(cell => cell.innerText.trim()), name = row.querySelector(".folder");
        return { depth: Math.round(parseFloat(name.style.paddingLeft) / 0.9), name: (name.querySelector("[title]") || name).innerText.trim(),
            total: Number(cells[0].replace(/[^\d.]/g, "")), isOpen: /[▾⋯]/.test(name.innerText), isChosen: row.getAttribute("aria-selected") === "true",
            chain: Number((/(\d+) frames without a branch$/.exec(name.innerText) || [])[1] || 0) };
    }));
}

/* Of a path without branches: it opens to as many rows as it says. */
async function openChain(visit, name) {
    const rows = await treeRows(visit), chain = rows.findIndex(row => row.chain);
    if (chain < 0)
        return;
    await visit.press("Home", ...Array(chain).fill("ArrowDown"), "ArrowRight");
    const whole = await treeRows(visit);
    ok(rows[chain].chain >= 4 && whole.length - rows.length === rows[chain].chain - 1 && !whole[chain].chain && whole[chain].isOpen,
        `${name}: a path without branches opens`, JSON.stringify([rows, whole]));
}

/* Opened along the heaviest path; closed, opened and changed by keys; what is left out gives its time to its callers. */
async function checkCallTree(visit, name) {
    await visit.view({ view: "tree" });
    const rows = await treeRows(visit), chosen = rows.find(row => row.isChosen);
    const tops = list => list.filter(row => row.depth === 0).reduce((sum, row) => sum + row.total, 0);
    ok(Math.abs(tops(rows) - 100) < 0.2, `${name}: the outermost rows of the call tree are all of the time`, JSON.stringify(rows));
    ok(chosen && rows.filter(row => row.depth > 0).every(row => rows.some(above => above.isOpen && above.depth === row.depth - 1)),
        `${name}: the heaviest path is open`);
    await visit.press("ArrowLeft", "Home", "ArrowLeft");
    const closed = await treeRows(visit);
    ok(closed.length < rows.length || rows.every(row => !row.isOpen), `${name}: left closes a row`);
    await visit.press("*");
    const opened = await treeRows(visit);
    ok(opened.length >= rows.length && opened.every((row, i) => i === 0 || row.depth <= opened[i - 1].depth + 1), `${name}: * opens all below a row`);
    const sums = opened.map((row, i) => {
        let below = 0;
        for (let k = i + 1; k < opened.length && opened[k].depth > row.depth; k++)
            below += opened[k].depth === row.depth + 1 ? opened[k].total : 0;
        return below - row.total;
    });
    ok(sums.every(rest => rest < 0.3), `${name}: no row has less than its callees`, JSON.stringify(opened));
    if (opened.length < 2 || opened[1].depth !== 1)
        return;
    await visit.press("ArrowDown", "x");
    const without = await treeRows(visit);
    ok(!without.some(row => row.name === opened[1].name) && Math.abs(tops(without) - 100) < 0.2, `${name}: x leaves out ${opened[1].name}`, JSON.stringify(without));
    await visit.page.click("button.chip");
    await visit.settled();
    ok(visit.address().without === undefined, `${name}: its button brings it back`);
    await visit.press("Home", "ArrowDown");
    const { name: selected } = (await treeRows(visit)).find(row => row.isChosen);
    await visit.page.click("nav a[data-view=functions]");
    await visit.settled();
    const row = await visit.page.$$eval("main tr[aria-selected=true] td.name", cells => cells.map(cell => cell.innerText));
    ok(row.some(text => text.includes(selected)), `${name}: ${selected} stays chosen in the table of functions`, row);
    await visit.view({ view: "tree", way: "callers", fold: "1" });
    ok((await treeRows(visit)).length > 0, `${name}: the call tree from functions to callers`);
    await openChain(visit, name);
}

async function checkStackChart(visit, name) {
    await visit.view({ view: "chart" });
    await visit.page.focus("div.flame canvas");
    await visit.press("ArrowDown");
    const text = await visit.page.textContent("p.frame");
    ok(/: [\d.]+ s( within [\d.]+ s)? from [\d.]+ s on$/.test(text), `${name}: frames of the stack chart have times`, text);
    await visit.press("Enter");
    ok(await visit.page.$("aside.panel h2"), `${name}: the chosen frame is described`);
    const strip = await (await visit.page.$(".activity canvas")).boundingBox();
    await visit.page.mouse.move(strip.x + strip.width / 4, strip.y + 10);
    await visit.page.mouse.down();
    await visit.page.mouse.move(strip.x + strip.width / 2, strip.y + 10, { steps: 4 });
    await visit.page.mouse.up();
    await visit.settled();
    ok(visit.address().view === "chart" && Number(visit.address().to) > Number(visit.address().from), `${name}: dragging over the strip chooses a part`);
    await checkAccess(visit, name, "a part of the stack chart");
}

async function checkCoveredFunctions(visit, name, cover) {
    const all = cover.sources.flatMap(source => source.functions.map(f => `${f.name} ${f.count || "never"} ${source.path.replace(/.*\//, "")}:${f.start_line}`));
    await visit.view({ view: "coverage", list: "functions", sort: "name", order: "up" });
    const [shown] = await visit.rows("main table.rows");
    const missing = shown.map(row => `${row.function} ${row.run === "never" ? row.run : digits(row.run)} ${row.place}`).filter(row => !all.includes(row));
    same([missing, shown.length], [[], Math.min(all.length, shown.length)], `${name}: functions as in cover --json`);
    await visit.view({ view: "coverage", list: "functions", run: "missed" });
    const never = (await visit.rows("main table.rows"))[0].filter(row => row.function);
    same(never.length, all.filter(row => row.includes(" never ")).length, `${name}: functions that never ran`);
    await checkAccess(visit, name, "functions of coverage");
}

async function checkCoverage(visit, name, cover) {
    await visit.view({ view: "coverage", search: "." });
    const [shown] = await visit.rows("main table.rows");
    for (const source of cover.sources.slice(0, 10)) {
        const row = shown.find(r => r["folder, file"] === source.path);
        const { all, hit, unknown } = source.totals.lines;
        ok(row && digits(row.lines) === (100 * hit / (all - unknown)).toFixed(1) && digits(row.missed) === String(all - unknown - hit),
            `${name}: lines of ${source.path} as in cover --json`, JSON.stringify([row, source.totals.lines]));
    }
    await checkCoveredFunctions(visit, name, cover);
    const source = cover.sources[0];
    await visit.view({ view: "source", file: source.path, line: source.lines[0].line });
    const counts = await visit.page.$$eval(".lines .line[role=row]", rows => rows.map(row =>
        [Number(row.querySelector(".at").textContent), [...row.querySelectorAll(".count:not(.calls)")].pop()?.textContent || ""]));
    const byLine = new Map(source.lines.map(line => [line.line, line.count === null ? "?" : String(line.count)]));
    const wrong = counts.filter(([line, count]) => digits(count) !== (byLine.get(line) || ""));
    same(wrong, [], `${name}: counts of the lines of ${source.path}`);
}

/* No column of what was not counted, no "1 objects". */
async function checkSummary(visit, name) {
    await visit.view({ view: "summary" });
    const tables = (await visit.rows("main table.small")).filter(rows => rows.length);
    for (const rows of tables.filter(all => "calls" in all[0]))
        ok(rows.some(row => row.calls !== "" && row.calls !== "0"), `${name}: calls in the summary`);
    const functions = await visit.page.$$("main .heat.wide .bar");
    const hot = tables.map(rows => rows.filter(row => row["of the CPU"])).find(rows => rows.length) || [];
    same(hot.filter(row => /^\[(waiting|ready|stopped)/.test(row.function)), [], `${name}: waits are not among the hottest functions`);
    ok(!functions.length || await visit.page.$(".flame.small canvas"), `${name}: the summary has a picture`);
    const answers = await visit.page.$$eval("main > .lead", all => all.map(answer => answer.textContent));
    ok((!functions.length || / s of CPU|^[\d.e+]+ /.test(answers[0])) && answers.every(answer => /^(No|\d)/.test(answer)),
        `${name}: the summary opens with the answer`, answers.join("; "));
    const text = await visit.page.$$eval("main dl.facts", lists => lists.map(list => list.textContent).join(" "));
    ok(!/(^|[^\d\u202f.])1 (objects|counter files|tracefiles|call sites|samples)/.test(text), `${name}: one is one`, text.slice(0, 400));
}

/* --- what people do ---------------------------------------------------------------------------- */

async function checkKeyboard(visit, name, views) {
    await visit.view({ view: "summary" });
    for (let i = 0; i < views.length; i++) {
        await visit.press(String(i + 1));
        same(visit.address().view, views[i], `${name}: key ${i + 1} opens ${views[i]}`);
    }
    await visit.press("?");
    ok(await visit.page.$eval("#help", help => help.open), `${name}: ? lists the keys`);
    await visit.press("Escape");
    ok(!await visit.page.$eval("#help", help => help.open), `${name}: Escape closes the list`);
    await visit.press(String(views.indexOf("functions") + 1), "/");
    await visit.page.keyboard.type("ma.n");
    await visit.settled();
    const [found] = await visit.rows("main table.rows");
    ok(found.length > 0 && found.every(row => /ma.n/i.test(JSON.stringify(row))), `${name}: / searches`, JSON.stringify(found));
    await visit.press("Escape", "Enter");
    same(visit.address().view, "callers", `${name}: Enter opens the row`);
    await visit.page.goBack();
    await visit.settled();
    same(visit.address().view, "functions", `${name}: back`);
    same(visit.address().search, "ma.n", `${name}: the address keeps the search`);
}

async function checkSourceKeys(visit, name, cover) {
    const source = cover.sources.find(s => s.totals.lines.hit < s.totals.lines.all);
    if (!source)
        return;
    const missed = source.lines.filter(line => line.count === 0).map(line => line.line);
    await visit.view({ view: "source", file: source.path, line: 1 });
    await visit.press("l");
    same(Number(visit.address().line), missed[0], `${name}: l goes to the first line that never ran`);
    await visit.press("Shift+L");
    same(Number(visit.address().line), missed[missed.length - 1], `${name}: L goes backwards`);
}

async function checkAccess(visit, name, view) {
    if (!await visit.page.evaluate(() => "axe" in window))
        await visit.page.evaluate(axeSource);
    const result = await visit.page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    const serious = result.violations.filter(v => v.impact === "serious" || v.impact === "critical")
        .map(v => `${v.id}: ${v.nodes.slice(0, 2).map(n => n.target.join(" ")).join("; ")}`);
    same(serious, [], `${name}: axe finds no serious fault in ${view}`);
}

/* Sources by the end of their names, and a line of each that must be in sight when it is asked for. */
async function checkLines(visit, name, lines) {
    for (const [file, line] of Object.entries(lines)) {
        await visit.view({ view: "source", file, line });
        await visit.page.waitForSelector(".lines .line"); /* a long one is unpacked first */
        const shown = await visit.page.$$eval(".lines .line .at", cells => cells.map(cell => Number(cell.textContent)));
        const chosen = await visit.page.$(".lines .line.chosen");
        ok(shown.includes(line) && chosen && shown.length < 200, `${name}: line ${line} of ${file} is shown`, shown.slice(0, 5));
    }
    ok(!await visit.page.$("main img, main b"), `${name}: no source is markup`);
}

/* Details of a line: they open by a click, and the key d hides them. */
async function checkDetails(visit, name, { file, line, titles }) {
    await visit.view({ view: "source", file, line: 1 });
    ok(await visit.page.$eval(".line-panel", panel => panel.hidden), `${name}: nothing else is known of line 1`);
    await visit.page.click(`.lines .line[aria-rowindex="${line + 1}"] .at`);
    const captions = await visit.page.$$eval(".line-panel caption", all => all.map(caption => caption.textContent.split(":")[0]));
    same(captions, titles, `${name}: details of line ${line}`);
    await visit.press("d");
    ok(await visit.page.$eval(".line-panel", panel => panel.hidden), `${name}: d hides them`);
    await visit.press("d");
    await checkAccess(visit, name, "details");
}

/* What a line's time has gained since the base, and what is said above the source. */
async function checkDeltas(visit, name, { file, cells, remark }) {
    await visit.view({ view: "source", file, line: 1 });
    for (const [line, text] of Object.entries(cells))
        same(await visit.page.textContent(`.lines .line[aria-rowindex="${Number(line) + 1}"] .delta`), text, `${name}: change of line ${line}`);
    ok((await visit.page.textContent("main")).includes(remark), `${name}: ${remark}`);
    await visit.press("c");
    const changed = Object.entries(cells).find(([, text]) => text.startsWith("+"))[0];
    same(visit.address().line, changed, `${name}: c goes to the line whose time differs`);
}

/* No digit of a side or of a change is behind the second one of the margin. */
async function checkComparison(visit, name) {
    await visit.view({ view: "comparison" });
    const [rows] = await visit.rows("main table.rows"), behind = text => (/\.(\d*)/.exec(text) || ["", ""])[1].length;
    const judged = rows.filter(row => digits(row["±"] || ""));
    ok(judged.length > 0, `${name}: changes have margins`, JSON.stringify(rows[0]));
    const isShare = rows.some(row => /%/.test(row.self));
    for (const row of judged) {
        const margin = digits(row["±"]).replace(/^[0.]+/, "").replace(".", "");
        ok(margin.length <= 2 || isShare, `${name}: digits of the margin of ${row.function}`, row["±"]);
        same(behind(digits(row["Δ self"])), behind(digits(row["±"])), `${name}: digits of the change of ${row.function}`);
        ok(Math.abs(behind(digits(row.self)) - behind(digits(row["±"]))) <= 1, `${name}: digits of ${row.function}`, row.self);
    }
}

/* Branches of a template: all instantiations as one, then each. */
async function checkBranches(visit, name, { file, line, summed, each }) {
    await visit.view({ view: "source", file, line });
    const cells = await visit.page.$$eval(".line-panel table", tables => tables.map(table =>
        [...table.querySelectorAll("tbody tr")].map(row => [...row.children].map(cell => cell.textContent).join(" | "))));
    same(cells, [summed, each], `${name}: branches of line ${line}`);
}

/* The summary judges the patch and each file by the gates: in a word, and in a colour that is not the same for both. */
async function checkVerdicts(visit, name, { diff, files, total, limit }) {
    const enough = ratio => 100 * ratio.hit / ratio.all >= limit ? "enough" : "too low", percent = ratio => 100 * ratio.hit / (ratio.all - ratio.unknown);
    await visit.view({ view: "summary" });
    const verdict = await visit.page.textContent(".verdicts li strong:text-matches('^patch')");
    same(verdict, 100 * diff.lines.hit / diff.lines.all >= limit ? "patch passed" : "patch failed", `${name}: the patch is judged in the summary`);
    const rows = await visit.page.$$eval(".totals tbody tr", list => list.map(row => [...row.children].map(cell => cell.textContent)));
    same(rows.slice(0, -1).map(row => [row[0], row[1]]).sort(), files.filter(f => f.totals.lines.all).map(f => [f.path, enough(f.totals.lines)]).sort(), `${name}: each file is judged in the summary`);
    const last = rows[rows.length - 1];
    same([last[1], parseFloat(last[2])], [enough(total.lines), Number(percent(total.lines).toFixed(1))], `${name}: and all of them together`);
    const colour = await visit.page.$eval(".totals .level", level => getComputedStyle(level).color);
    ok(colour !== await visit.page.$eval("main", main => getComputedStyle(main).color), `${name}: the level has a colour`, colour);
}

/* What no column has room for stands in the details. */
async function checkHistory(visit, name, { file, line, text }) {
    await visit.view({ view: "source", file, line });
    ok((await visit.page.textContent(".line-panel")).includes(text), `${name}: history of line ${line}`, await visit.page.textContent(".line-panel"));
}

async function viewsOf(visit) {
    return visit.page.$$eval("nav a", links => links.map(a => new URLSearchParams(a.hash.slice(1)).get("view")));
}

/* --- without a browser ------------------------------------------------------------------------- */

/* Made in steps, at once, or while a part of the recording is chosen, the tree of paths is one. */
function checkTree() {
    const source = fs.readFileSync(new URL("../../assets/page/data.js", import.meta.url), "utf8");
    const { page, pathTree, kidsByTotal, steps } = new Function("window", "setTimeout", `"use strict"; ${source}
        return { page, pathTree, kidsByTotal, steps: { one: stepToWholeTree, all: treeOfAll, behind: prepareTree,
            choose: tree => { wholeTree = tree; } } };`)({}, () => undefined);
    const paths = { parent: [0], function: [0], self: [0] };
    for (let i = 1; i < 3000; i++) {
        paths.parent.push((i * 7919) % i);
        paths.function.push(i % 50);
        paths.self.push((i * 31) % 17);
    }
    page.profile = { paths };
    const whole = pathTree(paths), all = paths.self.reduce((sum, n) => sum + n);
    same(whole.total[0], all, "the tree of paths has all samples");
    steps.behind();
    steps.one();
    const part = pathTree({ parent: [0], function: [0], self: [5] });
    steps.choose(part);
    steps.behind();
    ok(steps.all() === part, "a part that is chosen while the tree is made is what is shown");
    steps.choose(null);
    const made = steps.all();
    same(["parent", "fn", "self", "total"].filter(key => String(made[key]) !== String(whole[key])), [], "the tree that is made in steps is the one made at once");
    let wrong = 0;
    for (let node = 0; node < made.len; node++) {
        const kids = Array.from(kidsByTotal(made, node), kid => made.total[kid]);
        wrong += kids.some((total, i) => i && total > kids[i - 1]);
        wrong += made.self[node] + kids.reduce((sum, total) => sum + total, 0) !== made.total[node];
    }
    same(wrong, 0, "children are sorted by their totals, which make up that of their parent");
}

/* What is left out of stacks gives its time to its callers; folded stacks have no function twice. */
function checkStacks() {
    const read = file => fs.readFileSync(new URL(`../../assets/${file}`, import.meta.url), "utf8");
    const { page, pathTree, changedTree, callerTree, timeTree, nameForms } = new Function("window", "setTimeout", `"use strict";
        ${read("flame/names.js")} ${read("page/data.js")} ${read("page/stacks.js")} const isInWindow = () => true;
        return { page, pathTree, changedTree, callerTree, timeTree, nameForms };`)({}, () => undefined);
    const functions = 12, paths = { parent: [0], function: [-1], self: [0] };
    for (let i = 1; i < 4000; i++) {
        paths.parent.push(Math.max(0, i - 1 - (i * 7919) % 9));
        paths.function.push((i * 104729) % functions);
        paths.self.push((i * 31) % 17);
    }
    page.functions = { name: Array.from({ length: functions }, (_, i) => `f${i}`), object: Array.from({ length: functions }, (_, i) => i % 3 - 1),
        kind: Array.from({ length: functions }, (_, i) => i === 5 ? 2 : 0), objects: ["a", "b"] };
    const tree = pathTree(paths), none = { without: new Set(), objects: new Set() };
    const uses = (made, fn) => Array.from(made.fn).includes(fn);
    ok(changedTree(tree, none) === tree, "stacks of which nothing is left out stay as they are");
    const without = changedTree(tree, { ...none, without: new Set([3]), hidesInlined: true });
    same([without.total[0], uses(without, 3), uses(without, 5), uses(without, 4)], [tree.total[0], false, false, true], "functions and inlined calls are left out, their time is not");
    const noObject = changedTree(tree, { ...none, objects: new Set([0]) });
    same([noObject.total[0], [1, 4, 7, 10].some(fn => uses(noObject, fn))], [tree.total[0], false], "an object is left out");
    const folded = changedTree(tree, { ...none, folds: true });
    let twice = 0;
    for (let i = 1; i < folded.len; i++)
        for (let above = folded.parent[i]; above; above = folded.parent[above])
            twice += folded.fn[above] === folded.fn[i];
    same([folded.total[0], twice], [tree.total[0], 0], "folded stacks have each function once");
    const only = changedTree(tree, { ...none, only: 2 }), outermost = callerTree(tree, 2);
    same([only.total[0], [...new Set(Array.from(only.fn).filter((fn, i) => i && !only.parent[i]))]], [outermost.total[0], [2]], "one function alone, with what is below it");

    page.summary = { rate: 1000, abbreviation: "s" };
    page.window = null;
    checkStackChartSteps(page, timeTree, none);
    page.profile = { paths: { parent: [0, 0, 1, 1], function: [-1, 0, 1, 2], self: [0, 0, 6, 4] }, timeline: { slice_ns: 2e6, length_ns: 20e6, samples:
        { slice: [0, 1, 1, 5, 6], thread: [0, 0, 0, 0, 0], path: [2, 3, 2, 2, 2], samples: [2, 1, 1, 2, 2] } } };
    const inTime = timeTree(0, none);
    const framesOf = tree => Array.from(tree.fn, (fn, i) => [fn, tree.start[i], tree.total[i]]).slice(1);
    same(framesOf(inTime), [[0, 0, 4], [1, 0, 3], [2, 3, 1], [-1, 4, 6], [0, 10, 4], [1, 10, 4], [-1, 14, 6]], "stacks in the order of time: what goes on is one frame, what was not seen is a gap");
    page.profile.timeline.samples = { slice: [0, 1, 2, 3], thread: [0, 0, 0, 0], path: [1, 2, 1, 3], samples: [2, 2, 2, 2] };
    same(framesOf(timeTree(0, none)), [[0, 0, 8], [1, 2, 2], [2, 6, 2], [-1, 8, 12]], "a call stands behind what its caller did itself before");

    for (const [full, ...forms] of [["app::Pool<int>::push(int const&) const", "app::Pool::push", "…Pool::push", "…push"], ["main"],
        ["A<x>::operator()<int>(int) const", "A::operator()", "…operator()"], ["A::operator<(A)", "A::operator<", "…operator<"], ["[a::b]"],
        ["<alloc::Vec<T> as core::Iter>::next", "<alloc::Vec as core::Iter>::next", "…next"], ["(anonymous namespace)::f(int)", "(anonymous namespace)::f", "…f"],
        ["alloc::slice::<impl [T]>::sort_by", "alloc::slice::sort_by", "…slice::sort_by", "…sort_by"], ["f::<u8>", "f"]])
        same(nameForms(full, "…"), [full, ...forms], `ever shorter forms of ${full}`);
}

/* A wait that slivers of something else interrupt is one frame, and a step in which little ran is full, with what ran told. */
function checkStackChartSteps(page, timeTree, none) {
    const shape = tree => Array.from(tree.fn, (fn, i) => [fn, Math.round(tree.total[i] * 1000) / 1000, Math.round(tree.ran[i] * 1000) / 1000]).slice(1);
    const samples = rows => ({ slice: rows.map(r => r[0]), thread: rows.map(() => 0), path: rows.map(r => r[1]), samples: rows.map(r => r[2]) });
    page.profile = { paths: { parent: [0, 0, 0], function: [-1, 0, 1], self: [0, 1, 1] }, timeline: { slice_ns: 1e6, length_ns: 5e6,
        samples: samples([[0, 1, 1], [0, 2, 0.01], [1, 1, 1], [1, 2, 0.01], [2, 1, 1], [3, 1, 1], [4, 1, 1]]) } };
    same(shape(timeTree(0, none)), [[0, 5, 5], [1, 0, 0.02]], "what slivers interrupt is one frame of the stack chart");
    page.profile.timeline.samples = samples([[0, 1, 0.25], [1, 1, 0.25], [3, 2, 0.5]]);
    same(shape(timeTree(0, none)), [[0, 2, 0.5], [-1, 1, 0], [1, 1, 0.5], [-1, 1, 0]], "steps of the stack chart are full, and what ran is known");
}

/* Cells of the heat map: their lengths, and what is in each. */
function checkHeatCells() {
    const read = file => fs.readFileSync(new URL(`../../assets/page/${file}`, import.meta.url), "utf8");
    const { heatGrid, heatCells } = new Function("window", "setTimeout", `"use strict"; ${read("data.js").split("/* --- ")[0]} ${read("timeline.js")} ${read("heatmap.js")}
        return { heatGrid, heatCells };`)({}, () => undefined);
    same([[100, 1e-3], [3600, 1e-2], [1.7, 1e-3], [0.02, 2e-3]].map(([length, slice]) => Object.values(heatGrid(length, slice)).map(n => Number(n.toPrecision(6)))),
        [[1, 0.02, 50, 100], [10, 0.2, 50, 360], [0.1, 0.002, 50, 17], [0.002, 0.002, 1, 10]], "columns and cells of the heat map have round lengths");
    const cells = heatCells({ column: 0.004, row: 0.001, rows: 4, columns: 2 }, { slice_ns: 2e6, samples:
        { slice: [0, 1, 3, 3, 2], thread: [0, 0, 0, 1, 0], state: [0, 1, 0, 0, 2], samples: [4, 2, 8, 6, 9] } }, [0, 1], 0);
    same(Array.from(cells), [2, 2, 1, 1, 0, 0, 4, 4], "samples are shared out among the cells of their slice");
}

/* Rows of the ranks: calls of MPI are one whatever is in them, others are functions; processes without rank are none's. */
function checkRankRows() {
    const read = file => fs.readFileSync(new URL(`../../assets/page/${file}`, import.meta.url), "utf8");
    const { rankRows, mpiCall } = new Function(`"use strict"; ${read("ranks.js").split("class RankMap")[0]} return { rankRows, mpiCall };`)();
    same(["MPI_Send", "PMPI_Allreduce", "mpi_allreduce_", "pmpi_send__", "MPI_ALLREDUCE", "mpich", "MPI_my", "MPIR_Wait", "my_MPI_Send"].map(mpiCall),
        ["MPI_Send", "MPI_Allreduce", "MPI_Allreduce", "MPI_Send", "MPI_Allreduce", undefined, undefined, undefined, undefined], "calls of MPI by their names");
    const found = rankRows({ processes: { rank: [null, 7, 3] }, threads: { process: [0, 1, 2, 2] },
        samples: { slice: [0, 0, 0, 1, 1, 2], thread: [0, 1, 2, 3, 1, 2], path: [1, 1, 1, 1, 3, 2], samples: [50, 4, 8, 2, 9, 1] } },
    { parent: [0, 0, 0, 2], function: [null, 0, 1, 2] }, ["work", "MPI_Recv", "poll"]);
    same([found.ranks, found.rows.map(row => [row.name, row.function, Array.from(row.times), row.cost, row.mostRank])],
        [[3, 7], [["MPI_Recv", undefined, [1, 9], 4, 7], ["work", 0, [10, 4], 3, 3]]], "rows of ranks, the dearest first");
}

/* Of more ranks than a canvas is wide neighbours share a column, and the one with the most time is shown. */
function checkManyRanks() {
    const read = file => fs.readFileSync(new URL(`../../assets/page/${file}`, import.meta.url), "utf8");
    const { RankMap } = new Function("element", "ResizeObserver", "drawn", "plain", "amountText",
        `"use strict"; ${read("ranks.js")} return { RankMap };`)(() => ({}), class { observe() {} }, () => {}, text => text, String);
    RankMap.prototype.draw = () => {};
    for (const number of [1, 8, 3000, 3001, 12000, 100000]) {
        const ranks = Array.from({ length: number }, (_, i) => i), times = new Float64Array(number).fill(2);
        times[number >> 1] = 9;
        const map = new RankMap({ ranks, rows: [{ name: "spin", times, most: 9, cost: 7, mostRank: number >> 1 }] });
        ok(map.columns * 3 <= 9000 && map.columns * map.group >= number && (number > 3000 || map.group === 1), `${number} ranks fit`);
        same(map.rows[0].shown[map.at[1]], number >> 1, `${number} ranks: the slow one is shown`);
        ok(map.status.textContent.startsWith(`spin on rank ${number >> 1}${map.group > 1 ? ", the most of " : ": 9"}`), `${number} ranks: said`);
        same(map.rows[0].shown.length, map.columns, `${number} ranks: a cell a column`);
        const two = new RankMap({ ranks, rows: [{ name: "spin", times, most: 9 }, { name: "noise", times, most: 0.01 }] });
        same([9, 0.01, 0].map(time => two.shade(time, 6)), [5, 0, -1], `${number} ranks: rows have one scale`);
    }
}

/* Which process was whose, and what it worked on: of a build, say. */
function checkLanes() {
    const read = file => fs.readFileSync(new URL(`../../assets/page/${file}`, import.meta.url), "utf8");
    const { page, foldedLanes, processTip, statusText, processHint } = new Function("window", "setTimeout", `"use strict";
        const shortened = text => text, plain = text => text, amountText = amount => (amount / 1000).toFixed(3) + ' s';
        ${read("data.js").split("/* --- ")[0]} ${read("timeline.js")} ${read("window.js").match(/function threadName[^]*?\n}/)[0]}
        return { page, foldedLanes, processTip, statusText, processHint };`)({}, () => undefined);
    page.profile = {};
    const times = { start: [0, 1e9, 2e9, 2e9, 3e9, 1e9], end: [0, 0, 3e9, 8e9, 4e9, 9e9] };
    page.profile.timeline = { slice_ns: 1e7, length_ns: 1e10, samples: { slice: [0, 1, 2, 3, 4, 5, 6], thread: [0, 1, 2, 3, 4, 5, 5],
        state: [2, 0, 0, 0, 0, 0, 2], path: [0, 0, 0, 0, 0, 0, 0], samples: [100, 0.5, 2000, 300, 0.25, 0.5, 9] },
    threads: { process: [0, 1, 2, 3, 4, 5], tid: [7, 8, 8, 9, 10, 11], name: ["make", "make", "cc1", "as", "sh", "sh"], ...times },
    processes: { pid: [7, 8, 8, 9, 10, 11], parent: [1, 7, 7, 8, 7, 7], name: ["make", "make", "cc1", "x86_64-linux-gnu-as", "dash", "dash"],
        command: ["make -j2", "make -j2", "/usr/lib/gcc/cc1 -quiet -imultiarch x86_64-linux-gnu -MD o/parse.c.d -MF a.d -D_X src/parse.c -o /tmp/cc1.s", "as -o parse.o /tmp/cc1.s", "sh -c 'a b'", null],
        status: [0, null, 256, 0, 9, null], ...times }, marks: { at: [], kind: [], name: [], process: [] } };
    same(foldedLanes().map(({ name, depth, threads, before }) => [name, depth, threads, before || []]),
        [["make 7", 0, [0], []], ["cc1 parse.c 8", 1, [2], [1]], ["as 9", 2, [3], []], ["2 × dash, 0.010 s", 1, [4, 5], []]],
        "lanes: processes below their parents, with what they worked on; what did little together; a child before its program with that");
    same([processTip(2), statusText(9), processHint(0), processHint(4)],
        ["/usr/lib/gcc/cc1 -quiet -imultiarch x86_64-linux-gnu -MD o/parse.c.d -MF a.d -D_X src/parse.c -o /tmp/cc1.s\nprocess 8, 2.000 s to 3.000 s\nexited with status 1", "killed by signal 9", "", ""],
        "what a process was, in words");
}

/* --- pages ------------------------------------------------------------------------------------- */

/* Names stay in sight, whatever figures stand beside them. */
async function checkNarrowTable(visit, name, view) {
    const cell = await visit.page.$("div.rows tbody td.name:first-child");
    if (!await visit.page.$("div.rows tbody td.name"))
        return;
    await visit.page.$eval("div.rows", table => { table.scrollLeft = 400; });
    const box = cell && await cell.boundingBox();
    ok(box && box.x >= 0 && box.x + box.width <= 400 && box.width > 40, `${name}: ${view} has names in sight in 400 pixels`, JSON.stringify(box));
}

/* Threads are told apart by their names, which are in sight. */
async function checkNarrowTimeline(visit, name, view) {
    if (view !== "timeline")
        return;
    const lanes = await visit.page.$$eval(".lanes button", all => all.map(lane => [lane.textContent, lane.scrollWidth - lane.clientWidth]));
    ok(new Set(lanes.map(([text]) => text)).size === lanes.length && lanes.every(([, hidden]) => hidden <= 0),
        `${name}: names of threads fit into 400 pixels`, JSON.stringify(lanes));
    const box = await (await visit.page.$("table.small tbody td")).boundingBox();
    const text = await visit.page.textContent("table.small tbody td");
    ok(box.x >= 0 && box.x + box.width <= 400 && lanes.some(([lane]) => lane === text), `${name}: the table of threads begins with names`, text);
}

/* A picture too large for the screen begins where its text can be read. */
async function checkReadableGraph(visit, name, view) {
    if (view !== "graph" || !await visit.page.$("svg.graph"))
        return;
    const transform = await visit.page.$eval("svg.graph > g", all => all.getAttribute("transform"));
    ok(Number(/scale\((.*)\)/.exec(transform)[1]) >= 0.6, `${name}: the graph can be read in 400 pixels`, transform);
}

/* What is drawn by night is drawn anew, in the colours of the day, on paper. */
async function checkPaper(visit, name) {
    await visit.view({ view: "summary" });
    const pictures = () => visit.page.$$eval("main canvas", all => all.map(one => one.toDataURL()));
    const swatch = () => visit.page.$$eval("main .swatch", all => all.map(one => getComputedStyle(one).backgroundColor));
    const [night, colours] = [await pictures(), await swatch()];
    await visit.page.emulateMedia({ media: "print" });
    await visit.settled();
    const paper = await pictures(), inks = await swatch();
    await visit.page.emulateMedia({ media: "screen" });
    ok(night.length > 0 && night.every((one, i) => one !== paper[i]) && colours.every((one, i) => one !== inks[i]), `${name}: pictures have other colours on paper`);
}

/* The colours of the night are the style's, not the page's: what axe takes most time for is asked of each view once;
 * in the quick part by day, too. */
const seenDark = new Set(), seenLight = new Set();

async function checkPage(browser, name, entry) {
    let visit = await new Visit(browser, entry).open();
    await visit.view({ view: "summary" });
    const views = await viewsOf(visit);
    same(views.indexOf("coverage"), entry.cover || views.includes("coverage") ? 1 : -1, `${name}: coverage is beside the summary`);
    await checkSummary(visit, name);
    for (const view of views) {
        await visit.view({ view });
        const wrong = await visit.page.$$eval(".remark.warning", all => all.map(e => e.textContent)
            .filter(text => text.includes("cannot be shown:") && !text.includes("The text")));
        same(wrong, [], `${name}: ${view} is shown`);
        if (process.env.MONARC_PART !== "quick" || !seenLight.has(view))
            await checkAccess(visit, name, view);
        seenLight.add(view);
    }
    if (entry.flat)
        await checkFunctions(visit, name, entry.flat);
    if (entry.graph) {
        await checkCallers(visit, name, entry.graph);
        if (views.includes("graph"))
            await checkGraph(visit, name, entry.graph);
    }
    if (views.includes("graph") && entry.flat)
        await checkFirstGraph(visit, name, entry.flat);
    if (entry.way)
        await checkWay(visit, name, entry.way);
    if (views.includes("heatmap"))
        await checkHeatMap(visit, name, entry.flat);
    same(views.includes("ranks"), Boolean(entry.ranks), `${name}: ranks are there if there are any`);
    if (entry.ranks)
        await checkRanks(visit, name, entry.ranks);
    if (entry.flat && entry.flat.summary.samples > 0) {
        await checkFlame(visit, name, entry.flat);
        await checkCallTree(visit, name);
    }
    if (views.includes("chart"))
        await checkStackChart(visit, name);
    if (entry.cover) {
        await checkCoverage(visit, name, entry.cover);
        await checkSourceKeys(visit, name, entry.cover);
    }
    if (entry.details)
        await checkDetails(visit, name, entry.details);
    if (entry.deltas)
        await checkDeltas(visit, name, entry.deltas);
    if (entry.deltas)
        await checkComparison(visit, name);
    if (entry.judged)
        await checkVerdicts(visit, name, entry.judged);
    if (entry.branches)
        await checkBranches(visit, name, entry.branches);
    if (entry.lines)
        await checkLines(visit, name, entry.lines);
    if (entry.flat && entry.flat.functions.some(f => f.object) && entry.flat.summary.samples > 0)
        await checkFlameChoices(visit, name);
    if (entry.parts)
        await checkParts(visit, name, entry.parts);
    if (entry.keyboard)
        await checkKeyboard(visit, name, views);
    if (entry.task)
        await checkTasks(browser, name, entry);
    if (entry.title)
        ok((await visit.page.title()).endsWith(entry.title) && !await visit.page.$("img"), `${name}: nothing of it runs`);
    await visit.close(name);
    visit = await new Visit(browser, entry, { viewport: { width: 400, height: 800 }, colorScheme: "dark" }).open();
    if (entry.history)
        await checkHistory(visit, name, entry.history);
    await visit.view({});
    for (const view of views) {
        await visit.turnTo({ view });
        const wide = await visit.page.evaluate(() => document.documentElement.scrollWidth);
        ok(wide <= 400, `${name}: ${view} fits into 400 pixels`, wide);
        const tabs = await visit.page.evaluate(() => {
            const menu = document.querySelector("select.views"), box = menu.getBoundingClientRect();
            return { chosen: menu.value, isSeen: box.width > 0 && box.left >= 0 && box.right <= innerWidth, bar: document.querySelector("nav").offsetHeight };
        });
        same(tabs, { chosen: view, isSeen: true, bar: 0 }, `${name}: ${view} is chosen in the menu`);
        await checkNarrowTable(visit, name, view);
        await checkReadableGraph(visit, name, view);
        await checkNarrowTimeline(visit, name, view);
        if (!seenDark.has(view) || entry.details || entry.judged)
            await checkAccess(visit, `${name}, dark`, view);
        seenDark.add(view);
    }
    if (views.includes("chart"))
        await checkPaper(visit, name);
    await visit.close(`${name}, narrow and dark`);
    visit = await new Visit(browser, entry, { javaScriptEnabled: false }).open();
    await visit.page.goto(String(pathToFileURL(entry.file)));
    ok((await visit.page.$$("noscript table tr, table tr")).length > (entry.isEmpty ? 0 : 1), `${name}: tables without scripts`);
    await visit.close(`${name}, without scripts`);
}

if (process.env.MONARC_PART !== "slow") {
    checkTree();
    checkStacks();
    checkLanes();
    checkHeatCells();
    checkRankRows();
    checkManyRanks();
}
const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
for (const [name, entry] of Object.entries(specification))
    await checkPage(browser, name, entry).catch(error => ok(false, `${name}: ${error.message}`, error.stack));
await browser.close();
console.log(`1..${result.cases}`);
process.exit(result.failures ? 1 : 0);
