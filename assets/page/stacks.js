/* stacks.js: trees of call paths made of others: from functions outwards, by object, without what the
 * reader wants out of the way, and in the order of time.
 *
 * A frame that is left out gives its time to its caller, so each of these trees has the samples of the
 * tree that it was made of; only a function that is looked at alone takes what is below it, and nothing
 * else. Shares stay shares of all samples. */

/* Collects nodes: child(above, fn) is the node of `fn` below another one, made when first asked for. */
class GrowingTree {
    constructor(selfOfRoot) {
        this.parent = [0];
        this.function = [-1];
        this.self = [selfOfRoot];
        this.estimate = [0];
        this.known = new Map();
        this.names = page.functions.name.length + 1;
    }

    add(above, fn) {
        this.function.push(fn);
        this.self.push(0);
        this.estimate.push(0);
        return this.parent.push(above) - 1;
    }

    child(above, fn) {
        const key = above * this.names + fn + 1;
        let found = this.known.get(key);
        if (found === undefined) {
            found = this.add(above, fn);
            this.known.set(key, found);
        }
        return found;
    }

    tree(hasEstimates) {
        const { parent, self, estimate } = this;
        return pathTree({ parent, function: this.function, self, estimate: hasEstimates ? estimate : undefined });
    }
}

/* Paths from functions outwards: for each function that ran, who called it, and who called those.
 * With `only`, of that function alone: each stack from its outermost call of it. */
function callerTree(tree, only) {
    const grown = new GrowingTree(0);
    const isOutermost = i => {
        for (let p = tree.parent[i]; p; p = tree.parent[p])
            if (tree.fn[p] === only)
                return false;
        return true;
    };
    for (let i = 1; i < tree.len; i++) {
        const amount = only === undefined ? tree.self[i] : tree.total[i];
        if (amount <= 0 || (only !== undefined && (tree.fn[i] !== only || !isOutermost(i))))
            continue;
        let at = 0;
        for (let n = i; n; n = tree.parent[n]) {
            at = grown.child(at, tree.fn[n]);
            grown.estimate[at] |= tree.estimate ? tree.estimate[i] : 0;
        }
        grown.self[at] += amount;
    }
    return grown.tree(tree.estimate);
}

/* The same paths with frames of one object, one behind the other, as one. A frame's function is the first of its object. */
function objectTree(tree) {
    const { object } = page.functions, first = new Map();
    const ofObject = fn => {
        if (fn < 0)
            return fn;
        if (!first.has(object[fn]))
            first.set(object[fn], fn);
        return first.get(object[fn]);
    };
    const grown = new GrowingTree(tree.self[0]), at = new Int32Array(tree.len);
    for (let i = 1; i < tree.len; i++) {
        const fn = ofObject(tree.fn[i]), above = at[tree.parent[i]];
        at[i] = above && grown.function[above] === fn ? above : grown.child(above, fn);
        grown.self[at[i]] += tree.self[i];
    }
    return grown.tree(false);
}

/* --- what is out of the way ---------------------------------------------------------------------- */

/* In the address: `without` and `objects` are lists, one name a line. */
const listOf = text => text ? text.split("\n") : [];
const listText = list => list.length ? list.join("\n") : undefined;

function stackRules(parameters) {
    const numbers = listOf(parameters.without).map(key => page.byKey.get(key)).filter(fn => fn !== undefined);
    const only = parameters.only === undefined ? undefined : page.byKey.get(parameters.only);
    const objects = listOf(parameters.objects).map(name => name === "the program" ? -1 : page.functions.objects.indexOf(name));
    return { without: new Set(numbers), objects: new Set(objects), only, folds: parameters.fold === "1",
        isOwn: parameters.mine === "1", hidesInlined: parameters.inlined === "0" };
}

function hasRules(rules) {
    return rules.without.size || rules.objects.size || rules.only !== undefined || rules.folds || rules.isOwn || rules.hidesInlined;
}

/* The node itself or the nearest above it that is of this function; -1: there is none. */
function ancestorOf(grown, node, fn) {
    for (let at = node; at; at = grown.parent[at])
        if (grown.function[at] === fn)
            return at;
    return -1;
}

/* A frame that is not shown, whoever called it. */
function isLeftOut(rules, fn) {
    const f = page.functions;
    return rules.without.has(fn) || rules.objects.has(f.object[fn]) || (rules.isOwn && !f.own[fn]) || (rules.hidesInlined && f.kind[fn] === KIND.inlined);
}

