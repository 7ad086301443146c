/* flame.js: call paths as a flame or icicle on a canvas.
 *
 * A frame is solid where stacks were sampled or where the graph leaves no other way, and hatched
 * where the model of the call graph assigns time by call counts. Frames narrower than half a pixel
 * are not drawn; their time is in the frame below them.
 *
 * A click zooms to a frame, which has the whole width then. Of that width a part may be shown: `factor` times as wide,
 * from `left` on, a share of it. */

const LEAST_WIDTH = 0.5, TEXT_WIDTH = 30, MOST_FACTOR = 1e6, LEAST_DRAG = 4;

class Flame {
    constructor(options) {
        Object.assign(this, options);
        this.pattern = null;
        this.canvas = element("canvas", { tabindex: "0", role: "img",
            "aria-label": "call paths; the table of functions has the same figures",
            onpointerdown: event => this.press(event), onpointermove: event => this.move(event),
            onpointerup: event => this.release(event), onpointercancel: () => { this.held = null; },
            onpointerleave: () => this.say(null), onwheel: event => this.wheel(event), onkeydown: event => this.key(event) });
        this.status = element("p", { class: "frame", role: "status" });
        this.holder = element("div", { class: "flame" }, this.canvas);
        new ResizeObserver(() => this.draw()).observe(this.holder);
        this.setTree(this.tree);
        pictures.push(() => this.draw());
    }

    setTree(tree) {
        this.tree = tree;
        this.root = this.chosen = this.left = 0;
        this.factor = 1;
        this.match();
        this.measure();
        this.draw();
    }

    /* How deep it goes below the root, of what can be seen. */
    measure() {
        const { tree } = this, least = tree.total[this.root] * LEAST_WIDTH / (this.holder.clientWidth || 4000) / this.factor;
        this.measuredWidth = this.holder.clientWidth;
        let deepest = 0;
        const stack = [[this.root, 0]], kids = tree.isOrdered ? kidsInOrder : kidsByTotal;
        while (stack.length) {
            const [node, depth] = stack.pop();
            deepest = Math.max(deepest, depth);
            for (const kid of kids(tree, node)) {
                if (tree.total[kid] >= least && tree.fn[kid] >= 0)
                    stack.push([kid, depth + 1]);
                else if (!tree.isOrdered)
                    break;
            }
        }
        this.above = [];
        for (let node = this.isSmall() ? 0 : this.root; node; node = tree.parent[node])
            this.above.unshift(tree.parent[node]);
        this.depth = deepest + 1 + this.above.length;
    }

    setPattern(text) {
        this.pattern = patternOf(text);
        this.match();
        this.draw();
    }

    /* Which functions match, and what share of all time is below the outermost of them. */
    match() {
        const { tree } = this;
        this.matches = null;
        this.matched = 0;
        if (!this.pattern)
            return;
        this.matches = Uint8Array.from(page.functions.name, (name, i) => this.pattern.test(this.ofObjects ? objectTitle(i) : name) ? 1 : 0);
        const inside = new Uint8Array(tree.len);
        for (let i = 1; i < tree.len; i++) {
            const isMatch = this.matches[tree.fn[i]];
            if (isMatch && !inside[tree.parent[i]])
                this.matched += tree.total[i];
            inside[i] = isMatch || inside[tree.parent[i]];
        }
    }

    /* In the summary: what is around the frame in sight takes no room. */
    isSmall() {
        return this.holder.classList.contains("small");
    }

    row(depth) {
        return this.isFlame ? this.depth - 1 - depth : depth;
    }

    draw() {
        const width = this.holder.clientWidth;
        if (!width)
            return;
        if (this.measuredWidth !== width)
            this.measure(); /* what is too narrow to be seen depends on it */
        this.width = width;
        this.high = isLarge() ? 28 : 20;
        this.resize(width, this.depth * this.high + 1);
        this.style = getComputedStyle(this.holder);
        this.tones = new Map();
        this.context.font = `${isLarge() ? 18 : 12}px ${this.style.fontFamily}`;
        this.context.textBaseline = "middle";
        this.narrowest = this.context.measureText("i").width;
        this.drawn = [];
        this.above.forEach((node, depth) => this.frame(node, 0, width, depth));
        this.drawBelow(width);
        this.canvas.dataset.part = `${this.left} ${this.factor}`;
        this.tell();
    }

