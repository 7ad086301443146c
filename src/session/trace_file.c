/* Tracefiles one by one, for those who do not add them up. */
#include "session/trace_file.h"

#include "coverage/import/import.h"

bool trace_file_read(struct trace_file *f, struct bytes in, const char *name, bool *is_one,
                     struct err *e)
{
    const struct trace_importer *format = trace_importer_of(in);
    *is_one = format != NULL;
    if (!format)
        return err_in(e, name, "is not a tracefile");
    f->format = format->name;
    f->title = format->title;
    return format->read(in, name, &f->found, e);
}
