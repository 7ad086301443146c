/* compare.js: a second measurement beside the first: what grew, shrank, is new or gone.
 *
 * What has changed for certain is what `monarc diff` says. */

function baseOf() {
    return page.profile ? page.profile.base : null;
}

function baseShare(samples) {
    const base = baseOf();
    return base.samples > 0 ? samples / base.samples : 0;
}

function signed(number, digits, unit) {
    const size = Math.abs(number).toFixed(digits);
    if (!Number(size))
        return size + unit;
    return `${number > 0 ? "+" : number < 0 ? "−" : ""}${size}${unit}`;
}

/* --- functions ----------------------------------------------------------------------------------- */

const VERDICTS = { more: "more time", less: "less time", calls: "other calls", same: "no change" };

/* Self time decides; what changed only together with its callees says so. */
function verdictOf(i) {
    const r = baseOf().rows;
    if (!r.found[i])
        return "same";
    if (r.self_meant[i])
        return r.self[i] > r.self_old[i] ? "more" : "less";
    if (r.total_meant[i])
        return r.total[i] > r.total_old[i] ? "more" : "less";
    return "calls";
}

/* An amount of an average run, or a part of the whole, in the comparison's unit. A share has one decimal at least. */
function comparedFigure(amount, error, unit, isSigned) {
    const base = baseOf(), off = base.factor * Math.max(error || 0, 0);
    return knownText(base.factor * amount, base.by_share ? Math.min(off, 3.5) : off, base.digits, NARROW + unit, isSigned);
}

/* A side is as unsure as the margin of its change, by the root of two. */
function comparedText(amount, margin) {
    return amount === null ? "" : comparedFigure(amount, margin * Math.SQRT1_2, baseOf().unit, false);
}

function comparedChange(now, then, margin, isMeant) {
    const base = baseOf();
    if (now === null || then === null)
        return "";
    return element("span", { class: !isMeant ? "count" : now > then ? "grown" : "shrunk" },
        comparedFigure(now - then, margin, base.by_share ? "points" : base.unit, true));
}

function comparisonColumns() {
    const base = baseOf(), r = base.rows;
    const column = (id, title, key, cell, hint) => ({ id, title, number: true, hint, key, cell });
    /* The rows come in the order of `monarc diff`: what changed first. */
    const amounts = (id, hint) => [
        column(id, `Δ ${id}`, i => (r.found[i] ? 1e12 : 0) + Math.abs(r[id][i] - r[`${id}_old`][i]),
            i => comparedChange(r[id][i], r[`${id}_old`][i], r[`${id}_margin`][i], r[`${id}_meant`][i]), `${hint}: its change`),
        column(`${id}_now`, id, i => r[id][i], i => comparedText(r[id][i], r[`${id}_margin`][i]), `${hint}, of an average run`),
        column(`${id}_was`, "was", i => r[`${id}_old`][i], i => comparedText(r[`${id}_old`][i], r[`${id}_margin`][i]), `${hint}, in the base`),
    ];
    const hasCalls = r.calls.some(calls => calls !== null);
    return [
        ...amounts("total", "with callees"), ...amounts("self", "its own"),
        column("margin", "±", i => r.self_margin[i], i => r.self_margin[i] === null ? "" : comparedFigure(r.self_margin[i], r.self_margin[i], "", false),
            "of the change of self, with 99 % confidence"),
        hasCalls && column("calls", "Δ calls", i => r.calls[i] - r.calls_old[i], i => r.calls[i] === r.calls_old[i] ? ""
            : `${r.calls[i] > r.calls_old[i] ? "+" : "−"}${countText(Math.abs(r.calls[i] - r.calls_old[i]))}`),
        { id: "verdict", title: "change", key: i => verdictOf(i), cell: i => VERDICTS[verdictOf(i)] },
        { id: "name", title: "function", key: i => r.name[i], cell: i => element("span", {},
            r.row[i] >= 0 ? functionLink(r.row[i]) : shortened(r.name[i]),
            r.file[i] ? element("span", { class: "count" }, ` (${shortened(r.file[i])})`) : null,
            r.remark[i] ? element("span", { class: "count" }, ` (${shortened(r.remark[i])})`) : null) },
    ].filter(Boolean);
}

