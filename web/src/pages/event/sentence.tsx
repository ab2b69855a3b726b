import { exactTime } from '../../components/time.tsx';

/** Names in backticks, and times in UTC, as the API writes them. */
const PARTS = /(`[^`]*`|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the API, with its names marked and its times in the user's zone. */
export function Sentence({ text }: { text: string }) {
  return (
    <span>
      {text.split(PARTS).map((part, index) => {
        if (index % 2 === 0) return part;
        if (part.startsWith('`')) return <strong key={index}>{part.slice(1, -1)}</strong>;
        return (
          <time key={index} dateTime={part} title={part}>
            {exactTime(Date.parse(part) / 1_000)}
          </time>
        );
      })}
    </span>
  );
}
