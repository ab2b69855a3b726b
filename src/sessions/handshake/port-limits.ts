/** Handshakes between request and response. */
const MAX_WAITING_HANDSHAKES = 20_000;
/** Open sessions, and closed ones that still have messages to process. */
const MAX_SESSIONS = 100_000;

/** Limits of the agent port. Past them a handshake is refused before authentication. */
export interface PortLimits {
  handshakes: number;
  sessions: number;
}

export const PORT_LIMITS: PortLimits = { handshakes: MAX_WAITING_HANDSHAKES, sessions: MAX_SESSIONS };
