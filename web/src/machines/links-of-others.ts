/** Why the machine `agent-link` has one counted state. */
export const LINKS_OF_OTHERS =
  'It runs in the agents. The backend sees that a link is connected by its session; an agent without one reports no state.';