/* Folding takes a function that is on its own stack back to its call there: a b a c is a c. */
function changedTree(tree, rules) {
    if (!hasRules(rules))
        return tree;
    const grown = new GrowingTree(rules.only === undefined ? tree.self[0] : 0);
    const at = new Int32Array(tree.len), isInside = new Uint8Array(tree.len);
    isInside[0] = rules.only === undefined ? 1 : 0;
    for (let i = 1; i < tree.len; i++) {
        const fn = tree.fn[i], above = at[tree.parent[i]];
        isInside[i] = isInside[tree.parent[i]] || fn === rules.only ? 1 : 0;
        if (!isInside[i])
            continue;
        const isGone = isLeftOut(rules, fn), same = rules.folds && !isGone ? ancestorOf(grown, above, fn) : -1;
        at[i] = isGone ? above : same > 0 ? same : grown.child(above, fn);
        grown.self[at[i]] += tree.self[i];
        if (tree.estimate)
            grown.estimate[at[i]] |= tree.estimate[i];
    }
    return grown.tree(tree.estimate);
}

/* What is done to stacks, each with a button that undoes it; and the two switches. */
function stackTools(parameters) {
    const rules = stackRules(parameters), f = page.functions;
    const set = changes => go({ ...currentParameters(), ...changes });
    const chip = (text, undo) => element("button", { type: "button", class: "chip", title: "undo", onclick: undo }, `${text} ✕`);
    const without = listOf(parameters.without), objects = listOf(parameters.objects);
    const check = (text, hint, isOn, change) => element("label", { class: "choice", title: hint },
        element("input", { type: "checkbox", checked: isOn, onchange: event => change(event.target.checked) }), " ", text);
    return [
        check("fold recursion", "a function that is on its own stack is shown once", rules.folds, on => set({ fold: on ? "1" : undefined })),
        f.own.includes(0) && f.own.includes(1) ? check("own code", "the time of libraries, kernel and waits is their callers' (--mine)",
            rules.isOwn, on => set({ mine: on ? "1" : undefined })) : null,
        f.kind.includes(KIND.inlined) ? check("inlined", "inlined functions have frames of their own", !rules.hidesInlined,
            on => set({ inlined: on ? undefined : "0" })) : null,
        rules.only === undefined ? null : chip(`only ${functionName(rules.only)}`, () => set({ only: undefined })),
        ...without.filter(key => page.byKey.has(key)).map(key => chip(`without ${functionName(page.byKey.get(key))}`,
            () => set({ without: listText(without.filter(other => other !== key)) }))),
        ...objects.map(name => chip(`without ${shortened(name)}`, () => set({ objects: listText(objects.filter(other => other !== name)) }))),
    ];
}

/* For the frame that is chosen: what can be done to stacks with it. */
function stackActions(fn) {
    const set = changes => go({ ...currentParameters(), ...changes });
    const parameters = currentParameters(), key = functionKey(fn), object = objectTitle(fn);
    const add = (list, name) => listText([...listOf(list).filter(other => other !== name), name]);
    const button = (text, hint, changes) => element("button", { type: "button", title: hint, onclick: () => set(changes) }, text);
    return [button("only this", "show nothing but stacks from this function on (key f)", { only: key }),
        button("leave out", "its time goes to its callers (key x)", { without: add(parameters.without, key) }),
        page.functions.objects.length ? button(`leave out ${object}`, "all of its functions; their time goes to their callers (key o)",
            { objects: add(parameters.objects, object) }) : null];
}

/* --- in the order of time ------------------------------------------------------------------------ */

/* Samples of a thread by slice; in a slice by path, the one first that the slice before ended with. */
function samplesInOrder(thread) {
    const { slice, thread: threads, path, samples } = page.profile.timeline.samples, part = page.window;
    const mine = [];
    for (let i = 0; i < slice.length; i++)
        if (threads[i] === thread && (!part || isInWindow(part, slice[i], thread)))
            mine.push(i);
    const isBehind = (l, r) => slice[l] - slice[r] || path[l] - path[r];
    if (mine.some((i, k) => k && isBehind(mine[k - 1], i) > 0)) /* most recordings have them in order */
        mine.sort(isBehind);
    for (let from = 0, last = -1; from < mine.length;) {
        let to = from;
        while (to < mine.length && slice[mine[to]] === slice[mine[from]])
            to++;
        const same = to - from > 1 ? mine.slice(from, to).findIndex(i => path[i] === last) : 0;
        if (same > 0)
            mine.splice(from, 0, ...mine.splice(from + same, 1));
        last = path[mine[to - 1]];
        from = to;
    }
    return { order: mine, slice, path, samples };
}

