/* summary.js: the first view: what changed, as a picture where the time went and which code ran, and beside
 * it what was measured, how, and how certain it is. */

const FEW = 10;

function facts(rows) {
    const list = element("dl", { class: "facts" });
    for (const [name, text] of rows)
        if (text)
            list.append(element("dt", {}, name), element("dd", {}, text));
    return list;
}

function profileFacts() {
    const s = page.summary, run = s.run;
    const certainty = s.effective || s.samples;
    const half = certainty > 0 ? 98 / Math.sqrt(certainty) : 0;
    return facts([
        [run ? "Command" : "Program", plain(run && run.command || s.program)],
        ["Profile", plain(s.profiles.join(", "))],
        ["Part", run && run.chosen ? plain(run.chosen) : ""],
        ["Measured by", run && run.event ? `${plain(s.method)}, event ${plain(run.event)}` : plain(s.method || "")],
        ["When", dateText(s.measured_at)],
        ["Time", s.has_samples ? `${amountText(s.samples)} in ${samplesText(s.samples)} ${s.samples === 1 ? "sample" : "samples"}` : "not measured"],
        ["Spent", statesText()],
        ["Beside", s.others.map(other => `${plain(other.name)}: ${samplesText(other.samples)} samples`).join(", ")],
        ["Certainty", half ? `a share of 50${NARROW}% is uncertain by ±${half.toFixed(1)} points (95${NARROW}% confidence)` : ""],
        ["Total times", s.has_stacks ? "measured: whole call stacks were sampled"
            : s.has_samples ? "an estimate: callees' times are split among callers by call counts" : ""],
        ["Unattributed", s.unattributed > 0 ? `${sentenceFigure(amountText(s.unattributed, errorOf(s.unattributed)))}, ${sentenceFigure(percentText(share(s.unattributed), errorOf(s.unattributed)))}, in no function` : ""],
        ["Profiler", s.profiler > 0 ? `${amountText(s.profiler)} taken by counting calls` : ""],
        ["Calls", Number(s.calls) ? `${countText(s.calls)} on ${counted(s.arcs, "call site")}` : "not counted"],
        ["Processes", run && run.processes > 1 ? countText(run.processes) : ""],
        ["CPU time", run && run.has_cpu && run.cpu_ns ? `${(run.accounted_ns / 1e9).toFixed(3)} s of ${(run.cpu_ns / 1e9).toFixed(3)} s accounted for` : ""],
        ["Mismatch", s.mismatch ? plain(s.mismatch) : ""],
    ]);
}

/* In which states threads were; nothing where they were in one alone. */
function statesText() {
    if (!hasTimeline())
        return "";
    const { state, samples } = page.profile.timeline.samples, sums = STATES.map(() => 0);
    state.forEach((one, i) => { sums[one] += samples[i]; });
    return sums.filter(sum => sum > 0).length < 2 ? "" : STATES.map((text, i) => [i, text]).filter(([i]) => sums[i] > 0)
        .map(([i, text]) => `${sentenceFigure(stateText(sums[i], i))} ${text}`).join(", ");
}

function findingList(findings) {
    const list = element("ul", { class: "findings" });
    for (const f of findings)
        list.append(element("li", { class: f.severity },
            element("strong", {}, f.severity), " ", plain(f.finding || f.text),
            f.evidence ? `: ${plain(f.evidence)}` : "", f.remedy ? element("p", {}, plain(f.remedy)) : null));
    return list;
}

/* A kind of waiting, which has a row among the functions. */
const isOffCpu = i => /^\[(waiting\]|ready to run\]$|stopped\]$)/.test(page.functions.name[i]);

/* By self time; where no time was measured, by calls. Where there is work, waits are none of it, and shares are those of the work:
 * as the answer above has them. */
function hottest() {
    const f = page.functions, hasCalls = Number(page.summary.calls) > 0, hasTime = page.summary.has_samples;
    const off = hasTime ? [...f.self.keys()].filter(isOffCpu).reduce((sum, i) => sum + f.self[i], 0) : 0;
    const isApart = off > 0 && page.summary.samples - off > 1e-6 * off, whole = isApart ? page.summary.samples - off : page.summary.samples;
    const part = i => whole > 0 ? f.self[i] / whole : 0, error = i => selfError(i) * page.summary.samples / (whole || 1);
    const first = hasTime ? [...f.self.keys()].filter(i => f.self[i] > 0 && !(isApart && isOffCpu(i))).slice(0, FEW)
        : [...f.calls.keys()].filter(i => Number(f.calls[i]) > 0)
            .sort((l, r) => Number(f.calls[r]) - Number(f.calls[l]) || l - r).slice(0, FEW);
    const calls = i => hasCalls ? [callsText(i)] : [];
    const times = i => hasTime ? [element("span", { class: "heat wide" }, percentText(part(i), error(i)), bar(part(i) / (part(first[0]) || 1))),
        amountText(f.self[i], selfError(i)), ...(isApart ? [] : [percentText(share(f.total[i]), f.off[i])])] : [];
    const titles = [...(hasTime ? [isApart ? "of the CPU" : "self", "self time", ...(isApart ? [] : ["total"])] : []), ...(hasCalls ? ["calls"] : []), "function"];
    return first.length ? smallTable(hasTime ? "Hottest functions" : "Functions called most", titles,
        first.map(i => [...times(i), ...calls(i), functionLink(i)]), titles.length - 1) : null;
}

