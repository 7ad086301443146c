/* The terminal itself, by pseudoterminals: a child has one, and this program is what is behind it.
 * It types, reads every byte that the child writes, and looks at what a terminal would show of
 * them. The whole screen under tmux is asked in test_tui.py. */
#include "cases.h"
#include "pseudoterminal.h"

/* A system that lacks the terminal's description cannot be asked. */
static void skip_unless_known(void)
{
    if (!shared->is_fine && strstr(shared->e.line, "does not know"))
        SKIPPED("%s", shared->e.line);
    assert_true(shared->is_fine);
}

static void find(struct terminal_state *t)
{
    shared->is_fine = terminal_find(t, &shared->e);
}

/* Finds and opens; ends the child where that fails. */
static void find_and_open(struct terminal_state *t)
{
    find(t);
    if (shared->is_fine)
        shared->is_fine = terminal_open(t, &shared->e);
    if (!shared->is_fine)
        _exit(0);
}

/* --- what undoes all -------------------------------------------------------------------------- */

CASE(strings_that_undo_all)
{
    begin("xterm-256color", find);
    end();
    skip_unless_known();
    /* The other screen and the keypad are left; plain text, colours, the cursor, in this order. */
    static const char *const PARTS[] = {"\033[?1049l", "\033[?1l\033>", "\033[m", "\033[39;49m",
                                        "\033[?25h"};
    const char *at = shared->t.restore;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        at = strstr(at, PARTS[i]);
        assert_non_null(at);
    }
    assert_non_null(strstr(shared->t.retake, "\033[?1049h"));
    assert_int_equal(shared->t.input, STDIN_FILENO);
    assert_int_equal(shared->t.output, STDOUT_FILENO);
    assert_int_equal(got_len, 0); /* nothing has changed yet */
}

/* The description of a vt100 says to wait two milliseconds: $<2>. */
CASE(delays_are_not_sent)
{
    begin("vt100", find);
    end();
    skip_unless_known();
    assert_string_equal(shared->t.restore, "\033[?1l\033>\033[m\017");
    assert_string_equal(shared->t.retake, "");
}

/* Terminals of our own: delays in the middle and what only looks like one; long strings; too
 * little. */
#define X_10  "xxxxxxxxxx"
#define X_100 X_10 X_10 X_10 X_10 X_10 X_10 X_10 X_10 X_10 X_10
static const char ENTRIES[] =
    "odd|made up, cols#80, lines#24, cup=\\E[%i%p1%d;%p2%dH, clear=\\E[J,\n"
    "\trmcup=a$<5>b$<20/>c, rmkx=d$e<f, sgr0=$<3>g$<, smcup=h$<1*>i$,\n"
    "long|made up, cup=\\E[%i%p1%d;%p2%dH, clear=\\E[J, smcup=in,\n"
    "\trmcup=" X_100 X_100 ", rmkx=" X_100 ",\n"
    "no-clear|made up, cup=\\E[%i%p1%d;%p2%dH,\n"
    "no-cup|made up, clear=\\E[J,\n";

static void find_all_of_ours(struct terminal_state *t)
{
    for (int i = 0; i < 3; i++) {
        setenv("TERM", i == 0 ? "long" : i == 1 ? "no-clear" : "no-cup", 1);
        find(t);
        shared->keys[i] = shared->is_fine;
        shared->rows[i] = strlen(t->restore);
        terminal_forget(t);
    }
    setenv("TERM", "odd", 1);
    find(t);
}

CASE(terminals_of_our_own)
{
    char folder[] = "/tmp/monarc-terminfo-XXXXXX", command[200];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "cd %s && cat >all.ti && tic -x -o . all.ti 2>tic.log",
             folder);
    FILE *to = popen(command, "w");
    assert_non_null(to);
    fputs(ENTRIES, to);
    bool is_made = !pclose(to);
    setenv("TERMINFO", folder, 1);
    if (is_made) {
        begin("odd", find_all_of_ours);
        end();
    }
    unsetenv("TERMINFO");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!is_made)
        SKIPPED("no tic(1)");
    assert_true(shared->is_fine);
    assert_string_equal(shared->t.restore, "abcd$e<fg$<");
    assert_string_equal(shared->t.retake, "hi$");
    assert_true(shared->keys[0]);
    assert_int_equal(shared->rows[0], sizeof shared->t.restore - 1); /* what does not fit is cut */
    assert_false(shared->keys[1] || shared->keys[2]);
}

