/* callgraph.js: the call graph as a picture, laid out by the page from what is visible of it.
 *
 * At first these are the functions with most of the time, and the hottest others with the callers that
 * lead to them. Boxes are as large as their share. Functions that call each other around are one
 * cluster, in rows, with the calls among them. Layers follow the longest way from a root; in a layer,
 * functions are moved towards the middle of their neighbours, a few times up and down. Edges over
 * several layers pass through places of their own. A label that has no room is left out: the tip of
 * its edge says the same. */

const GRAPH = { wide: 170, high: 40, across: 22, between: 34, inner: 26, most: 300, enough: [[25, 8], [20, 8], [16, 8], [12, 8], [12, 4], [12, 0]], fewest: 12, more: 15, above: 12, rounds: 8, cycle: 30, readable: 0.6,
    recognizable: 0.3, legible: 0.85, atOnce: 150, leastEdge: 0.002 };

function callsMade() {
    const made = new Float64Array(page.functions.measured), { caller, count } = page.arcs;
    for (let i = 0; i < caller.length; i++)
        if (caller[i] >= 0)
            made[caller[i]] += Number(count[i]);
    return made;
}

/* A share of the time, or where none was measured, of the calls, made or received. */
function weightOfFunctions() {
    const f = page.functions, made = callsMade(), calls = Math.max(1, Number(page.summary.calls));
    return page.summary.has_samples ? i => share(f.total[i]) : i => Math.max(Number(f.calls[i]), made[i]) / calls;
}

/* Functions with enough of that; those near the focus alone if there is one. Without a least share, as many as can be
 * looked at. */
function visibleFunctions(options) {
    const f = page.functions, weight = weightOfFunctions(), least = (options.share || 0) / 100;
    let list = [];
    for (let i = 0; i < f.measured; i++)
        if (weight(i) >= least && weight(i) > 0)
            list.push(i);
    list = withCycles(list);
    if (options.focus !== undefined)
        list = withinReach(options.focus, options.depth, new Set(list).add(options.focus));
    list.sort((l, r) => weight(r) - weight(l));
    const most = options.share === undefined ? options.first : GRAPH.most;
    const shown = list.slice(0, most);
    if (options.share === undefined && list.length > most)
        shown.push(...hottestOthers(new Set(shown), options.hottest));
    return { list: shown, cut: list.length - shown.length };
}

/* `most` of the hottest functions, which may not be among the largest, and of all the heaviest callers up to one that is there: a
 * function without callers would look like a beginning. */
function hottestOthers(shown, most) {
    const { self, measured } = page.functions, { callersOf, caller, self: arcSelf, children } = page.arcs, more = new Set();
    const hottest = Array.from({ length: measured }, (_, i) => i).sort((l, r) => self[r] - self[l]).slice(0, most).filter(one => self[one] > 0);
    const heaviestCaller = (at, way) => {
        let best = -1;
        for (let k = callersOf.start[at]; k < callersOf.start[at + 1]; k++) {
            const arc = callersOf.item[k], time = arcSelf[arc] + children[arc];
            if (caller[arc] !== at && !way.includes(caller[arc]) && (best < 0 || time > arcSelf[best] + children[best]))
                best = arc;
        }
        return best < 0 ? -1 : caller[best];
    };
    for (const fn of [...hottest, ...shown]) {
        const way = [fn];
        for (let at = heaviestCaller(fn, way); at >= 0 && !shown.has(at) && !more.has(at) && way.length <= GRAPH.above; at = heaviestCaller(at, way))
            way.push(at);
        if (way.length <= GRAPH.above)
            way.filter(one => !shown.has(one)).forEach(one => more.add(one));
    }
    return more;
}

/* With all of a small cycle where one of it is visible: calls from outside may go to one that has
 * hardly any time itself. */
function withCycles(list) {
    const f = page.functions, wanted = new Set(list.map(i => f.cycle[i]).filter(Boolean));
    const members = new Map([...wanted].map(cycle => [cycle, []]));
    for (let i = 0; i < f.measured; i++)
        if (members.has(f.cycle[i]))
            members.get(f.cycle[i]).push(i);
    const more = [...members.values()].filter(fns => fns.length <= GRAPH.cycle).flat();
    return [...new Set([...list, ...more])];
}

