/* Keys as the screen hears them: characters by their number in Unicode, others beyond these. */
#ifndef MONARC_TUI_MODEL_KEYS_H
#define MONARC_TUI_MODEL_KEYS_H

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

#endif
