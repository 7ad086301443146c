/* lexer.js: enough of C and C++ to colour it. Lines are cut one by one; what a line begins inside of
 * (a comment, a raw string) is carried from line to line. */

const C_FILES = /\.(c|h|cc|cpp|cxx|c\+\+|hh|hpp|hxx|inl|ipp|tcc|C|H|m|mm)$|\/include\/|\/c\+\+\//;
const C_WORDS = new Set(("alignas alignof asm auto bool break case catch char class co_await co_return co_yield " +
    "concept const consteval constexpr constinit const_cast continue decltype default delete do double " +
    "dynamic_cast else enum explicit export extern false final float for friend goto if inline int long mutable " +
    "namespace new noexcept nullptr operator override private protected public register reinterpret_cast requires " +
    "restrict return short signed sizeof static static_assert static_cast struct switch template this " +
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while " +
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ssize_t intptr_t uintptr_t " +
    "_Bool _Static_assert NULL").split(" "));

const PIECE = new RegExp([
    "(?<comment>//.*|/\\*)", "(?<raw>(?:u8|[uUL])?R\"(?<mark>[^()\\\\\\s]{0,16})\\()",
    "(?<string>(?:u8|[uUL])?\"(?:[^\"\\\\]|\\\\.)*\"?|(?:[uUL])?'(?:[^'\\\\]|\\\\.)+'?)",
    "(?<number>\\b(?:0[xX][\\da-fA-F'.pP]+|\\d[\\d'.]*(?:[eE][+-]?\\d+)?)[uUlLfF]*)",
    "(?<word>[A-Za-z_]\\w*)"].join("|"), "g");

/* Pieces of a line, [class or "", text], and what the next line begins inside of: "", the end of a
 * comment, or that of a raw string. */
function lexLine(text, inside) {
    const pieces = [];
    let at = 0;
    const add = (kind, end) => {
        if (end > at)
            pieces.push([kind, text.slice(at, end)]);
        at = end;
    };
    const close = kind => {
        const end = text.indexOf(inside, at);
        add(kind, end < 0 ? text.length : end + inside.length);
        inside = end < 0 ? inside : "";
    };
    if (inside)
        close(inside === "*/" ? "comment" : "string");
    if (!inside && /^\s*#/.test(text) && !at) {
        const comment = text.search(/\/[/*]/);
        add("directive", comment < 0 ? text.length : comment);
    }
    while (at < text.length && !inside) {
        PIECE.lastIndex = at;
        const found = PIECE.exec(text);
        if (!found)
            break;
        const { groups } = found;
        add("", found.index);
        if (groups.comment === "/*" || groups.raw) {
            inside = groups.raw ? `)${groups.mark}"` : "*/";
            const from = at;
            at += found[0].length;
            const end = text.indexOf(inside, at);
            at = from;
            add(groups.raw ? "string" : "comment", end < 0 ? text.length : end + inside.length);
            inside = end < 0 ? inside : "";
        } else {
            add(groups.comment ? "comment" : groups.string ? "string" : groups.number ? "number"
                : C_WORDS.has(groups.word) ? "keyword" : "", found.index + found[0].length);
        }
    }
    add("", text.length);
    return { pieces, inside };
}

/* The lines of a file; what they begin inside of is found up to where somebody has asked. */
class ColouredText {
    constructor(lines, isC) {
        this.lines = lines;
        this.isC = isC;
        this.inside = [""];
    }

    pieces(number) {
        const text = this.lines[number - 1];
        if (!this.isC)
            return [["", text]];
        while (this.inside.length < number)
            this.inside.push(lexLine(this.lines[this.inside.length - 1], this.inside[this.inside.length - 1]).inside);
        return lexLine(text, this.inside[number - 1]).pieces;
    }
}
