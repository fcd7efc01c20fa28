# The line of one window for measure.sh, from oha's JSON: as requests.lua writes it. Latencies are in microseconds.

{
    gsub(/[",:{}]/, " ")
    name = $1
    number = $2
}

$1 != "" && $2 == "" { section = name }
section == "summary" && name == "requestsPerSec" { requests_per_s = number }
section == "latencyPercentiles" { us[name] = number * 1e6 }
section == "statusCodeDistribution" && name ~ /^[0-9]+$/ {
    requests += number
    if (name >= 400) failed += number
}
section == "errorDistribution" && NF > 1 { failed += $NF }

END {
    if (requests) printf "requests=%d requests_per_s=%.0f p50_us=%d p99_us=%d p999_us=%d failed=%d\n", requests, requests_per_s,
        us["p50"], us["p99"], us["p99.9"], failed
}
