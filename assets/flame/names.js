/* names.js: names of functions for places of limited width; the page and the flame picture have it.
 *
 * nameForms(name) lists ever shorter forms: the name, without parameters and template arguments, then
 * without outer namespaces and classes, for which the gap stands. The last component is never cut.
 * As names_within() in src/profile/analysis/short_names.c, which makes the same picture without a script. */

function withoutArguments(name) {
    "use strict";
    var out = "", depth = 0, i, c, operator;
    for (i = 0; i < name.length; i++) {
        c = name[i];
        if (!depth && (operator = /^operator(?!\w)(\(\)|\[\]|[-+*\/%^&|~!=<>,]+)?/.exec(name.slice(i, i + 12))) &&
            !/\w/.test(name[i - 1] || " ")) {
            out += operator[0];
            i += operator[0].length - 1;
        } else if ((c === "<" || c === "(") && out && (depth || name.slice(i, i + 11) !== "(anonymous ")) {
            depth++;
        } else if ((c === ">" || c === ")") && depth) {
            depth -= name[i - 1] !== "-";
        } else if (!depth) {
            out += c;
        }
    }
    return depth ? name : out.replace(/(\S)( (const|volatile|&&?))+$/, "$1");
}

/* Behind the first `::` outside of brackets; 0: there is none, and this is the last component. */
function nextComponent(name) {
    "use strict";
    var depth = 0, i;
    for (i = 0; i + 2 < name.length; i++) {
        if (/^operator(?!\w)/.test(name.slice(i, i + 9)) && !/\w/.test(name[i - 1] || " "))
            return 0;
        if ("([{<".indexOf(name[i]) >= 0)
            depth++;
        else if (")]}>".indexOf(name[i]) >= 0 && name[i - 1] !== "-")
            depth--;
        else if (!depth && name[i] === ":" && name[i + 1] === ":")
            return i + 2;
    }
    return 0;
}

function nameForms(name, gap) {
    "use strict";
    var forms = [name], rest, next;
    if (name[0] === "[" && (rest = name.replace(/^(\[0x[0-9a-f]+\]) \(.*\)$/, "$1").replace(/^\[(kernel|waiting)\] (?=.)/, "")) !== name)
        forms.push(rest); /* the object; what the colour says */
    if (name[0] === "[" || !/::|[(<]/.test(name))
        return forms;
    rest = withoutArguments(name).replace(/::(::)+/g, "::").replace(/(.)::$/, "$1"); /* of Rust's `::<T>` and `::<impl [T]>::` */
    if (rest !== name)
        forms.push(rest);
    while ((next = nextComponent(rest))) {
        rest = rest.slice(next);
        forms.push(gap + rest);
    }
    return forms;
}
