/* calltree.js: call paths as a table whose rows open: from callers to callees, or from each function
 * to its callers. At first the heaviest path is open, as far as one callee has most of its time. Of a
 * path without branches, frames with next to no time of their own are one row, which opens. */

const HEAVIEST = 0.4, OPENED_AT_ONCE = 2000, LEAST_CHAIN = 4, CHAIN_SELF = 0.005;

class CallTree {
    constructor(tree, details) {
        this.tree = tree;
        this.details = details;
        this.isOpen = new Uint8Array(tree.len);
        this.isUnfolded = new Uint8Array(tree.len); /* frames of chains that were opened */
        this.rows = [];
        this.depth = [];
        this.chain = [];
        this.table = new RowTable({ caption: "Call tree", columns: this.columns(), rows: [], isOrdered: true, isPlain: true,
            open: row => this.set(row, this.chain[row] > 0 || !this.isOpen[this.rows[row]]), side: (row, isRight) => this.side(row, isRight),
            chose: row => this.tell(row), keys: {
                "*": row => this.openAll(row), f: row => this.press(row, "only"), x: row => this.press(row, "without"),
                o: row => this.press(row, "objects"), c: row => this.chain[row] || go({ view: "callers", fn: functionKey(this.tree.fn[this.rows[row]]) }),
            } });
        this.table.element.classList.add("tree");
        const chosen = page.selected === undefined ? -1 : this.openTo(page.selected), last = chosen > 0 ? chosen : this.openHeaviest();
        this.collect();
        this.update(Math.max(0, this.rows.indexOf(last)));
    }

    /* From the root on; returns the innermost node that was reached. */
    openHeaviest() {
        const { tree } = this;
        let node = 0;
        this.isOpen[0] = 1;
        for (;;) {
            const [kid] = kidsByTotal(tree, node);
            if (kid === undefined || (node && tree.total[kid] < HEAVIEST * tree.total[node]))
                break;
            node = kid;
            this.isOpen[node] = 1;
        }
        this.isOpen[node] = 0;
        return node;
    }

    /* Opens the way to the heaviest node of a function; returns it, or -1. */
    openTo(fn) {
        const { tree } = this;
        let best = -1;
        for (let i = 1; i < tree.len; i++)
            if (tree.fn[i] === fn && (best < 0 || tree.total[i] > tree.total[best]))
                best = i;
        for (let above = best > 0 ? tree.parent[best] : -1; above > 0; above = tree.parent[above])
            this.isOpen[above] = 1;
        this.isOpen[0] = 1;
        return best;
    }

    /* Nodes in sight, callers before callees; of each row, how many frames it stands for, or 0. */
    collect() {
        const { tree } = this, stack = [[0, -1, false]];
        this.rows = [];
        this.depth = [];
        this.chain = [];
        while (stack.length) {
            const [node, depth, isOnly] = stack.pop();
            const [chain, end] = isOnly && depth > 0 ? this.chainFrom(node) : [0, node];
            if (depth >= 0) {
                this.rows.push(node);
                this.depth.push(depth);
                this.chain.push(chain);
            }
            if (chain) {
                stack.push([end, depth + 1, false]);
            } else if (this.isOpen[node]) {
                const kids = this.kids(node);
                for (let i = kids.length; i-- > 0;)
                    stack.push([kids[i], depth + 1, kids.length === 1]);
            }
        }
    }

    kids(node) {
        return kidsByTotal(this.tree, node).filter(kid => this.tree.total[kid] > 0);
    }

    /* How many frames from `node` on are one row, and the node after them. */
    chainFrom(node) {
        const { tree } = this, most = CHAIN_SELF * tree.total[0];
        let frames = 0, own = 0, at = node;
        while (this.isOpen[at] && tree.fn[at] !== page.selected && (own += tree.self[at]) <= most) {
            const kids = this.kids(at);
            if (kids.length !== 1)
                break;
            [at] = kids;
            frames++;
        }
        return frames < LEAST_CHAIN || this.isUnfolded[node] ? [0, node] : [frames, at];
    }

    hasKids(node) {
        return this.tree.kids.start[node + 1] > this.tree.kids.start[node];
    }

    update(chosen) {
        const top = this.table.element.scrollTop;
        this.collect();
        this.table.setRows(this.rows.map((_, row) => row));
        this.table.element.scrollTop = top;
        this.table.choose(chosen);
    }

    set(row, isOpen) {
        for (let i = 0, node = this.rows[row]; i < this.chain[row]; i++, [node] = this.kids(node))
            this.isUnfolded[node] = 1;
        this.isOpen[this.rows[row]] = isOpen && this.hasKids(this.rows[row]) ? 1 : 0;
        this.update(row);
    }

    /* Right opens, then goes to the first callee; left closes, then goes to the caller. */
    side(row, isRight) {
        const node = this.rows[row];
        const isOpen = this.isOpen[node] && !this.chain[row];
        if (isRight && isOpen)
            this.table.choose(row + 1);
        else if (!isRight && !isOpen)
            this.table.choose(Math.max(0, this.depth.lastIndexOf(this.depth[row] - 1, row)));
        else
            this.set(row, isRight);
    }

