/* data.js: the data of the page: unpacking it, and what follows from its columns.
 *
 * Data are arrays, one a column; a function is a number in all columns of `page.functions`, those
 * that were measured first. Amounts of time are in samples. Nothing here touches the document but
 * to find blocks of data. */

const KIND = { function: 0, profiler: 1, inlined: 2, cycle: 3, small: 4, unknown: 5 };
const STATE = { missed: 0, hit: 1, unknown: 2 };
const OUTCOME = { call: 1, thrown: 2, fallthrough: 4 };

const page = { data: null, profile: null, coverage: null, summary: null, functions: null,
    arcs: null, files: null, window: null, keys: [], sources: new Map(), byKey: new Map() };

async function unpack(base64) {
    const letters = atob(base64);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++)
        bytes[i] = letters.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return JSON.parse(await new Response(stream).text());
}

/* --- blocks ------------------------------------------------------------------------------------ */

const arriving = new Map(); /* id of a block -> whoever waits for it */

/* Files beside the page call this. */
window.monarc_block = (id, base64) => {
    const take = arriving.get(id);
    arriving.delete(id);
    if (take)
        take(base64);
};

function blockBeside(folder, id) {
    return new Promise((resolve, reject) => {
        const script = document.createElement("script");
        arriving.set(id, resolve);
        script.onerror = () => reject(new Error(`${folder}/${id}.js cannot be read`));
        script.src = `${encodeURIComponent(folder)}/${id}.js`;
        document.head.append(script);
    });
}

async function block(id) {
    const element = document.getElementById(id);
    const folder = document.querySelector("meta[name=monarc-sources]");
    if (element)
        return unpack(element.textContent);
    if (document.readyState === "loading") {
        await new Promise(done => document.addEventListener("DOMContentLoaded", done, { once: true }));
        return block(id);
    }
    if (folder)
        return unpack(await blockBeside(folder.content, id));
    throw new Error(`the page has no block ${id}`);
}

/* All that is known of a source; kept once it was asked for. */
function sourceOf(file) {
    if (!page.sources.has(file))
        page.sources.set(file, block(`s${file}`));
    return page.sources.get(file);
}

/* --- columns ----------------------------------------------------------------------------------- */

/* Lists of numbers by key, without an array for each: list k is item[start[k]] to item[start[k+1]].
 */
function listsBy(keys, len) {
    const start = new Int32Array(len + 1);
    for (const key of keys)
        if (key >= 0)
            start[key + 1]++;
    for (let i = 0; i < len; i++)
        start[i + 1] += start[i];
    const at = start.slice();
    const item = new Int32Array(start[len]);
    for (let i = 0; i < keys.length; i++)
        if (keys[i] >= 0)
            item[at[keys[i]]++] = i;
    return { start, item };
}

/* What identifies a function in an address: its linkage name and object, and a number where others
 * have these as well. */
function functionKey(i) {
    return page.keys[i];
}

function nameOfKey(i) {
    const f = page.functions;
    if (f.kind[i] === KIND.cycle)
        return `<cycle ${f.cycle[i]}>`;
    const name = f.linkage[i] || f.whole[i] || f.name[i];
    return f.object[i] >= 0 ? `${name}@${f.objects[f.object[i]]}` : name;
}

function nameFunctions() {
    const f = page.functions;
    for (let i = 0; i < f.name.length; i++) {
        if (f.kind[i] === KIND.cycle)
            f.name[i] = `<cycle ${f.cycle[i]}>`;
        else if (f.kind[i] === KIND.small)
            f.name[i] = "[too small to draw]";
    }
    page.keys = f.name.map((name, i) => {
        const key = nameOfKey(i);
        let unique = key;
        for (let n = 2; page.byKey.has(unique); n++)
            unique = `${key}#${n}`;
        page.byKey.set(unique, i);
        return unique;
    });
}

