/* ranks.js: what the ranks of a parallel job did, side by side: a row a function, a column a rank, the darker, the
 * longer. A call of MPI is one row, whatever the library does in it. Rows are in the order of what their
 * imbalance costs, which is the most less the mean of all ranks. All cells have one scale, on which the most of all rows is
 * darkest: so the rank that others wait for stands out, and rows without time are light.
 *
 *                    cost     0 1 2 3 4 5     ranks
 *     spin          0.54 s    . . # . . .
 *     MPI_Allreduce 0.12 s    # # . # # #
 *
 * A canvas is at most 32,767 pixels wide. Of more ranks than fit, neighbours share a column, which shows the one of
 * them with the most time: an outlier stays in sight, however many ranks there are.
 *
 * Linear in the samples; what a path counts for is found once. */

const RANKS = { rows: 40, high: 18, name: 260, axis: 22, least: 3, most: 28, widest: 9000 };

function hasRanks() {
    return hasTimeline() && page.profile.timeline.processes.rank.some(rank => rank !== null);
}

/* "MPI_Send" of MPI_Send, PMPI_Send, mpi_send_; undefined: not a call of MPI. */
function mpiCall(name) {
    const found = /^p?mpi_([a-z0-9][a-z0-9_]*?)_{0,2}$/i.exec(name);
    return found && (/^P?MPI_[A-Z]/.test(name) || name === name.toLowerCase())
        ? `MPI_${found[1].charAt(0).toUpperCase()}${found[1].slice(1).toLowerCase()}` : undefined;
}

/* Rows with what each rank has, most costly first: { key, name, function, times, cost, most, mostRank }. */
function rankRows(timeline, paths, names) {
    const ranks = [...new Set(timeline.processes.rank.filter(rank => rank !== null))].sort((l, r) => l - r);
    const columns = new Map(ranks.map((rank, i) => [rank, i])), rows = new Map(), rowOf = new Map(), s = timeline.samples;
    const rowOfPath = path => {
        let call, i = path;
        for (; i > 0; i = paths.parent[i])
            call = mpiCall(names[paths.function[i]]) || call;
        const own = paths.function[path], key = call || own;
        if (!rows.has(key))
            rows.set(key, { key, name: call || names[own], function: call ? undefined : own, times: new Float64Array(ranks.length) });
        return rows.get(key);
    };
    for (let i = 0; i < s.slice.length; i++) {
        const rank = timeline.processes.rank[timeline.threads.process[s.thread[i]]], path = s.path[i];
        if (rank === null || path === null || path <= 0)
            continue;
        if (!rowOf.has(path))
            rowOf.set(path, rowOfPath(path));
        rowOf.get(path).times[columns.get(rank)] += s.samples[i];
    }
    for (const row of rows.values()) {
        row.most = row.times.reduce((l, r) => Math.max(l, r), 0);
        row.cost = row.most - row.times.reduce((l, r) => l + r, 0) / ranks.length;
        row.mostRank = ranks[row.times.indexOf(row.most)];
    }
    return { ranks, rows: [...rows.values()].sort((l, r) => r.cost - l.cost || r.most - l.most) };
}

class RankMap {
    constructor({ ranks, rows }) {
        this.ranks = ranks;
        this.group = Math.max(1, Math.ceil(ranks.length * RANKS.least / RANKS.widest));
        this.columns = Math.ceil(ranks.length / this.group);
        this.rows = rows.slice(0, RANKS.rows).map(row => ({ ...row, shown: this.mostOfGroups(row.times) }));
        this.most = this.rows.reduce((most, row) => Math.max(most, row.most), 0);
        this.at = [0, Math.max(0, this.rows.length ? Math.floor(ranks.indexOf(this.rows[0].mostRank) / this.group) : 0)];
        this.canvas = element("canvas", { tabindex: "0", role: "img",
            "aria-label": "time by function and rank; arrows choose a cell, Enter shows the function",
            onpointermove: event => this.say(...this.cellAt(event)), onclick: event => this.open(...this.cellAt(event)),
            onkeydown: event => this.key(event) });
        this.status = element("p", { class: "frame", role: "status" });
        this.holder = element("div", { class: "heatmap" }, this.canvas);
        new ResizeObserver(() => this.draw()).observe(this.holder);
        drawn(() => this.draw());
        if (this.rows.length)
            this.say(...this.at);
    }

    /* Of each column the rank that it shows, by its place in the list. */
    mostOfGroups(times) {
        return Array.from({ length: this.columns }, (_, x) => {
            let most = x * this.group;
            for (let i = most + 1; i < Math.min(times.length, (x + 1) * this.group); i++)
                most = times[i] > times[most] ? i : most;
            return most;
        });
    }