    /* All below a row, the heaviest first, up to a number of rows that can still be read. */
    openAll(row) {
        const list = [this.rows[row]];
        for (let i = 0; i < list.length && list.length < OPENED_AT_ONCE; i++) {
            this.isUnfolded[list[i]] = 1;
            this.isOpen[list[i]] = this.hasKids(list[i]) ? 1 : 0;
            list.push(...kidsByTotal(this.tree, list[i]));
        }
        this.update(row);
    }

    press(row, what) {
        const fn = this.tree.fn[this.rows[row]], button = { only: 0, without: 1, objects: 2 }[what];
        const actions = fn >= 0 && !this.chain[row] ? stackActions(fn) : [];
        if (actions[button])
            actions[button].click();
    }

    tell(row) {
        const node = this.rows[row];
        if (node !== undefined && this.tree.fn[node] >= 0 && !this.chain[row])
            this.details(node, this.tree.fn[node], this.isReady);
        this.isReady = true; /* from now on the reader chooses */
    }

    columns() {
        const { tree } = this, node = row => this.rows[row];
        return [
            { id: "total%", title: "total %", number: true, key: row => row, cell: row => element("span", { class: "heat" },
                percentText(share(tree.total[node(row)]), errorOf(tree.total[node(row)])), bar(share(tree.total[node(row)]))) },
            { id: "total", title: "total", number: true, key: row => row, cell: row => amountText(tree.total[node(row)], errorOf(tree.total[node(row)])) },
            { id: "self", title: "self", number: true, key: row => row, cell: row => tree.self[node(row)] > 0
                ? amountText(tree.self[node(row)], errorOf(tree.self[node(row)])) : "" },
            { id: "name", title: "function", key: row => row, cell: row => this.name(row) },
        ];
    }

    name(row) {
        const node = this.rows[row], fn = this.tree.fn[node], f = page.functions;
        const made = element("span", { class: "folder" });
        made.style.paddingLeft = `${Math.min(this.depth[row], 60) * 0.9}em`;
        if (this.chain[row]) {
            made.append(element("span", { class: "opener", "aria-hidden": "true" }, "⋯"),
                element("span", { class: "count" }, `${this.chain[row]} frames without a branch`));
            return made;
        }
        made.append(element("span", { class: "opener", "aria-hidden": "true" }, !this.hasKids(node) ? "" : this.isOpen[node] ? "▾" : "▸"),
            fn < 0 ? "?" : element("span", { title: shortened(f.whole[fn] || f.name[fn]) }, tableName(fn)));
        if (fn >= 0 && f.kind[fn] === KIND.inlined)
            made.append(element("span", { class: "count" }, " (inlined)"));
        if (fn >= 0 && objectName(fn) && !/^\[/.test(f.name[fn]))
            made.append(element("span", { class: "count" }, ` ${objectName(fn)}`));
        return made;
    }
}

/* What is known of the function that is chosen, beside any picture of stacks. */
function functionPanel(fn, more) {
    const isMeasured = fn < page.functions.measured;
    return element("section", { class: "function", "aria-label": "the chosen function" }, element("h2", {}, functionName(fn)), more || null,
        element("p", { class: "tools" }, ...stackActions(fn)), isMeasured ? functionFacts(fn) : null,
        element("p", {}, ...[isMeasured ? link({ view: "callers", fn: functionKey(fn) }, "callers and callees") : null,
            link({ view: "flame", fn: functionKey(fn) }, "flame of its callers"),
            sourceLink(fn)].filter(Boolean).flatMap((one, i) => i ? [" · ", one] : [one])));
}

function sourceLink(fn) {
    const file = page.functions.file[fn];
    return file >= 0 ? fileLink(file, page.functions.line[fn], "source") : null;
}

function showTree(main, parameters) {
    if (!(page.summary.samples > 0)) {
        main.append(element("p", { class: "none" }, "No samples were taken; there are no times to show."));
        return;
    }
    const set = key => value => go({ ...currentParameters(), [key]: value || undefined });
    const changed = changedTree(treeOfAll(), stackRules(parameters));
    const tree = parameters.way === "callers" ? callerTree(changed) : changed;
    const panel = element("aside", { class: "panel" });
    const calls = new CallTree(tree, (node, fn, isByReader) => {
        if (isByReader)
            select(fn);
        panel.replaceChildren(functionPanel(fn, element("p", {},
            `Here: ${figuresText(tree.total[node], tree.self[node])}`)));
    });
    main.append(element("div", { class: "tools" },
        selectOf("from", [["", "callers to callees"], ["callers", "functions to their callers"]], parameters.way || "", set("way")),
        ...stackTools(parameters), element("span", { class: "count" }, "→ opens a row, * all below it; f shows only this function, x leaves it out, o its library")),
    element("div", { class: "beside" }, calls.table.element, panel),
    element("p", { class: "remark" }, flameRemark(tree)));
}
