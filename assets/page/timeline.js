/* timeline.js: threads over time: what each was seen doing, and when, by process and its children, the
 * busiest first; what did little is one lane a program. Dragging over it chooses a window that all
 * other views show. Where the critical path is known, it is a lane above all others, and a line below the
 * thread that it is in. */

const STATES = ["in user code", "in the kernel", "waiting"];
const LANE_HEIGHT = 26, AXIS_HEIGHT = 24, MOST_LANES = 400;

/* Seconds of a picture that is `length` seconds wide. */
function timeUnder(event, canvas, length) {
    const box = canvas.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * length;
}

/* What is not in the chosen stretch of time, if there is one, is seen through a veil. */
function veilOutside(part, length, c, style, { top, width, height }) {
    if (!part)
        return;
    const x = time => Math.min(1, time / length) * width;
    c.fillStyle = style.getPropertyValue("--veil");
    c.fillRect(0, top, x(part.from), height);
    c.fillRect(x(part.to), top, width, height);
}

class Timeline {
    constructor(choose, order) {
        this.choose = choose;
        this.data = page.profile.timeline;
        this.length = Math.max(this.data.length_ns, 1) / 1e9;
        this.names = element("div", { class: "lanes" });
        this.canvas = element("canvas", { tabindex: "0", role: "img",
            "aria-label": "threads over time; arrow keys move the window, with Shift its end",
            onpointerdown: event => this.begin(event), onpointermove: event => this.move(event),
            onpointerup: event => this.end(event), onkeydown: event => this.key(event) });
        this.holder = element("div", { class: "times" }, this.canvas);
        this.element = element("div", { class: "timeline" }, this.names, this.holder);
        this.nextOf = processTree().nodes.map(node => node.next);
        this.setLanes(foldedLanes(order));
        new ResizeObserver(() => this.draw()).observe(this.holder);
        drawn(() => this.draw());
    }

    /* A lane is a thread, or several of one program that did little. */
    setLanes(lanes) {
        const path = { threads: [], name: "critical path", depth: 0, isPath: true };
        this.lanes = page.profile.path && !lanes.some(lane => lane.isPath) ? [path, ...lanes] : lanes;
        this.names.replaceChildren(element("div", { class: "axis" }), ...this.lanes.map(lane => this.nameOf(lane)));
        this.draw();
    }

    nameOf(lane) {
        if (lane.isPath)
            return element("div", { class: "name", title: "what the end of the run was waiting for at each moment" }, lane.name);
        const { threads, name, depth, process } = lane, isOne = threads.length < 2, isChosen = Boolean(page.window && page.window.thread === threads[0]);
        const button = element("button", { type: "button", title: isOne ? `${processTip(process)}\nclick: show this thread alone` : lane.isOpen ? "show them as one" : "show them one by one",
            ...(isOne ? { "aria-pressed": String(isChosen) } : { "aria-expanded": String(Boolean(lane.isOpen)) }),
            onclick: () => isOne ? this.toggle(threads[0]) : this.unfold(lane) }, isOne ? name : `${lane.isOpen ? "▾" : "▸"} ${name}`);
        button.style.paddingLeft = `${0.5 + 0.8 * Math.min(depth, 8)}rem`;
        return button;
    }

    /* Those of a lane, one below the other, or as one again. */
    unfold(lane) {
        const others = this.lanes.filter(one => one.of !== lane);
        lane.isOpen = !lane.isOpen;
        this.setLanes(!lane.isOpen ? others
            : others.flatMap(one => one === lane ? [lane, ...lane.threads.map(thread => ({ ...oneLane(thread), depth: lane.depth + 1, of: lane }))] : [one]));
        this.names.children[1 + this.lanes.indexOf(lane)].focus(); /* behind the axis */
    }

    toggle(thread) {
        const part = page.window || { from: 0, to: Infinity, thread: -1 };
        this.choose({ ...part, thread: part.thread === thread ? -1 : thread });
    }

