/* activity.js: what the processors did over time, as one strip, and above it how many threads waited: each has
 * its own scale, as there may be hundreds that wait for one that runs. It stands over all views of a
 * profile: dragging over it chooses the stretch of time that they show. */

const WAITING_BAND = 0.3; /* of the height */

class ActivityStrip {
    constructor(height, choose) {
        this.height = height;
        this.choose = choose;
        this.data = page.profile.timeline;
        this.length = Math.max(this.data.length_ns, 1) / 1e9;
        this.canvas = element("canvas", { role: "img", "aria-label": "activity over time; the timeline has the same by thread",
            onpointerdown: event => this.begin(event), onpointermove: event => this.move(event), onpointerup: () => this.end() });
        this.element = element("div", { class: "activity" }, this.canvas);
        this.element.style.height = `${height}px`;
        new ResizeObserver(() => this.draw()).observe(this.element);
        drawn(() => this.draw());
    }

    /* Samples by pixel and state, of the chosen thread or of all. */
    sums(width) {
        const sums = new Float64Array(width * STATES.length), s = this.data.samples;
        const scale = width * this.data.slice_ns / 1e9 / this.length, thread = page.window ? page.window.thread : -1;
        for (let i = 0; i < s.slice.length; i++) {
            if (thread >= 0 && s.thread[i] !== thread)
                continue;
            const from = s.slice[i] * scale, to = Math.max(from + 1, from + scale);
            for (let x = Math.floor(from); x < Math.min(width, to); x++)
                sums[x * STATES.length + s.state[i]] += s.samples[i] * (Math.min(to, x + 1) - Math.max(from, x)) / (to - from);
        }
        return sums;
    }

    draw() {
        const width = this.element.clientWidth, ratio = window.devicePixelRatio || 1, { height } = this;
        if (!width)
            return;
        [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
        Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
        const c = this.canvas.getContext("2d"), style = getComputedStyle(this.element);
        c.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.width = width;
        const sums = this.sums(width), colours = ["--user", "--kernel", "--waiting"].map(name => style.getPropertyValue(name));
        const ran = [], waited = [];
        for (let x = 0; x < width; x++) {
            ran.push(sums[3 * x] + sums[3 * x + 1]);
            waited.push(sums[3 * x + 2]);
        }
        const mostWaited = waited.reduce((l, r) => Math.max(l, r), 0), band = mostWaited > 0 ? Math.floor(height * WAITING_BAND) : 0;
        const mostRan = ran.reduce((l, r) => Math.max(l, r), 0);
        const column = (x, foot, high, state) => {
            c.fillStyle = colours[state];
            c.fillRect(x, foot - high, 1, high);
        };
        for (let x = 0; x < width; x++) {
            if (waited[x] > 0)
                column(x, band - 1, Math.max(1, waited[x] / mostWaited * (band - 1)), 2);
            for (let state = 0, y = height; state < 2 && mostRan > 0; state++) {
                const high = sums[3 * x + state] / mostRan * (height - band - 2);
                column(x, y, high, state);
                y -= high;
            }
        }
        veilOutside(this.dragged || page.window, this.length, c, style, { top: 0, width, height });
    }

    timeAt(event) {
        return timeUnder(event, this.canvas, this.length);
    }

    begin(event) {
        this.anchor = this.timeAt(event);
        this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
        const at = this.timeAt(event);
        this.canvas.title = `${at.toFixed(3)} s`;
        if (this.anchor === undefined)
            return;
        this.dragged = { from: Math.min(at, this.anchor), to: Math.max(at, this.anchor) };
        this.draw();
    }

    /* A click without dragging shows the whole run again. */
    end() {
        const part = this.dragged, isWide = part && part.to - part.from > 3 * this.length / this.width;
        this.anchor = this.dragged = undefined;
        this.choose(isWide ? part : { from: 0, to: Infinity });
    }
}

/* The same view, of another stretch of time. */
function chooseTime(view) {
    return part => {
        const thread = page.window && page.window.thread >= 0 ? page.window.thread : undefined, parameters = currentParameters();
        page.window = null;
        go({ ...parameters, view, from: part.from > 0 ? part.from.toFixed(6) : undefined,
            to: part.to < Infinity ? part.to.toFixed(6) : undefined, thread });
    };
}
