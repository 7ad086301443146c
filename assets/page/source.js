/* source.js: sources, with time and coverage beside each line.
 *
 * Only lines in sight are in the document; a file may have half a million. */

const LINES_AROUND = 20;
const BRANCH_COLUMNS = 5; /* block, count, OUTCOME, was it reached, function of the source or -1 */

/* As in style.css. */
const lineHeight = () => isLarge() ? 27 : 19;

/* Everything about the lines of one file by line number. */
function lineTable(data) {
    const lines = new Map();
    const at = number => {
        if (!lines.has(number))
            lines.set(number, { self: 0, total: 0, then: 0, hasBase: false, isMeant: false, calls: 0, baseCalls: 0, count: null, state: -1, branches: 0, conditions: 0, function: -1 });
        return lines.get(number);
    };
    const t = data.time, c = data.coverage, b = data.before;
    for (let i = 0; t && i < t.line.length; i++) {
        const line = at(t.line[i]);
        line.self += t.self[i];
        line.total += t.total ? t.total[i] : 0;
        line.calls += Number(t.calls[i]);
        line.count = t.count[i] === null ? line.count : t.count[i];
        line.function = t.entry[i] || line.function < 0 ? t.function[i] : line.function;
    }
    for (let i = 0; b && i < b.line.length; i++)
        Object.assign(at(b.line[i]), { hasBase: true, then: b.self[i], baseCalls: Number(b.calls[i]), isMeant: b.meant[i] > 0 });
    for (let i = 0; c && i < c.line.length; i++) {
        const line = at(c.line[i]);
        Object.assign(line, { state: c.state[i], count: c.count[i], branches: c.branches[i], conditions: c.conditions[i] });
    }
    return lines;
}

/* Of a line's branches, how many were taken; calls are none. */
function branchCounts(branches) {
    let all = 0, taken = 0;
    for (let i = 0; branches && i < branches.length; i += BRANCH_COLUMNS)
        if (!(branches[i + 2] & OUTCOME.call)) {
            all++;
            taken += Number(branches[i + 1]) > 0;
        }
    return { all, taken };
}

function conditionCounts(conditions) {
    let all = 0, seen = 0;
    for (const condition of conditions || [])
        for (const bits of condition) {
            all += 2;
            seen += (bits & 1) + (bits >> 1);
        }
    return { all, seen };
}

function branchTitle(branches) {
    const texts = [];
    for (let i = 0; i < branches.length; i += BRANCH_COLUMNS)
        if (!(branches[i + 2] & OUTCOME.call))
            texts.push(`block ${branches[i]}: ` + (Number(branches[i + 1]) ? `taken ${counted(branches[i + 1], "time")}`
                : branches[i + 3] ? "never taken" : "never reached") +
                (branches[i + 2] & OUTCOME.thrown ? " (exception)" : branches[i + 2] & OUTCOME.fallthrough ? " (straight on)" : ""));
    return texts.join("\n");
}

class SourceView {
    constructor(file, data, parameters) {
        this.file = file;
        this.data = data;
        this.lines = lineTable(data);
        this.text = data.text === undefined || data.text === null ? [] : data.text.split("\n");
        this.cut = new Set(data.cut || []);
        this.last = this.text.length;
        this.hottest = 0;
        for (const [number, line] of this.lines) {
            this.last = Math.max(this.last, number);
            this.hottest = Math.max(this.hottest, line.self);
        }
        this.coloured = new ColouredText(this.text, C_FILES.test(page.files.name[file]));
        this.chosen = Number(parameters.line) || 0;
        this.hasTime = Boolean(data.time) && page.summary.has_samples;
        this.hasTotals = this.hasTime && Boolean(data.time.total);
        this.hasCounts = [...this.lines.values()].some(line => line.count !== null);
        this.hasBranches = [...this.lines.values()].some(line => line.branches || line.conditions);
        this.changedLines = changedLinesOf(file);
        this.before = baseChanges(data);
        this.comparesTime = this.hasTime && Boolean(data.before);
        this.blame = data.coverage && data.coverage.blame;
        this.make();
    }

    columns() {
        return [["line", "at"], ...(this.hasTime ? [["self %", "time heat"], ["self", "time"]] : []),
            ...(this.hasTotals ? [["total %", "time total"], ["total", "time"]] : []),
            ...(this.comparesTime ? [["Δ self", "delta"]] : []),
            ...(this.data.time && Number(page.summary.calls) ? [["calls", "count calls"]] : []),
            ...(this.hasCounts ? [["count", "count"]] : []),
            ...(this.hasBranches ? [["branches", "branches"]] : []), ...(this.before ? [["change", "change"]] : []),
            ...(this.blame ? [["author", "author"]] : [])];
    }