    resize(width, height) {
        const ratio = window.devicePixelRatio || 1;
        const size = [Math.round(width * ratio), Math.round(height * ratio)];
        this.context = this.canvas.getContext("2d");
        if (this.canvas.width !== size[0] || this.canvas.height !== size[1])
            [this.canvas.width, this.canvas.height] = size;
        Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.context.clearRect(0, 0, width, height);
    }

    drawBelow(width) {
        const { tree } = this, scale = width * this.factor / (tree.total[this.root] || 1);
        const stack = [[this.root, -this.left * width * this.factor, this.above.length]];
        const kids = tree.isOrdered ? kidsInOrder : kidsByTotal;
        this.taken = [];
        while (stack.length) {
            const [node, x, depth] = stack.pop();
            this.frame(node, x, tree.total[node] * scale, depth);
            let at = x;
            for (const kid of kids(tree, node)) {
                const wide = tree.total[kid] * scale;
                if (tree.isOrdered) /* what its caller did itself stands between */
                    at = x + (tree.start[kid] - tree.start[node]) * scale;
                if ((wide < LEAST_WIDTH && !tree.isOrdered) || at >= width)
                    break;
                if (at + wide > 0 && tree.fn[kid] >= 0 && (wide >= LEAST_WIDTH || this.isFirstInPixel(at, depth)))
                    stack.push([kid, at, depth + 1]);
                at += wide;
            }
        }
    }

    /* Of frames too narrow to see, in the order of time, one a pixel is drawn. */
    isFirstInPixel(x, depth) {
        const taken = this.taken[depth] || (this.taken[depth] = new Uint8Array(this.width + 1));
        const at = Math.max(0, Math.floor(x));
        return taken[at] ? false : (taken[at] = 1) === 1;
    }

    nameOf(node) {
        const fn = this.tree.fn[node];
        return node && fn >= 0 ? this.ofObjects ? objectTitle(fn) : functionName(fn) : this.rootName;
    }

    /* What the style says, asked once for each picture. */
    tone(name) {
        if (!this.tones.has(name))
            this.tones.set(name, this.style.getPropertyValue(name));
        return this.tones.get(name);
    }

    colour(node) {
        const fn = this.tree.fn[node], f = page.functions;
        if (this.matches)
            return this.matches[fn] ? this.tone("--match") : this.tone("--idle");
        if (!node || f.kind[fn] >= KIND.small)
            return this.tone("--idle");
        if (this.colours === "change")
            return comparedColour(fn, name => this.tone(name));
        if (this.colours === "share")
            return this.shades("--share")[shareStep(share(this.tree.self[node]))];
        if (this.colours === "object" || this.colours === "file")
            return this.hue(this.colours === "file" ? fileNameOf(fn) : objectTitle(fn));
        const kind = codeKind(fn);
        return kind ? this.shades(`--${kind}-frame`)[shadeOf(f.name[fn])] : this.tone("--idle");
    }

    hue(text) {
        return text ? `hsl(${hueOf(text)} ${this.tone("--frame-tone")})` : this.tone("--idle");
    }

    /* A list of colours in the style. */
    shades(name) {
        const key = `${name} list`;
        if (!this.tones.has(key))
            this.tones.set(key, this.tone(name).trim().split(" "));
        return this.tones.get(key);
    }

    frame(node, from, whole, depth) {
        const c = this.context, y = this.row(depth) * this.high;
        const x = Math.max(0, from), wide = Math.min(from + whole, this.width) - x;
        const inner = Math.max(wide - 1, LEAST_WIDTH);
        c.fillStyle = this.colour(node);
        c.fillRect(x, y, inner, this.high - 1);
        if (this.tree.estimate && this.tree.estimate[node] && wide > 3)
            this.hatch(x, y, inner);
        if (node && (node === this.chosen || this.tree.fn[node] === page.selected)) {
            c.strokeStyle = this.style.color;
            c.lineWidth = 2;
            c.strokeRect(x + 1, y + 1, inner - 2, this.high - 3);
        }
        if (wide > TEXT_WIDTH)
            this.write(this.nameOf(node), x + 4, y + this.high / 2, wide - 8);
        this.drawn.push({ node, x, y, wide });
    }

