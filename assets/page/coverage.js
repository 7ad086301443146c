/* coverage.js: which code ran, as a tree of folders; gates, and the lines of a patch. */

function ratioOf(key, file) {
    const columns = page.files[key];
    return { all: columns.all[file], hit: columns.hit[file], unknown: columns.unknown[file] };
}

const RATIOS = ["lines", "functions", "regions", "branches", "conditions"];

/* --- the tree ---------------------------------------------------------------------------------- */

/* Folders and files as nodes with sums; a folder that holds one folder alone is one with it. */
function folderTree(changes) {
    const root = { name: "", kids: new Map(), file: -1, depth: 0, isOpen: true };
    for (const file of fileNumbers()) {
        if (!page.files.covered[file])
            continue;
        let node = root;
        const parts = page.files.name[file].split("/");
        parts.forEach((part, i) => {
            const isFile = i === parts.length - 1, key = isFile ? `${part}\u0000${file}` : part;
            if (!node.kids.has(key))
                node.kids.set(key, { name: part, kids: new Map(), file: isFile ? file : -1, isOpen: false,
                    changed: isFile && changes ? changes[file] : 0 });
            node = node.kids.get(key);
        });
    }
    return summed(folded(root), 0);
}

function folded(node) {
    for (const [key, kid] of node.kids)
        node.kids.set(key, folded(kid));
    if (node.name && node.kids.size === 1) {
        const [kid] = node.kids.values();
        if (kid.file < 0)
            return { ...kid, name: `${node.name}/${kid.name}` };
    }
    return node;
}

function summed(node, depth) {
    node.depth = depth;
    node.self = node.file >= 0 ? page.files.self[node.file] : 0;
    const hasBase = node.file >= 0 && page.files.base && page.files.base.all[node.file] >= 0;
    node.base = hasBase ? ratioOf("base", node.file) : { all: 0, hit: 0, unknown: 0 };
    for (const key of RATIOS)
        node[key] = node.file >= 0 ? ratioOf(key, node.file) : { all: 0, hit: 0, unknown: 0 };
    for (const kid of node.kids.values()) {
        summed(kid, depth + 1);
        node.self += kid.self;
        for (const key of [...RATIOS, ...(page.files.base ? ["base"] : [])])
            for (const part of ["all", "hit", "unknown"])
                node[key][part] += kid[key][part];
    }
    return node;
}

const TREE_KEYS = {
    name: node => node.name,
    lines: node => node.lines.all ? percentOf(node.lines) : 101,
    missed: node => missedOf(node.lines),
    functions: node => node.functions.all ? percentOf(node.functions) : 101,
    regions: node => node.regions.all ? percentOf(node.regions) : 101,
    branches: node => node.branches.all ? percentOf(node.branches) : 101,
    conditions: node => node.conditions.all ? percentOf(node.conditions) : 101,
    self: node => node.self,
    changed: node => node.changed || 0,
    change: node => coverageChange(node) === null ? Infinity : coverageChange(node),
};

/* Nodes in sight, in order: siblings are sorted, folders stand before what is in them. */
function treeRows(root, sort, descending, isWanted) {
    const key = TREE_KEYS[sort] || TREE_KEYS.name, sign = descending ? -1 : 1, rows = [];
    const walk = node => {
        const kids = [...node.kids.values()].sort((l, r) => {
            const a = key(l), b = key(r);
            return a < b ? -sign : a > b ? sign : l.name < r.name ? -1 : 1;
        });
        for (const kid of kids) {
            if (isWanted && kid.file >= 0 && !isWanted(kid.file))
                continue;
            const at = rows.length;
            if (!isWanted || kid.file >= 0)
                rows.push(kid);
            if (kid.isOpen || isWanted)
                walk(kid);
            else if (at < 0)
                rows.pop();
        }
    };
    walk(root);
    return rows;
}

