/* callgraph.js: the call graph as a picture, laid out by the page from what is visible of it.
 *
 * Functions that call each other around are one cluster. Layers follow the longest way from a root;
 * in a layer, functions are moved towards the middle of their neighbours, a few times up and down.
 * Edges over several layers pass through places of their own. */

const GRAPH = { wide: 170, high: 46, across: 26, between: 70, most: 300, rounds: 8, cycle: 30, readable: 0.6, recognizable: 0.35, atOnce: 150 };

function callsMade() {
    const made = new Float64Array(page.functions.measured), { caller, count } = page.arcs;
    for (let i = 0; i < caller.length; i++)
        if (caller[i] >= 0)
            made[caller[i]] += Number(count[i]);
    return made;
}

/* Functions with enough of the time, or where none was measured, of the calls, made or received; those near
 * the focus alone if there is one. */
function visibleFunctions(options) {
    const f = page.functions, least = options.share / 100, made = callsMade();
    const calls = Math.max(1, Number(page.summary.calls));
    const weight = i => page.summary.has_samples ? share(f.total[i]) : Math.max(Number(f.calls[i]), made[i]) / calls;
    let list = [];
    for (let i = 0; i < f.measured; i++)
        if (weight(i) >= least && (f.total[i] > 0 || Number(f.calls[i]) > 0 || made[i] > 0))
            list.push(i);
    list = withCycles(list);
    if (options.focus !== undefined)
        list = withinReach(options.focus, options.depth, new Set(list).add(options.focus));
    list.sort((l, r) => weight(r) - weight(l));
    return { list: list.slice(0, GRAPH.most), cut: Math.max(0, list.length - GRAPH.most) };
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
        edge.texts.push(`${functionName(call.from)} calls ${functionName(call.to)}: ` +
            `${counted(call.count, "time")}, ${amountText(call.time)}`);
    }
    return [...edges.values()].flatMap(known => [...known.values()]);
}