function withinReach(focus, depth, among) {
    const reached = new Set([focus]);
    for (const [lists, end] of [[page.arcs.calleesOf, "callee"], [page.arcs.callersOf, "caller"]]) {
        let border = [focus];
        const seen = new Set(border);
        for (let step = 0; step < depth && border.length; step++) {
            const next = [];
            for (const fn of border)
                for (let k = lists.start[fn]; k < lists.start[fn + 1]; k++) {
                    const other = page.arcs[end][lists.item[k]];
                    if (other >= 0 && among.has(other) && !seen.has(other)) {
                        seen.add(other);
                        next.push(other);
                    }
                }
            border = next;
        }
        for (const fn of seen)
            reached.add(fn);
    }
    return [...reached];
}

/* Clusters are groups that reach each other by visible calls (Tarjan's components, without recursion).
 */
function clustersOf(list, callees) {
    const number = new Map(), low = new Map(), stack = [], onStack = new Set(), clusterOf = new Map();
    let clusters = 0;
    for (const start of list) {
        const work = number.has(start) ? [] : [[start, 0]];
        while (work.length) {
            const top = work[work.length - 1], [node] = top;
            if (top[1] === 0) {
                number.set(node, number.size);
                low.set(node, number.get(node));
                stack.push(node);
                onStack.add(node);
            }
            const next = callees.get(node)[top[1]++];
            if (next !== undefined) {
                if (!number.has(next))
                    work.push([next, 0]);
                else if (onStack.has(next))
                    low.set(node, Math.min(low.get(node), number.get(next)));
                continue;
            }
            work.pop();
            if (work.length)
                low.set(work[work.length - 1][0], Math.min(low.get(work[work.length - 1][0]), low.get(node)));
            if (low.get(node) === number.get(node)) {
                for (let member; member !== node;) {
                    member = stack.pop();
                    onStack.delete(member);
                    clusterOf.set(member, clusters);
                }
                clusters++;
            }
        }
    }
    return clusterOf;
}

/* Calls among the visible functions, and of each function the callees. */
function visibleCalls(list) {
    const isVisible = new Set(list), arcs = page.arcs, calls = [], callees = new Map(list.map(fn => [fn, []]));
    for (let i = 0; i < arcs.caller.length; i++) {
        const from = arcs.caller[i], to = arcs.callee[i], time = arcs.self[i] + arcs.children[i];
        if (from === to || !isVisible.has(from) || !isVisible.has(to) || (!time && !Number(arcs.count[i])))
            continue;
        calls.push({ from, to, time, count: arcs.count[i] });
        callees.get(from).push(to);
    }
    return { calls, callees };
}

/* Without those that have next to no time, unless they are the heaviest that lead to a function. */
function withoutTrifles(calls, least) {
    if (least <= 0)
        return calls; /* all; times that were split may be a rounding error below 0 */
    const heaviest = new Map();
    for (const call of calls)
        if (!heaviest.has(call.to) || heaviest.get(call.to).time < call.time)
            heaviest.set(call.to, call);
    return calls.filter(call => share(call.time) >= least || heaviest.get(call.to) === call);
}

/* Layer of each cluster: one more than the deepest of its callers'. */
function layersOf(clusterOf, calls) {
    const clusters = Math.max(-1, ...clusterOf.values()) + 1, layer = new Array(clusters).fill(0);
    const into = Array.from({ length: clusters }, () => []);
    for (const { from, to } of calls)
        if (clusterOf.get(from) !== clusterOf.get(to))
            into[clusterOf.get(to)].push(clusterOf.get(from));
    for (let c = clusters - 1; c >= 0; c--) /* callers have higher numbers */
        for (const caller of into[c])
            layer[c] = Math.max(layer[c], layer[caller] + 1);
    return layer;
}

function callText({ from, to, count, time, via }) {
    const times = Number(count) ? `${counted(count, "time")}, ` : "";
    return `${functionName(from)} calls ${functionName(to)}: ${times}${amountText(time)}` +
        (via ? `\nthrough ${via.map(functionName).join(", ")}` : "");
}

/* Calls from one box to another as one edge; those inside of a box are none. */
function joined(calls, boxes) {
    const edges = new Map();
    for (const call of calls) {
        const from = boxes.get(call.from), to = boxes.get(call.to);
        if (from === to)
            continue;
        const known = edges.get(from) || edges.set(from, new Map()).get(from);
        const edge = known.get(to) || known.set(to, { from: call.from, to: call.to, time: 0, count: 0, texts: [] }).get(to);
        edge.time += call.time;
        edge.count += Number(call.count);
        edge.pairs = [...edge.pairs || [], pairOf(call)];
        edge.texts.push(callText(call));
        edge.via = call.via;
    }
    return [...edges.values()].flatMap(known => [...known.values()]);
}

