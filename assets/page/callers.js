/* callers.js: one function, who calls it above, whom it calls below. */

/* Calls from or to a function, each end once: several arcs between two cannot be, but a cycle's. */
function callLines(i, lists, end) {
    const arcs = page.arcs, lines = [];
    for (let k = lists.start[i]; k < lists.start[i + 1]; k++) {
        const arc = lists.item[k];
        lines.push({ fn: arcs[end][arc], count: arcs.count[arc], self: arcs.self[arc],
            children: arcs.children[arc], isOwn: arcs.caller[arc] === arcs.callee[arc] });
    }
    return lines;
}

function callColumns(fn, isCallers) {
    const s = page.summary, total = page.functions.total[fn];
    return [
        { id: "time", title: "share", number: true, hint: "of the function in the middle",
            key: l => l.self + l.children,
            cell: l => l.isOwn || !(total > 0) ? "" : element("span", { class: "heat" },
                percentText((l.self + l.children) / total), bar((l.self + l.children) / total)) },
        { id: "total", title: "time", number: true, key: l => l.self + l.children,
            cell: l => l.isOwn ? "" : amountText(l.self + l.children) },
        { id: "self", title: "self", number: true, hint: isCallers
            ? "of that time, in the function itself" : "of that time, in the callee itself",
        key: l => l.self, cell: l => l.isOwn ? "" : amountText(l.self) },
        { id: "calls", title: "calls", number: true, key: l => Number(l.count),
            cell: l => Number(l.count) ? countText(l.count) : l.fn < 0 ? "" : "seen" },
        { id: "name", title: isCallers ? "caller" : "callee", key: l => l.fn < 0 ? "" : page.functions.name[l.fn],
            cell: l => l.fn < 0 ? l.text : l.isOwn ? `${functionName(l.fn)} (itself)` : functionLink(l.fn) },
    ].filter(column => s.has_samples || column.id === "calls" || column.id === "name")
        .filter(column => Number(s.calls) > 0 || column.id !== "calls");
}

/* Time and calls that no caller in the program accounts for. */
function spontaneous(fn, lines) {
    const f = page.functions;
    const others = lines.filter(l => !l.isOwn);
    const calls = Number(f.calls[fn]) - lines.reduce((sum, l) => sum + Number(l.count), 0);
    const time = f.total[fn] - others.reduce((sum, l) => sum + l.self + l.children, 0);
    const isCycle = f.cycle[fn] > 0;
    if (calls <= 0 && (lines.length || isCycle) && (isCycle || time <= 1e-6 * (1 + f.total[fn]) || lines.length))
        return null;
    return { fn: -1, count: Math.max(0, calls), self: 0, children: Math.max(0, lines.length ? 0 : time),
        isOwn: false, text: calls > 0 && lines.length ? "[callers outside of the program]" : "[no caller is known]" };
}

function callTable(fn, isCallers) {
    const lines = isCallers ? callLines(fn, page.arcs.callersOf, "caller")
        : callLines(fn, page.arcs.calleesOf, "callee");
    const more = isCallers ? spontaneous(fn, lines) : null;
    if (more)
        lines.push(more);
    const columns = callColumns(fn, isCallers).map(column => ({ ...column,
        key: k => column.key(lines[k]), cell: k => column.cell(lines[k]) }));
    const table = new RowTable({ caption: isCallers ? "Callers" : "Callees", columns,
        rows: lines.map((l, k) => k), sort: page.summary.has_samples ? "time" : "calls", descending: true,
        open: k => lines[k].fn >= 0 && go({ view: "callers", fn: functionKey(lines[k].fn) }) });
    table.element.classList.add("half");
    return lines.length ? table.element
        : element("p", { class: "none" }, isCallers ? "No caller is known." : "It calls nothing that is known.");
}

function functionFacts(fn) {
    const f = page.functions, s = page.summary;
    return facts([
        ["Name", f.whole[fn] && f.whole[fn] !== f.name[fn] ? shortened(f.whole[fn]) : ""],
        ["Linkage name", f.linkage[fn] ? shortened(f.linkage[fn]) : ""],
        ["Object", objectName(fn)],
        ["Source", placeLink(fn)],
        ["Self", s.has_samples ? `${sentenceFigure(percentText(share(f.self[fn]), selfError(fn)))}, ${sentenceFigure(amountText(f.self[fn], selfError(fn)))}, ${samplesText(f.self[fn])} samples` +
            ` (95${NARROW}%: ${sentenceFigure(percentText(f.low[fn], selfError(fn)))} to ${sentenceFigure(percentText(f.high[fn], selfError(fn)))})` : ""],
        ["Total", s.has_samples ? `${sentenceFigure(percentText(share(f.total[fn]), f.off[fn]))}, ${sentenceFigure(amountText(f.total[fn], f.off[fn]))}` : ""],
        ...s.others.map((other, k) => [plain(other.name), `self ${percentText(otherShare(k, "self", fn))}` +
            (f.others[k].total.length ? `, total ${percentText(otherShare(k, "total", fn))}` : "")]),
        ["Calls", Number(s.calls) && Number(f.calls[fn]) ? countText(f.calls[fn]) + (Number(f.recursive[fn]) ? `, ${countText(f.recursive[fn])} of them by itself` : "") : ""],
        ["Cycle", f.cycle[fn] ? cycleMembers(f.cycle[fn], fn) : ""],
    ]);
}

function cycleMembers(cycle, except) {
    const f = page.functions, list = element("span", {}, `number ${cycle}, with `);
    for (let i = 0, n = 0; i < f.measured; i++)
        if (f.cycle[i] === cycle && i !== except)
            list.append(n++ ? ", " : "", functionLink(i));
    return list;
}

/* The hottest one of the program's own, or else of all: whoever started it, and what it waited in, is clear. */
function firstFunction() {
    const f = page.functions, weight = page.summary.has_samples ? i => f.self[i] : i => Number(f.calls[i]);
    let best = -1, own = -1;
    for (let i = 0; i < f.measured; i++) {
        if (best < 0 || weight(i) > weight(best))
            best = i;
        if (codeKind(i) === "program" && weight(i) > 0 && (own < 0 || weight(i) > weight(own)))
            own = i;
    }
    return own < 0 ? best : own;
}

function functionOf(parameters) {
    const found = parameters.fn === undefined ? page.selected : page.byKey.get(parameters.fn);
    return found !== undefined && found < page.functions.measured ? found : firstFunction();
}

function showCallers(main, parameters) {
    if (!page.functions.measured) {
        main.append(element("p", { class: "none" }, "No function has time or calls."));
        return;
    }
    const fn = functionOf(parameters);
    const estimate = page.arcs.is_measured || !page.summary.has_samples ? null
        : element("p", { class: "remark" }, "Times along calls are an estimate: a callee's time is split among its callers by call counts.");
    main.append(element("div", { class: "middle" },
        element("h3", {}, "Callers"), callTable(fn, true),
        element("section", { class: "function", "aria-label": "function" },
            element("h2", {}, functionName(fn)), functionFacts(fn),
            link({ view: "flame", fn: functionKey(fn) }, "show in the flame"), " ",
            link({ view: "graph", fn: functionKey(fn) }, "show in the graph")),
        element("h3", {}, "Callees"), callTable(fn, false), estimate));
}