    /* Samples by lane, pixel and state. */
    columns(width) {
        const at = new Map(this.lanes.flatMap(({ threads, before, isOpen }, i) => isOpen ? [] : [...threads, ...before || []].map(thread => [thread, i])));
        const sums = new Float64Array(this.lanes.length * width * STATES.length), s = this.data.samples;
        const scale = width * this.data.slice_ns / 1e9 / this.length;
        for (let i = 0; i < s.slice.length; i++) {
            const lane = at.get(s.thread[i]);
            if (lane === undefined)
                continue;
            const from = s.slice[i] * scale, to = Math.max(from + 1, from + scale);
            const first = Math.floor(from), last = Math.min(width, Math.ceil(to));
            for (let x = first; x < last; x++) {
                const part = (Math.min(to, x + 1) - Math.max(from, x)) / (to - from);
                sums[(lane * width + x) * STATES.length + s.state[i]] += s.samples[i] * part;
            }
        }
        return sums;
    }

    draw() {
        const width = this.holder.clientWidth, ratio = window.devicePixelRatio || 1;
        if (!width)
            return;
        const height = AXIS_HEIGHT + this.lanes.length * LANE_HEIGHT;
        this.canvas.width = width * ratio;
        this.canvas.height = height * ratio;
        Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
        this.context = this.canvas.getContext("2d");
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.style = getComputedStyle(this.holder);
        this.width = width;
        this.drawLives(width);
        this.drawLanes(this.columns(width), width);
        this.drawPath(width);
        this.drawAxis(width, height);
        this.drawWindow(width, height);
    }

    /* How long each thread lived, and a mark where its process ended badly. */
    drawLives(width) {
        const { threads, processes } = this.data, c = this.context;
        const x = at => Number(at) / 1e9 / this.length * width;
        const line = this.style.getPropertyValue("--line"), bad = this.style.getPropertyValue("--missed");
        this.lanes.forEach(({ threads: list, isOpen }, lane) => {
            if (isOpen)
                return;
            const y = AXIS_HEIGHT + (lane + 1) * LANE_HEIGHT - 2;
            for (const thread of list) {
                const process = threads.process[thread], next = this.nextOf[process];
                const end = threads.end[thread] ? x(threads.end[thread]) : next === undefined ? width : x(processes.start[next]);
                c.fillStyle = line;
                c.fillRect(x(threads.start[thread]), y - 2, Math.max(1, end - x(threads.start[thread])), 2);
                c.fillStyle = bad;
                if (processes.status[process])
                    c.fillRect(Math.min(width - 2, x(processes.end[process])) - 1, y - LANE_HEIGHT + 6, 3, LANE_HEIGHT - 6);
            }
        });
    }

    /* Full height: as busy as a thread can be, one sample a period. */
    drawLanes(sums, width) {
        const colours = ["--user", "--kernel", "--waiting"].map(name => this.style.getPropertyValue(name));
        const full = page.summary.rate > 0 && page.summary.abbreviation === "s" ? page.summary.rate / page.summary.runs * this.length / width : 0;
        const most = full || sums.reduce((l, r) => Math.max(l, r), 0) || 1;
        for (let lane = 0; lane < this.lanes.length; lane++)
            for (let x = 0; x < width; x++) {
                let y = AXIS_HEIGHT + (lane + 1) * LANE_HEIGHT - 2;
                const at = (lane * width + x) * STATES.length, all = sums[at] + sums[at + 1] + sums[at + 2];
                for (let state = 0; state < STATES.length; state++) {
                    const high = sums[at + state] / Math.max(most, all) * (LANE_HEIGHT - 4);
                    if (!high)
                        continue;
                    this.context.fillStyle = colours[state];
                    this.context.fillRect(x, y - Math.max(1, high), 1, Math.max(1, high));
                    y -= high;
                }
            }
    }

