/* compare.js: a second measurement beside the first: what grew, shrank, is new or gone.
 *
 * Figures are shares; what has changed is said of times where both sides have them, as `monarc diff`
 * says it of one run per side: by what sampling and what two runs of one program differ by. A change
 * counts from four standard deviations and one percent of the whole on; calls are exact. */

const CERTAIN = 4;
const LEAST = 0.01;
const LEVEL = 0.15 / (2.5758 * Math.SQRT2); /* significance.h: of one run; ten times in the kernel */

function baseOf() {
    return page.profile ? page.profile.base : null;
}

function baseShare(samples) {
    const base = baseOf();
    return base.samples > 0 ? samples / base.samples : 0;
}

/* A share's amount, a time or else the share itself, and its variance. */
function amountOf(share, summary, hasTimes, level) {
    const n = summary.effective || summary.samples, p = Math.min(Math.max(share, 0.5 / (n + 1)), 1 - 0.5 / (n + 1));
    const worth = hasTimes ? summary.samples / summary.rate : 1, varies = level * (hasTimes ? share : share * (1 - share));
    return { amount: share * worth, variance: (p * (1 - p) / n + varies * varies) * worth * worth };
}

/* How many standard deviations lie between what two shares stand for; 0 where that is too little to matter. */
function deviations(now, then, name) {
    const base = baseOf(), s = page.profile.summary;
    if (!(base.samples > 0) || !(s.samples > 0))
        return 0;
    const hasTimes = s.rate > 0 && base.rate > 0 && s.dimension === base.dimension;
    const level = /^\[(kernel|waiting)/.test(name || "") ? Math.min(10 * LEVEL, 0.4) : LEVEL;
    const a = amountOf(now, s, hasTimes, level), b = amountOf(then, base, hasTimes, level);
    const change = a.amount - b.amount, whole = hasTimes ? base.samples / base.rate : 1;
    return Math.abs(change) < LEAST * whole ? 0 : change / Math.sqrt(a.variance + b.variance);
}

/* Functions of both as rows; what is gone comes behind those that are there. */
function comparedRows() {
    const base = baseOf(), f = wholeProfile.functions || page.functions, rows = [];
    const add = (fn, name, now, then) => {
        const row = { fn, name, now: shareOfWhole(now.self), then: baseShare(then.self), total: shareOfWhole(now.total),
            baseTotal: baseShare(then.total), calls: Number(now.calls), baseCalls: Number(then.calls) };
        row.change = row.now - row.then;
        row.z = deviations(row.now, row.then, name);
        row.verdict = verdictOf(row, now.isThere, then.isThere);
        rows.push(row);
    };
    const none = { self: 0, total: 0, calls: 0, isThere: false };
    for (let i = 0; i < f.measured; i++)
        add(i, f.name[i], { self: f.self[i], total: f.total[i], calls: f.calls[i], isThere: true },
            base.self[i] === null ? none : { self: base.self[i], total: base.total[i], calls: base.calls[i], isThere: true });
    base.gone.name.forEach((name, i) => add(-1, name, none,
        { self: base.gone.self[i], total: base.gone.total[i], calls: base.gone.calls[i], isThere: true }));
    return rows;
}

function verdictOf(row, isThere, wasThere) {
    if (!wasThere)
        return "new";
    if (!isThere)
        return "gone";
    if (Math.abs(row.z) >= CERTAIN)
        return row.z > 0 ? "more" : "less";
    return row.calls !== row.baseCalls ? "calls" : "same";
}

const VERDICTS = { more: "more time", less: "less time", new: "new", gone: "gone", calls: "other calls", same: "no change" };

function signed(number, digits, unit) {
    const size = Math.abs(number).toFixed(digits);
    if (!Number(size))
        return size + unit;
    return `${number > 0 ? "+" : number < 0 ? "−" : ""}${size}${unit}`;
}

function comparisonColumns(rows) {
    const points = (change, isCertain) => element("span",
        { class: !isCertain || !change ? "count" : change > 0 ? "grown" : "shrunk" }, signed(100 * change, 2, ""));
    const isCertain = row => Math.abs(row.z) >= CERTAIN;
    const column = (id, title, key, cell, hint) => ({ id, title, number: true, hint, key: i => key(rows[i]), cell: i => cell(rows[i]) });
    return [
        column("change", "Δ self", row => row.change, row => points(row.change, isCertain(row)), "points of the share of all samples"),
        column("z", "z", row => Math.abs(row.z), row => signed(row.z, 1, ""), "standard deviations by which its time changed; from 4 on it is hardly chance"),
        column("now", "self %", row => row.now, row => percentText(row.now)),
        column("then", "was", row => row.then, row => percentText(row.then)),
        hasComparableTimes() && column("time", "Δ time", row => timeChange(row), row => element("span",
            { class: !isCertain(row) ? "count" : row.z > 0 ? "grown" : "shrunk" }, `${signed(timeChange(row), 3, "")} s`), "seconds of its own, now and then"),
        column("total", "Δ total", row => row.total - row.baseTotal, row => points(row.total - row.baseTotal,
            Math.abs(deviations(row.total, row.baseTotal, row.name)) >= CERTAIN)),
        column("calls", "Δ calls", row => row.calls - row.baseCalls, row => row.calls === row.baseCalls ? ""
            : `${row.calls > row.baseCalls ? "+" : "−"}${countText(Math.abs(row.calls - row.baseCalls))}`),
        { id: "verdict", title: "change", key: i => rows[i].verdict, cell: i => VERDICTS[rows[i].verdict] },
        { id: "name", title: "function", key: i => rows[i].name,
            cell: i => rows[i].fn >= 0 ? functionLink(rows[i].fn) : shortened(rows[i].name) },
    ].filter(Boolean);
}

function hasComparableTimes() {
    const base = baseOf(), s = page.profile.summary;
    return s.rate > 0 && base.rate > 0 && s.dimension === base.dimension && s.abbreviation === "s" && base.samples > 0;
}

function timeChange(row) {
    const base = baseOf(), s = page.profile.summary;
    return row.now * s.samples / s.rate - row.then * base.samples / base.rate;
}

function showComparison(main, parameters) {
    const base = baseOf(), rows = comparedRows();
    const matching = () => {
        const pattern = patternOf(parameters.search);
        return rows.map((row, i) => i).filter(i => (!parameters.change || rows[i].verdict === parameters.change) &&
            (!pattern || pattern.test(rows[i].name)));
    };
    const table = new RowTable({ caption: "Comparison", columns: comparisonColumns(rows), rows: matching(),
        sort: parameters.sort || "z", descending: parameters.order !== "up",
        open: i => rows[i].fn >= 0 && go({ view: "callers", fn: functionKey(rows[i].fn) }),
        sorted: (sort, descending) => keep({ sort, order: descending ? null : "up" }) });
    const counts = Object.keys(VERDICTS).map(verdict => [verdict, rows.filter(row => row.verdict === verdict).length]);
    main.append(element("p", { class: "remark" }, `Compared with ${plain(base.profile)}: ${samplesText(page.profile.summary.samples)} samples now, ` +
        `${samplesText(base.samples)} then. What counts as a change is one of time, beyond what two runs of one program differ by.` +
        (page.window ? " The comparison is of whole runs, not of the chosen part." : "")),
    element("div", { class: "tools" },
        searchField("search functions (regular expression)", parameters.search, value => {
            parameters.search = value;
            keep({ search: value || null });
            table.setRows(matching());
        }),
        selectOf("change", [["", "all"], ...counts.map(([verdict, n]) => [verdict, `${VERDICTS[verdict]} (${n})`])], parameters.change || "",
            value => go({ ...currentParameters(), change: value || undefined }))),
    table.element);
}

/* --- lines --------------------------------------------------------------------------------------- */

function lineDeviations(line) {
    return deviations(shareOfWhole(line.self), baseShare(line.then));
}

function isCertainChange(line) {
    return Math.abs(lineDeviations(line)) >= CERTAIN;
}

/* Points of the share of all samples that a line has gained; "new" and "gone" where there was, or is, none. */
function deltaCell(line) {
    if (!line || (!line.self && !line.then))
        return element("span", { class: "cell delta", role: "cell" });
    const change = shareOfWhole(line.self) - baseShare(line.then), isCertain = isCertainChange(line);
    const word = !isCertain ? "" : !line.then ? "new " : !line.self ? "gone " : "";
    return element("span", { class: `cell delta ${!isCertain ? "" : change > 0 ? "grown" : "shrunk"}`, role: "cell",
        title: `${percentText(baseShare(line.then))} in the base, ${signed(lineDeviations(line), 1, "")} standard deviations: ` +
            (isCertain ? "hardly chance" : "may be chance") }, word + signed(100 * change, 2, ""));
}

/* Red: a larger share of the time with callees than in the base; blue: a smaller one. */
function comparedColour(fn, tone) {
    const base = baseOf(), f = page.functions;
    if (fn < 0 || fn >= f.measured)
        return tone("--idle");
    const then = base.total[fn] === null ? 0 : baseShare(base.total[fn]), change = share(f.total[fn]) - then;
    const strength = Math.min(1, Math.sqrt(Math.abs(change) * 4));
    if (Math.abs(deviations(share(f.total[fn]), then)) < CERTAIN)
        return tone("--idle");
    return `hsl(${change > 0 ? 5 : 215} ${30 + 55 * strength}% ${tone("--compare-light")})`;
}

/* --- coverage ---------------------------------------------------------------------------------- */

/* What became of lines, in words. "New" are those that the patch adds (--diff); what was not counted before, for whatever
 * other reason, is "newly counted". */
const LINE_CHANGES = {
    lost: "lost", new_missed: "new, never ran", counted_missed: "newly counted, never ran", gained: "gained",
    new_runs: "new, runs", counted_runs: "newly counted, runs", dropped_ran: "no longer counted, ran",
    dropped_missed: "no longer counted, never ran", deleted_ran: "deleted, ran", deleted_missed: "deleted, never ran",
    still_runs: "still runs", still_missed: "still never ran",
};

/* Line -> its class; null where nothing has changed. */
function baseChanges(data) {
    const base = data.coverage && data.coverage.base;
    return base && base.line.length ? new Map(base.line.map((line, i) => [line, base.change[i]])) : null;
}

/* Points that a file's or folder's share of lines has gained. */
function coverageChange(node) {
    if (!node.base || node.base.all - node.base.unknown <= 0 || node.lines.all - node.lines.unknown <= 0)
        return null;
    return percentOf(node.lines) - percentOf(node.base);
}
