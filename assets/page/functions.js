/* functions.js: the flat profile as a table to sort, search and filter. */

/* Half of the interval of self time, as a share; of total time it is a column of its own. */
const selfError = i => (page.functions.high[i] - page.functions.low[i]) / 2;

const FUNCTION_COLUMNS = [
    { id: "self", title: "self %", number: true, key: i => page.functions.self[i],
        cell: i => element("span", { class: "heat" }, percentText(share(page.functions.self[i]), selfError(i)),
            bar(share(page.functions.self[i]))) },
    { id: "certainty", title: "±", number: true, hint: "half of the 95 % confidence interval, in points",
        key: i => page.functions.high[i] - page.functions.low[i],
        cell: i => knownText(100 * selfError(i), Math.min(100 * selfError(i), 3.5), 2) },
    { id: "samples", title: "samples", number: true, key: i => page.functions.self[i],
        cell: i => samplesText(page.functions.self[i]) },
    { id: "time", title: "self", number: true, key: i => page.functions.self[i],
        cell: i => amountText(page.functions.self[i], selfError(i)) },
    { id: "total%", title: "total %", number: true, key: i => page.functions.total[i],
        cell: i => percentText(share(page.functions.total[i]), page.functions.off[i]) },
    { id: "total", title: "total", number: true, key: i => page.functions.total[i],
        cell: i => amountText(page.functions.total[i], page.functions.off[i]) },
    { id: "calls", title: "calls", number: true, key: i => Number(page.functions.calls[i]),
        cell: i => callsText(i) },
    { id: "each", title: "self/call", number: true,
        key: i => selfOfCall(i), cell: i => selfOfCall(i) < 0 ? "" : shortAmount(selfOfCall(i)) },
    { id: "name", title: "function", key: i => nameRanks()[i], cell: i => functionLink(i) },
    { id: "object", title: "object", key: i => objectRanks()[page.functions.object[i]] || 0, cell: i => objectName(i) },
    { id: "file", title: "source", key: i => placeRank(i), cell: i => placeLink(i) },
];

/* What other events, or dimensions of the profile, have of a function: a share of theirs. */
function otherShare(k, kind, fn) {
    return page.summary.others[k].samples > 0 ? page.functions.others[k][kind][fn] / page.summary.others[k].samples : 0;
}

function otherColumns() {
    return page.summary.others.flatMap((other, k) => [["self", "self"], ["total", "total"]]
        .filter(([kind]) => page.functions.others[k][kind].length)
        .map(([kind, word]) => ({ id: `${kind}-${k}`, title: `${plain(other.name)} ${word} %`, number: true,
            hint: `share of all ${other.name}`, key: i => page.functions.others[k][kind][i],
            cell: i => percentText(otherShare(k, kind, i)) })));
}

/* Where each function stands in the order of names, which the writer of the page made. */
let ranks = null;
function nameRanks() {
    if (!ranks) {
        ranks = new Uint32Array(page.functions.by_name.length);
        page.functions.by_name.forEach((fn, rank) => { ranks[fn] = rank; });
    }
    return ranks;
}

/* From 1 on, in the order of texts. */
function ranksOf(texts) {
    const order = texts.map((_, i) => i).sort((l, r) => texts[l] < texts[r] ? -1 : texts[l] > texts[r] ? 1 : 0);
    const found = [];
    order.forEach((i, rank) => { found[i] = rank + 1; });
    return found;
}

let rankOfObject = null, rankOfFile = null;
function objectRanks() {
    rankOfObject = rankOfObject || ranksOf(page.functions.objects);
    return rankOfObject;
}

const MOST_LINES = 2 ** 24;
function placeRank(i) {
    rankOfFile = rankOfFile || ranksOf(page.files.name);
    const file = page.functions.file[i];
    return file < 0 ? 0 : rankOfFile[file] * MOST_LINES + page.functions.line[i];
}

/* Nothing for 0: most of these functions count no calls. */
function callsText(i) {
    return Number(page.functions.calls[i]) ? countText(page.functions.calls[i]) : "";
}

/* In samples; -1: it was not called. */
function selfOfCall(i) {
    const calls = Number(page.functions.calls[i]);
    return calls > 0 ? page.functions.self[i] / calls : -1;
}