    /* Each step of the path in its lane, with the shares of what the thread did as heights, a line where
     * another thread takes over, and the thread's name where there is room; and under the thread's own lane. */
    drawPath(width) {
        const path = page.profile.path, c = this.context;
        if (!path)
            return;
        const colour = name => this.style.getPropertyValue(name), x = ns => Number(ns) / 1e9 / this.length * width;
        const laneOf = new Map(this.lanes.flatMap(({ threads, before, isOpen }, i) => isOpen ? [] : [...threads, ...before || []].map(thread => [thread, i])));
        const top = AXIS_HEIGHT + 2, high = LANE_HEIGHT - 4;
        c.font = `${isLarge() ? 16 : 12}px ${this.style.fontFamily}`;
        for (let i = 0; i < path.thread.length; i++) {
            const from = x(path.from[i]), wide = Math.max(x(path.to[i]) - from, 1), lasted = Math.max(1, path.to[i] - path.from[i]);
            let y = top + high;
            for (const [part, name] of [[path.cpu[i], "--user"], [path.ready[i], "--ready"], [path.waits[i], "--waiting"]]) {
                const tall = Math.min(high, part / lasted * high);
                c.fillStyle = colour(name);
                c.fillRect(from, y - tall, wide, tall);
                y = Math.max(top, y - tall);
            }
            c.fillStyle = colour("--line");
            c.fillRect(from, top, wide, 1);
            if (i && path.thread[i] !== path.thread[i - 1]) {
                c.fillStyle = colour("--accent");
                c.fillRect(from, top, 1, high);
            }
            const lane = laneOf.get(path.thread[i]);
            c.fillStyle = colour("--accent");
            if (lane !== undefined)
                c.fillRect(from, AXIS_HEIGHT + (lane + 1) * LANE_HEIGHT - 2, wide, 2);
            const name = shortened(laneName(path.thread[i]));
            if (wide > 30 && c.measureText(name).width < wide - 6) {
                c.fillStyle = this.style.color;
                c.fillText(name, from + 3, top + high - 6);
            }
        }
    }

    /* What the path was in at a time. */
    pathTip(time) {
        const path = page.profile.path, ns = time * 1e9, i = path.thread.findIndex((_, at) => path.from[at] <= ns && ns <= path.to[at]);
        const seconds = value => (Number(value) / 1e9).toFixed(3);
        if (i < 0)
            return "";
        return [`${laneName(path.thread[i])}: ${seconds(path.from[i])} s to ${seconds(path.to[i])} s`,
            `${seconds(path.cpu[i])} s CPU, ${seconds(path.ready[i])} s ready to run, ${seconds(path.waits[i])} s waiting${path.call[i] ? `, most of it in ${plain(path.call[i])}` : ""}`].join("\n");
    }

    drawAxis(width, height) {
        const c = this.context, step = niceStep(this.length / Math.max(1, width / 100));
        c.fillStyle = c.strokeStyle = this.style.color;
        c.font = `${isLarge() ? 16 : 12}px ${this.style.fontFamily}`;
        c.globalAlpha = 0.75;
        for (let at = 0; at <= this.length; at += step)
            c.fillText(`${Number(at.toPrecision(6))} s`, at / this.length * width + 2, 12);
        const { at, name, kind } = this.data.marks;
        at.forEach((time, i) => {
            const x = time / 1e9 / this.length * width;
            c.fillRect(x, 14, 1, height - 14);
            if (kind[i] < 2)
                c.fillText(shortened(name[i]), x + 3, AXIS_HEIGHT - 1);
        });
        c.globalAlpha = 1;
    }

    drawWindow(width, height) {
        veilOutside(this.dragged || page.window, this.length, this.context, this.style, { top: AXIS_HEIGHT, width, height });
    }

    timeAt(event) {
        return timeUnder(event, this.canvas, this.length);
    }

    begin(event) {
        this.anchor = this.timeAt(event);
        this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
        const lane = this.lanes[Math.floor((event.offsetY - AXIS_HEIGHT) / LANE_HEIGHT)];
        this.canvas.title = lane && lane.isPath ? this.pathTip(this.timeAt(event))
            : lane && lane.process !== undefined ? processTip(lane.process) : "";
        if (this.anchor === undefined)
            return;
        const at = this.timeAt(event);
        this.dragged = { from: Math.min(at, this.anchor), to: Math.max(at, this.anchor) };
        this.draw();
    }

    /* A click without dragging takes the window away. */
    end() {
        const part = this.dragged, thread = page.window ? page.window.thread : -1;
        this.anchor = this.dragged = undefined;
        const isWide = part && part.to - part.from > 3 * this.length / this.width;
        this.choose({ from: isWide ? part.from : 0, to: isWide ? part.to : Infinity, thread });
    }

    key(event) {
        const step = this.length / 50 * (event.key === "ArrowLeft" ? -1 : 1);
        if (event.key === "Escape") {
            this.choose({ from: 0, to: Infinity, thread: -1 });
        } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
            const part = page.window && page.window.to < Infinity ? page.window
                : { from: 0, to: this.length / 10, thread: page.window ? page.window.thread : -1 };
            const from = event.shiftKey ? part.from : Math.max(0, part.from + step);
            const to = Math.min(this.length, Math.max(from + this.length / 200, part.to + step));
            this.choose({ ...part, from, to });
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}

/* 1, 2 or 5 times a power of ten. */
function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map(n => n * power).find(n => n >= least);
}

