export type Tone = 'ok' | 'warning' | 'critical' | 'unknown';

const TONES: readonly Tone[] = ['ok', 'warning', 'critical'];
const WORDS: Record<Tone, string> = { ok: 'OK', warning: 'Warning', critical: 'Critical', unknown: 'Unknown' };

export const toneOf = (status: number): Tone => TONES[status] ?? 'unknown';
export const statusName = (status: number): string => (status > 3 ? `Unknown (${status})` : WORDS[toneOf(status)]);

/** The order of statuses, worst first. */
export const SEVERITY: Record<Tone, number> = { critical: 0, warning: 1, unknown: 2, ok: 3 };

/** A shape of its own for each status, so that colour is not needed. */
const SHAPES: Record<Tone, string> = {
  ok: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M5 8l2.2 2.2L11 6',
  warning: 'M8 2 15 14H1ZM8 6.5v3M8 11.7v.1',
  critical: 'M5.2 1.5h5.6L14.5 5.2v5.6L10.8 14.5H5.2L1.5 10.8V5.2ZM5.8 5.8l4.4 4.4M10.2 5.8 5.8 10.2',
  unknown: 'M8 1.2 14.8 8 8 14.8 1.2 8ZM8 5v3.4M8 10.7v.1',
};

export function StatusShape({ tone, size = 16 }: { tone: Tone; size?: number }) {
  return (
    <svg class={`shape tone-${tone}`} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={SHAPES[tone]} />
    </svg>
  );
}

/** A status as shape, colour and word. */
export function StatusMark({ status, isFlapping = false }: { status: number; isFlapping?: boolean }) {
  const tone = toneOf(status);
  return (
    <span class={`status tone-${tone}`}>
      <StatusShape tone={tone} />
      {statusName(status)}
      {isFlapping && <span class="muted flapping"> flapping</span>}
    </span>
  );
}