function nodeName(node, isSearch) {
    const made = element("span", { class: "folder" });
    made.style.paddingLeft = `${isSearch ? 0 : 1.2 * (node.depth - 1)}em`;
    if (node.file >= 0)
        made.append(fileLink(node.file, 0, shortened(isSearch ? page.files.name[node.file] : node.name)));
    else
        made.append(element("span", { "aria-hidden": "true" }, node.isOpen ? "▾ " : "▸ "), `${shortened(node.name)}/`);
    return made;
}

function ratioCell(ratio) {
    const made = element("span", { class: "heat", title: ratio.all
        ? `${countText(ratio.hit)} of ${countText(ratio.all - ratio.unknown)}` + (ratio.unknown ? `, ${countText(ratio.unknown)} unknown` : "") : undefined },
    ratioText(ratio));
    const bars = coverageBar(ratio);
    if (bars)
        made.append(bars);
    return made;
}

function treeColumns(rows, state) {
    const ratio = (id, title) => ({ id, title, number: true, key: i => i, cell: i => ratioCell(rows()[i][id]) });
    const has = key => page.coverage.totals[key].all > 0;
    return [
        ratio("lines", "lines"),
        { id: "missed", title: "missed", number: true, key: i => i, cell: i => countText(TREE_KEYS.missed(rows()[i])) },
        page.files.base && { id: "change", title: "Δ lines", number: true, hint: "points since the base", key: i => i, cell: i => {
            const change = coverageChange(rows()[i]);
            return change === null ? "new" : change ? element("span", { class: change < 0 ? "grown" : "shrunk" }, signed(change, 1, "")) : "";
        } },
        state.change && { id: "changed", title: LINE_CHANGES[state.change], number: true, key: i => i,
            cell: i => countText(page.files.changes[state.change][rows()[i].file]) },
        has("functions") && ratio("functions", "functions"),
        has("regions") && ratio("regions", "regions"),
        has("branches") && ratio("branches", "branches"),
        has("conditions") && ratio("conditions", "conditions"),
        page.profile && page.summary.has_samples && { id: "self", title: "self time", number: true, key: i => i,
            cell: i => rows()[i].self > 0 ? percentText(shareOfWhole(rows()[i].self)) : "" },
        { id: "name", title: "folder, file", key: i => i, cell: i => nodeName(rows()[i], Boolean(state.search || state.change)) },
    ].filter(Boolean);
}

/* What became of the lines since the base: how many of each class, to choose one. */
function changeChoice(chosen) {
    const changes = page.files.changes;
    if (!changes)
        return null;
    const sum = key => changes[key].reduce((all, n) => all + n, 0);
    const choices = Object.keys(LINE_CHANGES).filter(key => changes[key])
        .map(key => [key, `${LINE_CHANGES[key]} (${counted(sum(key), "line")})`]);
    return selectOf("since the base", [["", "all files"], ...choices], chosen, change => go({ ...currentParameters(), change: change || undefined }));
}

function coverageTree(parameters) {
    const state = { search: parameters.search || "", sort: parameters.sort || "name", descending: parameters.order === "down",
        change: page.files.changes && page.files.changes[parameters.change] ? parameters.change : "" };
    const changes = state.change && page.files.changes[state.change], root = folderTree(changes);
    let rows = [];
    if (root.kids.size <= 8)
        for (const kid of root.kids.values())
            kid.isOpen = true;
    const table = new RowTable({ caption: "Folders and files", columns: [], rows: [], isOrdered: true,
        open: i => {
            if (rows[i].file >= 0) {
                go({ view: "source", file: page.files.name[rows[i].file] });
            } else {
                rows[i].isOpen = !rows[i].isOpen;
                update(i);
            }
        },
        side: (i, isOpen) => {
            rows[i].isOpen = isOpen && rows[i].file < 0;
            update(i);
        },
        sorted: (sort, descending) => {
            Object.assign(state, { sort, descending });
            keep({ sort, order: descending ? "down" : null });
            update(0);
        } });
    const update = chosen => {
        const top = table.element.scrollTop;
        const pattern = patternOf(state.search);
        rows = treeRows(root, state.sort, state.descending, !pattern && !changes ? null
            : file => (!pattern || pattern.test(page.files.name[file])) && (!changes || changes[file] > 0));
        table.columns = treeColumns(() => rows, state);
        Object.assign(table, { sort: state.sort, descending: state.descending });
        table.setRows(rows.map((row, i) => i));
        table.element.scrollTop = top;
        table.choose(chosen || 0);
    };
    const field = searchField("search files (regular expression)", state.search, value => {
        state.search = value;
        keep({ search: value || null });
        update(0);
    });
    update(0);
    return [element("div", { class: "tools" }, listChoice(""), field, changeChoice(state.change)), table.element];
}

