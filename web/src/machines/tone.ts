/** How good or bad a state is, for its colour. The name of the state and a dot always show the same. */
export type Tone = 'good' | 'warning' | 'critical' | 'neutral';

const TONES: Readonly<Record<string, Tone>> = {
  registered: 'good',
  monitored: 'good',
  passing: 'good',
  connected: 'good',
  ready: 'good',
  scheduled: 'good',
  running: 'good',
  warning: 'warning',
  flapping: 'warning',
  skipping: 'warning',
  waitingForAgents: 'warning',
  backingOff: 'warning',
  closing: 'warning',
  critical: 'critical',
  failing: 'critical',
  stuck: 'critical',
};

/** The tone of a state, by its name. */
export const toneOf = (state: string): Tone => TONES[state] ?? 'neutral';
