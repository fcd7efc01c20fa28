#!/usr/bin/env bash
# Measures http_service under LocalSet and under Clockworker, without and with compaction, in interleaved rounds.
# Prints one line per run, then a table. Fails if a request failed.
#
#   examples/http_service/measure.sh [--rounds N] [--seconds S] [--warmup S] [--connections N] [-- SERVER OPTIONS]
#
# Needs wrk. With two or more cores the server has core 0 and wrk core 1: best on a machine that does nothing else.
set -euo pipefail

rounds=3 seconds=10 warmup=2 connections=64

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
        --seconds) seconds=${2:?}; shift 2 ;;
        --warmup) warmup=${2:?}; shift 2 ;;
        --connections) connections=${2:?}; shift 2 ;;
        -h | --help) usage; exit ;;
        --) shift; break ;;
        *) fail "unknown option $1; see --help" ;;
    esac
done
for number in "$rounds" "$seconds" "$warmup" "$connections"; do
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
server=
clean_up() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Starts a server of its own for each run, so that none inherits the state of another. Sets `server` and `url`.
start_server() {
    # Emptied before and not by the redirection, which the shell may do after the first look for the new address.
    : >"$scratch/server"
    "${server_core[@]}" "$program" "$@" >>"$scratch/server" 2>&1 &
    server=$!
    for _ in {1..100}; do
        url=$(sed -n 's/^listening on //p' "$scratch/server")
        [[ -z $url ]] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    fail "the server does not listen: $(cat "$scratch/server")"
}

# Ends it as ctrl-c does.
stop_server() {
    kill -INT "$server"
    wait "$server" || fail "the server failed: $(cat "$scratch/server")"
    server=
}

# The chunks of compaction done so far, from `GET /stats`.
chunks() {
    local address=${url#http://} answer
    exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
    printf 'GET /stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    answer=$(cat <&3)
    exec 3<&-
    sed 's/.*"chunks":\([0-9]*\).*/\1/;t;d' <<<"$answer"
}

# CPU time the server has had, in microseconds; 0 where there is no /proc.
cpu_time() {
    awk '{ printf "%.0f", $1 / 1000; found = 1 } END { if (!found) print 0 }' "/proc/$server/schedstat" 2>/dev/null || echo 0
}

load() {
    "${wrk_core[@]}" wrk -t1 -c"$connections" -d"$1s" --latency -s requests.lua "$url" -- "$2"
}

# One run: background (off or on), executor, round. Prints its line and keeps it.
run() {
    local background=$1 executor=$2 round=$3 compactors=8 line
    local chunks_before chunks_after cpu_before cpu_after began elapsed
    [[ $background == on ]] || compactors=0
    start_server --compactors "$compactors" "${server_options[@]}" --executor "$executor"
    load "$warmup" "$round" >/dev/null
    chunks_before=$(chunks) cpu_before=$(cpu_time) began=${EPOCHREALTIME/[.,]/}
    line=$(load "$seconds" "$round" | sed -n 's/^RESULT //p')
    elapsed=$((${EPOCHREALTIME/[.,]/} - began)) cpu_after=$(cpu_time) chunks_after=$(chunks)
    stop_server
    [[ -n $line ]] || fail "wrk reported nothing"
    line="background=$background executor=$executor round=$round $line"
    line+=" chunks_per_s=$(((chunks_after - chunks_before) * 1000000 / elapsed))"
    line+=" server_cpu_percent=$(((cpu_after - cpu_before) * 100 / elapsed))"
    printf '%s\n' "$line" | tee -a "$scratch/lines"
}

printf '%s rounds of %s s each, %s connections; ' "$rounds" "$seconds" "$connections"
if ((${#server_core[@]})); then printf 'server on core 0, wrk on core 1\n'; else printf 'cores shared\n'; fi
for ((round = 1; round <= rounds; round++)); do
    # Who is first changes, so that a drift of the machine favours nobody.
    order=(localset clockworker)
    ((round % 2)) || order=(clockworker localset)
    for background in off on; do
        for executor in "${order[@]}"; do
            run "$background" "$executor" "$round"
        done
    done
done
echo
awk -f report.awk "$scratch/lines"
