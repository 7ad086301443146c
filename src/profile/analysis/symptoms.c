/* The list of symptoms: adding, sorting, the worst of it. */
#include "profile/analysis/symptoms.h"

void report_symptom(struct examination *x, enum severity severity, const char *name,
                    const char *finding, const char *evidence, const char *remedy)
{
    vec_push(&x->d->all, (struct symptom){name, severity, finding, evidence, remedy});
}

void diagnosis_sort(struct diagnosis *d)
{
    for (size_t i = 1; i < d->all.len; i++) {
        struct symptom moving = d->all.at[i];
        size_t k = i;
        for (; k && d->all.at[k - 1].severity < moving.severity; k--)
            d->all.at[k] = d->all.at[k - 1];
        d->all.at[k] = moving;
    }
}

void diagnosis_deinit(struct diagnosis *d)
{
    vec_free(&d->all);
}

bool diagnosis_worst(const struct diagnosis *d, enum severity *worst)
{
    if (d->all.len)
        *worst = d->all.at[0].severity;
    return d->all.len != 0;
}
