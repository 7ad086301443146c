/* main.js: views, the address, keys. The address keeps the view and what was chosen in it, so that
 * back, forward and sending it to somebody work. */

const VIEWS = [
    { id: "summary", title: "Summary", show: showSummary, isThere: () => true },
    { id: "coverage", title: "Coverage", show: showCoverage, isThere: () => page.coverage },
    { id: "functions", title: "Functions", show: showFunctions, hasStrip: true, isThere: () => page.profile },
    { id: "callers", title: "Callers", show: showCallers, hasStrip: true, needsCalls: true, isThere: () => page.profile },
    { id: "tree", title: "Call tree", show: showTree, hasStrip: true, isThere: () => page.profile },
    { id: "flame", title: "Flame", show: showFlame, hasStrip: true, isThere: () => page.profile },
    { id: "chart", title: "Stack chart", show: showStackChart, hasStrip: true, isThere: () => canFilter() },
    { id: "graph", title: "Graph", show: showGraph, hasStrip: true, needsCalls: true,
        isThere: () => page.profile && page.profile.arcs.all },
    { id: "heatmap", title: "Heat map", show: showHeatMap, hasStrip: true, isThere: canFilter },
    { id: "ranks", title: "Ranks", show: showRanks, isThere: hasRanks },
    { id: "timeline", title: "Timeline", show: showTimeline, isThere: hasTimeline },
    { id: "waits", title: "Waits", show: showWaits, isThere: () => page.profile && page.profile.locks },
    { id: "source", title: "Source", show: showSource, isThere: () => page.files.name.length },
    { id: "comparison", title: "Comparison", show: showComparison, isThere: () => baseOf() },
];

const KEYS = [
    ["1 to 9, 0", "the views, from left to right"],
    ["/", "search"],
    ["?", "this list"],
    ["Escape", "close this list; in the flame: show all of it"],
    ["↑ ↓ or k j", "rows of a table, lines of a source"],
    ["← →", "close and open a folder"],
    ["Enter", "open the row; in the flame: zoom to the frame"],
    ["arrows", "in the flame and the stack chart: to callers, callees and neighbours"],
    ["→ ←, *", "in the call tree: open and close a row, open all below it"],
    ["f, x, o", "in the call tree: stacks from the row's function on alone, without it, without its library"],
    ["c", "in the flame and call tree: callers and callees of the frame"],
    ["+ -, ← → with Shift", "in the flame: wider, narrower, move (as Ctrl and the wheel, and dragging)"],
    ["h, H", "in a source: the next, the previous hot line"],
    ["l, L (or u, U)", "the next, the previous line that never ran"],
    ["b, B", "the next, the previous branch that was not taken"],
    ["c, C", "in a source: the next, the previous line whose time or coverage differs from the base's"],
    ["d", "in a source: show or hide the details of the chosen line"],
    ["← →, with Shift", "in the timeline: move the window, its end"],
    ["arrows, Enter", "in the heat map: to another cell, show its stretch of time; in the ranks: show the function"],
    ["arrows, + - 0", "in the graph: move, zoom, show all of it"],
    ["Backspace", "back"],
];

/* --- the address ------------------------------------------------------------------------------- */

function addressOf(parameters) {
    const text = new URLSearchParams();
    if (page.window)
        parameters = { ...addressOfWindow(page.window), ...parameters };
    if (page.selected !== undefined)
        parameters = { sel: functionKey(page.selected), ...parameters };
    for (const [key, value] of Object.entries(parameters))
        if (value !== undefined && value !== null && value !== "")
            text.set(key, value);
    return `#${text}`;
}

/* A part of the recording stays chosen from view to view. */
function addressOfWindow(part) {
    return { from: part.from > 0 ? part.from : undefined, to: part.to < Infinity ? part.to : undefined,
        thread: part.thread >= 0 ? part.thread : undefined };
}

