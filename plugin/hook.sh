#!/bin/sh
# Hands a hook's event to the bus. Whatever goes wrong, the turn goes on: exit 0, nothing printed.
home=${AGENT_BUS_HOME:-}
if [ -z "$home" ]; then
  # Asking uname would be a process of its own, at each step of an agent.
  if [ -d /System/Library ]; then
    home="$HOME/Library/Application Support/agent-bus"
  else
    case ${XDG_DATA_HOME:-} in
      /*) home="$XDG_DATA_HOME/agent-bus" ;;
      *) home="$HOME/.local/share/agent-bus" ;;
    esac
  fi
fi
if [ -f "$home/hub.json" ] && [ -x "$home/bin/agent-bus" ]; then
  "$home/bin/agent-bus" hook "$1" 2>/dev/null
else
  # Whoever writes to us must not meet a closed pipe.
  cat >/dev/null
fi
exit 0
