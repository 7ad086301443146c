/* Runs what is covered and sends the counters. */
#include "../../../examples/embedded/board.h"

#include <monarc/embedded.h>

unsigned covered_work(void);

int main(void)
{
    unsigned sum = covered_work();
    monarc_embedded_reset_coverage(); /* nothing of the first round is left */
    sum += covered_work();
    return !monarc_embedded_send(board_print, 0) || sum == 0;
}
