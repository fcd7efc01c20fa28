#!/usr/bin/env bash
# Opens a report in headless Chromium, 1280 and 400 pixels wide, and checks what can be checked without eyes:
# it renders, it has its pictures, nothing sticks out, the first screen has both cards, and the console is silent.
#
#   report_browser.sh PAGE.html            check a page
#   report_browser.sh PAGE.html selftest   also break copies of it, and fail unless each is refused
set -euo pipefail

page=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() {
    local wanted found
    "$here/../../.ci/browser" "$here/report_browser.html" "$1" >"$work/found" || { cat "$work/found"; return 1; }
    wanted=$(grep -o 'class="plot"' "$page" | wc -l)
    found=$(sed -n 's/^measured .*pictures=\([0-9]*\).*/\1/p' "$work/found" | sort -u | tr '\n' ' ')
    [ "$wanted" -gt 0 ] && [ "$found" = "$wanted " ] || { echo "pictures: $wanted wanted, found: $found"; return 1; }
    cat "$work/found"
}

check "$page"

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
