/* stackchart.js: the stacks of one thread in the order of time: what ran, and what waited, when. The
 * picture is the flame's, of a tree whose children stand where they were in time. */

function showStackChart(main, parameters) {
    if (!canFilter()) {
        main.append(element("p", { class: "none" }, "There are no call stacks with times: record with 'monarc run'."));
        return;
    }
    const busiest = chartThreads(), thread = page.window && page.window.thread >= 0 ? page.window.thread : busiest[0];
    const tree = timeTree(thread, stackRules(parameters));
    const chart = new Flame({ tree, isFlame: parameters.up === "1", colours: parameters.colour === "change" ? "" : parameters.colour, rootName: laneName(thread) });
    const set = key => value => go({ ...currentParameters(), [key]: value || undefined });
    chart.chosenChanged = fn => panel.replaceChildren(functionPanel(fn));
    const panel = element("aside", { class: "panel under" });
    const slice = page.profile.timeline.slice_ns / 1e6;
    main.append(element("div", { class: "tools" },
        searchField("search frames (regular expression)", parameters.search, value => {
            keep({ search: value || null });
            chart.setPattern(value);
        }),
        selectOf("thread", busiest.map(one => [String(one), laneName(one)]), String(thread), one => {
            page.window = null;
            set("thread")(one);
        }), ...stackTools({ ...parameters, fold: undefined, only: undefined }).slice(1), colourChoice(parameters, set("colour"))),
    chart.status, chart.holder,
    element("p", { class: "remark" }, `Time goes from left to right, in steps of ${slice} ms: the order within a step is not known. ` +
        "Ctrl and the wheel zoom, dragging moves, a click zooms to a frame."), panel);
    chart.setPattern(parameters.search);
}

/* The busiest first: that is the one to look at. */
function chartThreads() {
    const { samples, threads } = page.profile.timeline, sums = threads.tid.map(() => 0);
    samples.thread.forEach((thread, i) => { sums[thread] += samples.state[i] < 2 ? samples.samples[i] : samples.samples[i] / 1e6; });
    return [...sums.keys()].filter(i => sums[i] > 0).sort((l, r) => sums[r] - sums[l]).slice(0, MOST_LANES);
}
