#!/bin/sh
# Initialises the store when the variables of the first administrator are set, and replaces itself with the command, so
# that the program receives the signals of the container.
set -eu
if [ "${1:-}" = mon-backend ] && [ "${2:-}" = start ] && [ -n "${MON_BACKEND_CLUSTER_ADMIN_PASSWORD:-}" ]; then
  mon-backend init --wait --ignore-already-initialized
fi
unset MON_BACKEND_CLUSTER_ADMIN_USERNAME MON_BACKEND_CLUSTER_ADMIN_PASSWORD MON_BACKEND_CLUSTER_ADMIN_API_KEY
exec "$@"
