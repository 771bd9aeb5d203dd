#!/bin/sh
# Moothall with the settings of /etc/moothall.toml, unless MOOTHALL_CONFIG names others. Root runs it as the user
# moothall, whose the data are: a file that root made there would keep the service from starting.
program="/usr/lib/moothall/bin/python3 -P -m moothall"
if [ -z "${MOOTHALL_CONFIG+set}" ] && [ -r /etc/moothall.toml ]; then
    export MOOTHALL_CONFIG=/etc/moothall.toml
    if [ "$(id -u)" = 0 ] && getent passwd moothall >/dev/null; then
        exec setpriv --reuid moothall --regid moothall --init-groups -- $program "$@"
    fi
fi
exec $program "$@"
