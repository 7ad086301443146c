/* page_code.mjs: the CPU time of what a page computes before it draws, without a browser: the tree of a million call
 * paths, the stack chart of a thread with a sample on each of them, from caller to callee as programs go through
 * them and in random order, which no program does, and the layout of a graph of 300 functions and 1,500 calls, with cycles. Medians of three runs, in milliseconds.
 *
 * usage: page_code.mjs */

import fs from "node:fs";

const read = file => fs.readFileSync(new URL(`../assets/${file}`, import.meta.url), "utf8");
const { page, pathTree, timeTree, firstPicture, wholePicture, layOut, listsBy } = new Function("window", "setTimeout", `"use strict";
    const plain = text => text, shortened = plain, functionName = i => page.functions.name[i], counted = String, amountText = String;
    ${read("flame/names.js")} ${read("page/data.js")} ${read("page/stacks.js")} ${read("page/callgraph.js")} const isInWindow = () => true;
    return { page, pathTree, timeTree, firstPicture, wholePicture, layOut, listsBy };`)({}, () => undefined);

let seed = 15;
const dice = most => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;

function median(work) {
    const times = Array.from({ length: 3 }, () => {
        const begun = process.cpuUsage();
        work();
        const used = process.cpuUsage(begun);
        return (used.user + used.system) / 1000;
    });
    return Math.round(times.sort((l, r) => l - r)[1]);
}

const STACKS = 1000000, FUNCTIONS = 8000, paths = { parent: [0], function: [-1], self: [0] }, depth = [0];
for (let i = 1; i < STACKS; i++) {
    let parent = dice(i);
    while (depth[parent] > 37)
        parent = paths.parent[parent];
    paths.parent.push(parent);
    depth.push(depth[parent] + 1);
    paths.function.push(dice(FUNCTIONS));
    paths.self.push(1 + dice(20));
}
page.functions = { name: Array.from({ length: FUNCTIONS }, (_, i) => `function_${i}`), object: new Array(FUNCTIONS).fill(-1),
    kind: new Array(FUNCTIONS).fill(0), objects: [] };
page.summary = { rate: 1000, abbreviation: "s", samples: 1e6, has_samples: true, calls: "0" };
const range = paths.self.map((_, i) => i), inOrder = [], kids = listsBy(paths.parent.map((parent, i) => i ? parent : -1), STACKS);
for (const stack = [0]; stack.length;) {
    const node = stack.pop();
    inOrder.push(node);
    for (let k = kids.start[node]; k < kids.start[node + 1]; k++)
        stack.push(kids.item[k]);
}
page.profile = { paths, timeline: { slice_ns: 1e6, length_ns: STACKS * 1e6, samples:
    { slice: range, thread: range.map(() => 0), path: inOrder, samples: range.map(() => 1) } } };
const none = { without: new Set(), objects: new Set() };

const MOST = 300, calls = { caller: [], callee: [], count: [], self: [], children: [] };
for (let i = 0; i < 5 * MOST; i++) {
    const isBack = dice(40) === 0, a = dice(MOST), b = dice(MOST);
    calls.caller.push(isBack ? Math.max(a, b) : Math.min(a, b));
    calls.callee.push(isBack ? Math.min(a, b) : Math.max(a, b));
    calls.count.push(1 + dice(100));
    calls.self.push(dice(1000));
    calls.children.push(dice(20000));
}
const graphFunctions = { ...page.functions, name: page.functions.name.slice(0, MOST), measured: MOST, calls: new Array(MOST).fill(1), cycle: new Array(MOST).fill(0),
    self: Array.from({ length: MOST }, () => 1 + dice(20000)), total: Array.from({ length: MOST }, () => 20000 + dice(900000)) };

const said = { "tree of 1,000,000 stacks": median(() => pathTree(paths)) };
page.window = null;
said["stack chart of 1,000,000 stacks"] = median(() => timeTree(0, none));
page.profile.timeline.samples.path = range.map(() => dice(STACKS));
said["stack chart of as many in random order"] = median(() => timeTree(0, none));
page.functions = graphFunctions;
page.arcs = { ...calls, callersOf: listsBy(calls.callee, MOST), calleesOf: listsBy(calls.caller, MOST) };
said["layout of 300 functions"] = median(() => layOut(wholePicture({ share: 0 }, 0)));
said["layout at first"] = median(() => layOut(firstPicture({})));
console.log(JSON.stringify(said));
