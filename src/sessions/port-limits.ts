/** Handshakes from their request to their answer. */
const MAX_WAITING_HANDSHAKES = 20_000;
/** Those that are open, and those that are gone while the actors have still to hear of it. */
const MAX_SESSIONS = 100_000;

/** How many may be at the agent port at a time; beyond it the next is refused before it is asked who he is. */
export interface PortLimits {
  handshakes: number;
  sessions: number;
}

export const PORT_LIMITS: PortLimits = { handshakes: MAX_WAITING_HANDSHAKES, sessions: MAX_SESSIONS };
