-- What wrk asks for: nine times out of ten GET of a key that is there, else PUT of one of them. And how it reports.

local KEYS = 100000 -- as many as the service begins with
local DIFFERENT = 4096
local requests = {}
local next = 0

function init(args)
    math.randomseed(tonumber(args[1]))
    local value = string.rep("x", 100)
    for i = 1, DIFFERENT do
        local path = string.format("/key-%06d", math.random(0, KEYS - 1))
        if i % 10 == 0 then
            requests[i] = wrk.format("PUT", path, nil, value)
        else
            requests[i] = wrk.format("GET", path)
        end
    end
end

function request()
    next = next % DIFFERENT + 1
    return requests[next]
end

-- One line, read by measure.sh. Latencies are in microseconds. wrk counts an answer of 400 or more as a `status` error.
function done(summary, latency)
    local e = summary.errors
    io.write(string.format(
        "RESULT requests=%d requests_per_s=%.0f p50_us=%d p99_us=%d p999_us=%d failed=%d "
            .. "connect=%d read=%d write=%d timeout=%d status=%d\n",
        summary.requests, summary.requests / (summary.duration / 1e6),
        latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
        e.connect + e.read + e.write + e.timeout + e.status,
        e.connect, e.read, e.write, e.timeout, e.status))
end
