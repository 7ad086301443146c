/* timeline.js: threads over time: what each was seen doing, and when. Dragging over it chooses a
 * window that all other views show. */

const STATES = ["in user code", "in the kernel", "waiting"];
const LANE_HEIGHT = 26, AXIS_HEIGHT = 24, MOST_LANES = 400;

class Timeline {
    constructor(choose) {
        this.choose = choose;
        this.data = page.profile.timeline;
        this.length = Math.max(this.data.length_ns, 1) / 1e9;
        this.lanes = busiestThreads();
        this.names = element("div", { class: "lanes" }, element("div", { class: "axis" }));
        for (const lane of this.lanes)
            this.names.append(element("button", { type: "button", title: "show this thread alone", "aria-pressed":
                String(Boolean(page.window && page.window.thread === lane)), onclick: () => this.toggle(lane) }, laneName(lane)));
        this.canvas = element("canvas", { tabindex: "0", role: "img",
            "aria-label": "threads over time; arrow keys move the window, with Shift its end",
            onpointerdown: event => this.begin(event), onpointermove: event => this.move(event),
            onpointerup: event => this.end(event), onkeydown: event => this.key(event) });
        this.holder = element("div", { class: "times" }, this.canvas);
        this.element = element("div", { class: "timeline" }, this.names, this.holder);
        new ResizeObserver(() => this.draw()).observe(this.holder);
    }

    toggle(lane) {
        const part = page.window || { from: 0, to: Infinity, thread: -1 };
        this.choose({ ...part, thread: part.thread === lane ? -1 : lane });
    }

    /* Samples by lane, pixel and state. */
    columns(width) {
        const at = new Map(this.lanes.map((lane, i) => [lane, i]));
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
        this.drawLanes(this.columns(width), width);
        this.drawAxis(width, height);
        this.drawWindow(width, height);
    }

    /* Full height: as busy as a thread can be, one sample a period. */
    drawLanes(sums, width) {
        const colours = ["--user", "--kernel", "--waiting"].map(name => this.style.getPropertyValue(name));
        const full = page.summary.rate > 0 && page.summary.abbreviation === "s" ? page.summary.rate * this.length / width : 0;
        const most = full || sums.reduce((l, r) => Math.max(l, r), 0) || 1;
        for (let lane = 0; lane < this.lanes.length; lane++)
            for (let x = 0; x < width; x++) {
                let y = AXIS_HEIGHT + (lane + 1) * LANE_HEIGHT - 2;
                for (let state = 0; state < STATES.length; state++) {
                    const high = Math.min(1, sums[(lane * width + x) * STATES.length + state] / most) * (LANE_HEIGHT - 4);
                    if (!high)
                        continue;
                    this.context.fillStyle = colours[state];
                    this.context.fillRect(x, y - Math.max(1, high), 1, Math.max(1, high));
                    y -= high;
                }
            }
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
        const part = this.dragged || page.window;
        if (!part)
            return;
        const c = this.context, x = time => Math.min(1, time / this.length) * width;
        c.fillStyle = this.style.getPropertyValue("--veil");
        c.fillRect(0, AXIS_HEIGHT, x(part.from), height);
        c.fillRect(x(part.to), AXIS_HEIGHT, width, height);
    }

    timeAt(event) {
        const box = this.canvas.getBoundingClientRect();
        return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * this.length;
    }

    begin(event) {
        this.anchor = this.timeAt(event);
        this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
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

function legend() {
    return element("span", { class: "legend" }, ...STATES.map((text, i) =>
        element("span", {}, element("span", { class: `swatch state${i}`, "aria-hidden": "true" }), text)));
}

/* Threads with samples, by process, the busiest ones if there are many. */
function busiestThreads() {
    const { samples, threads } = page.profile.timeline, sums = threads.tid.map(() => 0);
    samples.thread.forEach((thread, i) => { sums[thread] += samples.samples[i]; });
    const kept = [...sums.keys()].filter(i => sums[i] > 0).sort((l, r) => sums[r] - sums[l]).slice(0, MOST_LANES);
    return kept.sort((l, r) => threads.process[l] - threads.process[r] || l - r);
}

function laneName(thread) {
    const { threads, processes } = page.profile.timeline, process = threads.process[thread];
    return hasOneProcess() ? threadName(thread) : `${shortened(processes.name[process])} ${processes.pid[process]} · ${threadName(thread)}`;
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
    const rows = sums.map((sum, i) => [sum, i]).filter(([sum]) => sum.some(part => part > 0))
        .sort((l, r) => r[0][0] + r[0][1] - l[0][0] - l[0][1]).slice(0, 100)
        .map(([sum, i]) => [threadName(i), ...(hasOneProcess() ? [] : [String(t.processes.pid[t.threads.process[i]])]),
            ...sum.map(part => amountText(part))]);
    return smallTable("Threads", ["thread", ...(hasOneProcess() ? [] : ["process"]), ...STATES], rows, -1);
}

function showTimeline(main) {
    const choose = part => {
        const set = { from: part.from > 0 ? part.from.toFixed(6) : undefined,
            to: part.to < Infinity ? part.to.toFixed(6) : undefined, thread: part.thread >= 0 ? part.thread : undefined };
        page.window = null;
        go({ view: "timeline", ...set });
    };
    const timeline = new Timeline(canFilter() ? choose : () => {});
    main.append(element("div", { class: "tools" }, canFilter() ? windowFields(choose) : null,
        element("button", { type: "button", onclick: () => choose({ from: 0, to: Infinity, thread: -1 }) }, "whole run"), legend()),
    element("p", { class: "remark" }, canFilter() ? "Drag over a stretch of time, or click a thread: all views show that part then."
        : "The recording has no call stacks: a part of it cannot be shown by itself."),
    timeline.element, threadTable());
}
