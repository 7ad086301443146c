/*
 * lexer.c: cuts the text of an expression into numbers, names and one-letter signs.
 *
 * It knows no precedence and refuses nothing: an unknown letter is a sign that the parser rejects.
 */
#include "calc.h"

#include <ctype.h>

/* The letter at hand. parser.c has a static function of the same name, for tokens. */
static int peek(const struct lexer *lexer)
{
    return (unsigned char)*lexer->text;
}

static double number(struct lexer *lexer)
{
    double value = 0, unit = 1;

    for (; isdigit(peek(lexer)); lexer->text++)
        value = value * 10 + (peek(lexer) - '0');
    if (peek(lexer) != '.')
        return value;
    for (lexer->text++; isdigit(peek(lexer)); lexer->text++)
        value += (unit /= 10) * (peek(lexer) - '0');
    return value;
}

static void name(struct lexer *lexer)
{
    int length = 0;

    for (; isalpha(peek(lexer)); lexer->text++)
        if (length < (int)sizeof lexer->now.name - 1)
            lexer->now.name[length++] = (char)peek(lexer);
    lexer->now.name[length] = '\0';
}

void lexer_next(struct lexer *lexer)
{
    while (isspace(peek(lexer)))
        lexer->text++;
    if (peek(lexer) == '\0') {
        lexer->now.kind = TOKEN_END;
    } else if (isdigit(peek(lexer))) {
        lexer->now.kind = TOKEN_NUMBER;
        lexer->now.number = number(lexer);
    } else if (isalpha(peek(lexer))) {
        lexer->now.kind = TOKEN_NAME;
        name(lexer);
    } else {
        lexer->now.kind = TOKEN_SIGN;
        lexer->now.sign = *lexer->text++;
    }
}

void lexer_init(struct lexer *lexer, const char *text)
{
    lexer->text = text;
    lexer_next(lexer);
}
