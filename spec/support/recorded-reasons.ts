import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GOLDEN_EXCEPTIONS } from './golden-exceptions.ts';

const GOLDEN = fileURLToPath(new URL('../golden/', import.meta.url));
/** What a step says that differs only because one before it did. */
const FOLLOWS = /^as above$|was refused$|^ours deletes it only now$/;
/** `D12`, `A9`, `2.8.3`, and `15`, which has no parts, where it begins the reason. */
const SOURCE = /\b[DA]\d+\b|(?<![\w.])\d+(?:\.\d+)+|^15\b/g;
/** Recordings whose reasons name sections without saying of which fact sheet. */
const OF_REST = /^(rest|auth)\//;

/** Why the service answers otherwise than was recorded, at one step of a recording. */
export interface RecordedReason {
  /** Where, for a person. */
  place: string;
  /** `02 D1`, `02 2.8`, `07 A9`; where it names none of these, a text, or the recording when there is not even that. */
  ids: readonly string[];
}

/** Of all recordings that are replayed. */
export function recordedReasons(): RecordedReason[] {
  const files = readdirSync(GOLDEN, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
  return [...files.toSorted().flatMap(reasonsIn), ...GOLDEN_EXCEPTIONS.map(overruling)];
}

const overruling = ({ recording, step, why }: (typeof GOLDEN_EXCEPTIONS)[number]): RecordedReason => ({
  place: `${recording} ${step}`,
  ids: [why],
});

function reasonsIn(file: string): RecordedReason[] {
  const recording = file.slice(0, -'.json'.length);
  const reasons: RecordedReason[] = [];
  let ids: readonly string[] = [recording];
  const visit = (value: unknown, place: string): void => {
    if (value === null || typeof value !== 'object') return;
    if (isOurs(value)) {
      const { why } = value as { why?: string };
      if (why !== undefined && !FOLLOWS.test(why)) ids = idsOf(why, recording);
      reasons.push({ place, ids });
    }
    for (const [name, member] of Object.entries(value)) visit(member, `${place}/${name}`);
  };
  visit(JSON.parse(readFileSync(GOLDEN + file, 'utf8')), recording);
  return reasons;
}

const isOurs = (step: object): boolean =>
  !Array.isArray(step) && Object.keys(step).some((name) => /^ours|Ours$/.test(name));

function idsOf(why: string, recording: string): string[] {
  const sources = OF_REST.test(recording) ? [...why.matchAll(SOURCE)].map(([source]) => source) : [];
  if (sources.length === 0) return [why];
  return sources.map((source) => `${source.startsWith('A') ? '07' : '02'} ${source}`);
}
