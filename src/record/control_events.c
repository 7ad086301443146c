/* One record after the other. Names are the program's, and may be anything. */
#include "record/control_events.h"

static void told_record(struct collector *c, const struct control_record *r, uint64_t now_ns,
                        told_dump *dump, void *context)
{
    enum { PHASE, REGION_BEGIN, REGION_END, STOPPED, RESUMED };
    pid_t pid = (pid_t)r->pid, tid = (pid_t)r->tid;
    uint64_t at_ns = r->at_ns ? r->at_ns : now_ns;
    if (!collector_has_process(c, pid))
        return;
    switch (r->kind) {
    case MONARC_CONTROL_PHASE: collector_mark(c, PHASE, pid, tid, r->text, at_ns); break;
    case MONARC_CONTROL_REGION_BEGIN:
        collector_mark(c, REGION_BEGIN, pid, tid, r->text, at_ns);
        break;
    case MONARC_CONTROL_REGION_END: collector_mark(c, REGION_END, pid, tid, r->text, at_ns); break;
    case MONARC_CONTROL_STOPPED:
        collector_stop(c, pid, at_ns);
        collector_mark(c, STOPPED, pid, tid, "", at_ns);
        break;
    case MONARC_CONTROL_RESUMED:
        collector_resume(c, pid, at_ns);
        collector_mark(c, RESUMED, pid, tid, "", at_ns);
        break;
    case MONARC_CONTROL_RESET: collector_reset(c, pid, at_ns); break;
    case MONARC_CONTROL_DUMP: dump(context, r->text); break;
    case MONARC_CONTROL_NOT_COUNTED:
        collector_lose(c, RECORDING_LOST_OTHER, r->text[0] ? r->text : "calls were not counted", 1,
                       0);
        break;
    default: break;
    }
}

void control_dispatch(struct control *control, struct collector *c, uint64_t now_ns, bool is_end,
                      told_dump *dump, void *context)
{
    struct control_record r;
    for (uint32_t left = control_capacity(control); left > 0; left--) {
        if (is_end ? !control_next_at_end(control, &r) : !control_next(control, now_ns, &r))
            break;
        told_record(c, &r, now_ns, dump, context);
    }
}
