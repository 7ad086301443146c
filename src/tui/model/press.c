/* Keys: moving, opening, searching, filtering, sorting.
 *
 * tui_press() is the only entrance. A key is offered to one group after the other (scrolling,
 * moving, jumping, going), and the first one that knows it in this view takes it; so one key may
 * mean two things in two views, such as Space, which pages in tables and chooses in the list of
 * columns. While a prompt is open keys are text, and none of this applies.
 *
 * No key fails: what cannot be done is said in one line that names the reason and, where there is
 * one, the way out. What takes time happens in the model, which announces it. */
#include "tui/model/tui.h"

#include "base/bytes.h"

#include <string.h>

/* --- moving ---------------------------------------------------------------------------------- */

/* A page is one row less than the screen: the last row stays in sight as the first. */
static bool press_moves(struct tui *t, uint32_t key)
{
    struct list *l = &t->list[t->view];
    if (key == ' ' && t->view == VIEW_COLUMNS)
        return false;
    ptrdiff_t page = (ptrdiff_t)(l->height > 1 ? l->height - 1 : 1);
    switch (key) {
    case PRESS_UP:
    case 'k': list_move(l, -1); return true;
    case PRESS_DOWN:
    case 'j': list_move(l, 1); return true;
    case PRESS_PAGE_UP: list_move(l, -page); return true;
    case PRESS_PAGE_DOWN:
    case ' ': list_move(l, page); return true;
    case PRESS_HOME:
    case 'g': list_select(l, 0); return true;
    case PRESS_END:
    case 'G': list_select(l, l->len ? l->len - 1 : 0); return true;
    default: return false;
    }
}

/* Pages of text have no selection: keys move what is seen. */
static bool press_scrolls(struct tui *t, uint32_t key)
{
    struct list *l = &t->list[t->view];
    size_t last = l->len > l->height ? l->len - l->height : 0;
    if (t->view != VIEW_NOTES && t->view != VIEW_HELP)
        return false;
    if (key == PRESS_UP || key == 'k')
        l->selected = l->top ? l->top - 1 : 0;
    else if (key == PRESS_DOWN || key == 'j')
        l->selected = l->top + 1;
    else if (press_moves(t, key))
        return true;
    else
        return false;
    l->selected = l->top = l->selected < last ? l->selected : last;
    return true;
}