function shortAmount(samples) {
    if (page.summary.abbreviation !== "s" || !(page.summary.rate > 0))
        return samples.toPrecision(4);
    let amount = samples / page.summary.rate;
    for (const unit of ["s", "ms", "µs"]) {
        if (amount >= 1 || !amount)
            return `${amount.toPrecision(4)} ${unit}`;
        amount *= 1000;
    }
    return `${amount.toPrecision(4)} ns`;
}

function fileNameOf(i) {
    const file = page.functions.file[i];
    return file >= 0 ? page.files.name[file] : "";
}

function placeLink(i) {
    const file = page.functions.file[i], line = page.functions.line[i];
    if (file < 0)
        return "";
    const name = page.files.name[file];
    return fileLink(file, line, `${shortened(name.slice(name.lastIndexOf("/") + 1))}:${line}`);
}

const hiddenColumns = new Set(["samples", "certainty"]);

function shownColumns() {
    const f = page.functions, s = page.summary;
    const isUseful = { object: f.objects.length > 0, file: f.file.some(file => file >= 0),
        self: s.has_samples, certainty: s.has_samples, samples: s.has_samples, time: s.rate > 0,
        "total%": s.has_samples, total: s.rate > 0, calls: Number(s.calls) > 0,
        each: Number(s.calls) > 0 && s.rate > 0 && !page.window };
    const own = FUNCTION_COLUMNS.filter(column => isUseful[column.id] !== false);
    const name = own.findIndex(column => column.id === "name");
    return [...own.slice(0, name), ...otherColumns(), ...own.slice(name)];
}

function columnChooser(columns, change) {
    const boxes = columns.filter(column => column.id !== "name").map(column => {
        const box = element("input", { type: "checkbox", checked: !hiddenColumns.has(column.id),
            onchange: () => {
                if (box.checked)
                    hiddenColumns.delete(column.id);
                else
                    hiddenColumns.add(column.id);
                change();
            } });
        return element("label", {}, box, " ", column.title);
    });
    return element("details", { class: "chooser" }, element("summary", {}, "columns"), ...boxes);
}

/* Functions whose name, or that of their object or source, matches; those without time and calls
 * only where they are searched for. */
function matchingFunctions(text, object) {
    const pattern = patternOf(text), rows = [], f = page.functions;
    const isFile = page.files.name.map(name => Boolean(pattern) && pattern.test(name));
    for (let i = 0; i < f.measured; i++) {
        if (object !== "" && f.object[i] !== Number(object))
            continue;
        if (pattern && !pattern.test(f.name[i]) && !(f.whole[i] && pattern.test(f.whole[i])) &&
            !(f.linkage[i] && pattern.test(f.linkage[i])) && !isFile[f.file[i]])
            continue;
        rows.push(i);
    }
    return rows;
}

function objectChoice(parameters, change) {
    const f = page.functions;
    if (!f.objects.length)
        return null;
    const choices = [["", "all"], ["-1", "the program"], ...f.objects.map((name, i) => [String(i), shortened(name)])];
    return selectOf("object", choices, parameters.object || "", change);
}

function showFunctions(main, parameters) {
    const columns = shownColumns();
    const count = element("span", { class: "count", role: "status" });
    const rows = () => matchingFunctions(parameters.search, parameters.object || "");
    const table = new RowTable({ caption: "Functions", columns: [], rows: rows(),
        sort: parameters.sort || (page.summary.has_samples ? "self" : "calls"),
        descending: parameters.order !== "up",
        open: i => go({ view: "callers", fn: functionKey(i) }),
        sorted: (sort, descending) => keep({ sort, order: descending ? null : "up" }) });
    const update = () => {
        table.columns = columns.filter(column => !hiddenColumns.has(column.id));
        table.setRows(rows());
        const self = table.shown.reduce((sum, i) => sum + page.functions.self[i], 0);
        count.textContent = counted(table.shown.length, "function") +
            (page.summary.has_samples ? `, ${percentText(share(self))} of all samples` : "");
    };
    const change = key => value => {
        parameters[key] = value;
        keep({ [key]: value || null });
        update();
    };
    main.append(element("div", { class: "tools" },
        searchField("search functions (regular expression)", parameters.search, change("search")),
        objectChoice(parameters, change("object")), columnChooser(columns, update), count),
    table.element);
    update();
    if (page.selected !== undefined && table.shown.includes(page.selected))
        table.choose(table.shown.indexOf(page.selected));
    table.chose = select;
}
