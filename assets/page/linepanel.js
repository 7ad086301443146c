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

/* The branches of a line by function, each a list. */
function branchesByFunction(branches) {
    const found = new Map();
    for (let i = 0; branches && i < branches.length; i += BRANCH_COLUMNS) {
        const [block, count, flags, isReached, fn] = branches.slice(i, i + BRANCH_COLUMNS);
        if (flags & OUTCOME.call)
            continue;
        if (!found.has(fn))
            found.set(fn, []);
        found.get(fn).push({ block, count: Number(count), flags, isReached });
    }
    return found;
}

/* Functions that have the same branches, such as instantiations of a template, as one; null: they have not. */
function summedBranches(lists) {
    const [first, ...others] = lists, start = list => list[0].block;
    const isAlike = list => list.length === first.length && list.every((b, i) =>
        b.flags === first[i].flags && b.block - start(list) === first[i].block - start(first));
    if (!others.every(isAlike))
        return null;
    return first.map((b, i) => lists.reduce((sum, list) =>
        ({ ...sum, count: sum.count + list[i].count, isReached: sum.isReached || list[i].isReached }), { ...b, count: 0, isReached: 0 }));
}

const takenText = b => b.count ? countText(b.count) : b.isReached ? "never" : "not reached";

function wayText(flags) {
    return flags & OUTCOME.thrown ? "by an exception" : flags & OUTCOME.fallthrough ? "straight on" : "away";
}

function branchRows(branches) {
    return branches.map(b => [b.count ? counted(b.count, "time") : takenText(b), `block ${b.block}`, wayText(b.flags)]);
}

/* Of a line in several functions: all of them as one, where they are alike, and each by itself. */
function branchTables(data, line) {
    const of = branchesByFunction(line.branches), lists = [...of.values()], titles = ["taken", "of", "way"];
    if (lists.length < 2)
        return lists.map(list => smallTable("Branches", titles, branchRows(list), 1));
    const sum = summedBranches(lists), f = data.coverage.functions;
    const name = fn => fn >= 0 ? element("span", { title: plain(f.linkage[fn]) }, shortened(f.name[fn])) : "a tracefile";
    const byFunction = [...of].slice(0, MOST_INSTANCES);
    const caption = `Branches by function: ${countText(lists.length)}` +
        (lists.length > MOST_INSTANCES ? `, the first ${MOST_INSTANCES} of them` : "");
    if (!sum)
        return [smallTable(caption, [...titles, "in"], byFunction.flatMap(([fn, list]) => branchRows(list).map(row => [...row, name(fn)])), 1)];
    return [smallTable(`Branches, ${lists.length} functions in one`, titles, branchRows(sum), 1),
        smallTable(caption, [...sum.map(b => `${b.block}: ${wayText(b.flags)}`), "in"],
            byFunction.map(([fn, list]) => [...list.map(takenText), name(fn)]), sum.length)];
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

const MOST_INSTRUCTIONS = 400, MOST_INSTANCES = 200;
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

/* What a narrow screen has no columns for. */
function historyLine(data, number) {
    const blame = data.coverage && data.coverage.blame, change = (baseChanges(data) || new Map()).get(number), parts = [];
    const at = blame ? atOrBefore(blame.line, number) : -1;
    if (change)
        parts.push(`Since the base: ${LINE_CHANGES[change]}.`);
    if (at >= 0 && blame.author[at] >= 0)
        parts.push(`Written ${dateText(blame.time[at]).slice(0, 10)} by ${plain(blame.authors[blame.author[at]])}.`);
    return parts.length ? element("p", { class: "remark" }, parts.join(" ")) : null;
}

/* Elements; none if nothing else is known. */
function lineDetails(data, number, line) {
    const what = line || { branches: 0, conditions: 0 };
    return [historyLine(data, number), leftOutLine(leftOutOf(data, number)), codeTable(data, number), inlinedTable(data, number),
        instantiationTable(data, number), ...branchTables(data, what), conditionTable(what)].filter(Boolean);
}