    make() {
        const titles = this.columns().map(([title, kind]) => element("span", { class: `cell ${kind}`, role: "columnheader" }, title));
        this.head = element("div", { class: "line head", role: "row" }, ...titles,
            element("span", { class: "code", role: "columnheader" }, "source"));
        this.body = element("div", { class: "lines", role: "rowgroup" });
        this.table = element("div", { role: "table", class: "source-table", "aria-rowcount": this.last + 1,
            "aria-label": plain(page.files.name[this.file]) },
        element("div", { role: "rowgroup", class: "head" }, this.head), this.body);
        this.element = element("div", { class: "source", tabindex: "0", role: "region",
            "aria-label": "source", onscroll: () => this.draw(), onkeydown: event => this.key(event) }, this.table);
        this.panel = element("section", { class: "line-panel", "aria-label": "details of the chosen line", hidden: true });
        this.body.style.height = `${this.last * lineHeight()}px`;
        new ResizeObserver(() => this.draw(true)).observe(this.element);
    }

    gutter(number, line) {
        const cells = [element("span", { class: "cell at", role: "cell" }, String(number))];
        const add = (kind, text, title, bars) =>
            cells.push(element("span", { class: `cell ${kind}`, role: "cell", title }, text, bars));
        if (this.hasTime) {
            add("time heat", line && line.self > 0 ? percentText(shareOfWhole(line.self), errorOf(line.self)) : "", undefined,
                line && line.self > 0 ? bar(line.self / this.hottest) : null);
            add("time", line && line.self > 0 ? amountText(line.self, errorOf(line.self)) : "", line && line.self > 0 ? `${samplesText(line.self)} samples` : undefined);
        }
        if (this.hasTotals) {
            add("time total", line && line.total > 0 ? percentText(shareOfWhole(line.total), errorOf(line.total)) : "");
            add("time", line && line.total > 0 ? amountText(line.total, errorOf(line.total)) : "", line && line.total > 0 ? `${samplesText(line.total)} samples, calls made there included` : undefined);
        }
        if (this.comparesTime)
            cells.push(deltaCell(line));
        if (this.data.time && Number(page.summary.calls))
            add("count calls", line && line.calls ? countText(line.calls) : "",
                this.comparesTime && line && (line.calls || line.baseCalls) ? `${countText(line.baseCalls)} in the base` : undefined);
        if (this.hasCounts)
            add("count", leftOutOf(this.data, number) & LEFT_OUT.code ? "left out" : !line ? "" : line.state === STATE.unknown ? "?" : countText(line.count),
                line && line.state === STATE.unknown ? "not known: the function's counters cannot be used" : undefined);
        if (this.hasBranches)
            cells.push(this.branchCell(line));
        if (this.before) {
            const change = this.before.get(number);
            add(`change ${change || ""}`, change ? LINE_CHANGES[change] : "", change && LINE_CHANGES[change]);
        }
        if (this.blame)
            cells.push(this.authorCell(number));
        return cells;
    }

    /* In the first line of those that one commit left. */
    authorCell(number) {
        const at = atOrBefore(this.blame.line, number);
        const author = at < 0 || this.blame.author[at] < 0 ? "" : plain(this.blame.authors[this.blame.author[at]]);
        const when = at < 0 ? "" : dateText(this.blame.time[at]).slice(0, 10);
        const isFirst = at >= 0 && this.blame.line[at] === number;
        return element("span", { class: "cell author", role: "cell", title: `${author}, ${when}` }, isFirst ? `${when} ${author}` : "");
    }

    branchCell(line) {
        const cell = element("span", { class: "cell branches", role: "cell" });
        const b = branchCounts(line && line.branches), c = conditionCounts(line && line.conditions);
        if (b.all) {
            cell.append(element("span", { class: b.taken < b.all ? "partly" : "" }, `${b.taken}/${b.all}`));
            cell.title = branchTitle(line.branches);
        }
        if (c.all)
            cell.append(element("span", { class: c.seen < c.all ? "partly" : "", title: "outcomes of conditions" }, ` ${c.seen}/${c.all}c`));
        return cell;
    }