static void find_without_input(struct terminal_state *t)
{
    int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    find(t);
    struct terminal_state found = *t;
    terminal_forget(t);
    shared->keys[0] = found.owns_input && found.input > STDERR_FILENO;
    shared->keys[1] = fcntl(found.input, F_GETFD) < 0; /* is closed again */
    shared->keys[2] = fcntl(STDIN_FILENO, F_GETFD) >= 0;
}

static void find_without_output(struct terminal_state *t)
{
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    find(t);
}

static void find_and_forget(struct terminal_state *t)
{
    find(t);
    terminal_forget(t);
    shared->keys[0] = fcntl(STDIN_FILENO, F_GETFD) >= 0 && !t->curses;
}

CASE(input_and_output)
{
    begin("xterm-256color", find_without_input); /* keys come from /dev/tty */
    end();
    skip_unless_known();
    for (size_t i = 0; i < 3; i++)
        assert_true(shared->keys[i]);
    begin("xterm-256color", find_without_output);
    end();
    assert_false(shared->is_fine);
    assert_non_null(strstr(shared->e.line, "standard output is not a terminal"));
    begin("xterm-256color", find_and_forget);
    end();
    assert_true(shared->keys[0]);
}

CASE(terminals_that_will_not_do)
{
    static const struct {
        const char *term, *why;
    } CASES[] = {{NULL, "TERM is not set"},
                 {"", "TERM is not set"},
                 {"no-such-terminal", "has no description of the terminal 'no-such-terminal'"},
                 {"dumb", "cannot move its cursor"}};
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        begin(CASES[i].term, find_and_forget);
        end();
        assert_true(shared->keys[0]); /* there may have been nothing to forget */
        assert_false(shared->is_fine);
        assert_non_null(strstr(shared->e.line, CASES[i].why));
    }
}

/* --- taking it, and giving it back ------------------------------------------------------------ */

static void take_and_give_back(struct terminal_state *t)
{
    find_and_open(t);
    tcgetattr(t->output, &shared->modes[1]);
    reach(1);
    terminal_suspend(t);
    tcgetattr(t->output, &shared->modes[2]);
    reach(2);
    terminal_resume(t);
    tcgetattr(t->output, &shared->modes[3]);
    reach(3);
    if (!fork()) { /* in the background: writing would stop it */
        setpgid(0, 0);
        terminal_put_back(t);
        _exit(0);
    }
    wait(NULL);
    tcgetattr(t->output, &shared->modes[4]);
    reach(4);
    terminal_put_back(t);
    tcgetattr(t->output, &shared->modes[5]);
    reach(5);
    terminal_retake(t);
    tcgetattr(t->output, &shared->modes[6]);
    reach(6);
}

static bool is_raw(const struct termios *modes)
{
    return !(modes->c_lflag & (ICANON | ECHO)) && modes->c_lflag & ISIG &&
           !(modes->c_iflag & ICRNL);
}

CASE(modes_come_and_go)
{
    begin("xterm-256color", take_and_give_back);
    while (!shared->stage && waitpid(child, NULL, WNOHANG) == 0)
        take(1);
    skip_unless_known();
    bytes_of_stage(1);
    assert_true(is_raw(&shared->modes[1]));
    bytes_of_stage(2);
    assert_memory_equal(&shared->modes[2], &shared->t.modes, sizeof shared->t.modes);
    bytes_of_stage(3);
    assert_true(is_raw(&shared->modes[3]));
    assert_string_equal(bytes_of_stage(4), "");
    assert_memory_equal(&shared->modes[4], &shared->modes[3], sizeof shared->t.modes);
    assert_string_equal(bytes_of_stage(5), shared->t.restore);
    assert_memory_equal(&shared->modes[5], &shared->t.modes, sizeof shared->t.modes);
    assert_non_null(strstr(bytes_of_stage(6), shared->t.retake));
    assert_true(is_raw(&shared->modes[6]));
    end();
}

