"""recordings.py: laws of recordings. The kinds stand in table.py, the laws in *_laws.py; below are inputs
that failed once."""

import first_lines  # noqa: F401
import filter_laws  # noqa: F401
import history_laws  # noqa: F401
import laws  # noqa: F401
import pair_laws  # noqa: F401
import parts_laws  # noqa: F401
import path_laws  # noqa: F401
import said_laws  # noqa: F401
import same_laws  # noqa: F401
import screen_laws  # noqa: F401
import time_laws  # noqa: F401
from table import TABLE

keep = TABLE.keep


# Mended.
keep("trees_of_a_function_are_flat", "several", 3218433699)
keep("trees_of_a_function_are_flat", "threads", 3994703966)
keep("order_of_operands", "several", 53856226)
keep("ranks_are_flat", "job", 1011862568, 639695423)
keep("order_of_ranks", "job", 959331701)
keep("screen_parts_are_flat", "several", 3445360703)
keep("resources_have_their_own", "waits", 719539222, 2298671984)
keep("base_of_itself", "inlined", 2414704344)
keep("base_of_itself", "labels", 3915330231)
keep("base_of_itself", "threads", 2309036831)
keep("base_of_itself", "twins", 288185937)
keep("base_of_itself", "events", 694576904)
keep("base_of_itself", "series", 2950257618)
keep("base_of_itself", "several", 2790574676)
keep("csv_is_json", "events", 694576904, 864250412)
keep("diff_text_is_json", "waits", 945351221, 2652705572)
keep("diff_text_is_json", "series", 1308606480, 726642251)
keep("labels_add_up", "labels", 3915330231)
keep("threads_add_up", "inlined", 2414704344)
keep("threads_add_up", "events", 694576904)
keep("threads_add_up", "threads", 2309036831)
keep("threads_add_up", "twins", 887652107)
keep("regions_are_whole", "phases", 1420932058)
keep("series_is_its_runs", "series", 1652559293)
keep("series_window_is_a_mean", "series", 1652559293)
keep("series_waits_are_sums", "series", 2791364737)
keep("losses_are_said", "lossy", 3621941968, 75082338)
keep("store_is_flat", "plain", 3454786064)
keep("store_is_flat", "threads", 148038838)
keep("store_is_flat", "lossy", 3617621027)
keep("store_is_flat", "inlined", 3053316794)
keep("store_is_flat", "twins", 288185937, 1400627671)
keep("page_window_is_flat", "twins", 887652107)
keep("page_window_is_flat", "inlined", 472474763, 3053316794)
keep("drops_keep_the_whole", "threads", 2460016793)
keep("first_line_is_the_table", "waits", 3, 7, 9)
keep("callgrind_is_read_back", "inlined", 2414704344)
keep("callgrind_is_read_back", "several", 2790574676)
keep("intervals_are_equal", "inlined", 472474763)
keep("intervals_are_equal", "twins", 887652107)
keep("line_totals_are_true", "twins", 2330633363)
keep("annotate_is_lines", "twins", 2495778913)
keep("path_is_whole", "waits", 5)
keep("path_is_whole", "events", 421879234)
keep("order_of_changes", "labels", 50735939)
keep("commit_is_the_mean_of_its_runs", "series", 2950257618, 1308606480)
keep("lines_are_flat", "events", 4101846882)


if __name__ == "__main__":
    TABLE.main()
