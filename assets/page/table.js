/* table.js: a table of any number of rows, of which only those in sight are in the document.
 *
 *     new RowTable({ caption, columns, rows, sort, descending, open, sorted, side, chose, keys })
 *
 * Columns: { id, title, number, key(row), cell(row) }: what the table sorts by, and what it shows, a
 * text or an element. With isOrdered rows stay in their order, with isPlain there is nothing to sort by. Rows are numbers that only the columns know the meaning of. On a narrow screen
 * the column `name` comes first, and stays in sight while the others are scrolled. */

const ROWS_AROUND = 12;

/* As in style.css. */
const rowHeight = () => isLarge() ? 36 : 28;
const isNarrow = () => window.matchMedia("(max-width: 600px)").matches;
let tables = 0;

/* Rows by key, equal ones as their numbers are. */
function orderedBy(rows, key, isDescending) {
    const keys = Array.from(rows, key), areNumbers = keys.every(k => typeof k === "number");
    const k = areNumbers ? Float64Array.from(keys) : keys, sign = isDescending ? -1 : 1;
    let sorted = 1; /* as the rows of a profile are by self time */
    while (sorted < k.length && (sign * (k[sorted] - k[sorted - 1]) > 0 || (k[sorted] === k[sorted - 1] && rows[sorted] > rows[sorted - 1])))
        sorted++;
    if (sorted >= k.length)
        return Array.from(rows);
    const order = Uint32Array.from(keys, (_, i) => i);
    order.sort((l, r) => k[l] < k[r] ? -sign : k[l] > k[r] ? sign : rows[l] - rows[r]);
    return Array.from(order, i => rows[i]);
}

class RowTable {
    constructor(options) {
        Object.assign(this, options);
        this.id = `table${++tables}`;
        this.chosen = 0;
        this.body = element("tbody", {});
        this.head = element("tr", { "aria-rowindex": "1" });
        this.table = element("table", { role: "grid", "aria-label": this.caption, class: "rows" },
            element("thead", {}, this.head), this.body);
        this.element = element("div", { class: "rows", tabindex: "0", id: this.id,
            onscroll: () => this.draw(), onkeydown: event => this.key(event) }, this.table);
        this.element.setAttribute("aria-label", this.caption);
        this.element.setAttribute("role", "region");
        if (this.columns.length)
            this.order();
        new ResizeObserver(() => this.fit()).observe(this.element);
    }

    columnsInOrder() {
        const isFirst = column => isNarrow() && column.id === "name";
        return [...this.columns.filter(isFirst), ...this.columns.filter(column => !isFirst(column))];
    }

    fit() {
        const isOther = this.wasNarrow !== isNarrow();
        if (isOther && this.shown)
            this.drawHead();
        this.draw(isOther);
    }

    column() {
        return this.columns.find(column => column.id === this.sort) || this.columns[0];
    }

    setRows(rows) {
        this.rows = rows;
        this.chosen = 0;
        this.element.scrollTop = 0;
        this.order();
    }

    /* Sorts by keys that are made once: comparing rows asks for each key many times. */
    order() {
        this.shown = this.isOrdered ? Array.from(this.rows) : orderedBy(this.rows, this.column().key, this.descending);
        this.table.setAttribute("aria-rowcount", this.shown.length + 1);
        this.drawHead();
        this.draw(true);
    }

    sortBy(column) {
        this.descending = this.sort === column.id ? !this.descending : Boolean(column.number);
        this.sort = column.id;
        if (this.sorted)
            this.sorted(this.sort, this.descending);
        this.order();
    }

    drawHead() {
        this.wasNarrow = isNarrow();
        this.head.replaceChildren(...this.columnsInOrder().map(column => {
            const isSorted = !this.isPlain && column.id === this.sort;
            const mark = isSorted ? (this.descending ? " ▼" : " ▲") : "";
            return element("th", { scope: "col", class: column.number ? "number" : "name",
                title: column.hint,
                "aria-sort": isSorted ? (this.descending ? "descending" : "ascending") : null },
            this.isPlain ? column.title : element("button", { type: "button", onclick: () => this.sortBy(column) },
                column.title, mark));
        }));
    }

    spacer(rows) {
        const cell = element("td", { colspan: this.columns.length });
        cell.style.height = `${rows * rowHeight()}px`;
        return element("tr", { class: "spacer", "aria-hidden": "true" }, cell);
    }

    row(at) {
        const row = this.shown[at];
        const made = element("tr", { id: `${this.id}r${at}`, "aria-rowindex": at + 2,
            "aria-selected": at === this.chosen ? "true" : "false",
            onclick: event => { this.choose(at); if (!event.target.closest("a")) this.open(row); } });
        for (const column of this.columnsInOrder())
            made.append(element("td", { class: column.number ? "number" : "name" },
                column.cell(row)));
        return made;
    }

    draw(isForced) {
        if (!this.shown)
            return;
        const height = window.matchMedia("print").matches ? 1e4 : this.element.clientHeight;
        const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight()) - ROWS_AROUND);
        const last = Math.min(this.shown.length,
            first + Math.ceil(height / rowHeight()) + 2 * ROWS_AROUND);
        if (!isForced && first === this.first && last === this.last)
            return;
        this.first = first;
        this.last = last;
        const rows = [];
        for (let i = first; i < last; i++)
            rows.push(this.row(i));
        this.body.replaceChildren(this.spacer(first), ...rows, this.spacer(this.shown.length - last));
        this.mark();
    }

    mark() {
        for (const row of this.body.children)
            if (row.id)
                row.setAttribute("aria-selected", String(row.id === `${this.id}r${this.chosen}`));
        if (this.shown.length)
            this.element.setAttribute("data-chosen", this.chosen);
    }

    choose(at) {
        this.chosen = Math.max(0, Math.min(this.shown.length - 1, at));
        const top = this.chosen * rowHeight(), height = this.element.clientHeight - 2 * rowHeight();
        if (top < this.element.scrollTop)
            this.element.scrollTop = top;
        else if (top > this.element.scrollTop + height)
            this.element.scrollTop = top - height;
        this.draw();
        this.mark();
        if (this.chose && this.shown.length)
            this.chose(this.shown[this.chosen]);
    }

    key(event) {
        const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight()) - 2);
        const moves = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page,
            Home: -Infinity, End: Infinity };
        if (event.ctrlKey || event.altKey || event.metaKey || event.target !== this.element)
            return;
        if (event.key in moves) {
            this.choose(this.chosen + moves[event.key]);
        } else if (event.key === "Enter" && this.shown.length) {
            this.open(this.shown[this.chosen]);
        } else if (this.side && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
            this.side(this.shown[this.chosen], event.key === "ArrowRight");
        } else if (this.keys && event.key in this.keys && this.shown.length) {
            this.keys[event.key](this.shown[this.chosen]);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
