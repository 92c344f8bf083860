#!/bin/sh
# A prolog of Slurm: `Prolog=/etc/slurm/prolog.d/health.sh` in slurm.conf. A node that computes wrongly is drained, and its task is
# started elsewhere; `SchedulerParameters=nohold_on_prolog_fail` keeps the task from being held.
# What cannot be checked (exit code 3) does not drain a node.
WARPGRIND=${WARPGRIND:-warpgrind}
message=$("$WARPGRIND" health --time 5s --exit-style nagios)
code=$?
case $code in
    0 | 1 | 3) exit 0 ;;
    *)
        logger -t warpgrind "$message" 2>/dev/null
        exit 1
        ;;
esac
