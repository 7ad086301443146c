/* page_window.js: what a page shows of a part of its recording, without a browser.
 *
 *     node page_window.js PAGE FROM TO
 *
 * The page's own script is run with a document that answers everything, and is not started; then the part is
 * applied. Prints the functions as JSON: [name, self samples, total samples]. */
const fs = require("fs"), zlib = require("zlib");

const [path, from, to] = process.argv.slice(2);
const html = fs.readFileSync(path, "utf8");
const script = /<script>([\s\S]*?)<\/script>/.exec(html)[1]
    .replace(/^\s*\(function \(\) \{/, "").replace(/\nstart\(\);\s*\}\)\(\);\s*$/, "\n");
const blockOf = id => {
    const found = new RegExp(`<script type="text/plain" id="${id}">([^<]*)</script>`).exec(html);
    return found ? JSON.parse(zlib.inflateRawSync(Buffer.from(found[1], "base64")).toString()) : null;
};
const anything = new Proxy(function () {}, {
    get: (_, key) => key === Symbol.toPrimitive ? () => "" : anything,
    apply: () => anything, construct: () => anything, set: () => true,
});
const names = ["window", "document", "location", "history", "ResizeObserver", "requestAnimationFrame", "getComputedStyle",
    "HTMLElement"];
const page = new Function(...names, `${script}; return { page, takeProfile, listsBy, applyWindow };`)(
    ...names.slice(1).map(() => anything), class {});
const data = blockOf("data"), arcs = blockOf("calls");
Object.assign(page.page, { data, files: data.files, coverage: data.coverage });
page.takeProfile(data.profile);
if (arcs) {
    const len = page.page.functions.name.length;
    page.page.arcs = { ...arcs, callersOf: page.listsBy(arcs.callee, len), calleesOf: page.listsBy(arcs.caller, len) };
}
page.applyWindow({ from, to });
const f = page.page.functions;
console.log(JSON.stringify(f.name.slice(0, f.measured).map((name, i) => [name, f.self[i], f.total[i]])));
