/* linepanel.js: what else is known of the chosen line of a source: its branches and conditions, functions that begin on it
 * (a template's instantiations), where its code was inlined, its machine code. */

const LEFT_OUT = { code: 1, branches: 2, exceptions: 4, function: 8 };

/* What comments leave out of the line, as bits of LEFT_OUT. */
function leftOutOf(data, number) {
    const ranges = data.left_out || [];
    let what = 0;
    for (let i = 0; i < ranges.length; i += 3)
        if (number >= ranges[i] && number <= ranges[i + 1])
            what |= ranges[i + 2];
    return what;
}

function leftOutLine(what) {
    const parts = [];
    if (what & LEFT_OUT.code)
        parts.push("A comment leaves this line out of coverage.");
    else if (what & LEFT_OUT.branches)
        parts.push("A comment leaves the branches of this line out of coverage.");
    else if (what & LEFT_OUT.exceptions)
        parts.push("A comment leaves branches that exceptions take out of this line's coverage.");
    if (what & LEFT_OUT.function)
        parts.push("A comment leaves the function that begins here out of coverage.");
    return parts.length ? element("p", { class: "remark" }, parts.join(" ")) : null;
}

function branchTable(line) {
    const rows = [], branches = line.branches || [];
    for (let i = 0; i < branches.length; i += 4)
        if (!(branches[i + 2] & OUTCOME.call))
            rows.push([Number(branches[i + 1]) ? counted(branches[i + 1], "time") : branches[i + 3] ? "never" : "not reached",
                `block ${branches[i]}`, branches[i + 2] & OUTCOME.thrown ? "by an exception"
                    : branches[i + 2] & OUTCOME.fallthrough ? "straight on" : "away"]);
    return rows.length ? smallTable("Branches", ["taken", "of", "way"], rows, 1) : null;
}

function conditionTable(line) {
    const rows = [];
    (line.conditions || []).forEach((terms, i) => terms.forEach((bits, term) =>
        rows.push([`condition ${i + 1}, term ${term + 1}`, bits & 1 ? "seen" : "never", bits & 2 ? "seen" : "never"])));
    return rows.length ? smallTable("Conditions: terms that decided by being", ["", "true", "false"], rows, 0) : null;
}

/* Of a line with several functions: a template, or a macro that defines more than one. */
function instantiationTable(data, number) {
    const f = data.coverage && data.coverage.functions;
    const found = f ? [...f.start.keys()].filter(i => f.start[i] === number) : [];
    if (found.length < 2)
        return null;
    const sum = found.reduce((all, i) => all + Number(f.count[i] || 0), 0), ran = found.filter(i => f.state[i] === STATE.hit).length;
    const order = found.sort((l, r) => Number(f.count[r] || 0) - Number(f.count[l] || 0));
    return smallTable(`${found.length} functions begin here, such as instantiations of a template; ${ran} of them ran, ${counted(sum, "time")} in all`,
        ["run", "function"], order.map(i => [f.state[i] === STATE.unknown ? "?" : f.state[i] === STATE.hit ? countText(f.count[i]) : "never",
            element("span", { title: plain(f.linkage[i]) }, shortened(f.name[i]))]), 1);
}

function inlinedTable(data, number) {
    const rows = (data.inlined || []).filter(chain => chain[0] === number).map(chain => {
        const frames = [];
        for (let i = 2; i < chain.length; i += 3)
            frames.push(`${shortened(chain[i])} (${plain(chain[i + 1])}:${chain[i + 2]})`);
        return [percentText(shareOfWhole(chain[1])), amountText(chain[1]), frames.join(", in ")];
    });
    return rows.length ? smallTable("Inlined into", ["self", "", "place"], rows, 2) : null;
}

const MOST_INSTRUCTIONS = 400;
function codeTable(data, number) {
    const c = data.code, found = c ? [...c.line.keys()].filter(i => c.line[i] === number) : [];
    const rows = found.slice(0, MOST_INSTRUCTIONS).map(i => [c.self[i] > 0 ? percentText(shareOfWhole(c.self[i])) : "",
        element("code", { class: c.gap[i] ? "gap" : "" }, c.address[i]),
        element("code", {}, plainCode(c.text[i]), c.target[i] ? ` → ${shortened(c.target[i])}` : ""),
        c.function[i] >= 0 && (c.gap[i] || i === found[0]) ? functionLink(c.function[i]) : ""]);
    return rows.length ? smallTable(`Machine code: ${counted(found.length, "instruction")}` +
        (found.length > MOST_INSTRUCTIONS ? `, the first ${MOST_INSTRUCTIONS} of them` : ""),
    ["self", "address", "instruction", "in"], rows, 1) : null;
}

/* Elements; none if nothing else is known. */
function lineDetails(data, number, line) {
    const what = line || { branches: 0, conditions: 0 };
    return [leftOutLine(leftOutOf(data, number)), codeTable(data, number), inlinedTable(data, number),
        instantiationTable(data, number), branchTable(what), conditionTable(what)].filter(Boolean);
}