/* Functions with one caller and one callee, one behind the other, and next to no time of their own, say little: so
 * many of them or more are an edge, whose tip names them. */
function withoutChains(list, calls, clusterOf, longEnough) {
    const into = new Map(), out = new Map(), sizes = new Map(), via = new Map();
    for (const fn of list)
        sizes.set(clusterOf.get(fn), (sizes.get(clusterOf.get(fn)) || 0) + 1);
    for (const call of calls) {
        into.set(call.to, into.has(call.to) ? null : call);
        out.set(call.from, out.has(call.from) ? null : call);
    }
    const isPassed = (one, other) => Math.abs(one.time - other.time) <= 0.1 * Math.max(one.time, other.time);
    const isLink = fn => into.get(fn) && out.get(fn) && isPassed(into.get(fn), out.get(fn)) && fn !== page.selected &&
        sizes.get(clusterOf.get(fn)) === 1 && share(page.functions.self[fn]) < 0.01;
    for (const fn of list.filter(one => isLink(one) && !isLink(into.get(one).from))) {
        const way = [];
        for (let at = fn; isLink(at); at = out.get(at).to)
            way.push(at);
        if (way.length >= longEnough)
            via.set(into.get(fn), { ...out.get(way[way.length - 1]), from: into.get(fn).from, via: way });
    }
    const gone = new Set([...via.values()].flatMap(call => call.via));
    return { list: list.filter(fn => !gone.has(fn)), calls: calls.filter(call => via.has(call) || !gone.has(call.from)).map(call => via.get(call) || call) };
}

/* These functions, with chains folded as far as `enough` remain; nothing where fewer would. */
function foldedPicture(list, cut, enough) {
    const { calls, callees } = visibleCalls(list), clusterOf = clustersOf(list, callees);
    const main = withoutTrifles(calls, GRAPH.leastEdge), least = Math.min(enough, list.length);
    const short = [2, 4, 8, Infinity].map(length => withoutChains(list, main, clusterOf, cut ? 2 : length)).find(one => one.list.length >= least);
    return short && { ...short, clusterOf, cut, folded: list.length - short.list.length, whole: { list, calls: main } };
}

/* What the picture has at first: so many functions or some more, without those that are but on the way. */
function firstPicture(options, enough, hottest) {
    for (let first = enough + 5; ; first += GRAPH.more) {
        const found = visibleFunctions({ ...options, first, hottest }), picture = foldedPicture(found.list, found.cut, enough);
        if (picture)
            return picture;
    }
}

/* The picture without the smallest function that calls no other of it, so that each other keeps its callers; nothing
 * where too few would remain. */
function withoutLeast({ whole: { list, calls }, clusterOf, cut }) {
    const weight = weightOfFunctions(), calling = new Set(), kept = new Set([page.selected]), sizes = new Map();
    for (const fn of list)
        sizes.set(clusterOf.get(fn), (sizes.get(clusterOf.get(fn)) || 0) + 1);
    for (const { from, to } of calls.filter(call => clusterOf.get(call.from) !== clusterOf.get(call.to))) {
        calling.add(clusterOf.get(from));
        if (sizes.get(clusterOf.get(to)) > 1)
            kept.add(to);
    }
    const ends = list.filter(fn => !calling.has(clusterOf.get(fn)) && !kept.has(fn));
    const least = ends.reduce((best, fn) => best === undefined || weight(fn) <= weight(best) ? fn : best, undefined);
    return least === undefined || list.length <= GRAPH.fewest ? undefined : foldedPicture(list.filter(fn => fn !== least), cut + 1, GRAPH.fewest);
}

/* All functions with enough time, and all that is known of them. */
function wholePicture(options, leastEdge) {
    const { list, cut } = visibleFunctions(options), { calls, callees } = visibleCalls(list);
    return { list, cut, folded: 0, calls: withoutTrifles(calls, leastEdge), clusterOf: clustersOf(list, callees) };
}

/* How large a function is drawn: 1 is a few percent. */
function sizeOf(fn) {
    if (!page.summary.has_samples)
        return 1;
    return 1 + Math.sqrt(Math.min(1, Math.max(share(page.functions.self[fn]), share(page.functions.total[fn]) / 4)));
}

/* Members of a cluster from the one that is called most from outside along the heaviest calls, so that most calls lead
 * to the neighbour. */
