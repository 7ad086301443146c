# gdb commands that fetch what the embedded recorder holds, and reset it:
#
#     (gdb) source fetch.gdb
#     (gdb) monarc_fetch            writes monarc.memory; then: monarc receive --from monarc.memory -o DIR
#     (gdb) monarc_reset_wanted     the next sample clears everything and records
#
# The target must be stopped, wherever it is. Nothing is called on it, so this works in an interrupt
# too, and with a recorder that was compiled without -g.

# $monarc_head: the memory of core 0. The places are those of struct monarc_control.
define monarc_find
  set $monarc_wide = sizeof(char *) == 8
  set $monarc_control_bytes = $monarc_wide ? 80 : 44
  set $monarc_head = *(unsigned int **) ((char *) &monarc_control + ($monarc_wide ? 56 : 32))
end

define monarc_fetch
  monarc_find
  if $monarc_head == 0
    printf "monarc: monarc_embedded_on() was not called yet\n"
  else
    set $monarc_bytes = $monarc_head[4] * $monarc_head[7]
    set $monarc_end = (char *) $monarc_head + $monarc_bytes
    dump binary memory monarc.memory $monarc_head $monarc_end
    printf "monarc.memory: %u bytes of %u cores\n", $monarc_bytes, $monarc_head[7]
  end
end
document monarc_fetch
Writes the embedded recorder's memory to the file monarc.memory.
end

define monarc_reset_wanted
  monarc_find
  set $monarc_i = 0
  while $monarc_head != 0 && $monarc_i < $monarc_head[7]
    set *(unsigned int *) ((char *) &monarc_control + $monarc_i * $monarc_control_bytes) = 0x52525252
    set $monarc_i = $monarc_i + 1
  end
end
document monarc_reset_wanted
Asks the embedded recorder to clear what it holds, at the next sample.
end