    hatch(x, y, wide) {
        const c = this.context;
        c.save();
        c.beginPath();
        c.rect(x, y, wide, this.high - 1);
        c.clip();
        c.strokeStyle = this.tone("--hatch");
        c.lineWidth = 1;
        c.beginPath();
        for (let at = x - this.high; at < x + wide; at += 7) {
            c.moveTo(at, y + this.high);
            c.lineTo(at + this.high, y);
        }
        c.stroke();
        c.restore();
    }

    /* The longest form of a name that there is room for, and if there is none, a part of the shortest. */
    write(text, x, y, room) {
        const c = this.context, fits = form => form.length * this.narrowest < room && c.measureText(form).width <= room;
        const forms = nameForms(text, "…"), last = forms[forms.length - 1].replace(/^…/, "");
        let shown = forms.find(fits) || (fits(last) ? last : "");
        for (let kept = last.startsWith("[0x") ? 0 : Math.min(last.length - 1, Math.floor(room / this.narrowest)); !shown && kept > 2; kept--) {
            const cut = `${last.slice(0, Math.ceil(kept / 2))}…${last.slice(last.length - Math.floor(kept / 2))}`;
            shown = fits(cut) ? cut : "";
        }
        c.fillStyle = this.tone("--frame-text");
        c.fillText(shown, x, y);
    }

    at(event) {
        const box = this.canvas.getBoundingClientRect();
        const x = event.clientX - box.left, y = event.clientY - box.top;
        for (let i = this.drawn.length - 1; i >= 0; i--) {
            const f = this.drawn[i];
            if (x >= f.x && x < f.x + f.wide && y >= f.y && y < f.y + this.high)
                return f.node;
        }
        return -1;
    }

    describe(node) {
        const { tree } = this;
        if (tree.isOrdered)
            return node ? `${this.nameOf(node)}: ${this.lengthText(node)} from ${this.startOf(node).toFixed(3)} s on` : this.nameOf(node);
        const way = !tree.estimate ? "" : tree.estimate[node]
            ? "; an estimate: the model of the call graph splits time by calls" : "; no other way leads here";
        return `${this.nameOf(node)}: ${figuresText(tree.total[node], tree.self[node])}${node ? way : ""}`;
    }

    /* What was measured; and where that is less than the steps of time that it was seen in, these, too. */
    lengthText(node) {
        const ran = amountText(this.tree.ran[node]), length = amountText(this.tree.total[node]);
        return ran === length ? ran : `${ran} within ${length}`;
    }

    /* In seconds. */
    startOf(node) {
        return this.tree.start[node] / this.tree.rate;
    }

    tell() {
        const found = this.pattern ? `${percentText(share(this.matched))} match. ` : "";
        this.status.textContent = found + this.describe(this.chosen);
    }

    say(node) {
        if (node === null || node < 0)
            this.tell();
        else
            this.status.textContent = this.describe(node);
    }

    zoom(node) {
        this.root = this.chosen = node;
        this.show(0, 1);
        if (this.chosenChanged && node && !this.ofObjects && this.tree.fn[node] >= 0) {
            select(this.tree.fn[node]);
            this.chosenChanged(this.tree.fn[node]);
        }
    }

    /* --- a part of the width ---------------------------------------------------------------- */

    show(left, factor) {
        const before = this.factor;
        this.factor = Math.max(1, Math.min(MOST_FACTOR, factor));
        this.left = Math.max(0, Math.min(1 - 1 / this.factor, left));
        if (this.factor !== before || this.factor === 1)
            this.measure();
        this.drawSoon();
    }

    /* Once a picture of the screen, however often it was asked for. */
    drawSoon() {
        if (this.isWaiting)
            return;
        this.isWaiting = true;
        requestAnimationFrame(() => {
            this.isWaiting = false;
            this.draw();
        });
    }

    /* Wider or narrower, with what is at `x` staying there. */
    widen(by, x) {
        const at = this.left + x / this.width / this.factor;
        const factor = Math.max(1, Math.min(MOST_FACTOR, this.factor * by));
        this.show(at - x / this.width / factor, factor);
    }

