#!/bin/sh
# Initialises the store when the variables of the first administrator are set, and replaces itself with the command, so
# that the program receives the signals of the container.
set -eu

# Runs `init` with those flags of `start` that name the store, the configuration and the control socket.
initialise() {
  next_is_value=false
  for argument; do
    shift
    case "$argument" in
    --state-dir | -d | --config-file | -c | --control-socket)
      set -- "$@" "$argument"
      next_is_value=true
      continue
      ;;
    --state-dir=* | -d?* | --config-file=* | -c?* | --control-socket=*) set -- "$@" "$argument" ;;
    *) if [ "$next_is_value" = true ]; then set -- "$@" "$argument"; fi ;;
    esac
    next_is_value=false
  done
  mon-backend init --wait --ignore-already-initialized "$@"
}

if [ "${1:-}" = mon-backend ] && [ "${2:-}" = start ] && [ -n "${MON_BACKEND_CLUSTER_ADMIN_PASSWORD:-}" ]; then
  initialise "$@"
fi
unset MON_BACKEND_CLUSTER_ADMIN_USERNAME MON_BACKEND_CLUSTER_ADMIN_PASSWORD MON_BACKEND_CLUSTER_ADMIN_API_KEY
exec "$@"
