/* Presses keys on the model and prints what is drawn, without a terminal:
 *
 *     screens ROWS COLUMNS OPERAND... [-- OPERAND...] <keys
 *
 * Operands are those of `monarc tui`; behind `--` stand those of the base. A line of keys is typed
 * and the screen printed. `\r` is Enter, `\b` Backspace, `^` to `$` move; `=ROWSxCOLUMNS` is
 * another size. Behind the rows stand the styles that are not plain, as `row: from-to style`, the
 * cursor where a prompt shows it, and the editor that was asked for. */
#include "cli/cli.h"
#include "session/imported.h"
#include "session/session.h"
#include "tui/draw/draw.h"
#include "tui/model/tui.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct side {
    struct session_options session;
    struct cover_options cover;
    struct tui_options options;
    VEC(char *) profile, coverage;
};

/* As `monarc tui` tells operands apart. */
static bool side_init(struct side *s, char **names, size_t len, struct err *e)
{
    struct operand_mix mix = operand_mix_of(names, len);
    cover_options_init(&s->cover);
    for (size_t i = 0; i < len; i++) {
        if (operand_is_of_coverage(&mix, names[i]))
            vec_push(&s->coverage, names[i]);
        if (operand_is_of_profile(&mix, names[i]))
            vec_push(&s->profile, names[i]);
    }
    if (!cover_options_finish(&s->cover, e))
        return false;
    if (s->profile.len) {
        if (!session_operands(&s->session, s->profile.at, s->profile.len, e))
            return false;
        s->options.profile = &s->session;
    }
    if (s->coverage.len) {
        s->cover.session.paths = s->coverage.at;
        s->cover.session.paths_len = s->coverage.len;
        s->options.coverage = &s->cover.session;
    }
    s->options.search = &s->cover.search;
    s->options.folder = s->cover.session.filter.root;
    return true;
}

static void side_deinit(struct side *s)
{
    cover_options_deinit(&s->cover);
    vec_free(&s->profile);
    vec_free(&s->coverage);
}

static void print_screen(struct surface *s, const struct tui *t, const char *keys)
{
    struct cursor_place at = draw_screen(s, t);
    printf("=== %s\n", keys);
    for (size_t row = 0; row < s->rows; row++) {
        size_t end = s->columns;
        while (end && surface_cell(s, row, end - 1)->character == ' ')
            end--;
        for (size_t i = 0; i < end; i++) {
            uint32_t c = surface_cell(s, row, i)->character;
            putchar(!c ? '>' : c < 0x80 ? (int)c : '?');
        }
        putchar('\n');
    }
    for (size_t row = 0; row < s->rows; row++) {
        const char *between = "";
        for (size_t i = 0, end; i < s->columns; i = end) {
            uint8_t style = surface_cell(s, row, i)->style;
            for (end = i + 1; end < s->columns && surface_cell(s, row, end)->style == style;)
                end++;
            if (!style)
                continue;
            if (!*between)
                printf("%zu:", row);
            printf(" %zu-%zu %d", i, end - 1, style);
            between = ",";
        }
        if (*between)
            putchar('\n');
    }
    if (at.is_shown)
        printf("cursor %zu %zu\n", at.row, at.column);
    if (t->wants_editor)
        printf("edit %s %zu\n", t->edit_path, t->edit_line);
}

static void announce(void *context, const char *what)
{
    (void)context;
    printf("(%s)\n", what);
}

static uint32_t key_of(char c)
{
    static const char NAMES[] = "\r\b^v{}@$~";
    static const uint32_t KEYS[] = {PRESS_ENTER, PRESS_BACKSPACE, PRESS_UP,
                                    PRESS_DOWN,  PRESS_PAGE_UP,   PRESS_PAGE_DOWN,
                                    PRESS_HOME,  PRESS_END,       PRESS_CLEAR};
    const char *found = strchr(NAMES, c);
    return found ? KEYS[found - NAMES] : (uint32_t)c;
}

/* Keys of `^v{}@$~` are text while a prompt is open. */
static void type(struct tui *t, const char *keys)
{
    for (; *keys; keys++) {
        bool is_escape = *keys == '\\' && keys[1];
        char c = is_escape ? (*++keys == 'r' ? '\r'
                              : *keys == 'b' ? '\b'
                              : *keys == 'e' ? 27
                                             : *keys)
                           : *keys;
        uint32_t key = c == 27                                      ? PRESS_ESCAPE
                       : t->prompt && (uint8_t)c >= ' ' && c != '~' ? (uint32_t)c
                                                                    : key_of(c);
        tui_press(t, key);
    }
}

int main(int argc, char **argv)
{
    static struct side now, base;
    struct tui t = {0};
    struct surface s = {0};
    struct err e = {0};
    char keys[200];
    int end = 3;
    setlocale(LC_CTYPE, "C.UTF-8");
    while (end < argc && strcmp(argv[end], "--"))
        end++;
    if (argc < 4 || !side_init(&now, argv + 3, (size_t)end - 3, &e) ||
        (end < argc && !side_init(&base, argv + end + 1, (size_t)(argc - end) - 1, &e)))
        return fprintf(stderr, "screens: %s\n", e.line), 2;
    now.options.base = end < argc ? &base.options : NULL;
    if (!tui_open(&t, &now.options, &e))
        return fprintf(stderr, "screens: %s\n", e.line), 2;
    t.announce = announce;
    surface_resize(&s, strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
    tui_resize(&t, s.rows, s.columns);
    while (fgets(keys, sizeof keys, stdin)) {
        size_t rows, columns;
        keys[strcspn(keys, "\n")] = '\0';
        if (sscanf(keys, "=%zux%zu", &rows, &columns) == 2) {
            surface_resize(&s, rows, columns);
            tui_resize(&t, rows, columns);
        } else {
            type(&t, keys);
        }
        print_screen(&s, &t, keys);
        t.wants_editor = false;
        if (t.is_over)
            puts("over");
    }
    tui_close(&t);
    surface_deinit(&s);
    side_deinit(&now);
    side_deinit(&base);
    return 0;
}
