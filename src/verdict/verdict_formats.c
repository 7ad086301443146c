/* A verdict in the forms that people, GitHub and Jenkins read. */
#include "verdict/verdict.h"

#include "output/json.h"
#include "output/text.h"

#include <inttypes.h>

const struct verdict_format verdict_formats[] = {{"text", verdict_text},
                                                 {"json", verdict_json},
                                                 {"junit", verdict_junit},
                                                 {"github", verdict_github},
                                                 {"markdown", verdict_markdown}};
const size_t verdict_formats_len = sizeof verdict_formats / sizeof *verdict_formats;

const struct verdict_format *verdict_format_find(const char *name, size_t len)
{
    for (size_t i = 0; i < verdict_formats_len; i++)
        if (strlen(verdict_formats[i].name) == len && !memcmp(verdict_formats[i].name, name, len))
            return &verdict_formats[i];
    return NULL;
}

/* --- text ------------------------------------------------------------------------------------ */

void verdict_text(struct out *out, const struct verdict *v)
{
    for (size_t i = 0; i < v->cases.len; i++) {
        const struct verdict_case *c = &v->cases.at[i];
        out_printf(out, "%-10s  %s: ", case_status_names[c->status], c->rule);
        text_name(out, c->message);
        if (c->file && c->subject != c->file) {
            out_str(out, " (");
            text_name(out, c->file);
            if (c->line)
                out_printf(out, ":%" PRIu32, c->line);
            out_char(out, ')');
        }
        out_char(out, '\n');
    }
    out_printf(out, "%s: %" PRIu32 " failed, %" PRIu32 " passed, %" PRIu32 " not judged\n",
               verdict_word(v), v->failed, v->passed, v->not_judged);
}

/* --- JSON: docs/schema/check.schema.json ----------------------------------------------------- */

static void verdict_json_case(struct json *j, const struct verdict_case *c)
{
    json_begin(j, '{');
    json_pair_str(j, "status", case_status_names[c->status]);
    json_pair_str(j, "rule", c->rule);
    json_pair_str(j, "subject", c->subject);
    json_pair_str(j, "message", c->message);
    json_pair_str(j, "file", c->file);
    json_pair_u64(j, "line", c->line);
    if (c->subject) {
        json_pair_double(j, "old", c->old);
        json_pair_double(j, "new", c->new);
        json_pair_double(j, "limit", c->limit);
    }
    json_key(j, "chance");
    if (c->chance < 0)
        json_none(j);
    else
        json_double(j, c->chance);
    json_end(j);
}

void verdict_json(struct out *out, const struct verdict *v)
{
    struct json j = {.out = out};
    json_document_begin(&j, "check");
    json_pair_str(&j, "verdict", verdict_word(v));
    json_pair_u64(&j, "failed", v->failed);
    json_pair_u64(&j, "passed", v->passed);
    json_pair_u64(&j, "not_judged", v->not_judged);
    json_key(&j, "cases"), json_begin(&j, '[');
    for (size_t i = 0; i < v->cases.len; i++)
        verdict_json_case(&j, &v->cases.at[i]);
    json_end(&j);
    json_end(&j);
}

/* --- JUnit ----------------------------------------------------------------------------------- */

static void verdict_junit_case(struct out *out, const struct verdict_case *c)
{
    out_str(out, "    <testcase");
    xml_attribute(out, "classname", c->rule);
    xml_attribute(out, "name", c->subject ? c->subject : "all others");
    out_str(out, " time=\"0\"");
    if (c->status == CASE_PASSED) {
        out_str(out, "/>\n");
        return;
    }
    bool is_whole = c->status != CASE_FAILED && !c->is_lacking;
    const char *element = c->status == CASE_FAILED ? "failure" : is_whole ? "skipped" : "error";
    out_printf(out, ">\n      <%s", element);
    xml_attribute(out, "message", c->message);
    if (!is_whole) {
        xml_attribute(out, "type", c->rule);
        out_char(out, '>');
        xml_text(out, c->file ? c->file : "");
        if (c->file && c->line)
            out_printf(out, ":%" PRIu32, c->line);
        out_printf(out, "</%s>\n    </testcase>\n", element);
    } else {
        out_str(out, "/>\n    </testcase>\n");
    }
}

void verdict_junit(struct out *out, const struct verdict *v)
{
    uint32_t errors = 0;
    for (size_t i = 0; i < v->cases.len; i++)
        errors += v->cases.at[i].is_lacking;
    out_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites name=\"monarc check\" tests=\"%zu\" failures=\"%" PRIu32
               "\" errors=\"%" PRIu32 "\" time=\"0\">\n"
               "  <testsuite name=\"monarc check\" tests=\"%zu\" failures=\"%" PRIu32
               "\" errors=\"%" PRIu32 "\" skipped=\"%" PRIu32 "\" time=\"0\">\n",
               v->cases.len, v->failed, errors, v->cases.len, v->failed, errors,
               v->not_judged - errors);
    for (size_t i = 0; i < v->cases.len; i++)
        verdict_junit_case(out, &v->cases.at[i]);
    out_str(out, "  </testsuite>\n</testsuites>\n");
}

/* --- GitHub: workflow commands --------------------------------------------------------------- */

/* Of a message, or with `is_property` of what stands before it. */
static void github_text(struct out *out, const char *text, bool is_property)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ',')))
            out_printf(out, "%%%02X", c);
        else
            out_char(out, *text);
    }
}

void verdict_github(struct out *out, const struct verdict *v)
{
    for (size_t i = 0; i < v->cases.len; i++) {
        const struct verdict_case *c = &v->cases.at[i];
        if (c->status == CASE_PASSED)
            continue;
        bool is_error = c->status == CASE_FAILED || c->is_lacking;
        out_str(out, is_error ? "::error " : "::notice ");
        if (c->file) {
            out_str(out, "file=");
            github_text(out, c->file, true);
            if (c->line)
                out_printf(out, ",line=%" PRIu32, c->line);
            out_char(out, ',');
        }
        out_str(out, "title=");
        github_text(out, c->rule, true);
        out_str(out, "::");
        github_text(out, c->message, false);
        out_char(out, '\n');
    }
}

/* --- Markdown -------------------------------------------------------------------------------- */

void verdict_markdown(struct out *out, const struct verdict *v)
{
    out_printf(out, "## monarc check: %s\n\n| | rule | |\n|---|---|---|\n", verdict_word(v));
    for (size_t i = 0; i < v->cases.len; i++) {
        const struct verdict_case *c = &v->cases.at[i];
        const char *bold = c->status == CASE_FAILED ? "**" : "";
        out_printf(out, "| %s%s%s | %s | ", bold, case_status_names[c->status], bold, c->rule);
        text_markdown(out, c->message);
        out_str(out, " |\n");
    }
    out_printf(out, "\n%" PRIu32 " failed, %" PRIu32 " passed, %" PRIu32 " not judged\n", v->failed,
               v->passed, v->not_judged);
}
