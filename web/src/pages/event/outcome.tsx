import { Icon } from '../../components/icon.tsx';
import { StatusShape, type Tone } from '../../components/status.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  handled: 'ok',
  'would-run': 'ok',
  waiting: 'warning',
  failed: 'critical',
  'timed-out': 'critical',
};

/** The outcome of a handler, as shape, colour and word. */
export function Outcome({ outcome }: { outcome: string }) {
  const tone = TONES[outcome];
  return (
    <span class={`status tone-${tone ?? 'muted'}`}>
      {tone === undefined ? <Icon name="close" /> : <StatusShape tone={tone} />}
      {outcome}
    </span>
  );
}
