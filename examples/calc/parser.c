/*
 * parser.c: computes an expression by recursive descent: sums of products of powers of factors.
 *
 * factor calls expression for what stands in parentheses: the four functions form a call cycle.
 * It builds no tree; a syntax error is reported on stderr and counts as 0.
 */
#include "calc.h"

#include <stdio.h>

static double expression(struct lexer *lexer);

/* Whether the token at hand is this sign. lexer.c has a static function of the same name. */
static int peek(const struct lexer *lexer, char sign)
{
    return lexer->now.kind == TOKEN_SIGN && lexer->now.sign == sign;
}

static int accept(struct lexer *lexer, char sign)
{
    if (!peek(lexer, sign))
        return 0;
    lexer_next(lexer);
    return 1;
}

static double complain(const char *what)
{
    static int complained;

    if (!complained++)
        fprintf(stderr, "calc: %s\n", what);
    return 0;
}

/* a^b for a whole b, by squaring: it calls itself. */
static double power(double base, long exponent)
{
    if (exponent < 0)
        return 1 / power(base, -exponent);
    if (exponent == 0)
        return 1;
    if (exponent % 2)
        return base * power(base, exponent - 1);
    return power(base * base, exponent / 2);
}

static double call_or_variable(struct lexer *lexer)
{
    struct token name = lexer->now;
    double value;
    int known;

    lexer_next(lexer);
    if (!accept(lexer, '('))
        return variable_get(name.name);
    value = function_call(name.name, expression(lexer), &known);
    if (!known)
        complain("unknown function");
    return accept(lexer, ')') ? value : complain("')' expected");
}

static double factor(struct lexer *lexer)
{
    double value;

    if (accept(lexer, '-'))
        return -factor(lexer);
    if (accept(lexer, '(')) {
        value = expression(lexer);
        return accept(lexer, ')') ? value : complain("')' expected");
    }
    if (lexer->now.kind == TOKEN_NAME)
        return call_or_variable(lexer);
    if (lexer->now.kind != TOKEN_NUMBER)
        return complain("a number, a name or '(' expected");
    value = lexer->now.number;
    lexer_next(lexer);
    return value;
}

/* a^b^c is a^(b^c). */
static double raised(struct lexer *lexer)
{
    double value = factor(lexer);

    return accept(lexer, '^') ? power(value, (long)raised(lexer)) : value;
}

static double term(struct lexer *lexer)
{
    double value = raised(lexer);

    for (;;) {
        if (accept(lexer, '*'))
            value *= raised(lexer);
        else if (accept(lexer, '/'))
            value /= raised(lexer);
        else
            return value;
    }
}

static double expression(struct lexer *lexer)
{
    double value = term(lexer);

    for (;;) {
        if (accept(lexer, '+'))
            value += term(lexer);
        else if (accept(lexer, '-'))
            value -= term(lexer);
        else
            return value;
    }
}

double calculate(const char *text)
{
    struct lexer lexer;
    double value;

    lexer_init(&lexer, text);
    value = expression(&lexer);
    return lexer.now.kind == TOKEN_END ? value : complain("end of expression expected");
}