/* A loop, as Int32Array.from() takes ten times as long. */
function parentsOf(up) {
    const parent = new Int32Array(up.length);
    for (let i = 0; i < up.length; i++)
        parent[i] = i - up[i];
    return parent;
}

function takeProfile(profile) {
    profile.paths.parent = parentsOf(profile.paths.up);
    page.profile = profile;
    page.summary = profile.summary;
    page.functions = profile.functions;
    nameFunctions();
}

/* Calls are half of a large profile: they are unpacked when a view needs them, or has been shown. */
async function takeCalls() {
    if (page.arcs || !page.profile)
        return;
    const arcs = await block("calls"), len = page.functions.name.length;
    if (page.arcs)
        return; /* somebody else took them meanwhile */
    arcs.callersOf = listsBy(arcs.callee, len);
    arcs.calleesOf = listsBy(arcs.caller, len);
    page.arcs = arcs;
    if (wholeProfile.functions)
        wholeProfile.arcs = arcs;
}

async function takeData() {
    page.data = await block("data");
    page.files = page.data.files;
    page.coverage = page.data.coverage;
    if (page.data.profile)
        takeProfile(page.data.profile);
}

/* --- what follows ------------------------------------------------------------------------------ */

function share(samples) {
    return page.summary.samples > 0 ? samples / page.summary.samples : 0;
}

/* The same whatever part of a recording is chosen: lines have no times of parts. */
function shareOfWhole(samples) {
    const all = page.profile.summary.samples;
    return all > 0 ? samples / all : 0;
}

/* Totals of paths, and their children. It pauses between steps: of a million paths, each takes some 20 ms. */
function* pathTreeInSteps(paths) {
    const len = paths.parent.length;
    const parent = new Int32Array(paths.parent), fn = new Int32Array(paths.function);
    yield;
    const self = new Float64Array(paths.self), total = self.slice();
    const estimate = paths.estimate ? new Uint8Array(paths.estimate) : null;
    yield;
    for (let i = len - 1; i > 0; i--)
        total[parent[i]] += total[i];
    yield;
    const keys = parent.slice();
    if (len)
        keys[0] = -1;
    return { parent, fn, self, total, estimate, kids: listsBy(keys, len), isSorted: new Uint8Array(len), len };
}

function pathTree(paths) {
    const steps = pathTreeInSteps(paths);
    for (;;) {
        const { done, value } = steps.next();
        if (done)
            return value;
    }
}

/* Children of a node, by total. Few nodes of a large tree are ever looked at: only their children are sorted. */
function kidsByTotal({ kids, total, isSorted }, node) {
    const list = kids.item.subarray(kids.start[node], kids.start[node + 1]);
    if (!isSorted[node])
        list.sort((l, r) => total[r] - total[l] || l - r);
    isSorted[node] = 1;
    return list;
}

/* Children as they were made. */
function kidsInOrder({ kids }, node) {
    return kids.item.subarray(kids.start[node], kids.start[node + 1]);
}

let wholeTree = null, stepsToWholeTree = null;

function stepToWholeTree() {
    stepsToWholeTree = stepsToWholeTree || pathTreeInSteps(page.profile.paths);
    const { done, value } = stepsToWholeTree.next();
    if (done)
        [wholeTree, stepsToWholeTree] = [value, null];
}

/* Whoever needs it takes the steps that are left at once. */
function treeOfAll() {
    while (!wholeTree)
        stepToWholeTree();
    return wholeTree;
}

/* Makes the tree before it is asked for, with room for clicks between the steps. */
function prepareTree() {
    if (wholeTree || !page.profile)
        return;
    stepToWholeTree();
    setTimeout(prepareTree, 20);
}

function percentOf(ratio) {
    return ratio.all - ratio.unknown > 0 ? 100 * ratio.hit / (ratio.all - ratio.unknown) : 100;
}

/* What is known not to have run. */
function missedOf(ratio) {
    return ratio.all - ratio.unknown - ratio.hit;
}
