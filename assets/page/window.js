/* window.js: a part of a recording, in time and by thread, that all views show instead of the whole.
 *
 * Times are measured anew from the samples of the part, by the rules of the whole: a function's total
 * counts each stack once, however often the function is on it, and so does a pair of caller and
 * callee. Calls were counted for the whole run alone, and stay. */

const wholeProfile = { applied: "" };

function hasTimeline() {
    return Boolean(page.profile && page.profile.timeline && page.profile.timeline.samples.slice.length);
}

function canFilter() {
    return hasTimeline() && page.summary.has_stacks;
}

/* Seconds, and the number of a thread; what is not given is whole. */
function windowOf(parameters) {
    if (!canFilter() || (parameters.from === undefined && parameters.to === undefined && parameters.thread === undefined))
        return null;
    const number = (text, otherwise) => text !== undefined && Number.isFinite(Number(text)) ? Number(text) : otherwise;
    return { from: number(parameters.from, 0), to: number(parameters.to, Infinity), thread: number(parameters.thread, -1) };
}

/* A slice belongs to a window if its middle does, as in `--from` and `--to`. */
function isInWindow(part, slice, thread) {
    const middle = (slice + 0.5) * page.profile.timeline.slice_ns / 1e9;
    return middle >= part.from && middle < part.to && (part.thread < 0 || thread === part.thread);
}

function pathsOfWindow(part) {
    const samples = page.profile.timeline.samples;
    const self = new Float64Array(page.profile.paths.parent.length);
    for (let i = 0; i < samples.slice.length; i++)
        if (isInWindow(part, samples.slice[i], samples.thread[i]))
            self[samples.path[i]] += samples.samples[i];
    return { ...page.profile.paths, self };
}

/* Whether inlined functions have times of their own, as the table of functions has them of the whole. */
function namesInlined() {
    const { kind, measured } = page.functions;
    return kind.slice(0, measured).includes(KIND.inlined);
}

/* The function of each node that the table of functions counts: its own, or where inlined code is a part of its
 * hosts, the one that it was inlined into. */
function symbolsOf(tree) {
    const symbol = new Int32Array(tree.len).fill(-1), named = namesInlined();
    for (let i = 1; i < tree.len; i++)
        symbol[i] = !named && page.functions.kind[tree.fn[i]] === KIND.inlined ? symbol[tree.parent[i]] : tree.fn[i];
    return symbol;
}

/* Walks the tree from outside to inside: enter(node) and leave(node). */
function walkTree(tree, enter, leave) {
    const stack = [[0, tree.kids.start[0]]];
    while (stack.length) {
        const top = stack[stack.length - 1];
        if (top[1] < tree.kids.start[top[0] + 1]) {
            const kid = tree.kids.item[top[1]++];
            enter(kid);
            stack.push([kid, tree.kids.start[kid]]);
        } else {
            stack.pop();
            if (top[0])
                leave(top[0]);
        }
    }
}

function measureWindow(tree) {
    const f = page.functions, symbol = symbolsOf(tree), arcs = new Map();
    const isHosted = node => symbol[node] !== tree.fn[node]; /* a part of the function around it */
    const self = new Float64Array(f.measured), total = new Float64Array(f.measured);
    const open = new Int32Array(f.name.length);
    const arcOf = node => {
        const from = symbol[tree.parent[node]], to = symbol[node];
        if (from < 0 || isHosted(node))
            return null;
        const key = from * f.name.length + to;
        if (!arcs.has(key))
            arcs.set(key, { from, to, self: 0, total: 0, open: 0 });
        return arcs.get(key);
    };
    const openArcs = new Map(); /* callee -> arcs to it on the way */
    const enter = node => {
        const fn = symbol[node], arc = arcOf(node);
        if (!isHosted(node) && open[fn]++ === 0 && fn < f.measured)
            total[fn] += tree.total[node];
        if (arc && arc.open++ === 0) {
            arc.total += tree.total[node];
            openArcs.set(fn, [...(openArcs.get(fn) || []), arc]);
        }
        if (fn >= 0 && fn < f.measured)
            self[fn] += tree.self[node];
        if (tree.self[node] > 0)
            for (const known of openArcs.get(fn) || [])
                known.self += tree.self[node];
    };
    const leave = node => {
        const fn = symbol[node], arc = arcOf(node);
        if (!isHosted(node))
            open[fn]--;
        if (arc && --arc.open === 0)
            openArcs.set(fn, openArcs.get(fn).filter(known => known !== arc));
    };
    walkTree(tree, enter, leave);
    return { self, total, arcs };
}