/* --- functions --------------------------------------------------------------------------------- */

let coveredFunctions = null; /* unpacked when first asked for */

const RUNS = { missed: "never ran", partly: "ran in part", hit: "ran", unknown: "not known" };

function runOf(f, i) {
    if (f.state[i] === STATE.unknown)
        return "unknown";
    if (f.state[i] === STATE.missed)
        return "missed";
    return f.hit[i] < f.all[i] - f.unknown[i] ? "partly" : "hit";
}

function coveredColumns(f) {
    const lines = i => ({ all: f.all[i], hit: f.hit[i], unknown: f.unknown[i] });
    const place = i => `${page.files.name[f.file[i]].replace(/^.*\//, "")}:${f.line[i]}`;
    return [
        { id: "count", title: "run", number: true, key: i => f.state[i] === STATE.unknown ? -1 : Number(f.count[i]),
            cell: i => f.state[i] === STATE.unknown ? "?" : f.state[i] === STATE.missed ? "never" : countText(f.count[i]) },
        { id: "lines", title: "lines", number: true, hint: "from its first to its last; those of a template ran in any of its instantiations",
            key: i => f.all[i] ? percentOf(lines(i)) : 101, cell: i => ratioCell(lines(i)) },
        { id: "missed", title: "missed", number: true, key: i => missedOf(lines(i)), cell: i => f.all[i] ? countText(missedOf(lines(i))) : "" },
        { id: "name", title: "function", key: i => f.name[i], cell: i => element("span", { title: shortened(f.name[i]) }, shortened(f.name[i])) },
        { id: "place", title: "place", key: i => f.file[i] + f.line[i] / 1e7, cell: i => fileLink(f.file[i], f.line[i], shortened(place(i))) },
    ];
}

async function functionList(parameters) {
    coveredFunctions = coveredFunctions || await block("covered");
    const f = coveredFunctions, all = [...f.name.keys()];
    const matching = () => {
        const pattern = patternOf(parameters.search);
        return all.filter(i => (!parameters.run || runOf(f, i) === parameters.run) &&
            (!pattern || pattern.test(f.name[i]) || pattern.test(page.files.name[f.file[i]])));
    };
    const table = new RowTable({ caption: "Functions", columns: coveredColumns(f), rows: matching(),
        sort: parameters.sort || "missed", descending: parameters.order !== "up",
        open: i => go({ view: "source", file: page.files.name[f.file[i]], line: f.line[i] }),
        sorted: (sort, descending) => keep({ sort, order: descending ? null : "up" }) });
    const field = searchField("search functions and files (regular expression)", parameters.search, value => {
        parameters.search = value;
        keep({ search: value || null });
        table.setRows(matching());
    });
    const counts = Object.keys(RUNS).map(run => [run, all.filter(i => runOf(f, i) === run).length]).filter(([, n]) => n);
    const choice = selectOf("that", [["", `are there (${countText(all.length)})`], ...counts.map(([run, n]) => [run, `${RUNS[run]} (${countText(n)})`])],
        parameters.run || "", run => go({ ...currentParameters(), run: run || undefined }));
    return [element("div", { class: "tools" }, listChoice("functions"), field, choice), table.element];
}