/* Boxes with a place each, and edges as lists of points. */
function layOut(list) {
    const { calls, callees } = visibleCalls(list), clusterOf = clustersOf(list, callees);
    const layer = layersOf(clusterOf, calls), rows = [], boxes = new Map(), edges = [];
    const put = box => {
        (rows[box.layer] = rows[box.layer] || []).push(box);
        return box;
    };
    const members = new Map();
    for (const fn of list)
        members.set(clusterOf.get(fn), [...(members.get(clusterOf.get(fn)) || []), fn]);
    for (const [cluster, fns] of members) {
        const box = put({ fns, layer: layer[cluster], wide: GRAPH.wide, high: GRAPH.high * fns.length + (fns.length > 1 ? 24 : 0), near: [] });
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
    return { rows, boxes, edges, members };
}

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

function fitted(text, letters) {
    return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function functionShape(fn, x, y) {
    const f = page.functions, part = page.summary.has_samples ? share(f.self[fn]) : 0;
    const figures = page.summary.has_samples
        ? `${percentText(share(f.total[fn]))}, self ${percentText(part)}` : counted(f.calls[fn], "call");
    const box = shape("rect", { x, y, width: GRAPH.wide, height: GRAPH.high - 6, rx: 5, class: fn === page.selected ? "node selected" : "node" });
    box.style.fillOpacity = String(Math.min(1, 0.08 + 1.6 * part));
    const title = shape("title", {}, `${functionName(fn)}\n${figures}\n${counted(f.calls[fn], "call")}`);
    return shape("a", { href: addressOf({ view: "callers", fn: functionKey(fn) }) },
        shape("rect", { x, y, width: GRAPH.wide, height: GRAPH.high - 6, rx: 5, class: "paper" }), box,
        shape("text", { x: x + 8, y: y + 17 }, fitted(nameForms(functionName(fn), "…").find(form => form.length <= 22) || functionName(fn), 22)),
        shape("text", { x: x + 8, y: y + 33, class: "figures" }, figures), title);
}

/* Functions of a box stand one below the other, below a title if there are several. */
function topOf(box, fn) {
    return box.y + (box.fns.length > 1 ? 20 : 0) + box.fns.indexOf(fn) * GRAPH.high;
}

/* What boxes need with their frames; edges run between them. */
function extentOf(boxes) {
    const all = [...boxes], left = Math.min(...all.map(box => box.x)) - 6, top = Math.min(...all.map(box => box.y));
    return { left, top, wide: Math.max(...all.map(box => box.x + box.wide)) + 6 - left, high: Math.max(...all.map(box => box.y + box.high)) - top };
}

function boxShapes(box) {
    const made = [];
    if (box.fns.length > 1)
        made.push(shape("rect", { x: box.x - 6, y: box.y, width: box.wide + 12, height: box.high, rx: 6, class: "cluster" }),
            shape("text", { x: box.x, y: box.y + 14, class: "figures" }, "call each other"));
    for (const fn of box.fns)
        made.push(functionShape(fn, box.x, topOf(box, fn)));
    return made;
}

/* The point of a curve from (x, y) to (u, v), both ends upright, and whether a label fits there. */
const LABEL = { wide: 50, high: 14, places: [0.5, 0.62, 0.38, 0.72, 0.28, 0.82] };

function labelPlace(x, y, u, v, taken) {
    const on = t => {
        const s = 1 - t, near = s * s * s + 3 * s * s * t, far = 3 * s * t * t + t * t * t;
        return { x: near * x + far * u + 4, y: s * s * s * y + 1.5 * s * t * (y + v) + t * t * t * v + 4 };
    };
    const isFree = place => !taken.some(other =>
        Math.abs(other.x - place.x) < LABEL.wide && Math.abs(other.y - place.y) < LABEL.high);
    const place = LABEL.places.map(on).find(isFree) || on(0.5);
    taken.push(place);
    return place;
}

function edgeShape({ call, way }, taken) {
    const [first] = way, middle = box => box.x + box.wide / 2;
    let place = null;
    let x = middle(first), y = first.y + first.high - (first.fns.length > 1 ? 0 : 6), path = `M${x} ${y}`;
    for (const box of way.slice(1)) {
        const half = (box.y - y) / 2;
        place = [x, y, middle(box), box.y];
        path += ` C${x} ${y + half} ${middle(box)} ${box.y - half} ${middle(box)} ${box.y}`;
        [x, y] = [middle(box), box.y];
    }
    const part = share(call.time);
    const line = shape("path", { d: path, class: "edge", "marker-end": "url(#tip)" }, shape("title", {}, call.texts.join("\n")));
    line.style.strokeWidth = `${1 + 5 * Math.min(1, part)}px`;
    const label = page.summary.has_samples && part > 0 ? percentText(part) : countText(call.count);
    return shape("g", {}, line, shape("text", { ...labelPlace(...place, taken), class: "figures label" }, label));
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
        const { extent } = this, box = this.layout.boxes.get(fn), { clientWidth: wide, clientHeight: high } = this.svg;
        const inside = (at, from, len, room) => Math.max(Math.min(10, room - 10 - (from + len) * GRAPH.readable), Math.min(10 - from * GRAPH.readable, at));
        this.fit();
        if (this.scale < (isWhole && !isNarrow() ? GRAPH.recognizable : GRAPH.readable) && box) {
            this.scale = GRAPH.readable;
            this.x = inside(wide / 2 - (box.x + box.wide / 2) * this.scale, extent.left, extent.wide, wide);
            this.y = inside(high / 2 - topOf(box, fn) * this.scale, extent.top, extent.high, high);
            this.move();
        }
        this.drawBoxes();
        this.svg.setAttribute("aria-busy", "true");
        this.drawEdges(0, []);
    }

    drawBoxes() {
        for (const box of new Set(this.layout.boxes.values()))
            this.all.append(...boxShapes(box));
    }

    /* Behind the boxes, which are seen first; some edges at a time, with room for keys and clicks between. */
    drawEdges(from, taken) {
        if (from >= this.layout.edges.length) {
            this.svg.removeAttribute("aria-busy");
            return;
        }
        requestAnimationFrame(() => setTimeout(() => {
            if (!this.svg.isConnected)
                return;
            const some = this.layout.edges.slice(from, from + GRAPH.atOnce);
            this.all.prepend(...some.map(edge => edgeShape(edge, taken)));
            this.drawEdges(from + GRAPH.atOnce, taken);
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

/* As small a share as gives a picture that can be read. */
function leastAtFirst() {
    const READABLE = 60, steps = ["0.1", "0.5", "1", "2", "5", "10"];
    return steps.find(step => visibleFunctions({ share: Number(step) }).list.length <= READABLE) || "10";
}

function showGraph(main, parameters) {
    const focus = parameters.fn === undefined ? undefined : page.byKey.get(parameters.fn);
    const least = parameters.least || (focus === undefined ? leastAtFirst() : "1");
    const options = { share: Number(least), depth: Number(parameters.depth || 3), focus };
    const { list, cut } = visibleFunctions(options);
    const set = key => value => go({ ...currentParameters(), [key]: value || undefined });
    const name = element("input", { list: "functions", "aria-label": "focus on a function", placeholder: "focus on a function",
        value: focus === undefined ? "" : functionName(focus), spellcheck: "false" });
    name.addEventListener("change", () => {
        const found = page.functions.name.indexOf(name.value);
        set("fn")(found < 0 ? "" : functionKey(found));
    });
    const names = element("datalist", { id: "functions" }, ...list.map(fn => element("option", { value: page.functions.name[fn] })));
    main.append(element("div", { class: "tools" },
        selectOf("at least", ["0", "0.1", "0.5", "1", "2", "5", "10"].map(p => [p, `${p}${NARROW}%`]), least, set("least")),
        name, names,
        focus === undefined ? null : selectOf("steps", ["1", "2", "3", "5", "10", "99"].map(n => [n, n]), parameters.depth || "3", set("depth")),
        element("span", { class: "count" }, counted(list.length, "function") + (cut ? `; ${counted(cut, "smaller one")} left out` : ""))));
    if (!list.length) {
        main.append(element("p", { class: "none" }, "No function has that much."));
        return;
    }
    const picture = new Picture(layOut(list));
    main.append(picture.svg);
    const hottest = list.reduce((best, fn) => page.functions.self[fn] > page.functions.self[best] ? fn : best);
    picture.begin(focus === undefined ? hottest : focus, focus === undefined);
}
