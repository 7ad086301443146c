/* A diagnosis as text and JSON (docs/schema/doctor.schema.json): findings, worst first, each with
 * its evidence and its remedy.
 *
 * Texts are broken at spaces to 88 columns, after a label: a remedy is often a command line, which
 * a terminal would break anywhere.
 *
 *     warning: nothing was sampled [no-samples]
 *       found   the figures that say so
 *       remedy  what to do about it, broken at spaces
 *               and indented
 *
 * Names in brackets are for scripts and stay; sentences may change. The rules that find symptoms
 * are in profile/analysis; here is no threshold. Findings come as the diagnosis has sorted them. */
#include "profile/report/writers.h"

#include "profile/report/report_header.h"

#include <inttypes.h>

enum { WIDTH = 88, INDENT = 10 };

/* The words of JSON and of text alike. */
static const char *severity_name(enum severity s)
{
    return s == SEVERITY_ERROR ? "error" : s == SEVERITY_WARNING ? "warning" : "note";
}

/* A label, then text broken at spaces. */
static void text_paragraph(struct out *out, const char *label, const char *text)
{
    out_printf(out, "  %-*s", INDENT - 2, label);
    text_words(out, text, INDENT, out->columns && out->columns < WIDTH ? out->columns : WIDTH);
    out_char(out, '\n');
}

/* Notes are not coloured: colour is for what makes figures wrong. */
static void text_symptom(struct out *out, const struct symptom *s, const struct text_style *style)
{
    const char *colour = s->severity == SEVERITY_ERROR     ? "\033[1;31m"
                         : s->severity == SEVERITY_WARNING ? "\033[33m"
                                                           : "";
    bool has_colour = style->has_colour && *colour;
    out_prose(out);
    out_printf(out, "\n%s%s%s: ", has_colour ? colour : "", severity_name(s->severity),
               has_colour ? "\033[0m" : "");
    out_printf(out, "%s [%s]\n", s->finding, s->name);
    out_prose_end(out);
    if (*s->evidence)
        text_paragraph(out, "found", s->evidence);
    text_paragraph(out, "remedy", s->remedy);
}

/* There is a summary where both program and profile could be read; else the head names the files
 * alone, and the findings say what stopped it. */
void doctor_text(struct out *out, const struct report_input *in)
{
    const struct diagnosis *d = in->diagnosis;
    const struct diagnosis_input *p = in->diagnosed;
    const struct text_style *style = &in->style;
    if (p->summary) {
        text_summary(out, p->summary);
    } else {
        out_str(out, "Program  ");
        text_name(out, p->program);
        out_str(out, "\nProfile  ");
        text_name(out, p->profile);
        out_char(out, '\n');
    }
    if (!d->all.len)
        out_str(out, p->summary && p->summary->run ? "\nNothing is wrong with this recording.\n"
                                                   : "\nNothing is wrong with this profile.\n");
    for (size_t i = 0; i < d->all.len; i++)
        text_symptom(out, &d->all.at[i], style);
}

enum { FINDING_NAME, FINDING_SEVERITY, FINDING, FINDING_EVIDENCE, FINDING_REMEDY, FINDING_COLUMNS };
/* The name is the one part that does not change with wording: scripts match it. */
static const struct column columns[FINDING_COLUMNS] = {
    [FINDING_NAME] = {"name", "for scripts; new ones may appear"},
    [FINDING_SEVERITY] = {"severity", "error: figures are wrong or missing; warning; note"},
    [FINDING] = {"finding", "what is wrong, as a sentence"},
    [FINDING_EVIDENCE] = {"evidence", "the figures it was found by"},
    [FINDING_REMEDY] = {"remedy", "what to do about it"},
};
const struct column_table doctor_columns = {"Findings in JSON", "doctor", "findings", columns,
                                            FINDING_COLUMNS};

/* Without a summary the document still has one, of the two names, so that a reader finds the same
 * members whatever was wrong. */
void doctor_json(struct out *out, const struct report_input *in)
{
    const struct diagnosis *d = in->diagnosis;
    const struct diagnosis_input *p = in->diagnosed;
    struct json j = {.out = out};
    struct summary nothing = {.program = p->program, .profiles = &p->profile, .profiles_len = 1};
    json_report_begin(&j, "doctor", p->summary ? p->summary : &nothing);
    JSON_ROWS(&j, "findings", i, d->all.len) {
        const struct symptom *s = &d->all.at[i];
        struct field fields[FINDING_COLUMNS] = {[FINDING_NAME] = field_text(s->name),
                                                [FINDING_SEVERITY] =
                                                    field_text(severity_name(s->severity)),
                                                [FINDING] = field_text(s->finding),
                                                [FINDING_EVIDENCE] = field_text(s->evidence),
                                                [FINDING_REMEDY] = field_text(s->remedy)};
        columns_json(&j, columns, FINDING_COLUMNS, fields);
    }
    json_end(&j);
}