function clusterOrder(fns, calls) {
    const left = new Set(fns), order = [], heaviest = list => list.sort((l, r) => r.time - l.time || l.to - r.to)[0];
    const entry = heaviest(calls.filter(call => left.has(call.to) && !left.has(call.from)));
    for (let at = entry ? entry.to : fns[0]; left.size; ) {
        left.delete(at);
        order.push(at);
        const next = heaviest(calls.filter(call => call.from === at && left.has(call.to))) || heaviest(calls.filter(call => left.has(call.to)));
        at = next ? next.to : [...left][0];
    }
    return order;
}

/* A cluster's members in rows, one from the left, the next from the right, and its size. */
function boxOf(fns, calls) {
    const parts = new Map(), inside = new Set(fns), columns = Math.max(1, Math.ceil(Math.sqrt(fns.length / 1.5)));
    const order = fns.length > 1 ? clusterOrder(fns, calls.filter(call => inside.has(call.to))) : fns;
    const size = fns.length > 1 ? 1.1 : sizeOf(fns[0]), part = { wide: GRAPH.wide * size, high: GRAPH.high * size, size };
    const rows = Math.ceil(fns.length / columns), top = fns.length > 1 ? 20 : 0, across = part.wide + GRAPH.inner, down = part.high + GRAPH.inner;
    order.forEach((fn, i) => {
        const row = Math.floor(i / columns), column = row % 2 ? columns - 1 - i % columns : i % columns;
        parts.set(fn, { ...part, x: column * across, y: top + row * down });
    });
    const wide = Math.min(columns, fns.length) * across - GRAPH.inner, high = top + rows * down - GRAPH.inner;
    return { fns: order, parts, wide, high: high + (fns.length > 1 ? 6 : 0), near: [] };
}

/* Boxes with a place each, and edges as lists of points. */
function layOut({ list, calls, clusterOf }) {
    const layer = layersOf(clusterOf, calls), rows = [], boxes = new Map(), edges = [];
    const put = box => {
        (rows[box.layer] = rows[box.layer] || []).push(box);
        return box;
    };
    const members = new Map();
    for (const fn of list)
        members.set(clusterOf.get(fn), [...(members.get(clusterOf.get(fn)) || []), fn]);
    for (const [cluster, fns] of members) {
        const box = put({ ...boxOf(fns, calls), layer: layer[cluster] });
        for (const fn of fns)
            boxes.set(fn, box);
    }
    for (const call of joined(calls, boxes)) {
        const from = boxes.get(call.from), to = boxes.get(call.to);
        const way = [from];
        for (let at = from.layer + 1; at < to.layer; at++)
            way.push(put({ fns: [], layer: at, wide: 12, high: 0, near: [] }));
        way.push(to);
        for (let i = 1; i < way.length; i++) {
            way[i - 1].near.push(way[i]);
            way[i].near.push(way[i - 1]);
        }
        edges.push({ call, way });
    }
    placeBoxes(rows.filter(Boolean));
    const inner = calls.filter(call => boxes.get(call.from) === boxes.get(call.to)).map(call => ({ ...call, box: boxes.get(call.from) }));
    return { rows, boxes, edges, inner, members, heavy: heaviestPath(list, calls) };
}

/* From the function with most of the time that no call accounts for on, along the calls with most of it: pairs of functions. */
function heaviestPath(list, calls) {
    const { total } = page.functions, from = new Map(), best = new Map(), path = new Set();
    for (const call of calls) {
        from.set(call.to, (from.get(call.to) || 0) + call.time);
        if (!best.has(call.from) || best.get(call.from).time < call.time)
            best.set(call.from, call);
    }
    const heaviest = (l, r) => total[r] > total[l] ? r : l, seen = new Set();
    const roots = list.filter(fn => !((from.get(fn) || 0) > total[fn] / 2));
    for (let at = (roots.length ? roots : list).reduce(heaviest); best.has(at) && !seen.has(at) && best.get(at).time > 0; at = best.get(at).to) {
        seen.add(at);
        path.add(pairOf(best.get(at)));
    }
    return path;
}

const pairOf = ({ from, to }) => `${from} ${to}`;

function placeBoxes(rows) {
    for (const row of rows)
        row.forEach((box, i) => { box.x = i * (box.wide + GRAPH.across); });
    for (let round = 0; round < GRAPH.rounds; round++) {
        const order = round % 2 ? [...rows].reverse() : rows;
        for (const row of order) {
            for (const box of row) {
                const near = box.near.filter(other => round % 2 ? other.layer > box.layer : other.layer < box.layer);
                const middles = near.map(other => other.x + other.wide / 2).sort((l, r) => l - r);
                box.want = middles.length ? middles[middles.length >> 1] - box.wide / 2 : box.x;
            }
            row.sort((l, r) => l.want - r.want);
            spread(row);
        }
    }
    let y = 0;
    for (const row of rows) {
        const high = Math.max(...row.map(box => box.high));
        for (const box of row)
            box.y = y + (high - box.high) / 2;
        y += high + GRAPH.between;
    }
    const left = Math.min(...rows.flat().map(box => box.x));
    for (const box of rows.flat())
        box.x -= left;
}