/* Whole runs: time, memory, events. */
function comparedTotals() {
    const base = baseOf();
    return base.totals.length ? smallTable("Whole runs", ["", "now", "was", "change", "verdict"], base.totals.map(t =>
        [t.name, t.new, t.old, `${t.change > 0 ? "+" : t.change < 0 ? "−" : ""}${t.size}`, t.verdict.replaceAll(" +- ", " ± ")]), 0) : "";
}

function showComparison(main, parameters) {
    const base = baseOf(), { rows } = base, all = rows.name.map((name, i) => i);
    const matching = () => {
        const pattern = patternOf(parameters.search);
        return all.filter(i => (!parameters.change || verdictOf(i) === parameters.change) && (!pattern || pattern.test(rows.name[i])));
    };
    const table = new RowTable({ caption: "Comparison", columns: comparisonColumns(), rows: matching(),
        sort: parameters.sort || "total", descending: parameters.order !== "up",
        open: i => rows.row[i] >= 0 && go({ view: "callers", fn: functionKey(rows.row[i]) }),
        sorted: (sort, descending) => keep({ sort, order: descending ? null : "up" }) });
    const counts = Object.keys(VERDICTS).map(verdict => [verdict, all.filter(i => verdictOf(i) === verdict).length]);
    const time = base.totals.find(total => total.name === "CPU time");
    main.append(base.answer ? leadOf(time.found ? signed(100 * time.growth, 1, `${NARROW}%`) : "", base.answer) : "",
        comparedTotals(), element("p", { class: "remark" }, `Compared with ${plain(base.profile)}. `,
            page.window ? "The comparison is of whole runs, not of the chosen part. " : "",
            base.notes.map(note => `${note.charAt(0).toUpperCase()}${plain(note).slice(1)}. `).join("")),
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

/* Red: more time with callees than in the base; blue: less. */
function comparedColour(fn, tone) {
    const base = baseOf(), { rows } = base;
    if (!base.rowOf) {
        base.rowOf = new Map(rows.row.map((row, i) => [row, i]));
        base.whole = [...rows.total, ...rows.total_old].reduce((most, amount) => Math.max(most, amount), 0);
    }
    const i = base.rowOf.get(fn);
    if (fn < 0 || i === undefined || !rows.total_meant[i])
        return tone("--idle");
    const change = (rows.total[i] - rows.total_old[i]) / base.whole, strength = Math.min(1, Math.sqrt(Math.abs(change) * 4));
    return `hsl(${change > 0 ? 5 : 215} ${30 + 55 * strength}% ${tone("--compare-light")})`;
}

/* --- lines --------------------------------------------------------------------------------------- */

/* Points of the share of all samples that a line has gained; "new" and "gone" where there was, or is, none. Nothing
 * of a line whose function has other lines than in the base: which of them it was is unknown. */
function deltaCell(line) {
    if (!line || !line.hasBase || (!line.self && !line.then))
        return element("span", { class: "cell delta", role: "cell" });
    const then = baseShare(line.then), change = shareOfWhole(line.self) - then, isCertain = line.isMeant;
    const off = errorOf(then * page.summary.samples), error = Math.hypot(off, errorOf(line.self)); /* the base is taken for as sure */
    const word = !isCertain ? "" : !line.then ? "new " : !line.self ? "gone " : "";
    return element("span", { class: `cell delta ${!isCertain ? "" : change > 0 ? "grown" : "shrunk"}`, role: "cell",
        title: `${sentenceFigure(percentText(then, off))} in the base: ${isCertain ? "hardly chance" : "may be chance"}` },
    word + knownText(100 * change, Math.min(100 * error, 3.5), 2, "", true));
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
