# The table of measure.sh, from its lines of NAME=VALUE. Exits 1 if a request failed. `open` is the rate of an open loop, or 0.

{
    delete run
    for (i = 1; i <= NF; i++) {
        at = index($i, "=")
        run[substr($i, 1, at - 1)] = substr($i, at + 1)
    }
    arm = run["background"] SUBSEP run["executor"]
    for (name in run) value[arm, name, run["window"]] = run[name]
    if (run["window"] + 0 > windows) windows = run["window"] + 0
    failed[arm] += run["failed"]
    all_failed += run["failed"]
    # Compaction keeps the server busy all the time, and so does a closed loop: if it had less than a core, somebody else had the
    # rest. An open loop asks at its rate, unless it has too little of its own core.
    percent = run["server_cpu_percent"] + 0
    disturbed += percent > 0 && percent < 95 && (run["background"] == "on" || !open)
    late += open && run["requests_per_s"] + 0 < 0.99 * open
}

END {
    print "| compaction | executor | requests/s | p50 | p99 | p99.9 | chunks of compaction/s | failed requests |"
    print "|---|---|---|---|---|---|---|---|"
    row("off", "localset"); row("off", "clockworker"); row("on", "localset"); row("on", "clockworker")
    print ""
    print "| Clockworker / LocalSet, window by window | median (95 % interval) | bar | |"
    print "|---|---|---|---|"
    if (!open) bar("requests/s, no compaction", "off", "requests_per_s", 0.98, 1)
    bar("p99, no compaction", "off", "p99_us")
    bar("p99, with compaction", "on", "p99_us", 0.50, -1)
    if (!open) bar("requests/s, with compaction", "on", "requests_per_s")
    bar("chunks of compaction/s", "on", "chunks_per_s")
    printf "| failed requests, all windows | %d | 0 | %s |\n", all_failed, all_failed ? "**missed**" : "met"
    if (disturbed) {
        print ""
        printf "%d of %d windows were disturbed: the server had less than 95 %% of its core. Measure on a quiet machine.\n",
            disturbed, NR
    }
    if (late) {
        print ""
        printf "In %d of %d windows fewer than 99 %% of %d requests a second were answered: the server or the load has too little CPU.\n",
            late, NR, open
    }
    exit all_failed > 0
}

function row(background, executor,    arm) {
    arm = background SUBSEP executor
    printf "| %s | %s | %.0f | %s | %s | %s | %s | %d |\n", background, executor, middle(arm, "requests_per_s"),
        ms(middle(arm, "p50_us")), ms(middle(arm, "p99_us")), ms(middle(arm, "p999_us")),
        background == "on" ? sprintf("%.0f", middle(arm, "chunks_per_s")) : "–", failed[arm]
}

function ms(us) { return sprintf("%.2f ms", us / 1000) }

# The median over the windows.
function middle(arm, name,    r) {
    for (r = 1; r <= windows; r++) list[r] = value[arm, name, r] + 0
    return median(windows)
}

# The ratio of the two windows of a number; `sign` is 1 if the bar is a lower bound, -1 if an upper one, and 0 if there is none.
function bar(what, background, name, limit, sign,    r, below, verdict, spread, low, high) {
    for (r = 1; r <= windows; r++) {
        below = value[background, "localset", name, r]
        list[r] = below ? value[background, "clockworker", name, r] / below : 0
    }
    middling = median(windows)
    verdict = !sign ? " | " : sprintf("%s %.2f | %s", sign > 0 ? "≥" : "≤", limit,
        (middling - limit) * sign >= 0 ? "met" : "**missed**")
    # The interval of a median by order statistics: the ranks that are 1.96 standard deviations of a fair coin's from it.
    spread = 1.96 * sqrt(windows)
    low = int((windows - spread) / 2); high = int((windows + spread) / 2) + 1
    if (low < 1) low = 1
    if (high > windows) high = windows
    printf "| %s | %.3f (%.3f – %.3f) | %s |\n", what, middling, list[low], list[high], verdict
}

# Sorts list[1..n]; its median.
function median(n,    i, j, x) {
    for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i - 1; j >= 1 && list[j] > x; j--) list[j + 1] = list[j]
        list[j + 1] = x
    }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
