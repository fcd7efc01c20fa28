#!/usr/bin/env bash
# Measures http_service under LocalSet and under Clockworker, without and with compaction, side by side. Prints one line
# per window, then a table. Fails if a request failed.
#
#   examples/http_service/measure.sh [--rate N] [--rounds N] [--windows N] [--seconds S] [--connections N] [-- SERVER OPTIONS]
#
# The load is wrk's, a closed loop: each connection sends its next request when the last is answered. With --rate it is oha's, an
# open loop: so many requests a second, whatever becomes of those before, and a latency counts from when its request was due.
#
# In each round both servers are started anew. Load goes to one of them for a window of some seconds while the other is
# stopped (SIGSTOP), then to the other: a ratio is of two windows next to each other, so that a machine whose speed changes
# from minute to minute favours nobody.
#
# Needs wrk, or with --rate oha. With two or more cores the servers have core 0 and the load core 1: best on a machine that does
# nothing else.
set -euo pipefail

rounds=4 windows=10 seconds=1 connections=64 rate=0

usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
}

fail() {
    printf 'measure.sh: %s\n' "$*" >&2
    exit 1
}

while (($#)); do
    case $1 in
        --rate) rate=${2:?}; shift 2 ;;
        --rounds) rounds=${2:?}; shift 2 ;;
        --windows) windows=${2:?}; shift 2 ;;
        --seconds) seconds=${2:?}; shift 2 ;;
        --connections) connections=${2:?}; shift 2 ;;
        -h | --help) usage; exit ;;
        --) shift; break ;;
        *) fail "unknown option $1; see --help" ;;
    esac
done
[[ $rate =~ ^[0-9]+$ ]] || fail "not a number: $rate"
for number in "$rounds" "$windows" "$seconds" "$connections"; do
    [[ $number =~ ^[1-9][0-9]*$ ]] || fail "not a number from 1: $number"
done
server_options=("$@")

if ((rate)); then
    command -v oha >/dev/null || fail "oha is missing: cargo install oha --locked"
else
    command -v wrk >/dev/null || fail "wrk is missing. On Debian and Ubuntu: sudo apt-get install wrk"
fi
command -v cargo >/dev/null || fail "cargo is missing. See https://rustup.rs"

here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
cargo build --release --quiet -p clockworker-examples --example http_service
target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
program=$target/release/examples/http_service

server_core=() load_core=()
if command -v taskset >/dev/null && (($(nproc) >= 2)); then
    server_core=(taskset -c 0) load_core=(taskset -c 1)
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

# The load of one window on an address, with the numbers of the window. Gives what it found.
load() {
    local address=$1 number=$2
    if ((rate)); then
        "${load_core[@]}" oha --no-tui --output-format json -q "$rate" --latency-correction -w -c "$connections" \
            -z "${seconds}s" --rand-regex-url "$address/key-0[0-9]{5}" | awk -f open_loop.awk
    else
        "${load_core[@]}" wrk -t1 -c"$connections" -d"${seconds}s" --latency -s requests.lua "$address" -- "$number" |
            sed -n 's/^RESULT //p'
    fi
}

# One window: load on one server while the others stand still. Gives its line.
window() {
    local background=$1 executor=$2 number=$3 chunks_before cpu_before began took line
    kill -CONT "${server[$executor]}"
    chunks_before=$(chunks "$executor") cpu_before=$(cpu_ms "$executor") began=${EPOCHREALTIME/[.,]/}
    line=$(load "${url[$executor]}" "$number")
    took=$((${EPOCHREALTIME/[.,]/} - began))
    [[ -n $line ]] || fail "the load reported nothing"
    printf 'background=%s executor=%s window=%s %s' "$background" "$executor" "$number" "$line"
    printf ' server_cpu_percent=%s' $((($(cpu_ms "$executor") - cpu_before) * 100000 / took))
    printf ' chunks_per_s=%s\n' $((($(chunks "$executor") - chunks_before) * 1000000 / took))
    kill -STOP "${server[$executor]}"
}

printf '%s rounds of %s windows of %s s for each, %s connections; ' "$rounds" "$windows" "$seconds" "$connections"
if ((rate)); then printf '%s requests a second in an open loop; ' "$rate"; fi
if ((${#server_core[@]})); then printf 'servers on core 0, load on core 1\n'; else printf 'cores shared\n'; fi
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
awk -v open="$rate" -f report.awk "$scratch/lines"