/* Sideways in steps of a tab stop; the bound only keeps the number sane. */
static void press_shift(struct tui *t, bool is_right)
{
    enum { STEP = 8, MOST = 10000 };
    if (is_right && t->shift < MOST)
        t->shift += STEP;
    else if (!is_right)
        t->shift -= t->shift < STEP ? t->shift : STEP;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Of the selected function; pressed on the function in the middle it has nowhere to go. */
static void press_open_calls(struct tui *t)
{
    uint32_t node = tui_selected_node(t);
    if (!t->now)
        tui_say(t, "Callers and callees are a profile's; this is coverage alone.");
    else if (node == NO_NODE)
        tui_say(t, "This row is not a function: it has no callers and callees.");
    else if (t->view == VIEW_CALLS && node == t->calls.entry.node)
        tui_say(t, "This function is already in the middle; a shows its source.");
    else
        tui_show_calls(t, node);
}

/* The source of a function of the profile. False: no place is known, or its file is not among the
 * sources that were measured. */
static bool press_source_of_node(struct tui *t, uint32_t node)
{
    const char *file;
    uint32_t line;
    if (node == NO_NODE || graph_is_cycle(&t->now->session.graph, node))
        return false;
    tui_need_sources(t);
    if (!measurement_place(t->now, node, &file, &line))
        return false;
    uint32_t number = measured_source_of(&t->sources, file);
    if (number == UINT32_MAX)
        return false;
    tui_show_source(t, number, line);
    return true;
}

/* Coverage knows the source and the line of each of its functions, with no debug information at
 * hand. */
static bool press_source_of_covered(struct tui *t, uint32_t function)
{
    if (function == UINT32_MAX)
        return false;
    tui_need_sources(t);
    const struct result_function *f = &t->covered.result.functions.at[function];
    for (uint32_t i = 0; i < t->sources.all.len; i++) {
        if (t->sources.all.at[i].coverage == f->source) {
            tui_show_source(t, i, f->start_line);
            return true;
        }
    }
    return false;
}

/* A file is opened where it is hottest, or where the first line is that never ran. */
static void press_open_file(struct tui *t)
{
    size_t at = t->list[VIEW_FILES].selected;
    if (at >= t->files.rows.len)
        return;
    tui_show_source(t, t->files.rows.at[at], 0);
    if (t->list[VIEW_SOURCE].selected)
        return;
    size_t line = t->source.lines.len;
    for (size_t i = 0; i < t->source.lines.len && t->source.hot > 0; i++)
        if (t->source.lines.at[i].self >= t->source.hot && line == t->source.lines.len)
            line = i;
    if (line == t->source.lines.len)
        line = source_find_jump(&t->source, JUMP_MISSED, line ? line - 1 : 0, false);
    if (line < t->source.lines.len)
        list_centre(&t->list[VIEW_SOURCE], line);
}

/* Of the selected place; from anything else back to the line itself. */
static void press_source_of_detail(struct tui *t)
{
    const struct detail *row = &t->line.rows.at[t->list[VIEW_LINE].selected];
    uint32_t number = row->file ? measured_source_of(&t->sources, row->file) : t->line.source;
    if (number == UINT32_MAX)
        tui_say(t, "%s is not a file of the program in which code was measured.", row->file);
    else
        tui_show_source(t, number, row->file ? row->line : t->line.line);
}

static void press_open_detail(struct tui *t)
{
    const struct detail *row = &t->line.rows.at[t->list[VIEW_LINE].selected];
    if (row->file || row->function == NO_NODE)
        press_source_of_detail(t);
    else
        press_open_calls(t);
}

/* Lines are chosen in a source: in any other view there is none. */
static void press_show_line(struct tui *t)
{
    if (t->view != VIEW_SOURCE || !t->list[VIEW_SOURCE].len)
        tui_say(t, "Choose a line of a source (3) first.");
    else
        tui_show_line(t);
}

/* Files of other profilers may have no lines whatever the program was compiled with. */
static void press_say_no_lines(struct tui *t)
{
    const struct session *s = t->whole ? &t->whole->session : NULL;
    if (s && s->folder && recording_has_names_alone(&s->recorded.recording))
        tui_say(t, "This file knows functions only by name, so it has no lines.");
    else
        tui_say(t, "The program has no line numbers; compile it with -g.");
}

/* From any view to the source of the selection. The profile's place comes first, since debug
 * information knows the line of the code; coverage's is next. */
static void press_open_source(struct tui *t)
{
    if (t->view == VIEW_SOURCE)
        return;
    if (t->view == VIEW_LINE) {
        press_source_of_detail(t);
        return;
    }
    if (t->view == VIEW_FILES) {
        press_open_file(t);
        return;
    }
    uint32_t node = t->now ? tui_selected_node(t) : NO_NODE;
    if ((t->now && press_source_of_node(t, node)) ||
        press_source_of_covered(t, tui_selected_covered(t)))
        return;
    if (t->now && !t->now->has_lines && !t->has_coverage)
        press_say_no_lines(t);
    else
        tui_say(t, "No source line is known for this.");
}

/* Enter: one level deeper into what is selected. On pages of text, which have nothing to open, it
 * goes back. */
static void press_open(struct tui *t)
{
    size_t at = t->list[VIEW_PARTS].selected;
    switch (t->view) {
    case VIEW_FUNCTIONS:
        if (t->now && tui_selected_node(t) != NO_NODE)
            press_open_calls(t);
        else
            press_open_source(t);
        return;
    case VIEW_CALLS: press_open_calls(t); return;
    case VIEW_FILES: press_open_file(t); return;
    case VIEW_PARTS:
        if (at < t->parts.all.len)
            tui_zoom(t, &t->parts.all.at[at]);
        return;
    case VIEW_SOURCE: press_show_line(t); return;
    case VIEW_LINE: press_open_detail(t); return;
    case VIEW_COLUMNS: tui_toggle_column(t); return;
    default: tui_go_back(t); return;
    }
}

/* Plain profiles do not distinguish processes, threads and objects. */
static void press_show_parts(struct tui *t)
{
    if (!t->whole || !t->whole->session.folder)
        tui_say(t, "Only a recording has parts to choose from; make one with 'monarc run'.");
    else
        tui_show(t, VIEW_PARTS);
}

/* Without coverage and without line numbers no source is known. */
static void press_show_files(struct tui *t)
{
    tui_need_sources(t);
    if (!t->sources.all.len)
        press_say_no_lines(t);
    else
        tui_show(t, VIEW_FILES);
}

/* Opened on a table, the list is about that table's columns; opened on itself, it closes. */
static void press_show_columns(struct tui *t)
{
    if (t->view == VIEW_COLUMNS) {
        tui_go_back(t);
    } else if (!tui_columns_of(t->view)->len) {
        tui_say(t, "Functions (1), sources (3) and files (4) have columns to choose.");
    } else {
        t->columns_of = t->view;
        t->list[VIEW_COLUMNS] = (struct list){0};
        tui_show(t, VIEW_COLUMNS);
    }
}

/* Back to the whole recording, which is open all the time. */
static void press_zoom_out(struct tui *t)
{
    if (t->part.kind == PART_ALL)
        tui_say(t, "Everything is shown.");
    else
        tui_zoom(t, &(struct part){.kind = PART_ALL});
}

/* Views by number, and the way in and out: right and left open and go back, as Enter and Backspace
 * do. */
static bool press_goes(struct tui *t, uint32_t key)
{
    switch (key) {
    case '1': tui_show(t, VIEW_FUNCTIONS); return true;
    case '2':
        if (t->view != VIEW_CALLS)
            press_open_calls(t);
        return true;
    case '3':
    case 'a': press_open_source(t); return true;
    case '4': press_show_files(t); return true;
    case '5': press_show_parts(t); return true;
    case '6': press_show_line(t); return true;
    case 'i': tui_show(t, VIEW_NOTES); return true;
    case '?': tui_show(t, VIEW_HELP); return true;
    case 'z': press_zoom_out(t); return true;
    case 'c': press_show_columns(t); return true;
    case ' ': /* of a list to choose from */
    case PRESS_ENTER:
    case PRESS_RIGHT:
    case 'l': press_open(t); return true;
    case PRESS_BACKSPACE:
    case PRESS_LEFT:
    case 'h':
    case '<': tui_go_back(t); return true;
    case '>': tui_go_forward(t); return true;
    default: return false;
    }
}

/* --- searching ------------------------------------------------------------------------------- */

/* The text of a row that is searched; of a source's line it is copied into the arena. */
static const char *press_text_of(struct tui *t, size_t row, struct arena *a)
{
    char room[64];
    switch (t->view) {
    case VIEW_FUNCTIONS: return function_row_name(&t->functions, &t->functions.rows.at[row]);
    case VIEW_CALLS:
        return arena_printf(
            a, "%s", calls_name(t->now, calls_table_node(&t->calls, row), room, sizeof room));
    case VIEW_FILES: return files_table_row(&t->files, row)->shown;
    case VIEW_PARTS: return t->parts.all.at[row].name;
    case VIEW_LINE: return t->line.rows.at[row].text;
    case VIEW_COLUMNS: return tui_columns_of(t->columns_of)->names[row];
    case VIEW_NOTES: return t->notes.lines.at[row];
    case VIEW_HELP: return t->help.lines.at[row];
    default: break;
    }
    struct bytes line = source_line(&t->source.text, row + 1);
    return arena_copy(a, line.at ? (const char *)line.at : "", line.len);
}

/* Around the ends of the list, the selected row last (or first, with takes_here). Texts of lines
 * are copied to end in a NUL; the arena is emptied now and then, as a source may have a million
 * lines. */
static void press_find(struct tui *t, bool is_back, bool takes_here)
{
    struct list *l = &t->list[t->view];
    struct arena scratch = {0};
    if (!t->has_pattern) {
        tui_say(t, "Nothing was searched for yet; / starts a search.");
        return;
    }
    for (size_t i = takes_here ? 0 : 1; i <= l->len && l->len; i++) {
        size_t at =
            is_back ? (l->selected + l->len - i % l->len) % l->len : (l->selected + i) % l->len;
        if (!regexec(&t->pattern, press_text_of(t, at, &scratch), 0, NULL, 0)) {
            list_select(l, at);
            arena_deinit(&scratch);
            return;
        }
        if (i % 1024 == 0) {
            arena_deinit(&scratch);
            scratch = (struct arena){0};
        }
    }
    arena_deinit(&scratch);
    tui_say(t, "Not found.");
}

/* The pattern is kept for n and N until another one compiles. */
static void press_search(struct tui *t, const char *word)
{
    regex_t pattern;
    if (regcomp(&pattern, word, REG_EXTENDED | REG_NOSUB)) {
        tui_say(t, "'%s' is not a regular expression.", word);
        return;
    }
    if (t->has_pattern)
        regfree(&t->pattern);
    t->pattern = pattern;
    t->has_pattern = true;
    press_find(t, false, true);
}

/* A filter that is no regular expression is taken back, and the rows stay as they are. */
static void press_filter(struct tui *t, const char *word)
{
    char *before = t->filter[t->view];
    size_t size = strlen(word) + 1;
    t->filter[t->view] = memcpy(memory_zeroed(size, 1), word, size);
    if (tui_remake(t, t->view)) {
        memory_free(before);
        list_select(&t->list[t->view], 0);
        return;
    }
    memory_free(t->filter[t->view]);
    t->filter[t->view] = before;
}

/* A filter begins with the one in force, to be edited; a search begins empty. */
static void press_begin_prompt(struct tui *t, enum prompt prompt)
{
    if (prompt == PROMPT_FILTER && t->view != VIEW_FUNCTIONS && t->view != VIEW_FILES) {
        tui_say(t, "Functions (1) and files (4) can be filtered.");
        return;
    }
    t->prompt = prompt;
    t->typed.len = 0;
    const char *before = prompt == PROMPT_FILTER ? t->filter[t->view] : NULL;
    for (; before && *before; before++)
        vec_push(&t->typed, *before);
}

/* Appends a character as UTF-8 (RFC 3629):
 *
 *    up to 7f       0xxxxxxx
 *    up to 7ff      110xxxxx 10xxxxxx
 *    up to ffff     1110xxxx 10xxxxxx 10xxxxxx
 *    up to 10ffff   11110xxx 10xxxxxx 10xxxxxx 10xxxxxx */
static void press_type(struct tui *t, uint32_t c)
{
    enum { MOST = 200 };
    if (t->typed.len > MOST || c < ' ' || c == 0x7f || c > PRESS_LAST_CHARACTER)
        return;
    if (c < 0x80) {
        vec_push(&t->typed, (char)c);
        return;
    }
    if (c >= 0x10000)
        vec_push(&t->typed, (char)(0xf0 | c >> 18));
    if (c >= 0x800)
        vec_push(&t->typed, (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12));
    vec_push(&t->typed, (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6));
    vec_push(&t->typed, (char)(0x80 | (c & 0x3f)));
}

/* --- sorting, jumping, editing --------------------------------------------------------------- */

/* The selection goes to the top: what one sorts by is what one wants to see the most of. */
static void press_sort(struct tui *t, bool is_back)
{
    if (t->view == VIEW_FUNCTIONS) {
        /* The next order that there are figures for; by name there always are, so this ends. */
        enum function_sort sort = t->functions.sort;
        do
            sort = (sort + (is_back ? SORT_FUNCTIONS - 1 : 1)) % SORT_FUNCTIONS;
        while (!functions_table_can_sort(&t->functions.in, sort));
        t->functions.sort = sort;
    } else if (t->view == VIEW_FILES) {
        enum file_sort sort = t->files.sort;
        do
            sort = (sort + (is_back ? SORT_FILES - 1 : 1)) % SORT_FILES;
        while (!files_table_can_sort(&t->files.in, sort));
        t->files.sort = sort;
    } else {
        tui_say(t, "Functions (1) and files (4) can be sorted.");
        return;
    }
    if (tui_remake(t, t->view))
        list_select(&t->list[t->view], 0);
}

/* A pair of letters for each kind of line: small goes on, capital goes back. In other views these
 * letters are not taken. */
static bool press_jumps(struct tui *t, uint32_t key)
{
    static const struct {
        char next, previous;
        const char *none;
    } JUMPS[] = {
        [JUMP_HOT] = {'m', 'M', "No line of this file was sampled."},
        [JUMP_MISSED] = {'u', 'U', "Of this file, no line is known that never ran."},
        [JUMP_UNTAKEN] = {'t', 'T', "Lines that ran took all their branches."},
        [JUMP_FUNCTION] = {'p', 'P', "No function is known to begin in this file."},
        [JUMP_CHANGED] = {'d', 'D', "No line of this file is known to differ from a base."}};
    struct list *l = &t->list[VIEW_SOURCE];
    for (size_t i = 0; i < sizeof JUMPS / sizeof *JUMPS && t->view == VIEW_SOURCE; i++) {
        bool is_back = key == (uint32_t)JUMPS[i].previous;
        if (key != (uint32_t)JUMPS[i].next && !is_back)
            continue;
        size_t at = source_find_jump(&t->source, (enum source_jump)i, l->selected, is_back);
        if (at < l->len)
            list_centre(l, at);
        else
            tui_say(t, "%s", JUMPS[i].none);
        return true;
    }
    return false;
}

/* From a list, at what is selected: its source is opened as well, to come back to. */
static void press_edit(struct tui *t)
{
    if (t->view != VIEW_SOURCE)
        press_open_source(t);
    if (t->view != VIEW_SOURCE)
        return;
    if (!t->source.source->path) {
        tui_say(t, "No file to edit: %s", t->source.missing);
        return;
    }
    t->wants_editor = true;
    t->edit_path = t->source.source->path;
    t->edit_line = t->list[VIEW_SOURCE].selected + 1;
}

/* A message lasts for one key. Keys that move come first, as they are pressed most. */
void tui_press(struct tui *t, uint32_t key)
{
    t->message[0] = '\0';
    if (t->prompt) {
        /* Backspace takes a character, not a byte, and leaves an empty prompt as Escape does. */
        if (key == PRESS_ENTER) {
            /* An empty filter shows everything; an empty search looks for the last pattern again.
             */
            enum prompt prompt = t->prompt;
            t->prompt = PROMPT_NONE;
            vec_push(&t->typed, '\0');
            if (prompt == PROMPT_FILTER)
                press_filter(t, t->typed.at);
            else if (*t->typed.at)
                press_search(t, t->typed.at);
            else
                press_find(t, false, false);
        } else if (key == PRESS_ESCAPE || (key == PRESS_BACKSPACE && !t->typed.len)) {
            t->prompt = PROMPT_NONE;
        } else if (key == PRESS_CLEAR) {
            t->typed.len = 0;
        } else if (key == PRESS_BACKSPACE) {
            t->typed.len = utf8_cut((const uint8_t *)t->typed.at, t->typed.len, t->typed.len - 1);
        } else {
            press_type(t, key);
        }
        return;
    }
    if (press_scrolls(t, key) || press_moves(t, key) || press_jumps(t, key) || press_goes(t, key))
        return;
    switch (key) {
    case 'q': t->is_over = true; return;
    case '/': press_begin_prompt(t, PROMPT_SEARCH); return;
    case 'f': press_begin_prompt(t, PROMPT_FILTER); return;
    case 'n': press_find(t, false, false); return;
    case 'N': press_find(t, true, false); return;
    case 's': press_sort(t, false); return;
    case 'S': press_sort(t, true); return;
    case '[': press_shift(t, false); return;
    case ']': press_shift(t, true); return;
    case 'e': press_edit(t); return;
    case PRESS_REDRAW: t->wants_redraw = true; return;
    case PRESS_ESCAPE: return;
    default: tui_say(t, "This key does nothing here; ? lists those that do."); return;
    }
}
