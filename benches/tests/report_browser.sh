#!/usr/bin/env bash
# Opens a report in headless Chromium, 1280 and 400 pixels wide, and checks what can be checked without eyes:
# it renders, it has its pictures, nothing sticks out, the first screen has both cards, and the console is silent.
#
#   report_browser.sh PAGE.html            check a page
#   report_browser.sh PAGE.html selftest   also break copies of it, and fail unless each is refused
set -euo pipefail

page=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo 'error: no Chromium there (Debian: apt-get install chromium)' >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints what is wrong with a page; nothing if it is well.
complaints() {
    cp "$1" "$work/page.html"
    cp "$here/report_browser.html" "$work/check.html"
    local status=0
    # No name resolves, so that a page that needs the network says so on its console.
    timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
        --allow-file-access-from-files --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr \
        --window-size=1800,900 --virtual-time-budget=10000 --dump-dom "file://$work/check.html" \
        >"$work/dom" 2>"$work/log" || status=$?
    [ "$status" = 0 ] || echo "the browser failed with status $status"
    grep -q '^measured ' "$work/dom" || echo 'nothing was measured'
    grep -a 'CONSOLE' "$work/log" || true
    grep '^wrong ' "$work/dom" || true
    local wanted found
    wanted=$(grep -o 'class="plot"' "$page" | wc -l)
    found=$(sed -n 's/^measured .*pictures=\([0-9]*\).*/\1/p' "$work/dom" | sort -u | tr '\n' ' ')
    [ "$wanted" -gt 0 ] && [ "$found" = "$wanted " ] || echo "pictures: $wanted wanted, found: $found"
}

check() {
    local wrong
    wrong=$(complaints "$1")
    [ -z "$wrong" ] || { printf '%s\n' "$wrong"; return 1; }
}

check "$page"
sed -n '/^measured /p' "$work/dom"

if [ "${2:-}" = selftest ]; then
    refused() {
        if check "$work/broken.html" >/dev/null; then
            echo "error: a page with $1 was not refused" >&2
            exit 1
        fi
        echo "refused, as it should be: a page with $1"
    }
    sed 's|</body>|<script>console.error("x")</script></body>|' "$page" >"$work/broken.html"
    refused 'an error on the console'
    sed 's|</body>|<p style="width:1500px">wide</p></body>|' "$page" >"$work/broken.html"
    refused 'something that sticks out'
    sed 's|</body>|<img src="http://example.invalid/x.png" alt=""></body>|' "$page" >"$work/broken.html"
    refused 'something from the network'
    sed '0,/class="plot"/s//class="lost"/' "$page" >"$work/broken.html"
    refused 'a picture less'
    sed 's|<header>|<header><p style="height:900px">long</p>|' "$page" >"$work/broken.html"
    refused 'its cards below the first screen'
fi