/* Less than this part of a slice does not interrupt what fills the rest: the moment between waking and running,
 * say. It counts, but has no length. */
const SLIVER = 0.05;

/* A tree whose children stand in the order of time, with gaps (function -1) where nothing was seen.
 * Totals are lengths, so a frame's place is a time: a slice in which the thread was seen is full. `ran`
 * is what was measured of it. What follows on each other in one function is one frame. */
function timeTree(thread, rules) {
    const t = page.profile.timeline, whole = page.profile.paths;
    const rate = page.summary.rate > 0 && page.summary.abbreviation === "s" ? page.summary.rate : 1e9 / t.slice_ns;
    const perSlice = rate * t.slice_ns / 1e9;
    const { order, slice, path, samples } = samplesInOrder(thread);
    const first = page.window ? page.window.from * rate : 0;
    const last = page.window && page.window.to < Infinity ? page.window.to * rate : t.length_ns / 1e9 * rate;
    const grown = new GrowingTree(0), open = [0], ran = [0], start = [first], later = new Map();
    let now = first, top = 0; /* how many frames are open */
    const frames = [], isGone = Uint8Array.from(page.functions.name, (_, fn) => isLeftOut(rules, fn) ? 1 : 0);
    const add = (parent, fn) => {
        start.push(now);
        return grown.add(parent, fn);
    };
    const advance = (node, length, amount) => {
        grown.self[node] += length;
        ran[node] = (ran[node] || 0) + amount;
        now += length;
    };
    const put = (inner, length, amount) => {
        let left = 0, depth = 0; /* frames of the stack, the innermost first */
        for (let n = inner; n > 0; n = whole.parent[n])
            if (!isGone[whole.function[n]])
                frames[left++] = whole.function[n];
        for (; left && depth < top && grown.function[open[depth + 1]] === frames[left - 1]; left--)
            depth++;
        for (; left; left--)
            open[++depth] = add(open[depth - 1], frames[left - 1]);
        top = depth;
        advance(open[top], length, amount);
    };
    const putLater = () => {
        if (!later.size)
            return;
        later.forEach((amount, inner) => put(inner, 0, amount));
        later.clear();
    };
    for (let k = 0, end = 0, inner = -1; k < order.length; k = end) {
        while (end < order.length && slice[order[end]] === slice[order[k]])
            end++;
        const mine = order.slice(k, end), all = mine.length > 1 ? mine.reduce((sum, i) => sum + samples[i], 0) : 0;
        const kept = all ? mine.filter(i => samples[i] >= SLIVER * all) : mine, slivers = all ? mine.filter(i => samples[i] < SLIVER * all) : [];
        const from = slice[order[k]] * perSlice, isGap = from > now + perSlice / 2;
        if (isGap || kept.length !== 1 || path[kept[0]] !== inner) /* what went on has ended */
            putLater();
        for (const i of slivers)
            later.set(path[i], (later.get(path[i]) || 0) + samples[i]);
        if (isGap) { /* nothing was seen of it meanwhile */
            top = 0;
            advance(add(0, -1), from - now, 0);
        }
        const sum = kept.reduce((part, i) => part + samples[i], 0), room = Math.max(0, Math.min(from + perSlice, last) - now);
        for (const i of kept)
            put(path[i], samples[i] / sum * room, samples[i]);
        inner = kept.length ? path[kept[kept.length - 1]] : -1;
    }
    putLater();
    if (last > now)
        advance(add(0, -1), last - now, 0);
    const tree = grown.tree(false);
    tree.ran = Float64Array.from({ length: tree.len }, (_, i) => ran[i] || 0);
    for (let i = tree.len - 1; i > 0; i--)
        tree.ran[tree.parent[i]] += tree.ran[i];
    tree.isOrdered = true;
    tree.start = start; /* of each frame */
    tree.rate = rate;
    return tree;
}