/* What the view lists. */
function listChoice(chosen) {
    return page.coverage.totals.functions.all ? selectOf("list", [["", "files"], ["functions", "functions"]], chosen,
        list => go({ view: "coverage", list: list || undefined })) : null;
}

/* --- gates and patch --------------------------------------------------------------------------- */

function gateList() {
    if (!page.coverage.gates.length)
        return "";
    const list = element("ul", { class: "findings" });
    for (const gate of page.coverage.gates)
        list.append(element("li", { class: gate.verdict === "passed" ? "note" : "error" },
            element("strong", {}, gate.verdict),
            gate.verdict === "not judged" ? `: the limit on ${gate.name} coverage had nothing to count` : ` ${gate.name} coverage is ${gate.percent.toFixed(2)}${NARROW}%; ${gate.limit.toFixed(2)}${NARROW}% are asked for`));
    return list;
}

/* Numbers of lines as stretches, each a link to its first. */
function lineLinks(file, lines) {
    const MOST = 12, stretches = [];
    for (const line of lines) {
        const last = stretches[stretches.length - 1];
        if (last && last[1] === line - 1)
            last[1] = line;
        else
            stretches.push([line, line]);
    }
    const list = element("span", {});
    stretches.slice(0, MOST).forEach(([from, to], i) =>
        list.append(i ? ", " : "", fileLink(file, from, from === to ? String(from) : `${from}–${to}`)));
    if (stretches.length > MOST)
        list.append(`, and ${stretches.length - MOST} more`);
    return list;
}

/* The files with most lines that never ran first. */
function diffTable() {
    const diff = page.coverage.diff, files = [...diff.files].sort((l, r) => missedOf(r.lines) - missedOf(l.lines));
    const rows = files.map(file => [ratioText(file.lines), countText(missedOf(file.lines)), countText(file.added),
        file.file >= 0 ? fileLink(file.file, file.never_ran[0] || file.changed[0]) : `${shortened(file.path)}: nothing is known of it`,
        file.file >= 0 ? lineLinks(file.file, file.never_ran) : ""]);
    return smallTable(`Lines that ${plain(diff.patch)} changes: ${ratioText(diff.lines) || "none has code"}`,
        ["covered", "missed", "changed", "file", "lines that never ran"], rows, 3);
}

/* Who wrote the lines, and how old they are, where the page was made with --blame. */
function blameTables() {
    const blame = page.coverage.blame;
    if (!blame)
        return [];
    const table = (caption, title, rows) => rows.length ? smallTable(caption, ["lines", "missed", "of", title],
        rows.slice(0, 50).map(row => [ratioCell(row), countText(missedOf(row)), countText(row.all - row.unknown), plain(row.name)]), 3) : null;
    const remark = blame.unknown ? element("p", { class: "remark" }, `git does not know who wrote ${counted(blame.unknown, "line")}.`) : null;
    return [element("details", { class: "blame" }, element("summary", {}, "by author and age"),
        table("By author", "author", blame.authors), table("By age of the line", "age", blame.ages), remark || "")];
}

function leftOutText() {
    const l = page.coverage.left_out, parts = [];
    for (const [key, text] of [["absent", "lines of sources that are not here"], ["behind", "lines behind the ends of sources"], ["lines", "lines by markers"], ["functions", "functions by markers"], ["branches", "branches by markers"],
        ["exception_branches", "branches that only exceptions take"], ["compilers_branches", "branches that the compiler made"]])
        if (l[key])
            parts.push(`${countText(l[key])} ${Number(l[key]) === 1 ? text.replace("lines", "line").replace("functions", "function").replace("branches", "branch") : text}`);
    return parts.length ? element("p", { class: "remark" }, `Left out: ${parts.join(", ")}.`) : null;
}

async function showCoverage(main, parameters) {
    const list = parameters.list === "functions" ? await functionList(parameters) : coverageTree(parameters);
    main.append(gateList());
    if (page.coverage.diff)
        main.append(diffTable());
    main.append(...blameTables(), ...list);
    const left = leftOutText();
    if (left)
        main.append(left);
}