/* As near to where they want to be as there is room, in their order: those that touch move as one. */
function spread(row) {
    const groups = [];
    for (const box of row) {
        let group = { boxes: [box], wide: box.wide + GRAPH.across, x: box.want, sum: box.want };
        while (groups.length && groups[groups.length - 1].x + groups[groups.length - 1].wide > group.x) {
            const left = groups.pop();
            const sum = left.sum + group.sum - left.wide * group.boxes.length;
            const boxes = [...left.boxes, ...group.boxes];
            group = { boxes, wide: left.wide + group.wide, sum, x: sum / boxes.length };
        }
        groups.push(group);
    }
    for (const group of groups) {
        let x = group.x;
        for (const box of group.boxes) {
            box.x = x;
            x += box.wide + GRAPH.across;
        }
    }
}

/* --- the picture ------------------------------------------------------------------------------- */

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
        if (value !== undefined)
            made.setAttribute(key, value);
    made.append(...children);
    return made;
}

/* The longest form of a name with so many letters; the shortest loses its middle. */
function nameWithin(name, letters) {
    const forms = nameForms(name, "…"), found = forms.find(form => form.length <= letters), last = forms[forms.length - 1];
    return found || `${last.slice(0, Math.ceil(letters / 2))}…${last.slice(last.length + 1 - Math.floor(letters / 2))}`;
}

/* A box with its texts, all in proportion to its size. */
function functionShape(fn, part, left, top) {
    const f = page.functions, own = page.summary.has_samples ? share(f.self[fn]) : 0, x = left + part.x, y = top + part.y;
    const figures = page.summary.has_samples
        ? sentenceFigure(`${percentText(share(f.total[fn]), f.off[fn])}, self ${percentText(own, selfError(fn))}`) : counted(f.calls[fn], "call");
    const rectangle = kind => shape("rect", { x, y, width: part.wide, height: part.high, rx: 5, class: kind });
    const text = (dy, size, kind, words) => {
        const made = shape("text", { x: x + 8 * part.size, y: y + dy * part.size, class: kind }, words);
        made.style.fontSize = `${size * part.size * (isLarge() ? 1.2 : 1)}px`;
        return made;
    };
    const box = rectangle(fn === page.selected ? "node selected" : "node");
    box.style.fillOpacity = String(Math.min(1, 0.08 + 1.6 * own));
    const title = shape("title", {}, `${functionName(fn)}\n${figures}\n${counted(f.calls[fn], "call")}`);
    return shape("a", { href: addressOf({ view: "callers", fn: functionKey(fn) }) }, rectangle("paper"), box,
        text(17, 13, "name", nameWithin(functionName(fn), 19)), text(32, 11, "figures", figures), title);
}

/* What boxes need with their frames; edges run between them. */
function extentOf(boxes) {
    const all = [...boxes], left = Math.min(...all.map(box => box.x)) - 6, top = Math.min(...all.map(box => box.y));
    return { left, top, wide: Math.max(...all.map(box => box.x + box.wide)) + 6 - left, high: Math.max(...all.map(box => box.y + box.high)) - top };
}

/* Calls within it lie behind its members. */
function boxShapes(box, { inner, heavy }) {
    const made = [];
    if (box.fns.length > 1)
        made.push(shape("rect", { x: box.x - 6, y: box.y, width: box.wide + 12, height: box.high, rx: 6, class: "cluster" }),
            shape("text", { x: box.x, y: box.y + 14, class: "figures" }, "call each other"),
            ...inner.filter(call => call.box === box).map(call => innerShape(call, heavy)));
    for (const fn of box.fns)
        made.push(functionShape(fn, box.parts.get(fn), box.x, box.y));
    return made;
}

/* Whether two rectangles share more than an edge. */
const areOver = (a, b) => a.x < b.x + b.wide && b.x < a.x + a.wide && a.y < b.y + b.high && b.y < a.y + a.high;

/* Rectangles by squares of the plane, so that few are compared. */
class Taken {
    constructor() {
        this.squares = new Map();
        this.side = 128;
    }

