/* visit.mjs: a page in a browser, what it said meanwhile, and TAP.
 *
 * A visit opens pages by their address, presses keys, and notes what no page may do: say anything on the
 * console, ask for anything but itself, raise an error. */

import { pathToFileURL } from "node:url";

export const result = { cases: 0, failures: 0 };

export function ok(isFine, name, detail) {
    result.cases++;
    result.failures += isFine ? 0 : 1;
    console.log(`${isFine ? "ok" : "not ok"} ${result.cases} - ${name}`);
    if (!isFine && detail !== undefined)
        console.log(`# ${String(detail).replace(/\n/g, "\n# ")}`);
}

export function same(found, expected, name) {
    const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
    ok(left === right, name, `found    ${left}\nexpected ${right}`);
}

export class Visit {
    constructor(browser, entry, options) {
        Object.assign(this, { browser, entry, options: options || {}, said: [] });
    }

    async open() {
        this.context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...this.options });
        this.page = await this.context.newPage();
        this.page.on("console", message => this.said.push(`console: ${message.text()}`));
        this.page.on("pageerror", error => this.said.push(`error: ${error.message}`));
        this.page.on("dialog", dialog => { this.said.push("a dialog"); dialog.dismiss(); });
        this.page.on("request", request => {
            if (!request.url().startsWith("file:") && !request.url().startsWith("blob:"))
                this.said.push(`request: ${request.url()}`);
        });
        return this;
    }

    async view(address) {
        if (process.env.MONARC_PART === "quick" && this.page.url().startsWith("file:"))
            return this.turnTo(address);
        await this.page.goto("about:blank");
        await this.page.goto(`${pathToFileURL(this.entry.file)}#${new URLSearchParams(address)}`);
        await this.settled();
    }

    /* Another view of the page that is open, as somebody does who changes the address: much faster than to open it anew. */
    async turnTo(address) {
        await this.page.evaluate(hash => { location.hash = hash; }, String(new URLSearchParams(address)));
        await this.settled();
    }

    async settled() {
        await this.page.waitForFunction(() => {
            const main = document.querySelector("main[class]"), wanted = new URLSearchParams(location.hash.slice(1)).get("view");
            return main && document.title.includes(" - ") && (!wanted || main.className === wanted);
        });
        await this.page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 30))));
    }

    async press(...keys) {
        for (const key of keys) {
            await this.page.keyboard.press(key);
            await this.settled();
        }
    }

    address() {
        return Object.fromEntries(new URLSearchParams(new URL(this.page.url()).hash.slice(1)));
    }

    /* Rows of a table as objects: title of the column -> text. */
    rows(selector) {
        return this.page.$$eval(selector, tables => tables.map(table => {
            const titles = [...table.querySelectorAll("thead th")].map(th => th.innerText.replace(/[▲▼]/g, "").trim());
            return [...table.querySelectorAll("tbody tr:not(.spacer)")].map(row =>
                Object.fromEntries([...row.children].map((cell, i) => [titles[i], cell.innerText.trim()])));
        }));
    }

    async close(name) {
        same(this.said, [], `${name}: nothing on the console, no request, no error`);
        await this.context.close();
    }
}
