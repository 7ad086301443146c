/* summary.js: what was measured, how, how certain it is, and where to look first. */

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
        ["Certainty", half ? `a share of 50${NARROW}% is uncertain by ±${half.toFixed(1)} points (95${NARROW}% confidence)` : ""],
        ["Total times", s.has_stacks ? "measured: whole call stacks were sampled"
            : s.has_samples ? "an estimate: callees' times are split among callers by call counts" : ""],
        ["Unattributed", s.unattributed > 0 ? `${amountText(s.unattributed)}, ${percentText(share(s.unattributed))}, in no function` : ""],
        ["Profiler", s.profiler > 0 ? `${amountText(s.profiler)} taken by counting calls` : ""],
        ["Calls", Number(s.calls) ? `${countText(s.calls)} on ${counted(s.arcs, "call site")}` : "not counted"],
        ["Processes", run && run.processes > 1 ? countText(run.processes) : ""],
        ["CPU time", run && run.has_cpu && run.cpu_ns ? `${(run.accounted_ns / 1e9).toFixed(3)} s of ${(run.cpu_ns / 1e9).toFixed(3)} s accounted for` : ""],
        ["Mismatch", s.mismatch ? plain(s.mismatch) : ""],
    ]);
}

function findingList(findings) {
    const list = element("ul", { class: "findings" });
    for (const f of findings)
        list.append(element("li", { class: f.severity },
            element("strong", {}, f.severity), " ", plain(f.finding || f.text),
            f.evidence ? `: ${plain(f.evidence)}` : "", f.remedy ? element("p", {}, plain(f.remedy)) : null));
    return list;
}

/* By self time; where no time was measured, by calls. */
function hottest() {
    const f = page.functions, hasCalls = Number(page.summary.calls) > 0, hasTime = page.summary.has_samples;
    const first = hasTime ? [...f.self.keys()].filter(i => f.self[i] > 0).slice(0, FEW)
        : [...f.calls.keys()].filter(i => Number(f.calls[i]) > 0)
            .sort((l, r) => Number(f.calls[r]) - Number(f.calls[l]) || l - r).slice(0, FEW);
    const calls = i => hasCalls ? [callsText(i)] : [];
    const times = i => hasTime ? [percentText(share(f.self[i])), amountText(f.self[i]), percentText(share(f.total[i]))] : [];
    const titles = [...(hasTime ? ["self", "self time", "total"] : []), ...(hasCalls ? ["calls"] : []), "function"];
    return first.length ? smallTable(hasTime ? "Hottest functions" : "Functions called most", titles,
        first.map(i => [...times(i), ...calls(i), functionLink(i)]), titles.length - 1) : null;
}

function leastCovered() {
    const rows = fileNumbers().filter(i => page.files.covered[i])
        .map(i => [i, ratioOf("lines", i)]).filter(([, ratio]) => missedOf(ratio) > 0)
        .sort((l, r) => missedOf(r[1]) - missedOf(l[1])).slice(0, FEW)
        .map(([i, ratio]) => [ratioText(ratio), countText(missedOf(ratio)), fileLink(i)]);
    if (rows.length)
        return smallTable("Files with the most lines that never ran", ["lines", "missed", "file"], rows, 2);
    const { all, unknown } = page.coverage.totals.lines;
    return all > unknown ? element("p", { class: "remark" }, "All lines of which counts are known ran.") : "";
}

function coverageFacts() {
    const c = page.coverage, rows = [];
    for (const [name, key] of [["Lines", "lines"], ["Functions", "functions"],
        ["Branches", "branches"], ["Conditions", "conditions"]]) {
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

function showSummary(main) {
    if (page.profile) {
        const notes = page.summary.notes.map(text => ({ severity: "note", text }));
        main.append(heading("Profile"), profileFacts(), findingList([...page.profile.doctor, ...notes]));
        main.append(hottest() || "");
    }
    if (page.coverage) {
        main.append(heading("Coverage"), coverageFacts(), gateList(), leastCovered());
        main.append(findingList(page.coverage.problems));
    }
}