function windowFields(choose) {
    const part = page.window || { from: 0, to: Infinity, thread: -1 }, length = page.profile.timeline.length_ns / 1e9;
    const field = (label, value) => element("input", { type: "number", step: "any", min: 0, "aria-label": label,
        value: value.toFixed(3), class: "time" });
    const from = field("from, in seconds", part.from), to = field("to, in seconds", Math.min(part.to, length));
    const change = () => choose({ ...part, from: Number(from.value), to: Number(to.value) >= length ? Infinity : Number(to.value) });
    from.addEventListener("change", change);
    to.addEventListener("change", change);
    return element("span", { class: "choice" }, "from ", from, " to ", to, " s");
}

/* Of the states that the picture has: those of samples, and with the path, its own. */
function legend(path) {
    const { state, samples } = page.profile.timeline.samples, seen = new Set(state.filter((_, i) => samples[i] > 0));
    for (const [i, times] of (path ? [path.cpu, [], path.waits, path.ready] : []).entries())
        if (times.some(time => time > 0))
            seen.add(i);
    return element("span", { class: "legend" }, ...[...STATES, "ready to run (of the path)"].map((text, i) => !seen.has(i) ? null :
        element("span", {}, element("span", { class: `swatch state${i}`, "aria-hidden": "true" }), text)));
}

/* --- lanes: processes as a tree, most CPU first ------------------------------------------------ */

/* Threads with samples, by process, the busiest ones if there are many. */
function busiestThreads() {
    const { samples, threads } = page.profile.timeline, sums = threads.tid.map(() => 0);
    samples.thread.forEach((thread, i) => { sums[thread] += samples.samples[i]; });
    const kept = [...sums.keys()].filter(i => sums[i] > 0).sort((l, r) => sums[r] - sums[l]).slice(0, MOST_LANES);
    return kept.sort((l, r) => threads.process[l] - threads.process[r] || l - r);
}

const SOURCE_NAME = /\.(c|cc|cpp|cxx|C|m|mm|i|ii|s|S|f|for|f90|F90|rs|go|d|adb|py|pl|rb|lua|js|mjs|php|R|jl|sh|java|hs|ml|tex)$/;

/* What a process worked on, as its arguments tell: the source that a compiler or an interpreter was
 * given, or its first argument. "" where the recording does not know. */
