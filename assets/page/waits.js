/* waits.js: what threads waited for, most time first, and of the chosen row: in which stacks, and what
 * whoever held it did meanwhile, as a tree. */

const DOINGS = ["waited", "ran", "was stopped", "had ended", "could not be seen", "waited for one of these: a deadlock"];
const WAIT_CHOICES = [["locks", "locks"], ["others", "other waits"], ["files", "files, pipes and sockets"]];
const NO_WAITS = { locks: "No thread was seen waiting for a lock.", others: "No thread was seen waiting for anything but locks and files.",
    files: "No thread was seen waiting for a file, pipe or socket." };
const SHORT_WAITS = "short waits"; // a kind; they have time and stacks, and nobody counted them

const secondsText = ns => `${(Number(ns) / 1e9).toFixed(3)}${NARROW}s`;

function waitName(row) {
    const t = page.profile.locks, name = t.name[row];
    if (name !== null)
        return shortened(name);
    const where = t.function[row] === null ? "without a name" : `in ${shortened(t.function[row])}`;
    return t.objects[row] > 1 ? `${t.objects[row]} ${where}` : where;
}

/* "fsync: evict < evictor", as far as it is known. */
function waitStack(stack, isWaiter) {
    const t = page.profile.locks;
    if (stack < 0)
        return "";
    const names = t.stacks.functions[stack].map(i => shortened(t.names[i])), call = t.stacks.call[stack];
    const isNews = call && !isWaiter && call !== "futex" && call !== names[0];
    return `${isNews ? `${call}: ` : ""}${names.join(" ← ") || (isNews ? "" : "no stack")}`;
}

/* Lists by row, made once. */
function rowsOf(list, row) {
    const found = [];
    for (let i = 0; i < list.row.length; i++)
        if (list.row[i] === row)
            found.push(i);
    return found;
}

function waiterTable(row) {
    const t = page.profile.locks, w = t.waiters, rows = rowsOf(w, row).map(i =>
        [element("span", { class: "heat" }, secondsText(w.ns[i]), bar(Number(w.ns[i]) / Number(t.ns[row]))), t.kind[row] === SHORT_WAITS ? "" : countText(w.waits[i]), waitStack(w.stack[i], true)]);
    return smallTable("Waiting in", ["time", "waits", "stack, innermost first"], rows, 2);
}

/* What a holder did: "waited for file /tmp/wal in fsync: evict ← evictor (thread evictor 71)". */
function holderText(i) {
    const h = page.profile.locks.holders, stack = waitStack(h.stack[i], false);
    const forWhat = h.waits_for[i] === null ? "" : ` for ${shortened(h.waits_for[i])}`;
    const who = h.tid[i] ? ` (thread ${h.thread[i] ? `${shortened(h.thread[i])} ` : ""}${h.tid[i]})` : "";
    return `${DOINGS[h.doing[i]]}${forWhat}${stack ? `${h.doing[i] === 1 ? ":" : " in"} ${stack}` : ""}${who}`;
}

function holderItem(ns, part, text, error) {
    const off = (error || 0) / 1e9, share = Number(ns) ? part * (error || 0) / Number(ns) : 0;
    return element("li", {}, element("span", { class: "heat" }, knownText(100 * part, Math.min(100 * share, 3.5), 1, `${NARROW}%`), bar(part)),
        element("span", { class: "seconds", title: error ? "the 95 % interval, as far as looks leave the time open" : "" },
            knownText(Number(ns) / 1e9, off, 3, `${NARROW}s`), error ? ` ± ${knownText(off, off, 3)}` : ""), element("span", { class: "did" }, text));
}

/* Depth first in the columns; lists in lists here: `above` has the last item of each depth. */
function holderTree(row) {
    const t = page.profile.locks, h = t.holders, root = element("ul", { class: "holders" }), above = [];
    const whole = Number(t.ns[row]) || 1, unseen = Number(t.ns[row]) - Number(t.held_ns[row]);
    for (const i of rowsOf(h, row)) {
        const item = holderItem(h.ns[i], Number(h.ns[i]) / whole, holderText(i), Number(h.error[i])), parent = above[h.depth[i] - 1];
        if (parent && !parent.querySelector(":scope > ul"))
            parent.append(element("ul", {}));
        (parent ? parent.querySelector(":scope > ul") : root).append(item);
        above[h.depth[i]] = item;
    }
    if (unseen > whole / 2000)
        root.append(holderItem(unseen, unseen / whole, t.unheld[row] === null ? "not seen" : `not seen: ${plain(t.unheld[row])}`));
    return root;
}

/* Who ended the waits for what no thread holds; a soft interrupt is handled by whichever thread runs, hence "perhaps". */
const WAKERS = ["not known", "a timer or a device", "a thread that was not recorded"], SOFT = 3;