    code(number) {
        const code = element("span", { class: "code", role: "cell" });
        if (number > this.text.length)
            return code;
        for (const [kind, text] of this.coloured.pieces(number))
            code.append(kind ? element("span", { class: kind }, plainCode(text)) : plainCode(text));
        if (this.cut.has(number))
            code.append(element("span", { class: "cut" }, " … the line is longer"));
        return code;
    }

    line(number) {
        const line = this.lines.get(number);
        const state = line && line.state >= 0 ? ["missed", "hit", "unknown"][line.state] : "";
        const isLeftOut = leftOutOf(this.data, number) & LEFT_OUT.code;
        const marks = (isLeftOut ? " left-out" : "") + (number === this.chosen ? " chosen" : "") + (this.changedLines.has(number) ? " changed" : "");
        const made = element("div", { class: `line ${state}${marks}`, role: "row", "aria-rowindex": number + 1,
            onclick: () => this.choose(number, false) }, ...this.gutter(number, line), this.code(number));
        if (line && line.function >= 0 && line.calls)
            made.append(element("span", { class: "more", role: "cell" }, functionLink(line.function)));
        made.style.top = `${(number - 1) * lineHeight()}px`;
        return made;
    }

    draw(isForced) {
        const isPrinted = window.matchMedia("print").matches;
        const first = isPrinted ? 1 : Math.max(1, Math.floor(this.element.scrollTop / lineHeight()) - LINES_AROUND);
        const last = isPrinted ? Math.min(this.last, 5000)
            : Math.min(this.last, first + Math.ceil(this.element.clientHeight / lineHeight()) + 2 * LINES_AROUND);
        if (!isForced && first === this.first && last === this.until)
            return;
        this.first = first;
        this.until = last;
        const lines = [];
        for (let number = first; number <= last; number++)
            lines.push(this.line(number));
        this.body.replaceChildren(...lines);
    }

    choose(number, scrolls) {
        this.chosen = number;
        this.showDetails();
        keep({ line: number });
        const below = number * lineHeight() - this.element.scrollTop - this.element.clientHeight + this.head.clientHeight;
        if (below > 0)
            this.element.scrollTop += below; /* the details took its place */
        if (scrolls)
            this.element.scrollTop = (number - 1) * lineHeight() - this.element.clientHeight / 3;
        this.draw(true);
    }

    toggleDetails() {
        this.hidesDetails = !this.hidesDetails;
        this.showDetails();
    }

    showDetails() {
        const details = this.hidesDetails || !this.chosen ? [] : lineDetails(this.data, this.chosen, this.lines.get(this.chosen));
        this.panel.hidden = !details.length;
        this.panel.replaceChildren(element("h2", {}, `Line ${this.chosen}`), ...details);
    }

    /* The next line after the chosen one that `is`, or the one before; around the end. */
    jump(is, isBack) {
        const numbers = [...this.lines.entries()].filter(([number, line]) => is(line, number)).map(([number]) => number)
            .sort((l, r) => l - r);
        if (!numbers.length)
            return;
        const found = isBack ? numbers.filter(n => n < this.chosen).pop() : numbers.find(n => n > this.chosen);
        this.choose(found === undefined ? (isBack ? numbers[numbers.length - 1] : numbers[0]) : found, true);
    }

    key(event) {
        const isHot = line => line.self > 0 && line.self >= this.hottest / 20;
        const isMissed = line => line.state === STATE.missed;
        const isPartly = line => {
            const b = branchCounts(line.branches), c = conditionCounts(line.conditions);
            return line.state === STATE.hit && (b.taken < b.all || c.seen < c.all);
        };
        const jumps = { h: isHot, l: isMissed, u: isMissed, b: isPartly };
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        const hasChanged = line => this.comparesTime && line.isMeant;
        if (event.key.toLowerCase() in jumps)
            this.jump(jumps[event.key.toLowerCase()], event.shiftKey);
        else if (event.key.toLowerCase() === "c" && (this.before || this.comparesTime))
            this.jump((line, number) => hasChanged(line) || (this.before && this.before.has(number)), event.shiftKey);
        else if (event.key === "d")
            this.toggleDetails();
        else if (event.key === "j" || event.key === "k")
            this.choose(Math.max(1, Math.min(this.last, this.chosen + (event.key === "j" ? 1 : -1))), true);
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    }
}