    keys({ x, y, wide, high }) {
        const keys = [];
        for (let i = Math.floor(x / this.side); i <= Math.floor((x + wide) / this.side); i++)
            for (let k = Math.floor(y / this.side); k <= Math.floor((y + high) / this.side); k++)
                keys.push(`${i} ${k}`);
        return keys;
    }

    isFree(place) {
        return !this.keys(place).some(key => (this.squares.get(key) || []).some(other => areOver(place, other)));
    }

    add(place) {
        for (const key of this.keys(place))
            this.squares.set(key, [...this.squares.get(key) || [], place]);
    }
}

/* A point of a curve from (x, y) to (u, v), both ends upright. */
function pointOf([x, y, u, v], t) {
    const s = 1 - t, near = s * s * s + 3 * s * s * t, far = 3 * s * t * t + t * t * t;
    return [near * x + far * u, s * s * s * y + 1.5 * s * t * (y + v) + t * t * t * v];
}

/* The curves of an edge, last first: from box to box, through each layer between. */
function curvesOf({ way }) {
    const middle = box => box.x + box.wide / 2, curves = [];
    for (let i = 1; i < way.length; i++)
        curves.unshift([middle(way[i - 1]), i > 1 ? way[i - 1].y : way[0].y + way[0].high, middle(way[i]), way[i].y]);
    return curves;
}

/* Where a label beside a curve is over no box, label or curve; or null. */
const LABEL = { letter: 7, high: 14, step: 6, places: [0.5, 0.62, 0.38, 0.72, 0.28, 0.82, 0.2, 0.9] };

function labelPlace(curve, letters, taken, curves) {
    const wide = LABEL.letter * letters;
    for (const t of LABEL.places) {
        const [x, y] = pointOf(curve, t);
        for (const [dx, dy] of [[6, 0], [-6 - wide, 0], [-wide / 2, -11], [-wide / 2, 11], [6, -11], [-6 - wide, -11]]) {
            const place = { x: x + dx, y: y + dy - 7, wide, high: LABEL.high };
            if (!taken.isFree(place) || !curves.isFree(place))
                continue;
            taken.add(place);
            return { x: place.x, y: y + dy + 4 };
        }
    }
    return null;
}

function edgeLine(d, part, isHeavy, texts) {
    const line = shape("path", { d, class: isHeavy ? "edge heavy" : "edge", "marker-end": "url(#tip)" }, shape("title", {}, texts.join("\n")));
    line.style.strokeWidth = `${1 + 6 * Math.min(1, part)}px`;
    return line;
}

function edgeShape(edge, taken, curves, heavy) {
    const { call } = edge, ways = curvesOf(edge);
    const path = [...ways].reverse().reduce((d, [x, y, u, v]) => `${d} C${x} ${(y + v) / 2} ${u} ${(y + v) / 2} ${u} ${v}`,
        `M${ways[ways.length - 1][0]} ${ways[ways.length - 1][1]}`);
    const part = share(call.time), line = edgeLine(path, part, call.pairs.some(pair => heavy.has(pair)), call.texts);
    const figure = page.summary.has_samples && part > 0 ? sentenceFigure(percentText(part, errorOf(call.time))) : countText(call.count);
    const label = call.via ? `${figure}, by ${call.via.length} more` : figure;
    if (call.via)
        line.classList.add("via");
    let place = null;
    for (let i = 0; i < ways.length && !place; i++)
        place = labelPlace(ways[i], label.length, taken, curves);
    return shape("g", {}, line, place ? shape("text", { ...place, class: "figures label" }, label) : "");
}

/* A call within a cluster: down from the lower edge, up from the upper one, or across in a row. */
function innerShape({ from, to, time, count, box }, heavy) {
    const a = box.parts.get(from), b = box.parts.get(to), mid = part => part.x + part.wide / 2;
    const [x, y, u, v] = a.y === b.y ? [a.x < b.x ? a.x + a.wide : a.x, a.y + a.high / 2 + 5, a.x < b.x ? b.x : b.x + b.wide, b.y + b.high / 2 + 5]
        : a.y < b.y ? [mid(a) - 9, a.y + a.high, mid(b) - 9, b.y] : [mid(a) + 9, a.y, mid(b) + 9, b.y + b.high];
    const sag = a.y === b.y ? (Math.abs(u - x) > GRAPH.inner + 1 ? a.high / 2 + 12 : 0) * (a.x < b.x ? 1 : -1) : 0, half = (v - y) / 2;
    const way = a.y === b.y ? `M${box.x + x} ${box.y + y} C${box.x + x} ${box.y + y + sag} ${box.x + u} ${box.y + v + sag} ${box.x + u} ${box.y + v}`
        : `M${box.x + x} ${box.y + y} C${box.x + x} ${box.y + y + half} ${box.x + u} ${box.y + v - half} ${box.x + u} ${box.y + v}`;
    return edgeLine(way, share(time), heavy.has(pairOf({ from, to })),
        [callText({ from, to, count, time })]);
}

