/*
 * calc.h: the three parts of a small calculator and what they promise one another.
 *
 * text -> lexer (tokens) -> parser (values); the parser looks names up among the variables.
 * Numbers are doubles, names are at most 15 letters. It refuses statements, strings and assignment.
 */
#ifndef CALC_H
#define CALC_H

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    double number;
    char name[16];
    char sign;
};

struct lexer {
    const char *text;
    struct token now; /* the token that the parser looks at */
};

/* lexer.c */
void lexer_init(struct lexer *lexer, const char *text);
void lexer_next(struct lexer *lexer);

/* parser.c: the value of a whole expression; a syntax error counts as 0 and is reported once. */
double calculate(const char *text);

/* variables.c */
void variable_set(const char *name, double value);
double variable_get(const char *name);

/* functions.c: the built-in functions; *known tells whether there is one of that name. */
double function_call(const char *name, double argument, int *known);

#endif
