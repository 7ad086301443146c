/* elements.js: making parts of the document. All text goes through textContent or attributes: there
 * is no markup in data. */

/* As in style.css: text is larger on large screens. */
const isLarge = () => window.matchMedia("(min-width: 2600px)").matches;

function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (key.startsWith("on"))
            made.addEventListener(key.slice(2), value);
        else if (key === "class")
            made.className = value;
        else if (value !== false && value !== null && value !== undefined)
            made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter(child => child !== null && child !== undefined));
    return made;
}

/* Pictures ask the style for their colours, and are drawn anew where that changes: on paper, by day, by night. */
let pictures = [];

function drawn(draw) {
    pictures.push(draw);
    return draw();
}

function drawAgain() {
    for (const draw of pictures)
        draw();
}

function heading(text) {
    return element("h2", {}, text);
}

/* A link to another view; the address is the state. */
function link(parameters, text, attributes) {
    return element("a", { href: addressOf(parameters), ...attributes }, text);
}

function functionLink(i) {
    return link({ view: "callers", fn: functionKey(i) }, tableName(i),
        { title: shortened(page.functions.whole[i] || page.functions.name[i]) });
}

function fileLink(file, line, text) {
    const name = text || shortened(page.files.name[file]);
    const where = { view: "source", file: page.files.name[file] };
    return link(line ? { ...where, line } : where, name, { title: plain(page.files.name[file]) });
}

/* A bar of a share, behind its text. */
function bar(part, kind) {
    const made = element("span", { class: `bar ${kind || ""}`, "aria-hidden": "true" });
    const filled = element("span", {});
    filled.style.width = `${Math.max(0, Math.min(100, 100 * part))}%`;
    made.append(filled);
    return made;
}

function coverageBar(ratio) {
    const known = ratio.all - ratio.unknown;
    return known > 0 ? bar(ratio.hit / known, "covered") : null;
}

function selectOf(label, choices, chosen, change) {
    const select = element("select", { onchange: () => change(select.value) });
    for (const [value, text] of choices)
        select.append(element("option", { value, selected: value === chosen }, text));
    return element("label", { class: "choice" }, label, " ", select);
}

function searchField(label, text, change) {
    const field = element("input", { type: "search", value: text || "", placeholder: label,
        "aria-label": label, spellcheck: "false", autocomplete: "off" });
    field.addEventListener("input", () => change(field.value));
    return field;
}

/* A table of few rows, each an array of texts or elements; the first `numbers` columns are numbers, or, if that is
 * negative, all but the first ones. */
function smallTable(caption, titles, rows, numbers) {
    const kind = i => (numbers < 0 ? i >= -numbers : i < numbers) ? "number" : "";
    const head = element("tr", {}, ...titles.map((title, i) => element("th", { scope: "col", class: kind(i) }, title)));
    const body = rows.map(row => element("tr", {}, ...row.map((cell, i) =>
        element("td", { class: kind(i) }, cell === null ? "" : cell))));
    return element("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": caption },
        element("table", { class: "small" }, element("caption", {}, caption),
            element("thead", {}, head), element("tbody", {}, ...body)));
}
