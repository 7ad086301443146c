/* The flame picture on its own in a browser: a click zooms, the word Search (or /) asks for a pattern.
 *
 * As <img> nothing of this runs, and nothing is lost but zoom and search. It stores nothing, loads
 * nothing and makes no markup of names. */
(function () {
    "use strict";
    var root = document.documentElement, width = root.viewBox.baseVal.width, margin = 10;
    var inner = width - 2 * margin, character = 7.3, up = root.hasAttribute("data-up");
    var frames = Array.prototype.map.call(root.querySelectorAll(".f"), function (g) {
        var rects = g.querySelectorAll("rect"), box = rects[0];
        return {
            g: g, part: g.parentNode, rects: rects, text: g.querySelector("text"), total: +g.getAttribute("data-total"),
            name: g.querySelector("title").textContent.split("\n")[0],
            x: +box.getAttribute("x"), level: +box.getAttribute("y") * (up ? -1 : 1), w: +box.getAttribute("width")
        };
    });
    var found = document.getElementById("found"), reset = document.getElementById("reset");

    function shortened(name, w) {
        var room = Math.floor((w - 6) / character);
        var forms = nameForms(name, "..."), last = forms[forms.length - 1];
        var fits = forms.filter(function (form) { return form.length <= room; })[0];
        if (fits)
            return fits;
        if (room < 10)
            return "";
        last = forms.length > 1 && last.slice(0, 3) === "..." ? last.slice(3) : last;
        if (last.length <= room)
            return last;
        var head = Math.ceil((room - 3) / 2), tail = room - 3 - head;
        return last.slice(0, head) + "..." + last.slice(last.length - tail);
    }

    function zoom(to) {
        var factor = inner / to.w;
        frames.forEach(function (f) {
            if (f.part !== to.part)
                return;
            var isBelow = f.level <= to.level && f.x <= to.x + 0.01 && f.x + f.w >= to.x + to.w - 0.01;
            var x = isBelow ? margin : margin + (f.x - to.x) * factor;
            var w = isBelow ? inner : f.w * factor;
            var isSeen = isBelow || (f.level > to.level && x > margin - 0.5 && x + w < width - margin + 0.5);
            f.g.style.display = isSeen ? "" : "none";
            f.g.style.opacity = isBelow && f.level < to.level ? 0.6 : 1;
            f.rects.forEach(function (r) {
                r.setAttribute("x", x);
                r.setAttribute("width", w);
            });
            f.text.setAttribute("x", x + 3);
            f.text.textContent = shortened(f.name.replace(/ \(inlined\)$/, ""), w);
        });
        reset.style.display = isWhole(to) ? "none" : "";
    }

    /* The frame below all others of its dimension. */
    function isWhole(f, i) {
        i = i === undefined ? frames.indexOf(f) : i;
        return i === 0 || frames[i - 1].part !== f.part;
    }

    function zoomOut() {
        frames.filter(isWhole).forEach(zoom);
    }

    /* Of frames that match above each other the outermost counts, so that nothing counts twice.
     * Each dimension has a share of its own. */
    function search(pattern) {
        var parts = [], covered = [], match;
        try {
            match = new RegExp(pattern);
        } catch (error) {
            found.textContent = "not a pattern: " + error.message;
            return;
        }
        frames.forEach(function (f, i) {
            if (isWhole(f, i)) {
                parts.push({ of: f.part, sum: 0 });
                covered = [];
            }
            var isMatch = !isWhole(f, i) && pattern !== "" && !f.g.classList.contains("small") &&
                match.test(f.name);
            f.g.classList.toggle("found", isMatch);
            while (covered.length && covered[covered.length - 1].level >= f.level)
                covered.pop();
            if (isMatch && !covered.length) {
                parts[parts.length - 1].sum += f.total;
                covered.push(f);
            }
        });
        found.textContent = pattern === "" ? "" : "/" + pattern + "/ matches " +
            parts.map(function (part) {
                var name = part.of.getAttribute("data-name");
                return (name ? name + " " : "") +
                    (100 * part.sum / part.of.getAttribute("data-samples")).toFixed(2) + " %";
            }).join(", ");
    }

    function ask() {
        var pattern = prompt("Functions whose name matches (a regular expression; empty: none)", "");
        if (pattern !== null)
            search(pattern);
    }

    /* As wide as the window, within what can be read. */
    root.style.cssText = "display:block;margin:auto;width:100%;height:auto;min-width:800px;max-width:1800px";
    if (!frames.length)
        return;
    document.getElementById("search").style.display = "";
    document.getElementById("search").addEventListener("click", ask);
    reset.addEventListener("click", zoomOut);
    frames.forEach(function (f) {
        f.g.addEventListener("click", function () { zoom(f); });
    });
    document.addEventListener("keydown", function (event) {
        if (event.key === "/") {
            event.preventDefault();
            ask();
        } else if (event.key === "Escape") {
            zoomOut();
        }
    });
}());