class Picture {
    constructor(layout) {
        this.layout = layout;
        this.all = shape("g", {});
        this.extent = extentOf(new Set(layout.boxes.values()));
        this.svg = shape("svg", { class: "graph", tabindex: "0", role: "group", "aria-label": "call graph" },
            shape("defs", {}, shape("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9,
                markerUnits: "userSpaceOnUse", orient: "auto" }, shape("path", { d: "M0 0 L8 4 L0 8 z", class: "tip" }))), this.all);
        this.scale = 1;
        this.x = this.y = 10;
        this.svg.addEventListener("wheel", event => this.wheel(event), { passive: false });
        this.svg.addEventListener("pointerdown", event => { this.grip = [event.clientX - this.x, event.clientY - this.y]; });
        this.svg.addEventListener("pointermove", event => this.drag(event));
        for (const name of ["pointerup", "pointerleave"])
            this.svg.addEventListener(name, () => { this.grip = null; });
        this.svg.addEventListener("keydown", event => this.key(event));
        window.matchMedia("print").addEventListener("change", event => this.print(event.matches));
    }

    /* On paper all of it, as large as fits. */
    print(isPrinted) {
        if (!this.svg.isConnected)
            return;
        if (isPrinted) {
            this.all.removeAttribute("transform");
            const { left, top, wide, high } = this.extent;
            this.svg.setAttribute("viewBox", `${left} ${top} ${wide} ${high}`);
        } else {
            this.svg.removeAttribute("viewBox");
            this.move();
        }
    }

    /* All of it in sight, but no larger than it is. */
    fit() {
        const { extent } = this, { clientWidth: wide, clientHeight: high } = this.svg;
        this.scale = Math.max(0.05, Math.min(1, (wide - 20) / extent.wide, (high - 20) / extent.high));
        this.x = (wide - extent.wide * this.scale) / 2 - extent.left * this.scale;
        this.y = 10 - extent.top * this.scale;
        this.move();
    }

    /* All of it, or as much around a function as can be read; no more than a margin stays empty. It is placed
     * before anything is drawn, as each other scale would have the browser measure all texts again. */
    begin(fn, isWhole) {
        const { extent } = this, box = this.layout.boxes.get(fn), part = box && box.parts.get(fn), { clientWidth: wide, clientHeight: high } = this.svg;
        const inside = (at, from, len, room) => Math.max(Math.min(10, room - 10 - (from + len) * GRAPH.readable), Math.min(10 - from * GRAPH.readable, at));
        this.fit();
        if (this.scale < (isWhole ? isNarrow() ? GRAPH.readable : 0 : GRAPH.recognizable) && box) {
            this.scale = GRAPH.readable;
            this.x = inside(wide / 2 - (box.x + part.x + part.wide / 2) * this.scale, extent.left, extent.wide, wide);
            this.y = inside(high / 2 - (box.y + part.y) * this.scale, extent.top, extent.high, high);
            this.move();
        }
        this.drawBoxes();
        this.svg.setAttribute("aria-busy", "true");
        this.drawEdges(0);
    }

    drawBoxes() {
        this.taken = new Taken();
        for (const box of new Set(this.layout.boxes.values())) {
            this.taken.add({ x: box.x - 6, y: box.y, wide: box.wide + 12, high: box.high });
            this.all.append(...boxShapes(box, this.layout));
        }
        this.curves = new Taken();
        for (const curve of this.layout.edges.flatMap(curvesOf))
            for (let i = 0, points = Math.ceil((Math.abs(curve[2] - curve[0]) + Math.abs(curve[3] - curve[1])) / LABEL.step); i <= points; i++) {
                const [x, y] = pointOf(curve, i / points);
                this.curves.add({ x: x - 4, y: y - 4, wide: 8, high: 8 });
            }
        this.layout.edges.sort((l, r) => r.call.time - l.call.time); /* the heaviest get labels first */
    }

    /* Behind the boxes, which are seen first; some edges at a time, with room for keys and clicks between. */
    drawEdges(from) {
        if (from >= this.layout.edges.length) {
            this.svg.removeAttribute("aria-busy");
            return;
        }
        requestAnimationFrame(() => setTimeout(() => {
            if (!this.svg.isConnected)
                return;
            const some = this.layout.edges.slice(from, from + GRAPH.atOnce);
            this.all.prepend(...some.map(edge => edgeShape(edge, this.taken, this.curves, this.layout.heavy)));
            this.drawEdges(from + GRAPH.atOnce);
        }));
    }

    move() {
        this.all.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.scale})`);
    }

    zoom(by, x, y) {
        const scale = Math.max(0.05, Math.min(4, this.scale * by));
        this.x = x - (x - this.x) * scale / this.scale;
        this.y = y - (y - this.y) * scale / this.scale;
        this.scale = scale;
        this.move();
    }

    wheel(event) {
        const box = this.svg.getBoundingClientRect();
        this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
        event.preventDefault();
    }

    drag(event) {
        if (!this.grip || !(event.buttons & 1))
            return;
        [this.x, this.y] = [event.clientX - this.grip[0], event.clientY - this.grip[1]];
        this.move();
    }

    key(event) {
        const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        if (moves[event.key]) {
            this.x += moves[event.key][0];
            this.y += moves[event.key][1];
            this.move();
        } else if (event.key === "+" || event.key === "-") {
            this.zoom(event.key === "+" ? 1.25 : 0.8, this.svg.clientWidth / 2, this.svg.clientHeight / 2);
        } else if (event.key === "Escape" || event.key === "0") {
            this.fit();
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}

/* What is shown, and where; nothing has no places. */
const laidOut = shown => ({ shown, layout: shown.list.length ? layOut(shown) : null });

/* At first as many functions as can be read when all are in sight. With the ways to them, even the fewest may be too
 * many: then each chain is folded, and the smallest are left out one by one. */
function firstLayout(options, room) {
    const isLegible = ({ layout }) => {
        const extent = layout && extentOf(new Set(layout.boxes.values()));
        return !extent || Math.min(room.wide / extent.wide, room.high / extent.high) >= GRAPH.legible;
    };
    let first;
    for (const [enough, hottest] of GRAPH.enough) {
        first = laidOut(firstPicture(options, enough, hottest));
        if (isLegible(first))
            return first;
    }
    for (let fewer = foldedPicture(first.shown.whole.list, first.shown.cut, 1); fewer && !isLegible(first); fewer = withoutLeast(first.shown))
        first = laidOut(fewer);
    return first;
}

function showGraph(main, parameters) {
    const focus = parameters.fn === undefined ? undefined : page.byKey.get(parameters.fn);
    const least = parameters.least || (focus === undefined ? "" : "1"), isFirst = least === "";
    const options = { share: isFirst ? undefined : Number(least), depth: Number(parameters.depth || 3), focus };
    const room = { wide: main.clientWidth - 60, high: main.clientHeight - 120 };
    const { shown, layout } = isFirst ? firstLayout(options, room) : laidOut(wholePicture(options, Number(least) / 1000)), { list, cut, folded } = shown;
    const set = key => value => go({ ...currentParameters(), [key]: value || undefined });
    const name = element("input", { list: "functions", "aria-label": "focus on a function", placeholder: "focus on a function",
        value: focus === undefined ? "" : functionName(focus), spellcheck: "false" });
    name.addEventListener("change", () => {
        const found = page.functions.name.indexOf(name.value);
        set("fn")(found < 0 ? "" : functionKey(found));
    });
    const names = element("datalist", { id: "functions" }, ...list.map(fn => element("option", { value: page.functions.name[fn] })));
    main.append(element("div", { class: "tools" },
        selectOf("functions", [...(focus === undefined ? [["", "the largest"]] : []),
            ...["0", "0.1", "0.5", "1", "2", "5", "10"].map(p => [p, `with ${p}${NARROW}% or more`])], least, set("least")),
        name, names,
        focus === undefined ? null : selectOf("steps", ["1", "2", "3", "5", "10", "99"].map(n => [n, n]), parameters.depth || "3", set("depth")),
        element("span", { class: "count" }, counted(list.length, "function") + (folded ? `, ${countText(folded)} more on dashed lines` : "") +
            (cut ? `; ${counted(cut, "smaller one")} left out` : ""))));
    if (!list.length) {
        main.append(element("p", { class: "none" }, "No function has that much."));
        return;
    }
    const picture = new Picture(layout);
    main.append(picture.svg);
    const hottest = list.reduce((best, fn) => page.functions.self[fn] > page.functions.self[best] ? fn : best);
    picture.begin(focus === undefined ? hottest : focus, isFirst);
}