/* Of how well a file is covered, in a word and a colour: against the gate of its lines where there is
 * one, else by the two limits that genhtml and gcovr have, too. */
const LEVELS = [[90, "high"], [75, "medium"], [0, "low"]];

function gateOf(name) {
    return page.coverage.gates.find(gate => gate.name === name);
}

function levelOf(ratio) {
    const known = ratio.all - ratio.unknown, gate = gateOf("line");
    if (!known)
        return "";
    if (gate) {
        const passes = 100 * ratio.hit / ratio.all >= gate.limit;
        return element("span", { class: `level ${passes ? "high" : "low"}` }, passes ? "enough" : "too low");
    }
    const [, word] = LEVELS.find(([limit]) => percentOf(ratio) >= limit);
    return element("span", { class: `level ${word}` }, word);
}

/* Totals by file, those with most to gain first, and of all below them. */
function fileTotals() {
    const MOST = 20, t = page.coverage.totals, hasBranches = t.branches.all > 0, hasFunctions = t.functions.all > 0;
    const files = fileNumbers().filter(i => page.files.covered[i] && page.files.lines.all[i])
        .sort((l, r) => missedOf(ratioOf("lines", r)) - missedOf(ratioOf("lines", l)) || l - r);
    if (!files.length)
        return "";
    const row = (of, name) => [name, levelOf(of("lines")), ratioCell(of("lines")), countText(missedOf(of("lines"))),
        hasFunctions ? ratioText(of("functions")) : null, hasBranches ? ratioText(of("branches")) : null];
    const shown = files.slice(0, MOST).map(i => row(key => ratioOf(key, i), fileLink(i)));
    shown.push(row(key => t[key], element("strong", {}, `all of ${counted(files.length, "file")}`)));
    const titles = ["file", "level", "lines", "missed", hasFunctions ? "functions" : null, hasBranches ? "branches" : null];
    const kept = titles.map((title, i) => title ? i : -1).filter(i => i >= 0), gate = gateOf("line");
    return element("div", { class: "totals" },
        smallTable("Coverage by file", kept.map(i => titles[i]), shown.map(cells => kept.map(i => cells[i])), -2),
        element("p", { class: "remark" }, gate ? `Enough is ${gate.limit}${NARROW}% of the lines, as asked for. `
            : `High is ${LEVELS[0][0]}${NARROW}% of the lines or more, low is below ${LEVELS[1][0]}${NARROW}%. `,
        files.length > MOST ? `The ${countText(files.length - MOST)} files with fewer missed lines: ` : "", link({ view: "coverage" }, "all files")));
}

function coverageFacts() {
    const c = page.coverage, rows = [];
    for (const [name, key] of [["Lines", "lines"], ["Functions", "functions"],
        ["Regions", "regions"], ["Branches", "branches"], ["Conditions", "conditions"]]) {
        const ratio = c.totals[key];
        if (ratio.all)
            rows.push([name, element("span", {}, ratioText(ratio),
                ` (${countText(ratio.hit)} of ${countText(ratio.all - ratio.unknown)}` +
                (ratio.unknown ? `, ${countText(ratio.unknown)} unknown)` : ")"), coverageBar(ratio))]);
    }
    return facts([...rows,
        ["Read", [["objects", "object"], ["counters", "counter file"], ["tracefiles", "tracefile"]]
            .filter(([key]) => c.inputs[key]).map(([key, word]) => counted(c.inputs[key], word)).join(", ") +
            (c.inputs.unrun ? `; ${counted(c.inputs.unrun, "object")} never ran` : "")]]);
}

/* --- pictures ------------------------------------------------------------------------------------ */

/* The innermost node that has nearly all of the time: what stands around it says nothing. */
function busyRoot(tree) {
    const NEARLY = 0.97;
    let node = 0;
    for (;;) {
        const [kid] = kidsByTotal(tree, node);
        if (kid === undefined || tree.total[kid] < NEARLY * tree.total[0] || !kidsByTotal(tree, kid).length)
            return node;
        node = kid;
    }
}

function smallFlame() {
    const flame = new Flame({ tree: treeOfAll(), isFlame: false, rootName: "all" });
    flame.holder.classList.add("small");
    flame.zoom(busyRoot(flame.tree));
    return [heading("Where the time went"), flame.status, flame.holder,
        element("p", { class: "remark" }, link({ view: "flame" }, "flame"), " · ", link({ view: "tree" }, "call tree"),
            canFilter() ? " · " : "", canFilter() ? link({ view: "chart" }, "in the order of time") : "", ". ", flameRemark(flame.tree))];
}

