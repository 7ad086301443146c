/* What a key does. */
#ifndef MONARC_TUI_MODEL_PRESS_H
#define MONARC_TUI_MODEL_PRESS_H

#include "tui/model/keys.h"
#include "tui/model/tui.h"

/* `key` is a character or one of enum press. */
void tui_press(struct tui *t, uint32_t key);

#endif