    /* Which of so many shades a time has; -1: none. */
    shade(time, steps) {
        return time > 0 ? Math.min(steps - 1, Math.floor(time / this.most * steps)) : -1;
    }

    draw() {
        const ratio = window.devicePixelRatio || 1, shown = this.holder.clientWidth;
        if (!shown)
            return;
        this.side = Math.min(RANKS.name, shown / 2);
        this.wide = Math.max(RANKS.least, Math.min(RANKS.most, (shown - this.side) / this.columns));
        const width = Math.max(shown, this.side + this.wide * this.columns), height = this.rows.length * RANKS.high + RANKS.axis;
        [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
        Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
        const c = this.canvas.getContext("2d"), style = getComputedStyle(this.holder);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        c.font = `${isLarge() ? 16 : 12}px ${style.fontFamily}`;
        const steps = style.getPropertyValue("--share").trim().split(" "), gap = this.wide > 4 ? 1 : 0;
        this.rows.forEach((row, y) => {
            row.shown.forEach((rank, x) => {
                c.fillStyle = steps[this.shade(row.times[rank], steps.length)] || style.getPropertyValue("--soft");
                c.fillRect(this.side + x * this.wide, y * RANKS.high, this.wide - gap, RANKS.high - 1);
            });
            const cost = amountText(row.cost), room = this.side - c.measureText(cost).width - 20;
            c.fillStyle = style.color;
            c.textAlign = "left";
            const whole = plain(row.name), most = Math.max(1, Math.ceil(room / 3)); /* letters are wider than that */
            let name = whole.length > most ? `${whole.slice(0, most)}…` : whole;
            while (name.length > 1 && c.measureText(name).width > room)
                name = `${name.replace(/…$/, "").slice(0, -1)}…`;
            c.fillText(name, 0, y * RANKS.high + 13);
            c.textAlign = "right";
            c.fillText(cost, this.side - 8, y * RANKS.high + 13);
        });
        c.textAlign = "left";
        const every = Math.ceil(34 / this.wide);
        for (let x = 0; x < this.columns; x += every)
            c.fillText(String(this.ranks[x * this.group]), this.side + x * this.wide, height - 6);
        c.strokeStyle = style.getPropertyValue("--accent");
        c.lineWidth = 2;
        c.strokeRect(this.side + this.at[1] * this.wide, this.at[0] * RANKS.high, this.wide, RANKS.high);
    }

    cellAt(event) {
        const box = this.canvas.getBoundingClientRect(), within = (at, most) => Math.max(0, Math.min(most - 1, Math.floor(at)));
        return [within((event.clientY - box.top) / RANKS.high, this.rows.length),
            within((event.clientX - box.left - this.side) / this.wide, this.columns)];
    }

    say(y, x) {
        const row = this.rows[y];
        this.at = [y, x];
        const rank = row.shown[x], last = Math.min(this.ranks.length, (x + 1) * this.group) - 1;
        const among = this.group > 1 ? `, the most of ${this.ranks[x * this.group]} to ${this.ranks[last]}` : "";
        this.status.textContent = `${plain(row.name)} on rank ${this.ranks[rank]}${among}: ${amountText(row.times[rank])}; ` +
            `at most ${amountText(row.most)}, on rank ${row.mostRank}; imbalance costs ${amountText(row.cost)}`;
        this.draw();
    }

    open(y) {
        if (this.rows[y] && this.rows[y].function !== undefined)
            go({ view: "callers", fn: functionKey(this.rows[y].function) });
    }

    key(event) {
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        if (event.ctrlKey || event.altKey || event.metaKey || (!step && event.key !== "Enter"))
            return;
        const [y, x] = step ? [this.at[0] + step[0], this.at[1] + step[1]] : this.at;
        if (!step)
            this.open(y);
        else if (this.rows[y] && x >= 0 && x < this.columns)
            this.say(y, x);
        event.preventDefault();
        event.stopPropagation();
    }
}

function showRanks(main) {
    const found = rankRows(page.profile.timeline, page.profile.paths, page.functions.name), map = new RankMap(found);
    main.append(map.status, map.holder, element("p", { class: "remark" },
        `${counted(found.ranks.length, "rank")}, ${map.group > 1 ? `${map.group} neighbours a column, which shows the one with the most time` : "one a column"}. The figure is what imbalance costs: the most less the mean of all ranks. ` +
        "All rows are shaded on one scale. ", found.rows.length > RANKS.rows ? `The ${RANKS.rows} rows of ${found.rows.length} that cost most are shown. ` : null,
        "monarc ranks has outliers, groups and efficiencies."));
}
