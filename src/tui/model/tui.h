/* The state of the screen and the keys that change it: the face of this room.
 *
 * One struct tui is the whole state, and is changed by keys alone: tests press keys and look at
 * what is drawn, without a terminal. Tables belong to it; what they are made of (sessions, results)
 * does, too, and outlives them. */
#ifndef MONARC_TUI_MODEL_TUI_H
#define MONARC_TUI_MODEL_TUI_H

#include "coverage/analysis/coverage_change.h"
#include "session/coverage.h"
#include "tui/model/tables.h"

#include <regex.h>

/* Everything the screen is about: what was opened, the visible tables, where one is in them and how
 * one came there. Keys change it (press.c), drawing reads it. It knows no terminal. */

/* Values are indices of arrays all over this folder; the keys 1 to 6 open the first ones. */
enum view {
    VIEW_FUNCTIONS,
    VIEW_CALLS,
    VIEW_SOURCE,
    VIEW_FILES,
    VIEW_PARTS,
    VIEW_LINE,
    VIEW_COLUMNS,
    VIEW_NOTES,
    VIEW_HELP,
    VIEWS
};

/* The question in the last row; during it, all keys are text. */
enum prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER };

/* A place to come back to. */
struct visit {
    enum view view;
    uint32_t about; /* of calls: the node; of a source or a line: the source's number */
    uint32_t line;  /* of a line: its number */
    size_t selected, top;
};

/* What to look at. Texts live as long as the screen. */
struct tui_options {
    const struct session_options *profile;   /* NULL: no profile; its operands are taken */
    const struct coverage_options *coverage; /* likewise */
    const struct tui_options *base;          /* to compare with, or NULL */
    const struct source_search *search;
    const char *folder; /* a profile's sources below it are shown without it */
};

struct tui {
    const struct tui_options *options;
    struct measurement *whole, *now; /* `now` is of the part; the same while that is everything */
    struct measurement *old;         /* the base's */
    struct coverage_session covered, old_covered;
    bool has_coverage, has_old_coverage;
    struct baseline base;          /* of `now` with `old` */
    struct coverage_change change; /* since the old coverage, if there is one */
    struct measured_sources sources;
    bool has_time_in_sources; /* lines of `now` are in there */

    struct functions_table functions;
    struct calls_table calls;
    struct source_table source;
    struct line_view line;
    struct files_table files;
    struct parts parts;
    struct page_text notes, help;
    enum view columns_of;   /* the table whose columns are chosen */
    uint32_t hidden[VIEWS]; /* columns that were, a bit each */
    struct part part;       /* what of the recording is shown */
    const char *object;     /* the same; NULL: all */
    char *filter[VIEWS];    /* of functions and of files, or NULL */

    enum view view;
    struct list list[VIEWS];
    VEC(struct visit) back, forward;
    size_t shift; /* columns that names and lines are scrolled to the left */

    enum prompt prompt;
    VEC(char) typed; /* UTF-8 */
    regex_t pattern;
    bool has_pattern;
    char message[256]; /* for one key's time */

    size_t rows, columns; /* of the screen */
    bool is_over;
    bool wants_editor; /* at edit_path, edit_line */
    const char *edit_path;
    size_t edit_line;
    bool wants_redraw;

    /* Says what takes a while, before it does; set by who has a screen. */
    void (*announce)(void *context, const char *what);
    void *announce_context;
};

/* Opens everything into a zeroed *t; tui_close() after failure, too. */
MUST_CHECK bool tui_open(struct tui *t, const struct tui_options *o, struct err *e);
void tui_close(struct tui *t);

/* Reads the source that is shown again: it may have changed. */
void tui_reload_source(struct tui *t);

/* The screen has another size. */
void tui_resize(struct tui *t, size_t rows, size_t columns);

/* --- for press.c ----------------------------------------------------------------------------- */

/* A message in the last row until the next key, cut to what `message` holds. */
void tui_say(struct tui *t, const char *format, ...) PRINTF_LIKE(2, 3);

/* Makes a table again after its order, filter or part has changed. False: the filter is wrong. */
MUST_CHECK bool tui_remake(struct tui *t, enum view view);

/* Sources of the profile are known from the first look at one on. Does nothing after the first
 * time. It reads the line tables of all objects, seconds for a large program, so it is
 * announced. */
void tui_need_sources(struct tui *t);

/* To a view, remembering where one was. `node`: a function or cycle of the graph of `now`.
 * `number`: a source of `sources`; `line` counts from 1, 0 leaves the selection where it was. */
void tui_show_calls(struct tui *t, uint32_t node);
void tui_show_source(struct tui *t, uint32_t number, size_t line);
void tui_show_line(struct tui *t); /* the one that is selected in the source */
void tui_show(struct tui *t, enum view view);

/* Like a browser's buttons. At either end of the visits there is a message instead. */
void tui_go_back(struct tui *t);
void tui_go_forward(struct tui *t);

/* The columns of a table; hides or shows the selected one. */
const struct column_list *tui_columns_of(enum view view);
void tui_toggle_column(struct tui *t);

/* Another part of the recording. Opens it and makes all tables again; visits are forgotten, since
 * numbers of functions and sources are another measurement's. Whatever fails is a message, and the
 * part that is shown stays. */
void tui_zoom(struct tui *t, const struct part *part);

/* The function of the profile, and of coverage, that is selected; NO_NODE, UINT32_MAX: none. */
uint32_t tui_selected_node(const struct tui *t);
uint32_t tui_selected_covered(const struct tui *t);

/* Keys as the screen hears them: characters by their number in Unicode, others beyond these. */

/* Control characters have their own numbers; keys without a character begin after the last one that
 * Unicode has. */
enum press {
    PRESS_BACKSPACE = 0x8,
    PRESS_REDRAW = 0xc, /* Ctrl-L */
    PRESS_ENTER = 0xd,
    PRESS_CLEAR = 0x15, /* Ctrl-U */
    PRESS_ESCAPE = 0x1b,
    PRESS_LAST_CHARACTER = 0x10ffff,
    PRESS_UP,
    PRESS_DOWN,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_NONE
};

/* What a key does. Everything happens before it returns; what takes a while is announced first.
 * Unknown keys are answered with a message. */

/* `key` is a character or one of enum press. */
void tui_press(struct tui *t, uint32_t key);

#endif