function activityOverTime() {
    const strip = new ActivityStrip(56, canFilter() ? chooseTime("tree") : () => {}), t = page.profile.timeline;
    const threads = new Set(t.samples.thread).size, processes = page.summary.run && page.summary.run.processes || 1;
    return [heading("Activity"), strip.element, element("p", { class: "remark" }, legend(),
        `${(t.length_ns / 1e9).toFixed(3)} s, ${processes > 1 ? `${countText(processes)} processes, ` : ""}${counted(threads, "thread")}. `,
        link({ view: "timeline" }, "timeline"), canFilter() ? "; drag over a stretch of time to look at it alone" : "")];
}

/* Folders, the one with most lines first, as rings that are closed where all lines ran. */
function coverageRings() {
    const MOST_RINGS = 8, root = folderTree();
    const folders = [...root.kids.values()].filter(node => node.lines.all > node.lines.unknown)
        .sort((l, r) => r.lines.all - l.lines.all).slice(0, MOST_RINGS);
    return element("div", { class: "rings" }, ...folders.map(node => {
        const percent = percentOf(node.lines), name = node.file >= 0 ? page.files.name[node.file] : `${node.name}/`;
        const ring = element("span", { class: "ring", "aria-hidden": "true" }, element("span", {}, ratioText(node.lines)));
        ring.style.background = `conic-gradient(var(--hit) ${percent}%, var(--missed) 0)`;
        const to = node.file >= 0 ? { view: "source", file: page.files.name[node.file] } : { view: "coverage", search: `^${node.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}/` };
        return element("a", { href: addressOf(to), title: `${shortened(name)}: ${countText(node.lines.hit)} of ${countText(node.lines.all - node.lines.unknown)} lines ran` },
            ring, element("span", { class: "name" }, shortened(name.replace(/^.*\/(?=[^/]+\/?$)/, ""))));
    }));
}

/* --- what changed -------------------------------------------------------------------------------- */

function comparisonVerdict() {
    const base = baseOf(), { rows } = base;
    const count = verdict => rows.name.filter((_, i) => verdictOf(i) === verdict).length, more = count("more"), less = count("less");
    return element("li", { class: "note" }, element("strong", {}, "comparison"),
        base.answer ? ` ${plain(base.answer).replaceAll(" +- ", " ± ")}. ` : " ",
        more || less ? `${counted(more, "function")} with more time, ${countText(less)} with less: ` : "No function changed for certain: ",
        link({ view: "comparison" }, more || less ? "which" : "all of them"));
}

/* Judged by its gate, if there is one: what is not known counts against it. */
function patchVerdict() {
    const { diff } = page.coverage, missed = missedOf(diff.lines), gate = gateOf("diff");
    const judged = gate ? [gate.verdict === "passed" ? "note" : "error", `patch ${gate.verdict}`] : [missed ? "warning" : "note", "patch"];
    return element("li", { class: judged[0] }, element("strong", {}, judged[1]), " ",
        diff.lines.all ? `${ratioText(diff.lines)} of the changed lines with code ran (${countText(diff.lines.hit)} of ${countText(diff.lines.all)})` : "no changed line has code",
        gate ? `, ${gate.limit}${NARROW}% are asked for` : "",
        missed ? `; ${counted(missed, "line")} never ran: ` : ": ", link({ view: "coverage" }, "which"));
}

function verdicts() {
    const list = [baseOf() ? comparisonVerdict() : null, page.coverage && page.coverage.diff ? patchVerdict() : null].filter(Boolean);
    return list.length ? element("ul", { class: "findings verdicts" }, ...list) : "";
}

/* One sentence, as the reports of text open, with the figure that it is about. */
function leadOf(figure, text) {
    return element("div", { class: "lead" }, figure ? element("span", { class: "figure" }, figure) : null,
        element("p", { class: "answer" }, plain(text).replaceAll(" +- ", " ± ")));
}

/* The figure that the sentence begins with, if it does, and the rest. */
function answers() {
    const lines = page.coverage ? page.coverage.totals.lines : { all: 0 }, answer = page.profile && page.summary.answer;
    const [, figure, rest] = /^([\d.]+ (?:s|ms)) (.*)$/s.exec(answer || "") || [null, "", answer];
    return [answer ? leadOf(figure, rest) : "",
        lines.all > lines.unknown ? leadOf(ratioText(lines), `of the lines ran: ${countText(lines.hit)} of ${countText(lines.all - lines.unknown)}`) : ""]
        .filter(Boolean);
}

function showSummary(main) {
    const pictures = element("div", {}), texts = element("div", {});
    if (page.profile) {
        const notes = page.summary.notes.map(text => ({ severity: "note", text }));
        if (hasTimeline())
            pictures.append(...activityOverTime());
        if (page.summary.samples > 0)
            pictures.append(...smallFlame());
        pictures.append(hottest() || "");
        texts.append(heading("Profile"), profileFacts(), findingList([...page.profile.doctor, ...notes]));
    }
    if (page.coverage) {
        texts.append(heading("Coverage"), coverageRings(), coverageFacts(), gateList(), findingList(page.coverage.problems));
        pictures.append(page.coverage.diff ? diffTable() : "", fileTotals());
    }
    main.append(...answers(), verdicts(), element("div", { class: "columns" }, pictures, texts));
}
