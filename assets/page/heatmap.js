/* heatmap.js: activity within each second: a column a second, a row a few milliseconds, the darker, the more of it
 * was spent as is asked for. What comes back at a rhythm is a line across, a pause is a gap, and what
 * happened once stands alone. Runs shorter than some seconds have shorter columns.
 *
 *      0 ms  | . . # . . |     A cell is a stretch of time: a click on it, or a drag from one to
 *            | # # # # # |     another, chooses that stretch for all views of the profile.
 *    980 ms  | . . # . . |
 *             0 1 2 3 4 s
 *
 * Rows are no finer than the slices that the recording keeps. Samples are shared out among the cells
 * that their slice is on. Linear in the samples and in the cells. */

const HEAT = { rows: 50, columns: 24, most: 600, axis: 22, side: 56, least: 4 };

/* Lengths in seconds: of a column, of a row, and how many there are. */
function heatGrid(length, slice) {
    const wanted = length / HEAT.columns, column = wanted > 1 ? Math.max(1, niceStep(length / HEAT.most)) : niceStep(Math.max(wanted, slice));
    const row = Math.min(column, niceStep(Math.max(slice, column / HEAT.rows))), rows = Math.round(column / row);
    return { column, row, rows, columns: Math.max(1, Math.ceil(length / column - 1e-9)) };
}

/* Samples of each cell, column by column, of the states that are asked for: of one thread, or of all. */
function heatCells(grid, timeline, states, thread) {
    const cells = new Float64Array(grid.rows * grid.columns), s = timeline.samples, slice = timeline.slice_ns / 1e9;
    for (let i = 0; i < s.slice.length; i++) {
        if (!states.includes(s.state[i]) || (thread >= 0 && s.thread[i] !== thread))
            continue;
        const from = s.slice[i] * slice / grid.row, to = from + slice / grid.row;
        for (let at = Math.floor(from + 1e-6); at < to - 1e-6 && at < cells.length; at++)
            cells[at] += s.samples[i] * (Math.min(to, at + 1) - Math.max(from, at)) / (to - from);
    }
    return cells;
}

class HeatMap {
    constructor(states, choose) {
        const t = page.profile.timeline;
        this.choose = choose;
        this.length = Math.max(t.length_ns, 1) / 1e9;
        this.grid = heatGrid(this.length, t.slice_ns / 1e9);
        this.cells = heatCells(this.grid, t, states, page.window ? page.window.thread : -1);
        this.most = this.cells.reduce((l, r) => Math.max(l, r), 0) || 1;
        this.at = 0;
        this.canvas = element("canvas", { tabindex: "0", role: "img",
            "aria-label": "activity within each second; arrows choose a cell, Enter shows that stretch of time",
            onpointerdown: event => this.begin(event), onpointermove: event => this.move(event),
            onpointerup: event => this.end(event), onkeydown: event => this.key(event) });
        this.status = element("p", { class: "frame", role: "status" });
        this.holder = element("div", { class: "heatmap" }, this.canvas);
        new ResizeObserver(() => this.draw()).observe(this.holder);
        drawn(() => this.draw());
        this.say(this.cells.indexOf(this.most));
    }

