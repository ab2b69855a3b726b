/** The path of the inspector's WebSocket. */
export const INSPECT_PATH = '/debug/inspect';
/** The path of the WebSocket that streams state transitions. */
export const LIVE_PATH = '/api/mon/v1/live';