/* The last index whose number is not above `number`; -1: there is none. Numbers ascend. */
function atOrBefore(numbers, number) {
    let low = 0, high = numbers.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (numbers[middle] <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Tabs stay; nothing turns the direction of what follows. */
function plainCode(text) {
    return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

function changedLinesOf(file) {
    const diff = page.coverage && page.coverage.diff;
    const found = diff && diff.files.find(entry => entry.file === file);
    return new Set(found ? found.changed : []);
}

/* --- the view ---------------------------------------------------------------------------------- */

function fileNumbers() {
    return page.files.name.map((name, i) => i);
}

/* Of those whose text is there, if any is: a library's source seldom is. */
function hottestFile() {
    const f = page.files, isBetter = (i, best) => f.here[i] !== f.here[best] ? f.here[i] > f.here[best] : f.self[i] > f.self[best];
    return fileNumbers().reduce((best, i) => isBetter(i, best) ? i : best, 0);
}

function fileChooser(file) {
    const field = element("input", { list: "files", value: plain(page.files.name[file]), "aria-label": "source file",
        spellcheck: "false" });
    const list = element("datalist", { id: "files" });
    const order = fileNumbers().sort((l, r) => page.files.self[r] - page.files.self[l]).slice(0, 2000);
    for (const i of order)
        list.append(element("option", { value: page.files.name[i] }));
    field.addEventListener("change", () => go({ view: "source", file: field.value }));
    return element("label", { class: "choice wide" }, "file ", field, list);
}

function sourceRemarks(data) {
    const remarks = [];
    if (data.missing)
        remarks.push(`The text cannot be shown: ${plain(data.missing)}. Figures stand by line number.`);
    if (data.changed)
        remarks.push("The file was changed after the measurement: figures may stand beside other lines than they belong to.");
    if (data.before && data.before.elsewhere > 0)
        remarks.push(`${percentText(baseShare(data.before.elsewhere))} of the base's time was on lines of this file that cannot be found ` +
            "any more: their functions have other lines now.");
    if (page.window && data.time)
        remarks.push("Times beside lines are of the whole recording, not of the chosen part.");
    return remarks.map(text => element("p", { class: "remark warning" }, text));
}

function sourceFacts(file, data) {
    const parts = [];
    if (page.profile && data.time)
        parts.push(`${percentText(shareOfWhole(page.files.self[file]))} of the time`);
    if (page.files.covered[file])
        parts.push(`${ratioText(ratioOf("lines", file))} of the lines ran`);
    return element("span", { class: "count" }, parts.join(", "));
}

/* Of the lines up to where the next function of the file begins. */
function hottestLineOf(fn, data) {
    const { file, line } = page.functions, first = line[fn];
    let next = Infinity, hottest = first, most = 0;
    for (let i = 0; i < line.length; i++)
        if (file[i] === file[fn] && line[i] > first && line[i] < next)
            next = line[i];
    for (const [number, { self }] of lineTable(data))
        if (number >= first && number < next && self > most)
            [hottest, most] = [number, self];
    return hottest;
}

async function showSource(main, parameters) {
    if (!page.files.name.length) {
        main.append(element("p", { class: "none" }, "No line numbers are known: compile with -g."));
        return;
    }
    const chosen = parameters.file === undefined && page.profile ? page.selected : undefined;
    let file = chosen === undefined ? page.files.name.indexOf(parameters.file) : page.functions.file[chosen];
    if (file < 0)
        file = parameters.file === undefined ? hottestFile() : page.files.name.findIndex(name => name.endsWith(`/${parameters.file}`));
    if (file < 0) {
        main.append(element("p", { class: "none" }, `There is no source ${shortened(parameters.file)}.`), fileChooser(0));
        return;
    }
    const data = await sourceOf(file);
    if (!main.isConnected)
        return;
    const ofChosen = chosen !== undefined && page.functions.file[chosen] === file;
    const view = new SourceView(file, data, ofChosen ? { ...parameters, line: hottestLineOf(chosen, data) } : parameters);
    const jumps = [];
    const jumper = (text, key) => jumps.push(element("button", { type: "button", title: `key ${key}`,
        onclick: () => view.element.dispatchEvent(new KeyboardEvent("keydown", { key })) }, text));
    if (view.hasTime)
        jumper("next hot", "h");
    if (data.coverage)
        jumper("next uncovered", "l"), jumper("next branch not taken", "b");
    if (view.before || view.comparesTime)
        jumper("next changed", "c");
    main.append(element("div", { class: "tools" }, fileChooser(file), ...jumps, sourceFacts(file, data)),
        ...sourceRemarks(data), view.element, view.panel);
    view.draw(true);
    if (view.chosen)
        view.choose(view.chosen, true);
    else if (view.hasTime)
        view.jump(line => line.self === view.hottest && line.self > 0, false);
    view.element.focus({ preventScroll: true });
}