function wakerText(i) {
    const w = page.profile.locks.wakers;
    if (w.woken[i] < SOFT)
        return WAKERS[w.woken[i]];
    const who = w.threads[i] > 1 ? counted(w.threads[i], "thread") : `thread ${shortened(w.thread[i] || "")} ${w.tid[i]}`;
    return `${w.woken[i] === SOFT ? "perhaps " : ""}${w.function[i] === null ? "stack not known" : shortened(w.function[i])} (${who})`;
}

function wakerTable(row) {
    const w = page.profile.locks.wakers, rows = rowsOf(w, row).map(i => [secondsText(w.ns[i]), countText(w.waits[i]), wakerText(i)]);
    return rows.length ? smallTable("Woken by", ["time", "waits", "thread, by the function that it began with"], rows, 2) : "";
}

/* "; 12.345 MB read": of files, whose bytes are known as far as calls were seen. */
function transferText(bytes, error, what) {
    const off = Number(error) >= 500 ? Number(error) / 1e6 : 0;
    const figure = amount => sentenceFigure(knownText(amount, off, 3));
    return Number(bytes) ? `; ${figure(Number(bytes) / 1e6)}${off ? ` ± ${figure(off)}` : ""} MB ${what}` : "";
}

function waitDetails(row) {
    const t = page.profile.locks, panel = element("section", { class: "panel waits", tabindex: "0", "aria-label": "the chosen row" });
    if (row === undefined)
        return panel;
    panel.append(heading(`${plain(t.kind[row])} ${waitName(row)}`),
        element("p", { class: "remark" }, `${secondsText(t.ns[row])}${t.kind[row] === SHORT_WAITS ? ", without a stack" : ` in ${counted(t.waits[row], "wait")}`}${t.is_shared[row] ? ", in memory that processes share" : ""}${transferText(t.read[row], t.read_error[row], "read")}${transferText(t.written[row], t.written_error[row], "written")}`),
        ...(t.kind[row] === SHORT_WAITS ? [] : [element("h3", {}, t.is_lock[row] ? "While who held it" : "Meanwhile, whoever it waits for"), holderTree(row)]),
        element("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "stacks that waited" }, waiterTable(row)),
        wakerTable(row));
    return panel;
}

function showWaits(main, parameters) {
    const t = page.profile.locks, groups = { locks: [], others: [], files: [] };
    for (const row of t.kind.keys())
        groups[t.is_io[row] ? "files" : t.is_lock[row] ? "locks" : "others"].push(row);
    const of = groups[parameters.of] ? parameters.of : WAIT_CHOICES.map(([id]) => id).find(id => groups[id].length) || "locks", shown = groups[of];
    const seen = shown.reduce((sum, row) => sum + Number(t.ns[row]), 0), most = shown.reduce((l, row) => Math.max(l, Number(t.ns[row])), 1);
    let details = waitDetails(undefined);
    const choose = row => {
        const made = waitDetails(row);
        details.replaceWith(made);
        details = made;
    };
    const table = new RowTable({ caption: WAIT_CHOICES.find(([id]) => id === of)[1], rows: shown, sort: "time", descending: true, chose: choose,
        open: choose, columns: [
            { id: "time", title: "waited", number: true, key: row => Number(t.ns[row]), hint: "of all threads together",
                cell: row => element("span", { class: "heat" }, secondsText(t.ns[row]), bar(Number(t.ns[row]) / most)) },
            { id: "waits", title: "waits", number: true, key: row => Number(t.waits[row]), cell: row => t.kind[row] === SHORT_WAITS ? "" : countText(t.waits[row]) },
            { id: "held", title: "holder seen", number: true, key: row => Number(t.held_ns[row]) / Number(t.ns[row] || 1),
                hint: "for which part of the time it is known what the holder did", cell: row => t.is_lock[row] || Number(t.held_ns[row]) ? percentText(Number(t.held_ns[row]) / Number(t.ns[row] || 1)) : "" },
            { id: "kind", title: "kind", key: row => t.kind[row], cell: row => plain(t.kind[row]) },
            { id: "name", title: "name", key: row => waitName(row), cell: row => waitName(row) },
        ] });
    main.append(element("div", { class: "tools" }, selectOf("show", WAIT_CHOICES, of, chosen => go({ ...currentParameters(), of: chosen }))),
        element("p", { class: "remark" }, `Threads waited ${secondsText(t.waited_ns)}, and ${secondsText(t.ready_ns)} for a CPU; ${secondsText(seen)} of it are below, ` +
            `${secondsText(t.unseen_ns)} were in waits without a stack.`),
        element("div", { class: "beside waits" }, table.element, details));
    if (shown.length)
        table.choose(0);
    else
        table.element.replaceWith(element("p", { class: "none" }, NO_WAITS[of]));
}