    pan(pixels) {
        this.show(this.left + pixels / this.width / this.factor, this.factor);
    }

    wheel(event) {
        if (event.ctrlKey || event.metaKey)
            this.widen(Math.exp(-event.deltaY / 200), event.clientX - this.canvas.getBoundingClientRect().left);
        else if (event.deltaX || event.shiftKey)
            this.pan(event.deltaX || event.deltaY);
        else
            return;
        event.preventDefault();
    }

    press(event) {
        this.held = event.button === 0 ? { x: event.clientX, isDragged: false } : null;
    }

    move(event) {
        if (!this.held || !(event.buttons & 1)) {
            this.say(this.at(event));
            return;
        }
        const by = event.clientX - this.held.x;
        if (!this.held.isDragged && Math.abs(by) < LEAST_DRAG)
            return;
        if (!this.held.isDragged)
            this.canvas.setPointerCapture(event.pointerId);
        this.held = { x: event.clientX, isDragged: true };
        this.pan(-by);
    }

    /* A click, unless the picture was dragged. */
    release(event) {
        const node = this.held && !this.held.isDragged ? this.at(event) : -1;
        this.held = null;
        if (node >= 0)
            this.zoom(node);
    }

    /* --- keys -------------------------------------------------------------------------------- */

    /* Parent, first child, or the next of the same parent. */
    neighbour(key) {
        const { tree, chosen } = this, kids = tree.isOrdered ? kidsInOrder : kidsByTotal, inward = this.isFlame ? "ArrowUp" : "ArrowDown";
        const outward = this.isFlame ? "ArrowDown" : "ArrowUp";
        if (key === inward)
            return kids(tree, chosen).find(kid => tree.fn[kid] >= 0) ?? -1;
        if (key === outward)
            return chosen ? tree.parent[chosen] : -1;
        if (key !== "ArrowLeft" && key !== "ArrowRight")
            return -1;
        const beside = kids(tree, tree.parent[chosen]).filter(kid => tree.fn[kid] >= 0), at = beside.indexOf(chosen) + (key === "ArrowRight" ? 1 : -1);
        return chosen && at >= 0 && at < beside.length ? beside[at] : -1;
    }

    key(event) {
        const { chosen } = this;
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        if (event.key === "Enter") {
            this.zoom(chosen);
        } else if (event.key === "Escape") {
            this.zoom(0);
        } else if (event.key === "c" && chosen && !this.ofObjects && this.tree.fn[chosen] < page.functions.measured) {
            go({ view: "callers", fn: functionKey(this.tree.fn[chosen]) });
        } else if (event.key === "+" || event.key === "-") {
            this.widen(event.key === "+" ? 1.5 : 1 / 1.5, this.width / 2);
        } else if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
            this.pan((event.key === "ArrowLeft" ? -1 : 1) * this.width / 10);
        } else {
            const to = this.neighbour(event.key);
            if (to < 0 && !event.key.startsWith("Arrow"))
                return;
            if (to >= 0)
                this.chosen = to;
            this.draw();
        }
        event.preventDefault();
        event.stopPropagation();
    }
}

function hashOf(name) {
    let hash = 0;
    for (let i = 0; i < name.length; i++)
        hash = (31 * hash + name.charCodeAt(i)) | 0;
    return hash >>> 0;
}

const hueOf = name => hashOf(name) % 360;

/* One of four, and the step of a share, as in the picture that 'monarc flame' draws (flame.c). */
const shadeOf = name => (hashOf(name) >>> 8) % 4;
const shareStep = part => [0.01, 0.03, 0.10, 0.25].filter(least => part >= least).length;

/* What code is, as the object that it is in tells; "" is none: the end of a stack that was cut. */
const CODE_KINDS = [["program", "the program"], ["library", "libraries"], ["kernel", "the kernel"], ["generated", "generated code"], ["waiting", "waiting"]];

function codeKind(fn) {
    const object = page.functions.object[fn], name = object >= 0 ? page.functions.objects[object] : "";
    if (name === "kernel" || name === "generated" || name === "waiting")
        return name;
    return name === "cut" ? "" : name === "vdso" || name.includes(".so") ? "library" : "program";
}

