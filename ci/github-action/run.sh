#!/usr/bin/env bash
# Runs $WARPGRIND_RUN under the tool, and hands the verdict and the paths of the reports to later steps. Exits as the tool does.
set -euo pipefail

case $WARPGRIND_TOOL in
    memcheck | racecheck | traffic | rmt | repair) ;;
    *)
        echo "::error title=Warpgrind::there is no tool \`${WARPGRIND_TOOL//[^a-zA-Z0-9-]/?}\`; there are memcheck, racecheck, traffic, rmt and repair"
        exit 2
        ;;
esac
if ! command -v warpgrind >/dev/null; then
    echo "::error title=Warpgrind::warpgrind is not on PATH; give the input \`package\`, a wheel that pip installs"
    exit 2
fi
mkdir -p "$WARPGRIND_REPORTS"
read -r -a flags <<< "$WARPGRIND_FLAGS"
code=0
warpgrind "$WARPGRIND_TOOL" --ci --format github \
    --sarif "$WARPGRIND_REPORTS/report.sarif" --junit "$WARPGRIND_REPORTS/report.xml" \
    --html "$WARPGRIND_REPORTS/report.html" --summary "$WARPGRIND_REPORTS/summary.json" \
    ${flags[@]+"${flags[@]}"} bash -c "$WARPGRIND_RUN" || code=$?

verdict=$(sed -n 's/.*"verdict":"\([a-z-]*\)".*/\1/p' "$WARPGRIND_REPORTS/summary.json" 2>/dev/null || true)
verdict=${verdict:-not-checked}
{
    echo "verdict=$verdict"
    echo "exit-code=$code"
    echo "sarif=$WARPGRIND_REPORTS/report.sarif"
    echo "html=$WARPGRIND_REPORTS/report.html"
} >> "$GITHUB_OUTPUT"
echo "Warpgrind $WARPGRIND_TOOL: **$verdict** (exit code $code)" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