/* Wilson's interval at 95 %, as for the whole. */
function intervalOf(hits, samples) {
    if (!(samples > 0))
        return [0, 1];
    const z = 1.959963984540054, p = hits / samples, n = samples;
    const middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const half = z / (1 + z * z / n) * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/* Half of the interval of so many samples, as a share: by their number alone. */
function errorOf(samples) {
    const s = page.summary, worth = s.effective && s.samples > 0 ? s.effective / s.samples : 1;
    const [low, high] = intervalOf(Math.max(0, Math.min(samples, s.samples)) * worth, s.samples * worth);
    return (high - low) / 2;
}

/* "41.7 %, 0.79 s; self 0.793 s" */
function figuresText(total, self) {
    const off = errorOf(total);
    return sentenceFigure(`${percentText(share(total), off)}, ${amountText(total, off)}; self ${amountText(self, errorOf(self))}`);
}

/* Arcs of the whole with the times of the part; those that are not on its stacks have none. */
function arcsOfWindow(measured) {
    const arcs = wholeProfile.arcs, len = page.functions.name.length;
    const self = arcs.caller.map(() => 0), children = self.slice();
    arcs.caller.forEach((from, i) => {
        const found = from >= 0 && arcs.callee[i] >= 0 && measured.arcs.get(from * len + arcs.callee[i]);
        if (found) {
            self[i] = found.self;
            children[i] = found.total - found.self;
        }
    });
    return { ...arcs, self, children };
}

function applyWindow(parameters) {
    const part = windowOf(parameters), key = JSON.stringify(part);
    if (!page.profile || wholeProfile.applied === key)
        return;
    if (!wholeProfile.functions)
        Object.assign(wholeProfile, { functions: page.functions, arcs: page.arcs, summary: page.summary });
    wholeProfile.applied = key;
    page.window = part;
    Object.assign(page, { functions: wholeProfile.functions, arcs: wholeProfile.arcs, summary: wholeProfile.summary });
    wholeTree = null;
    if (!part)
        return;
    wholeTree = pathTree(pathsOfWindow(part));
    const measured = measureWindow(wholeTree), samples = wholeTree.total[0];
    const worth = page.summary.effective ? page.summary.effective / page.summary.samples : 1;
    const intervals = Array.from(measured.self, hits => intervalOf(hits * worth, samples * worth));
    const off = Array.from(measured.total, hits => intervalOf(hits * worth, samples * worth)).map(([low, high]) => (high - low) / 2);
    page.functions = { ...page.functions, self: Array.from(measured.self), total: Array.from(measured.total), off,
        low: intervals.map(i => i[0]), high: intervals.map(i => i[1]) };
    page.arcs = arcsOfWindow(measured);
    page.summary = { ...page.summary, samples, effective: samples * worth, unattributed: 0 };
}

/* What is shown, in words; null: everything. */
function windowText() {
    const part = page.window;
    if (!part)
        return null;
    const t = page.profile.timeline, parts = [];
    if (part.from > 0 || part.to < Infinity)
        parts.push(`from ${part.from.toFixed(3)} s to ${part.to === Infinity ? "the end" : `${part.to.toFixed(3)} s`}`);
    if (part.thread >= 0 && part.thread < t.threads.tid.length)
        parts.push(threadName(part.thread));
    return `${parts.join(", ")}: ${amountText(page.summary.samples)}`;
}

function threadName(thread) {
    const t = page.profile.timeline, process = t.threads.process[thread];
    const name = shortened(t.threads.name[thread] || t.processes.name[process]);
    return t.threads.tid[thread] ? `${name} (${t.threads.tid[thread]})` : `${name} (short-lived threads)`;
}