/* --- keys ------------------------------------------------------------------------------------- */

static void read_keys(struct terminal_state *t)
{
    find_and_open(t);
    uint32_t none = terminal_key(t); /* does not wait */
    shared->stage = 1;
    for (size_t len = 0; len < MOST_KEYS && (!len || shared->keys[len - 1] != 'q');) {
        struct pollfd input = {.fd = t->input, .events = POLLIN};
        poll(&input, 1, -1);
        for (uint32_t key; (key = terminal_key(t)) != PRESS_NONE;)
            shared->keys[len++] = key;
    }
    shared->keys[MOST_KEYS - 1] = none;
    terminal_suspend(t);
}

CASE(keys_by_name)
{
    static const struct {
        const char *typed;
        uint32_t key;
    } CASES[] = {{"\033OA", PRESS_UP},
                 {"\033OB", PRESS_DOWN},
                 {"\033OD", PRESS_LEFT},
                 {"\033OC", PRESS_RIGHT},
                 {"\033[5~", PRESS_PAGE_UP},
                 {"\033[6~", PRESS_PAGE_DOWN},
                 {"\033OH", PRESS_HOME},
                 {"\033OF", PRESS_END},
                 {"\033OM", PRESS_ENTER},
                 {"\r", PRESS_ENTER},
                 {"\n", PRESS_ENTER},
                 {"\177", PRESS_BACKSPACE},
                 {"\f", PRESS_REDRAW},
                 {"\025", PRESS_CLEAR},
                 {"a", 'a'},
                 {"\303\251", 0xe9},
                 {"\346\274\242", 0x6f22},
                 {"\033OP", PRESS_ESCAPE}, /* F1, which means nothing */
                 {"q", 'q'}};
    enum { CASES_LEN = sizeof CASES / sizeof *CASES };
    (void)state;
    begin("xterm-256color", read_keys);
    while (!shared->stage && waitpid(child, NULL, WNOHANG) == 0)
        take(1);
    skip_unless_known();
    for (size_t i = 0; i < CASES_LEN; i++)
        type(CASES[i].typed);
    end();
    for (size_t i = 0; i < CASES_LEN; i++)
        assert_int_equal(shared->keys[i], CASES[i].key);
    assert_int_equal(shared->keys[MOST_KEYS - 1], PRESS_NONE);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static const struct winsize SIZES[] = {
    {24, 80, 0, 0}, {50, 132, 0, 0}, {50, 20, 0, 0}, {1, 20, 0, 0}, {2000, 3000, 0, 0}};
enum { SIZES_LEN = sizeof SIZES / sizeof *SIZES };

static void measure(struct terminal_state *t)
{
    find_and_open(t);
    for (int i = 0; i < SIZES_LEN; i++) {
        reach(i + 1);
        terminal_measure(t, &shared->rows[i], &shared->columns[i]);
    }
    reach(SIZES_LEN + 1); /* of no size: as before */
    terminal_measure(t, &shared->rows[SIZES_LEN], &shared->columns[SIZES_LEN]);
    terminal_suspend(t);
}

CASE(sizes_are_the_terminals)
{
    begin("xterm-256color", measure);
    while (!shared->stage && waitpid(child, NULL, WNOHANG) == 0)
        take(1);
    skip_unless_known();
    for (int i = 0; i <= SIZES_LEN; i++) {
        const struct winsize none = {0};
        await_stage(i + 1);
        assert_int_equal(ioctl(behind, TIOCSWINSZ, i < SIZES_LEN ? &SIZES[i] : &none), 0);
        shared->told = i + 1;
    }
    end();
    for (int i = 0; i < SIZES_LEN - 1; i++) {
        assert_int_equal(shared->rows[i], SIZES[i].ws_row);
        assert_int_equal(shared->columns[i], SIZES[i].ws_col);
    }
    for (int i = SIZES_LEN - 1; i <= SIZES_LEN; i++) { /* there are bounds */
        assert_int_equal(shared->rows[i], 1000);
        assert_int_equal(shared->columns[i], 2000);
    }
}

/* --- painting --------------------------------------------------------------------------------- */

/* What a terminal shows of bytes: the sequences that curses sends for so few cells. */
static struct shown {
    char text[ROWS][COLUMNS + 1];
    char colour[ROWS][COLUMNS];     /* a digit; 0: none */
    char attributes[ROWS][COLUMNS]; /* bits of SGR 1, 4 and 7 */
    int row, column;
    bool has_cursor, has_background;
} shown;

static void show_sgr(const int *numbers, size_t len, char *colour, char *attributes)
{
    for (size_t i = 0; i < len; i++) {
        int n = numbers[i];
        if (n == 0)
            *colour = *attributes = 0;
        else if (n == 1 || n == 4 || n == 7)
            *attributes |= (char)(1 << n % 7);
        else if (n >= 30 && n <= 37)
            *colour = (char)('0' + n - 30);
        else if (n == 39)
            *colour = 0;
        shown.has_background |= n >= 40 && n <= 48;
    }
}

/* A control sequence; returns what is behind it. */
static const char *show_sequence(const char *at, char *colour, char *attributes)
{
    int numbers[8] = {0};
    size_t len = 1;
    bool is_private = *at == '?';
    for (at += is_private; *at && (unsigned char)*at < '@'; at++)
        if (*at >= '0' && *at <= '9')
            numbers[len - 1] = 10 * numbers[len - 1] + *at - '0';
        else if (*at == ';' && len < 8)
            len++;
    int by = numbers[0] ? numbers[0] : 1;
    switch (*at) {
    case 'm': show_sgr(numbers, len, colour, attributes); break;
    case 'H':
        shown.row = by - 1;
        shown.column = numbers[1] ? numbers[1] - 1 : 0;
        break;
    case 'A': shown.row -= by; break;
    case 'B': shown.row += by; break;
    case 'C': shown.column += by; break;
    case 'D': shown.column -= by; break;
    case 'G': shown.column = by - 1; break;
    case 'd': shown.row = by - 1; break;
    case 'h':
    case 'l':
        shown.has_cursor = is_private && numbers[0] == 25 ? *at == 'h' : shown.has_cursor;
        break;
    default: break;
    }
    return *at ? at + 1 : at;
}

static void show(const char *bytes)
{
    char colour = 0, attributes = 0;
    memset(&shown, 0, sizeof shown);
    for (const char *at = bytes; *at;) {
        unsigned char c = (unsigned char)*at++;
        if (c == 033 && *at == '[')
            at = show_sequence(at + 1, &colour, &attributes);
        else if (c == 033)
            at += *at == '(' ? 2 : 1;
        else if (c == '\r')
            shown.column = 0;
        else if (c == '\n')
            shown.row++;
        else if (c == '\b')
            shown.column--;
        else if (c >= ' ' && c < 0300 && c >= 0200) /* the rest of a character */
            ;
        else if (c >= ' ') {
            assert_in_range(shown.row, 0, ROWS - 1);
            assert_in_range(shown.column, 0, COLUMNS - 1);
            shown.text[shown.row][shown.column] = c < 0200 ? (char)c : c < 0340 ? 'l' : 'w';
            shown.colour[shown.row][shown.column] = colour;
            shown.attributes[shown.row][shown.column] = attributes;
            shown.column += c < 0340 ? 1 : 2;
        }
    }
}

/* One letter for each style, a wide character and one that is none of ASCII. */
static const uint8_t STYLES[] = {
    STYLE_PLAIN,   STYLE_HOT,       STYLE_WARM,
    STYLE_MISSED,  STYLE_HIT,       STYLE_BOLD,
    STYLE_REVERSE, STYLE_UNDERLINE, STYLE_HOT | STYLE_BOLD | STYLE_UNDERLINE};
enum { STYLES_LEN = sizeof STYLES, PAINTED_ROWS = 12, PAINTED_COLUMNS = 40 };

static void paint(struct terminal_state *t)
{
    struct surface s = {0};
    find_and_open(t);
    surface_resize(&s, PAINTED_ROWS, PAINTED_COLUMNS);
    for (size_t i = 0; i < STYLES_LEN; i++)
        *surface_cell(&s, i + 1, 3 * i) = (struct cell){(uint32_t)('A' + i), STYLES[i], 1};
    *surface_cell(&s, 0, 20) = (struct cell){0x6f22, STYLE_PLAIN, 2};
    *surface_cell(&s, 0, 21) = (struct cell){0, STYLE_PLAIN, 0};
    *surface_cell(&s, 0, 22) = (struct cell){'x', STYLE_PLAIN, 1};
    *surface_cell(&s, 0, 30) = (struct cell){0xe9, STYLE_PLAIN, 1};
    terminal_paint(t, &s, &(struct cursor_place){11, 17, true});
    reach(1);
    surface_cell(&s, 2, 3)->character = 'Z';
    terminal_paint(t, &s, &(struct cursor_place){0});
    reach(2);
    terminal_suspend(t);
}

static void expect_letters(bool has_colours)
{
    static const char COLOURS[] = {0, '1', '3', '1', '2', 0, 0, 0, '1'};
    static const char ATTRIBUTES[] = {0, 0, 0, 0, 0, 1 << 1, 1 << 0, 1 << 4, 1 << 1 | 1 << 4};
    for (size_t i = 0; i < STYLES_LEN; i++) {
        assert_int_equal(shown.text[i + 1][3 * i], 'A' + (int)i);
        assert_int_equal(shown.colour[i + 1][3 * i], has_colours ? COLOURS[i] : 0);
        assert_int_equal(shown.attributes[i + 1][3 * i], ATTRIBUTES[i]);
    }
    assert_false(shown.has_background); /* it is the terminal's own */
}

/* Paints on such a terminal, up to the first stage. */
static void begin_painting(const char *term)
{
    begin(term, paint);
    while (!shared->stage && waitpid(child, NULL, WNOHANG) == 0)
        take(1);
    skip_unless_known();
    bytes_of_stage(1);
    show(got);
}

CASE(cells_are_painted)
{
    begin_painting("xterm-256color");
    expect_letters(true);
    assert_int_equal(shown.text[0][20], 'w');
    assert_int_equal(shown.text[0][22], 'x');
    assert_int_equal(shown.text[0][30], 'l');
    assert_int_equal(shown.row, 11);
    assert_int_equal(shown.column, 17);
    assert_true(shown.has_cursor);
    size_t first = got_len;
    bytes_of_stage(2);
    assert_true(got_len - first < 100); /* what has changed */
    show(got);
    assert_int_equal(shown.text[2][3], 'Z');
    assert_false(shown.has_cursor);
    end();
}

/* Where there are no colours, or none are wanted, text says what they repeat. */
CASE(without_colours)
{
    setenv("NO_COLOR", "1", 1);
    begin_painting("xterm-256color");
    expect_letters(false);
    bytes_of_stage(2);
    end();
    setenv("NO_COLOR", "", 1); /* says nothing */
    begin_painting("xterm-256color");
    expect_letters(true);
    bytes_of_stage(2);
    end();
    unsetenv("NO_COLOR");
    begin_painting("xterm-mono");
    expect_letters(false);
    bytes_of_stage(2);
    end();
}

/* --------------------------------------------------------------------------------------------- */

int main(void)
{
    alarm(600);
    return run_cases(share, NULL);
}