function processHint(process) {
    const command = page.profile.timeline.processes.command[process];
    const words = command ? command.split(" ").slice(1) : [];
    const word = words.find((w, i) => SOURCE_NAME.test(w) && !/^(-|\/tmp\/)/.test(w) &&
        !/^-(MF|MT|MQ|o|D|U|include|dumpbase|dumpdir)$/.test(words[i - 1] || "") &&
        !(/\.d$/.test(w) && /^-M?MD$/.test(words[i - 1] || ""))) /* which cc1 gives a file, gcc none */
        || (words[0] && /^[^-'][^=]*$/.test(words[0]) ? words[0] : "");
    return plain(word.split("/").pop());
}

function processLabel(process) {
    const { command, name: programs } = page.profile.timeline.processes, hint = processHint(process);
    const called = (command[process] || "").split(" ")[0].split("/").pop(); /* gcc may be x86_64-linux-gnu-gcc-12 */
    const name = shortened(called && !called.startsWith("'") ? called : programs[process]);
    return hint && hint !== name ? `${name} ${hint}` : name;
}

/* A status as wait(2) gives it. */
function statusText(status) {
    return status === null ? "" : status & 127 ? `killed by signal ${status & 127}` : `exited with status ${status >> 8 & 255}`;
}

function processTip(process) {
    const { pid, command, name, start, end, status } = page.profile.timeline.processes;
    const seconds = at => (Number(at) / 1e9).toFixed(3);
    return [`${plain(command[process] || name[process])}`, `process ${pid[process]}, ${seconds(start[process])} s to ${end[process] ? `${seconds(end[process])} s` : "the end"}`,
        statusText(status[process])].filter(text => text).join("\n");
}

/* Of each process: its threads that have samples, the CPU time of all below it, its children. A
 * process that executed another program has an entry for each, one beside the other. */
function processTree() {
    const { samples, threads, processes } = page.profile.timeline, count = processes.pid.length;
    const sums = threads.tid.map(() => 0), ran = sums.slice(), last = new Map();
    samples.thread.forEach((thread, i) => {
        sums[thread] += samples.samples[i];
        ran[thread] += samples.state[i] < 2 ? samples.samples[i] : 0;
    });
    const all = sums.reduce((sum, n) => sum + n, 0);
    const nodes = Array.from({ length: count }, () => ({ threads: [], before: [], children: [], ran: 0, sum: 0, hasLane: false, parent: -1 }));
    threads.process.forEach((process, thread) => nodes[process].threads.push(thread));
    for (let process = 0; process < count; process++) {
        const parent = last.get(processes.parent[process]), before = last.get(processes.pid[process]);
        nodes[process].parent = parent === undefined ? -1 : parent;
        if (before !== undefined)
            nodes[before].next = process;
        last.set(processes.pid[process], process);
    }
    for (let process = count - 1; process >= 0; process--) {
        const node = nodes[process];
        for (const thread of node.threads) {
            node.ran += ran[thread];
            node.sum += sums[thread];
        }
        /* What a child did before it executed its program is shown with that, unless it was a lot. */
        if (node.next !== undefined && !node.hasLane && node.sum < all / 100) {
            nodes[node.next].before.push(...node.before, ...node.threads);
            node.sum = node.ran = 0;
        }
        node.hasLane = node.hasLane || node.sum > 0;
        if (node.parent < 0)
            continue;
        const parent = nodes[node.parent];
        parent.children.push(process);
        parent.ran += node.ran;
        parent.sum += node.sum;
        parent.hasLane = parent.hasLane || node.hasLane;
    }
    return { nodes, sums, ran, all };
}

/* Of what did less than a hundredth of all, processes of one program below one parent are one lane,
 * and threads of one process are. Children stand below their parents: the busiest first, or by their start. */
function foldedLanes(order) {
    const { processes, threads } = page.profile.timeline, { nodes, sums, ran, all } = processTree(), lanes = [];
    const most = (list, of) => list.sort((l, r) => of(r) - of(l) || l - r);
    const fold = (list, depth, name) => {
        if (list.length)
            lanes.push(list.length < 2 ? { ...oneLane(list[0]), depth } : { threads: list, depth,
                name: `${list.length} × ${shortened(name)}, ${amountText(list.reduce((sum, thread) => sum + sums[thread], 0))}` });
    };
    const rank = process => order === "start" ? -Number(processes.start[process]) : nodes[process].ran;
    /* A stack of its own: trees of processes may be deep. */
    const visits = most([...nodes.keys()].filter(i => nodes[i].parent < 0 && nodes[i].hasLane), rank).reverse()
        .map(process => ({ process, depth: 0 }));
    while (visits.length && lanes.length < MOST_LANES) {
        const { process, depth, folded } = visits.pop(), name = processes.name[process];
        if (folded) {
            fold(folded.flatMap(child => nodes[child].threads.filter(thread => sums[thread] > 0)), depth, name);
            continue;
        }
        const node = nodes[process], seen = most(node.threads.filter(thread => sums[thread] > 0), thread => ran[thread]);
        const large = seen.filter((thread, i) => !i || sums[thread] >= all / 100);
        for (const thread of large.length ? large : node.threads.slice(0, 1))
            lanes.push({ ...oneLane(thread), depth, before: thread === large[0] ? node.before : [] });
        fold(seen.filter(thread => !large.includes(thread)), depth, threads.name[seen[seen.length - 1]] || name);
        const little = new Map(), shown = [];
        for (const child of node.children.reverse().filter(i => nodes[i].hasLane)) {
            const isLittle = nodes[child].sum < all / 100 && !nodes[child].children.some(i => nodes[i].hasLane);
            const program = processes.name[child];
            if (isLittle)
                little.set(program, [...(little.get(program) || []), child]);
            else
                shown.push({ process: child, depth: depth + 1, rank: rank(child) });
        }
        for (const list of little.values())
            shown.push({ process: list[0], folded: list, depth: depth + 1,
                rank: order === "start" ? Math.max(...list.map(rank)) : list.reduce((sum, i) => sum + nodes[i].ran, 0) });
        visits.push(...shown.sort((l, r) => l.rank - r.rank || r.process - l.process));
    }
    return lanes;
}

const oneLane = thread => ({ threads: [thread], name: laneName(thread), process: page.profile.timeline.threads.process[thread] });

function laneName(thread) {
    const { threads, processes } = page.profile.timeline, process = threads.process[thread];
    if (hasOneProcess())
        return threadName(thread);
    const isFirst = threads.tid[thread] === processes.pid[process];
    return `${processLabel(process)} ${processes.pid[process]}${isFirst ? "" : ` · ${threadName(thread)}`}`;
}

function hasOneProcess() {
    return page.profile.timeline.processes.pid.length < 2;
}

/* The name first: it is what a narrow screen must show. */
function threadTable() {
    const t = page.profile.timeline, sums = t.threads.tid.map(() => [0, 0, 0]);
    t.samples.thread.forEach((thread, i) => {
        if (!page.window || isInWindow(page.window, t.samples.slice[i], thread))
            sums[thread][t.samples.state[i]] += t.samples.samples[i];
    });
    const seen = STATES.map((_, state) => sums.some(sum => sum[state] > 0));
    const rows = sums.map((sum, i) => [sum, i]).filter(([sum]) => sum.some(part => part > 0))
        .sort((l, r) => r[0][0] + r[0][1] - l[0][0] - l[0][1]).slice(0, 100)
        .map(([sum, i]) => [laneName(i), ...(hasOneProcess() ? [] : [String(t.processes.pid[t.threads.process[i]])]),
            ...sum.map(stateText).filter((_, state) => seen[state])]);
    return smallTable("Threads", ["thread", ...(hasOneProcess() ? [] : ["process"]), ...STATES.filter((_, state) => seen[state])], rows, -1);
}

/* Code is sampled, waits are measured. */
const STATES_OF_CODE = 2;
const stateText = (samples, state) => amountText(samples, state < STATES_OF_CODE ? errorOf(samples) : 0);

/* Those that the path is in, most first, and those that had the least slack. */
function pathTable() {
    const path = page.profile.path, t = page.profile.timeline;
    if (!path)
        return null;
    const { on_path: on, slack, cpu } = path.threads, seconds = ns => (Number(ns) / 1e9).toFixed(3);
    const end = i => Number(t.threads.end[i]) || t.length_ns;
    const rows = [...on.keys()].filter(i => on[i] > 0 || cpu[i] > 0)
        .sort((l, r) => on[r] - on[l] || (slack[l] < 0 ? Infinity : slack[l]) - (slack[r] < 0 ? Infinity : slack[r]) || l - r).slice(0, 20)
        .map(i => [laneName(i), seconds(on[i]), seconds(cpu[i]), slack[i] < 0 ? "-" : seconds(slack[i]), seconds(end(i) - Number(t.threads.start[i]))]);
    return smallTable("Critical path, in seconds", ["thread", "on path", "CPU", "slack", "lasted"], rows, -1);
}

function showTimeline(main, parameters) {
    const choose = part => {
        const set = { from: part.from > 0 ? part.from.toFixed(6) : undefined,
            to: part.to < Infinity ? part.to.toFixed(6) : undefined, thread: part.thread >= 0 ? part.thread : undefined };
        page.window = null;
        go({ view: "timeline", order: parameters.order, ...set });
    };
    const timeline = new Timeline(canFilter() ? choose : () => {}, parameters.order);
    main.append(element("div", { class: "tools" }, canFilter() ? windowFields(choose) : null,
        element("button", { type: "button", onclick: () => choose({ from: 0, to: Infinity, thread: -1 }) }, "whole run"),
        hasOneProcess() ? null : selectOf("processes", [["", "most CPU time first"], ["start", "in the order of their start"]],
            parameters.order || "", order => go({ ...currentParameters(), order: order || undefined })), legend(page.profile.path)),
    element("p", { class: "remark" }, canFilter() ? "Drag over a stretch of time, or click a thread: all views show that part then."
        : "The recording has no call stacks: a part of it cannot be shown by itself."),
    timeline.element, ...[pathTable()].filter(table => table), threadTable());
}