/* Which colour is what, of the kinds that the picture has. */
function kindLegend(tree) {
    const seen = new Set();
    for (let i = 1; i < tree.len; i++)
        if (tree.fn[i] >= 0 && page.functions.kind[tree.fn[i]] < KIND.small)
            seen.add(codeKind(tree.fn[i]));
    return element("span", { class: "legend" }, ...CODE_KINDS.filter(([kind]) => seen.has(kind)).map(([kind, text]) =>
        element("span", {}, swatchOf(kind), text)));
}

function swatchOf(kind) {
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    drawn(() => { [swatch.style.background] = getComputedStyle(document.body).getPropertyValue(`--${kind}-frame`).trim().split(" "); });
    return swatch;
}

function objectTitle(fn) {
    return objectName(fn) || "the program";
}

function flameTree(parameters) {
    const fn = parameters.fn === undefined ? undefined : page.byKey.get(parameters.fn);
    const changed = changedTree(treeOfAll(), stackRules(parameters));
    const tree = parameters.way === "callers" || fn !== undefined ? callerTree(changed, fn) : changed;
    return parameters.frames === "objects" ? objectTree(tree) : tree;
}

/* All frames of a sort that chooses among several, or null. */
function frameChoice(parameters, change) {
    return page.functions.objects.length ? selectOf("frames", [["", "functions"], ["objects", "objects"]], parameters.frames || "", change) : null;
}

function threadChoice(change) {
    if (!canFilter() || page.profile.timeline.threads.tid.length < 2)
        return null;
    const chosen = page.window && page.window.thread >= 0 ? String(page.window.thread) : "";
    return selectOf("thread", [["", "all"], ...busiestThreads().map(thread => [String(thread), laneName(thread)])], chosen, change);
}

function flameRemark(tree) {
    return tree.estimate
        ? "Reconstructed from pairs of callers and callees: hatched frames are the model's estimate, solid ones have no other way to them."
        : "Whole stacks, as they were sampled.";
}

function colourChoice(parameters, change) {
    const choices = [["", "kind of code"], ["share", "own time"]];
    if (page.functions.objects.length)
        choices.push(["object", "objects"]);
    if (page.files.name.length)
        choices.push(["file", "files"]);
    if (baseOf())
        choices.push(["change", "change: red more, blue less"]);
    return selectOf("colour", choices, parameters.colour || "", change);
}

function showFlame(main, parameters) {
    if (!(page.summary.samples > 0)) {
        main.append(element("p", { class: "none" }, "No samples were taken; there are no times to draw."));
        return;
    }
    const fn = parameters.fn === undefined ? undefined : page.byKey.get(parameters.fn);
    const flame = new Flame({ tree: flameTree(parameters), isFlame: parameters.up === "1",
        colours: parameters.colour === "change" && !baseOf() ? "" : parameters.colour, ofObjects: parameters.frames === "objects",
        rootName: fn !== undefined ? `callers of ${functionName(fn)}` : "all" });
    const panel = element("aside", { class: "panel" });
    const set = key => value => go({ ...currentParameters(), [key]: value || undefined });
    const ways = [["", "callers to callees"], ["callers", "functions, and their callers"]];
    main.append(element("div", { class: "tools" },
        searchField("search frames (regular expression)", parameters.search, value => {
            keep({ search: value || null });
            flame.setPattern(value);
        }),
        fn === undefined ? selectOf("from", ways, parameters.way || "", set("way"))
            : link({ view: "flame" }, "all functions"),
        selectOf("grows", [["", "down"], ["1", "up"]], parameters.up || "", set("up")),
        frameChoice(parameters, set("frames")), ...stackTools(parameters), threadChoice(thread => {
            page.window = null;
            set("thread")(thread);
        }),
        parameters.frames === "objects" ? null : colourChoice(parameters, set("colour")),
        element("button", { type: "button", onclick: () => flame.zoom(0) }, "whole")),
    flame.status, element("div", { class: "beside" }, flame.holder, panel),
    element("p", { class: "remark" }, parameters.colour ? null : kindLegend(flame.tree), flameRemark(flame.tree)));
    flame.chosenChanged = frame => panel.replaceChildren(functionPanel(frame));
    flame.setPattern(parameters.search);
}