function currentParameters() {
    return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function go(parameters) {
    location.hash = addressOf(parameters);
}

/* The function that all views mark, until another one is chosen. */
function select(fn) {
    page.selected = fn;
    keep({ sel: functionKey(fn) });
    for (const one of document.querySelectorAll("nav a"))
        one.href = addressOf({ view: one.dataset.view });
}

/* Changes the address without showing anything anew. */
function keep(changes) {
    history.replaceState(null, "", addressOf({ ...currentParameters(), ...changes }));
}

/* --- the page ---------------------------------------------------------------------------------- */

function viewOf(parameters) {
    const wanted = parameters.view || (parameters.fn !== undefined ? "callers" : "summary");
    return VIEWS.find(view => view.id === wanted && view.isThere()) || VIEWS[0];
}

function drawNavigation(navigation, chosen) {
    navigation.replaceChildren(...VIEWS.filter(view => view.isThere()).map((view, i) =>
        element("a", { href: addressOf({ view: view.id }), "data-view": view.id, "aria-current": view === chosen ? "page" : null,
            title: i < 10 ? `key ${(i + 1) % 10}` : null }, view.title)));
    /* On a narrow screen a menu of the same. */
    document.querySelector("select.views").replaceChildren(...VIEWS.filter(view => view.isThere()).map(view =>
        element("option", { value: view.id, selected: view === chosen }, view.title)));
    const current = navigation.querySelector("[aria-current]");
    navigation.scrollLeft = current.offsetLeft - navigation.offsetLeft - (navigation.clientWidth - current.offsetWidth) / 2;
}

let shown = 0; /* how often a view was asked for */

async function show() {
    const parameters = currentParameters(), view = viewOf(parameters), turn = ++shown;
    if (view.needsCalls || windowOf(parameters))
        await takeCalls();
    if (turn !== shown)
        return; /* somebody went on meanwhile */
    applyWindow(parameters);
    if (page.profile)
        page.selected = page.byKey.get(parameters.fn === undefined ? parameters.sel : parameters.fn);
    pictures = [];
    const main = element("main", { id: "main", class: view.id, tabindex: "-1" });
    drawNavigation(document.querySelector("nav"), view);
    document.getElementById("main").replaceWith(main);
    const part = windowText();
    if (part)
        main.append(element("p", { class: "part" }, part, " ", element("button", { type: "button", onclick: () => {
            page.window = null;
            go({ ...parameters, from: undefined, to: undefined, thread: undefined });
        } }, "whole run")));
    if (view.hasStrip && canFilter())
        main.append(new ActivityStrip(34, chooseTime(view.id)).element);
    document.title = `${view.title} - ${plain(page.data.title)}`;
    try {
        await view.show(main, parameters);
    } catch (e) {
        main.append(element("p", { class: "remark warning" }, `This cannot be shown: ${plain(String(e.message))}`));
    }
    if (document.activeElement === document.body)
        (main.querySelector("div.rows, div.source, canvas[tabindex], svg.graph") || main).focus({ preventScroll: true });
}

function toggleHelp() {
    const help = document.getElementById("help");
    if (help.open)
        help.close();
    else
        help.showModal();
}

function helpDialog() {
    const list = element("dl", { class: "facts" });
    for (const [key, text] of KEYS)
        list.append(element("dt", {}, element("kbd", {}, key)), element("dd", {}, text));
    return element("dialog", { id: "help", "aria-label": "Keys" }, heading("Keys"), list,
        element("form", { method: "dialog" }, element("button", {}, "close")));
}

function pressed(event) {
    document.body.classList.add("keys");
    const isTyping = event.target.matches("input, select, textarea");
    if (event.ctrlKey || event.altKey || event.metaKey || (isTyping && event.key !== "Escape"))
        return;
    const views = VIEWS.filter(view => view.isThere());
    if (event.key === "?") {
        toggleHelp();
    } else if (/^\d$/.test(event.key) && views[(Number(event.key) + 9) % 10]) {
        go({ view: views[(Number(event.key) + 9) % 10].id });
    } else if (event.key === "/") {
        const field = document.querySelector("main input[type=search], main input");
        if (!field)
            return;
        field.focus();
    } else if (event.key === "Backspace") {
        history.back();
    } else if (event.key === "Escape" && isTyping) {
        (document.querySelector("main div.rows, main div.source, main canvas[tabindex], main svg.graph") || document.getElementById("main")).focus();
        return;
    } else {
        return;
    }
    event.preventDefault();
}

async function start() {
    document.body.append(
        element("header", {}, element("h1", {}), element("nav", { "aria-label": "Views" }),
            element("select", { class: "views", "aria-label": "View", onchange: event => go({ view: event.target.value }) }),
            element("button", { type: "button", title: "keys", "aria-label": "keys", onclick: toggleHelp }, "?")),
        element("main", { id: "main" }, element("p", {}, "Unpacking ...")), helpDialog());
    try {
        await takeData();
    } catch (e) {
        document.getElementById("main").replaceChildren(element("p", { class: "remark warning" },
            `The page's data cannot be unpacked by this browser: ${e.message}`));
        return;
    }
    document.querySelector("h1").textContent = plain(page.data.title);
    const begin = page.profile && page.functions.begin; /* --function; an address that was sent says more */
    if (begin !== undefined && begin !== null && !location.hash)
        keep({ fn: functionKey(begin) });
    window.addEventListener("hashchange", show);
    document.addEventListener("keydown", pressed);
    for (const change of ["print", "(prefers-color-scheme: dark)"])
        window.matchMedia(change).addEventListener("change", drawAgain);
    await show();
    setTimeout(() => takeCalls().then(prepareTree), 300);
}

start();
