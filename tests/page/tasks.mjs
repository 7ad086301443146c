/* tasks.mjs: questions that people open a page with, from the summary to the answer, by what can be seen and
 * clicked. At most four clicks are needed for each; the answer is known by how the program was made. */

import { Visit, ok, same } from "./visit.mjs";

const MOST_CLICKS = 4;

/* Somebody who only clicks. */
class Person {
    constructor(visit) {
        this.visit = visit;
        this.clicks = 0;
    }

    async click(selector) {
        this.clicks++;
        await this.visit.page.click(selector);
        await this.visit.settled();
    }

    async see(selector) {
        return this.visit.page.$$eval(selector, all => all.map(one => one.innerText.trim()));
    }
}

/* The program that took longest is the first row below make's, and the thread's call tree is open where its time went. */
async function whyWasMakeSlow(person, task) {
    await person.click("nav a[data-view=timeline]");
    same(await person.see(".lanes .name"), ["critical path"], "make: the critical path is the first lane");
    const table = await person.see("main table.small"), onPath = table.find(text => text.startsWith("Critical path"));
    ok(onPath && onPath.split("\n").slice(2, 4).some(line => /slow/.test(line)), "make: the slow program is on the critical path", onPath);
    const lanes = await person.see(".lanes button"), below = lanes.findIndex(lane => lane.startsWith("make")) + 1;
    ok(lanes[below] && lanes.slice(below).find(lane => /slow|quick/.test(lane)).startsWith("slow"),
        "make: the slow program stands before the quick ones", lanes.join("; "));
    await foldsShortOnes(person);
    await person.click(`.lanes button >> nth=${lanes.findIndex(lane => lane.startsWith("slow"))}`);
    await person.click("nav a[data-view=tree]");
    const open = await person.see("div.tree tbody td.name");
    ok(open.some(text => text.includes(task.answer)), `make: ${task.answer} is on the path that is open`, open.join("; "));
}

/* Short processes of one kind are one row, which a click opens, and another one closes. */
async function foldsShortOnes(person) {
    const lanes = await person.see(".lanes button"), at = lanes.findIndex(lane => /^▸ \d+ × quick, /.test(lane)), row = `.lanes button >> nth=${at}`;
    ok(at >= 0 && lanes.filter(lane => lane.startsWith("quick")).length === 0, "make: short processes of one kind are one row", lanes.join("; "));
    await person.visit.page.click(row);
    const count = Number(/\d+/.exec(lanes[at])[0]), open = await person.see(".lanes button");
    ok(open.length === lanes.length + count && open[at].startsWith("▾") && open.slice(at + 1, at + 1 + count).every(lane => lane.startsWith("quick")),
        "make: a click shows them one by one", open.join("; "));
    await person.visit.page.click(row);
    same(await person.see(".lanes button"), lanes, "make: another one folds them again");
}

/* Of a function on the way: what it called, by the time that this took, down to the wait. */
async function whatDidItWaitFor(person, task) {
    await person.click("nav a[data-view=tree]");
    const rows = await person.see("div.tree tbody td.name"), at = rows.findIndex(text => text.includes(task.of));
    ok(at >= 0, `a wait: ${task.of} is in sight`, rows.join("; "));
    ok(rows[at + 1] && rows[at + 1].includes(task.answer), `a wait: below it stands ${task.answer}`, rows.join("; "));
    ok(rows.slice(at + 2).some(text => /\[waiting\] \w+/.test(text)), "a wait: and the call that waits", rows.join("; "));
    await person.click("nav a[data-view=chart]");
    ok((await person.see("p.frame")).length === 1, "a wait: the stack chart shows when");
    await person.click("nav a[data-view=waits]");
    const [longest] = person.visit.entry.waits.rows, woken = await person.see("section.waits table:last-of-type tbody td:nth-child(2)");
    ok((await person.see("section.waits h2"))[0].startsWith(longest.kind), "a wait: the longest comes first");
    same(woken, (longest.wakers.length ? longest.wakers : longest.waiters).map(of => String(of.waits)), "a wait: who ended how many");
}

