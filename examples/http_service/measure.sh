#!/usr/bin/env bash
# Measures http_service under LocalSet and under Clockworker, without and with compaction, side by side. Prints one line
# per window, then a table. Fails if a request failed.
#
#   examples/http_service/measure.sh [--rounds N] [--windows N] [--seconds S] [--connections N] [-- SERVER OPTIONS]
#
# In each round both servers are started anew. Load goes to one of them for a window of some seconds while the other is
# stopped (SIGSTOP), then to the other: a ratio is of two windows next to each other, so that a machine whose speed changes
# from minute to minute favours nobody.
#
# Needs wrk. With two or more cores the servers have core 0 and wrk core 1: best on a machine that does nothing else.
set -euo pipefail

rounds=4 windows=10 seconds=1 connections=64

usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
}

fail() {
    printf 'measure.sh: %s\n' "$*" >&2
    exit 1
}

while (($#)); do
    case $1 in
        --rounds) rounds=${2:?}; shift 2 ;;
        --windows) windows=${2:?}; shift 2 ;;
        --seconds) seconds=${2:?}; shift 2 ;;
        --connections) connections=${2:?}; shift 2 ;;
        -h | --help) usage; exit ;;
        --) shift; break ;;
        *) fail "unknown option $1; see --help" ;;
    esac
done
for number in "$rounds" "$windows" "$seconds" "$connections"; do
    [[ $number =~ ^[1-9][0-9]*$ ]] || fail "not a number from 1: $number"
done
server_options=("$@")

command -v wrk >/dev/null || fail "wrk is missing. On Debian and Ubuntu: sudo apt-get install wrk"
command -v cargo >/dev/null || fail "cargo is missing. See https://rustup.rs"

here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
cargo build --release --quiet -p clockworker-examples --example http_service
target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
program=$target/release/examples/http_service

server_core=() wrk_core=()
if command -v taskset >/dev/null && (($(nproc) >= 2)); then
    server_core=(taskset -c 0) wrk_core=(taskset -c 1)
fi

scratch=$(mktemp -d)
declare -A server=() url=()
clean_up() {
    ((!${#server[@]})) || kill -KILL "${server[@]}" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Starts the server of an executor, and stops it until it is its turn. Sets `server` and `url`.
start_server() {
    local executor=$1 compactors=$2 log=$scratch/$1
    : >"$log"
    "${server_core[@]}" "$program" --compactors "$compactors" "${server_options[@]}" --executor "$executor" \
        >"$log" 2>&1 &
    server[$executor]=$!
    for _ in {1..100}; do
        url[$executor]=$(sed -n 's/^listening on //p' "$log")
        if [[ -n ${url[$executor]} ]]; then
            kill -STOP "${server[$executor]}"
            return
        fi
        kill -0 "${server[$executor]}" 2>/dev/null || break
        sleep 0.1
    done
    fail "the server does not listen: $(cat "$log")"
}

# Ends it as ctrl-c does.
end_server() {
    local executor=$1
    kill -CONT "${server[$executor]}"
    kill -INT "${server[$executor]}"
    wait "${server[$executor]}" || fail "the server failed: $(cat "$scratch/$executor")"
    unset "server[$executor]"
}

# The chunks of compaction done so far, from `GET /stats`.
chunks() {
    local address=${url[$1]#http://} answer
    exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
    printf 'GET /stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    answer=$(cat <&3)
    exec 3<&-
    sed 's/.*"chunks":\([0-9]*\).*/\1/;t;d' <<<"$answer"
}

# The CPU time that a server has had, in milliseconds.
cpu_ms() {
    local ticks
    ticks=$(cut -d' ' -f14,15 "/proc/${server[$1]}/stat" 2>/dev/null) || ticks="0 0"
    echo $(((${ticks% *} + ${ticks#* }) * 1000 / $(getconf CLK_TCK)))
}

# One window: load on one server while the others stand still. Gives its line.
window() {
    local background=$1 executor=$2 number=$3 chunks_before cpu_before began took line
    kill -CONT "${server[$executor]}"
    chunks_before=$(chunks "$executor") cpu_before=$(cpu_ms "$executor") began=${EPOCHREALTIME/[.,]/}
    line=$("${wrk_core[@]}" wrk -t1 -c"$connections" -d"${seconds}s" --latency -s requests.lua "${url[$executor]}" \
        -- "$number" | sed -n 's/^RESULT //p')
    took=$((${EPOCHREALTIME/[.,]/} - began))
    [[ -n $line ]] || fail "wrk reported nothing"
    printf 'background=%s executor=%s window=%s %s' "$background" "$executor" "$number" "$line"
    printf ' server_cpu_percent=%s' $((($(cpu_ms "$executor") - cpu_before) * 100000 / took))
    printf ' chunks_per_s=%s\n' $((($(chunks "$executor") - chunks_before) * 1000000 / took))
    kill -STOP "${server[$executor]}"
}

printf '%s rounds of %s windows of %s s for each, %s connections; ' "$rounds" "$windows" "$seconds" "$connections"
if ((${#server_core[@]})); then printf 'servers on core 0, wrk on core 1\n'; else printf 'cores shared\n'; fi
for ((round = 0; round < rounds; round++)); do
    for background in off on; do
        compactors=8
        [[ $background == on ]] || compactors=0
        for executor in localset clockworker; do
            start_server "$executor" "$compactors"
            window "$background" "$executor" 0 >/dev/null # to warm up
        done
        for ((number = round * windows + 1; number <= (round + 1) * windows; number++)); do
            # Who is first changes, so that a drift of the machine favours nobody.
            order=(localset clockworker)
            ((number % 2)) || order=(clockworker localset)
            for executor in "${order[@]}"; do
                window "$background" "$executor" "$number" | tee -a "$scratch/lines"
            done
        done
        for executor in localset clockworker; do end_server "$executor"; done
    done
done
echo
awk -f report.awk "$scratch/lines"
