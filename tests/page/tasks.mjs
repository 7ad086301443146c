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
    const lanes = await person.see(".lanes button"), below = lanes.findIndex(lane => lane.startsWith("make")) + 1;
    ok(lanes[below] && lanes.slice(below).find(lane => lane.startsWith("slow") || lane.startsWith("quick")).startsWith("slow"),
        "make: the slow program stands before the quick one", lanes.join("; "));
    await person.click(`.lanes button:nth-child(${lanes.findIndex(lane => lane.startsWith("slow")) + 2})`);
    await person.click("nav a[data-view=tree]");
    const open = await person.see("div.tree tbody td.name");
    ok(open.some(text => text.includes(task.answer)), `make: ${task.answer} is on the path that is open`, open.join("; "));
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

const TASKS = { make: whyWasMakeSlow, wait: whatDidItWaitFor, slower: whichBecameSlower, patch: whichLinesDidNotRun };

export async function checkTasks(browser, name, entry) {
    const visit = await new Visit(browser, entry).open();
    await visit.view({});
    const person = new Person(visit);
    await TASKS[entry.task.kind](person, entry.task);
    ok(person.clicks <= MOST_CLICKS, `${name}: the answer takes ${person.clicks} clicks`);
    await visit.close(`${name}, by clicks`);
}