/* What the holder of the lock did is in sight as soon as the waits are; another row is an arrow away. */
async function whoHeldTheLock(person, task) {
    await person.click("nav a[data-view=waits]");
    const rows = await person.see("table.rows tbody tr:not(.spacer)"), panel = (await person.see("section.waits")).join(" ");
    ok(rows[0] && rows[0].includes(task.lock), `a lock: ${task.lock} is the first row`, rows.join("; "));
    ok(panel.includes(task.answer) && panel.includes(task.waiter), `a lock: ${task.answer} held it, ${task.waiter} waited`, panel);
    const shares = await person.see("section.waits > ul.holders > li > .heat");
    const sum = shares.reduce((all, text) => all + Number.parseFloat(text), 0);
    ok(Math.abs(sum - 100) < 1, "a lock: what the holder did adds up to all of the time", shares.join("; "));
    await person.visit.page.focus("div.rows");
    await person.visit.press("ArrowDown");
    const next = (await person.see("section.waits h2"))[0];
    ok(rows.length < 2 || (next && !next.includes(task.lock)), "a lock: an arrow shows the next row", next);
    await person.visit.page.selectOption("main select", "files");
    await person.visit.settled();
    same(person.visit.address().of, "files", "a lock: files are a choice away");
}

async function whichBecameSlower(person, task) {
    await person.click(".verdicts a");
    const names = await person.see("table.rows tbody tr:not(.spacer) td:last-child"), verdicts = await person.see("table.rows tbody tr:not(.spacer)");
    ok(names[0] === task.answer && verdicts[0].includes("more time"), `a comparison: ${task.answer} comes first`, verdicts.slice(0, 3).join("; "));
    await person.click("table.rows tbody td:last-child a");
    ok((await person.see("section.function h2"))[0] === task.answer, "a comparison: its callers and callees are one click away");
}

async function whichLinesDidNotRun(person, task) {
    await person.click(".verdicts a");
    const table = (await person.see("div.scrolled table.small")).join(" "), links = await person.see("div.scrolled table.small td:last-child a");
    same(links, task.answer.map(([from, to]) => from === to ? String(from) : `${from}–${to}`), "a patch: the lines that never ran");
    ok(table.includes(task.file), "a patch: and their file");
    await person.click("div.scrolled table.small td:last-child a");
    same([person.visit.address().view, person.visit.address().line], ["source", String(task.answer[0][0])], "a patch: a click shows the first in its source");
}

/* Without a pointer: digits open views, Tab goes around all of a view with a ring that is seen, arrows and Enter choose. */
async function keysAlone(visit) {
    const views = await visit.page.$$eval("nav a", links => links.map(link => link.dataset.view));
    for (const [i, view] of views.slice(0, 10).entries()) {
        await visit.press(String((i + 1) % 10));
        if (visit.address().view !== view)
            ok(false, `keys: ${(i + 1) % 10} opens ${view}`, visit.address().view);
        const unseen = [];
        for (let stop = 0; stop < 12; stop++) {
            await visit.page.keyboard.press("Tab");
            unseen.push(...await visit.page.evaluate(() => {
                const one = document.activeElement, style = getComputedStyle(one);
                return one !== document.body && style.outlineStyle === "none" ? [`${one.tagName} ${one.className}`] : [];
            }));
        }
        same([...new Set(unseen)], [], `keys: what has the focus is seen in ${view}`);
        await visit.page.evaluate(() => document.activeElement.blur());
    }
    await visit.view({ view: "heatmap" });
    await visit.page.focus("div.heatmap canvas");
    await visit.press("ArrowDown", "ArrowRight", "Enter");
    ok(Number(visit.address().to) > 0, "keys: a stretch of time is chosen in the heat map");
    await visit.page.focus("div.heatmap canvas");
    await visit.press("Escape");
    ok(visit.address().to === undefined, "keys: Escape shows the whole run");
}

const TASKS = { make: whyWasMakeSlow, wait: whatDidItWaitFor, lock: whoHeldTheLock, slower: whichBecameSlower, patch: whichLinesDidNotRun };

export async function checkTasks(browser, name, entry) {
    const visit = await new Visit(browser, entry).open();
    await visit.view({});
    const person = new Person(visit);
    await TASKS[entry.task.kind](person, entry.task);
    ok(person.clicks <= MOST_CLICKS, `${name}: the answer takes ${person.clicks} clicks`);
    await visit.close(`${name}, by clicks`);
    if (entry.task.kind !== "make")
        return;
    const keys = await new Visit(browser, entry).open();
    await keys.view({});
    await keysAlone(keys);
    await keys.close(`${name}, by keys`);
}
