import { toneOf } from './tone.ts';

/** The name of a state with a mark in its colour. */
export function StateName({ name }: { name: string | null }) {
  const text = name ?? 'none';
  return (
    <span class={`state-name is-${name === null ? 'neutral' : toneOf(name)}`}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        {shapeOf(name)}
      </svg>
      {text}
    </span>
  );
}

/** A circle, a triangle or an octagon, so that colour is not the only difference. */
function shapeOf(name: string | null) {
  const tone = name === null ? 'neutral' : toneOf(name);
  if (tone === 'warning') return <path d="M5 .6 9.7 9.2H.3z" />;
  if (tone === 'critical') return <path d="M3.1.4h3.8l2.7 2.7v3.8L6.9 9.6H3.1L.4 6.9V3.1z" />;
  if (tone === 'good') return <circle cx="5" cy="5" r="4.3" />;
  return <circle class="hollow" cx="5" cy="5" r="3.4" />;
}