    draw() {
        const width = this.holder.clientWidth, ratio = window.devicePixelRatio || 1, { grid, cells } = this;
        if (!width)
            return;
        this.wide = Math.min(60, (width - HEAT.side) / grid.columns);
        this.high = Math.max(HEAT.least, Math.min(20, 480 / grid.rows));
        const height = grid.rows * this.high + HEAT.axis;
        [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
        Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
        const c = this.canvas.getContext("2d"), style = getComputedStyle(this.holder);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        const steps = style.getPropertyValue("--share").trim().split(" "), gap = this.wide > 3 ? 1 : 0;
        c.font = `${isLarge() ? 16 : 12}px ${style.fontFamily}`;
        const box = (i, fill) => {
            const x = HEAT.side + Math.floor(i / grid.rows) * this.wide, y = i % grid.rows * this.high;
            c.fillStyle = fill;
            c.fillRect(x, y, Math.max(1, this.wide - gap), this.high - (this.high > 5 ? 1 : 0));
        };
        for (let i = 0; i < cells.length && i * grid.row < this.length; i++)
            box(i, cells[i] > 0 ? steps[Math.min(steps.length - 1, Math.floor(cells[i] / this.most * steps.length))] : style.getPropertyValue("--soft"));
        this.veil(c, style);
        c.fillStyle = style.color;
        const every = Math.ceil(50 / this.wide), rows = Math.max(1, Math.round(grid.rows / 5));
        for (let column = 0; column < grid.columns; column += every)
            c.fillText(`${Number((column * grid.column).toPrecision(6))} s`, HEAT.side + column * this.wide, height - 6);
        for (let row = 0; row < grid.rows; row += rows)
            c.fillText(`${Number((1000 * row * grid.row).toPrecision(4))} ms`, 0, row * this.high + 12);
        c.strokeStyle = style.getPropertyValue("--accent");
        c.lineWidth = 2;
        c.strokeRect(HEAT.side + Math.floor(this.at / grid.rows) * this.wide, this.at % grid.rows * this.high, this.wide, this.high);
    }

    /* Cells outside of the chosen stretch are seen through a veil. */
    veil(c, style) {
        const part = this.dragged ? this.partOf(this.dragged[0], this.dragged[1]) : page.window, { grid } = this;
        if (!part || (part.from <= 0 && part.to >= this.length))
            return;
        c.fillStyle = style.getPropertyValue("--veil");
        for (let i = 0; i < this.cells.length; i++)
            if ((i + 0.5) * grid.row < part.from || (i + 0.5) * grid.row >= part.to)
                c.fillRect(HEAT.side + Math.floor(i / grid.rows) * this.wide, i % grid.rows * this.high, this.wide, this.high);
    }

    cellAt(event) {
        const box = this.canvas.getBoundingClientRect(), { grid } = this;
        const within = (at, most) => Math.max(0, Math.min(most - 1, Math.floor(at)));
        const column = within((event.clientX - box.left - HEAT.side) / this.wide, grid.columns);
        return Math.min(this.cells.length - 1, column * grid.rows + within((event.clientY - box.top) / this.high, grid.rows));
    }

    partOf(one, other) {
        const [from, to] = [Math.min(one, other), Math.max(one, other) + 1].map(cell => cell * this.grid.row);
        return { from, to: Math.min(to, this.length) };
    }

    say(cell) {
        this.at = Math.max(0, Math.min(this.cells.length - 1, cell));
        const { from, to } = this.partOf(this.at, this.at);
        this.status.textContent = `${from.toFixed(3)} s to ${to.toFixed(3)} s: ${amountText(this.cells[this.at])}`;
        this.draw();
    }

    begin(event) {
        const cell = this.cellAt(event);
        this.dragged = [cell, cell];
        this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
        const cell = this.cellAt(event);
        if (this.dragged && event.buttons & 1)
            this.dragged[1] = cell;
        if (cell !== this.at)
            this.say(cell);
    }

    end(event) {
        const first = this.dragged ? this.dragged[0] : this.cellAt(event), last = this.cellAt(event);
        this.dragged = undefined;
        this.choose(this.partOf(first, last));
    }

    key(event) {
        const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -this.grid.rows, ArrowRight: this.grid.rows }[event.key];
        if (event.ctrlKey || event.altKey || event.metaKey || (step === undefined && event.key !== "Enter" && event.key !== "Escape"))
            return;
        if (event.key === "Enter")
            this.choose(this.partOf(this.at, this.at));
        else if (event.key === "Escape")
            this.choose({ from: 0, to: Infinity });
        else if (this.at + step >= 0 && this.at + step < this.cells.length)
            this.say(this.at + step);
        event.preventDefault();
        event.stopPropagation();
    }
}

const HEAT_STATES = { "": [0, 1], user: [0], kernel: [1], waiting: [2] };

function showHeatMap(main, parameters) {
    const states = HEAT_STATES[parameters.state] || HEAT_STATES[""], map = new HeatMap(states, chooseTime("heatmap"));
    const has = page.profile.timeline.samples.state.includes(2);
    main.append(element("div", { class: "tools" },
        selectOf("show", [["", "time on a CPU"], ["user", STATES[0]], ["kernel", STATES[1]], ...(has ? [["waiting", STATES[2]]] : [])], parameters.state || "",
            state => go({ ...currentParameters(), state: state || undefined })),
        threadChoice(thread => {
            page.window = null;
            go({ ...currentParameters(), thread: thread || undefined });
        })),
    map.status, map.holder, element("p", { class: "remark" }, `A column is ${map.grid.column >= 1 ? `${map.grid.column} s` : `${Number((1000 * map.grid.column).toPrecision(4))} ms`} ` +
        `of the run, a cell ${Number((1000 * map.grid.row).toPrecision(4))} ms of it: a click shows that stretch in all views, dragging chooses a longer one. `,
    page.window ? link({ view: "flame" }, "Flame") : null, page.window ? " and " : null, page.window ? link({ view: "tree" }, "call tree") : null,
    page.window ? " of the chosen stretch." : null));
}
