/* format.js: numbers and names as people read them. */

const NARROW = "\u202f"; /* between groups of digits */

/* A count: a number, or the digits of one that no double holds. */
function countText(count) {
    return count === null || count === undefined ? ""
        : String(count).replace(/\B(?=(\d{3})+(?!\d))/g, NARROW);
}

/* "1 object", "2 objects". */
function counted(count, word) {
    return `${countText(count)} ${word}${Number(count) === 1 ? "" : "s"}`;
}

/* A figure without the digits that its error makes unsure, as on the terminal (text_known()): of an error's first two digits both
 * count up to 35, else the first. Blanks as wide as digits stand for the others, so that points stand below each other. */
const FIGURE = "\u2007", POINT = "\u2008"; /* blanks of their widths */
function knownText(value, error, most, unit = "", isSigned = false) {
    let decimals = 0;
    for (let left = error > 0 ? error : 0; decimals < most && left < 3.55; left *= 10)
        decimals++;
    const size = Math.abs(value).toFixed(decimals), sign = !Number(size) ? "" : value < 0 ? "\u2212" : isSigned ? "+" : "";
    return sign + size + unit + (decimals || !most ? "" : POINT) + FIGURE.repeat(most - decimals);
}

/* Outside of a column. */
const sentenceFigure = text => text.replace(/[\u2007\u2008]/g, "");

/* `error`: as a share, too; none: all digits are known, as those of 100 % are. A share has one decimal at least. */
function percentText(part, error) {
    return knownText(100 * part, part > 1 - 1e-6 ? 0 : Math.min(100 * (error || 0), 3.5), 2, `${NARROW}%`);
}

function samplesText(samples) {
    return Number.isInteger(samples) || samples >= 100 ? countText(Math.round(samples)) : samples.toFixed(2);
}

/* Samples in the unit they measure; in samples where that is not known. `error`: as a share of all. */
function amountText(samples, error) {
    const s = page.summary;
    if (!(s.rate > 0))
        return `${samplesText(samples)} samples`;
    const amount = samples / s.rate;
    const off = (error || 0) * s.samples / s.rate;
    if (s.abbreviation !== "s") {
        const digits = off > 0 && amount > 0 ? Math.min(4, Math.max(1, Math.ceil(Math.log10(amount / off)) + 1)) : 4;
        return `${Number(amount.toPrecision(digits))} ${s.dimension}`;
    }
    return knownText(amount, off, s.decimals, " s");
}

/* A percentage that never says 100 or 0 of what is not quite so. */
function ratioText(ratio) {
    if (!ratio.all)
        return "";
    if (ratio.all === ratio.unknown)
        return "unknown";
    const known = ratio.all - ratio.unknown;
    let text = percentOf(ratio).toFixed(1);
    if (text === "100.0" && ratio.hit < known)
        text = "99.9";
    if (text === "0.0" && ratio.hit > 0)
        text = "0.1";
    return `${text}${NARROW}%`;
}

/* Control characters, and those that turn the direction of writing, made visible: a name stays on
 * its line and in its place. */
function plain(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        c => c === "\t" ? " " : "\ufffd");
}

const LONGEST_NAME = 300;
function shortened(text) {
    const shown = plain(text.length > LONGEST_NAME ? text.slice(0, LONGEST_NAME) : text);
    return text.length > LONGEST_NAME ? `${shown}…` : shown;
}

function functionName(i) {
    return shortened(page.functions.name[i]);
}

/* As it is shown in a table: parameters and the like give way where it is long; the tip has all of it. */
const TABLE_NAME = 72;
function tableName(i) {
    const name = functionName(i);
    if (name.length <= TABLE_NAME)
        return name;
    const forms = nameForms(name, "…");
    return forms.find(form => form.length <= TABLE_NAME) || forms[forms.length - 1];
}

function objectName(i) {
    const f = page.functions;
    return f.object[i] >= 0 ? shortened(f.objects[f.object[i]]) : "";
}

function dateText(seconds) {
    return seconds ? new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ") + " UTC"
        : "";
}

/* What the user typed, as a regular expression, or, where it is none, as plain text. */
function patternOf(text) {
    if (!text)
        return null;
    const flags = /[A-Z]/.test(text) ? "u" : "iu";
    try {
        return new RegExp(text, flags);
    } catch (e) {
        return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), flags);
    }
}
