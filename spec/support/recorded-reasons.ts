import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AGENT_EXCEPTIONS, type AgentException } from './golden-agent/exceptions.ts';
import { BACKEND_EXCEPTIONS } from './golden-backend-exceptions.ts';
import { EARLIER_EXCEPTIONS } from './golden-earlier/earlier-exceptions.ts';
import { GOLDEN_EXCEPTIONS } from './golden-exceptions.ts';

const GOLDEN = fileURLToPath(new URL('../golden/', import.meta.url));
/** Reasons of steps that differ only because an earlier step does. */
const FOLLOWS =
  /^as above$|^same$|^see the step before$|^gone\b|^an earlier step had another result$|was refused$|^ours deletes it only now$/;
/** Matches `D12`, `A9`, `2.8.3`, and `15` at the beginning of a reason. */
const SOURCE = /\b[DA]\d+\b|(?<![\w.])\d+(?:\.\d+)+|^15\b/g;
/** Recordings whose reasons name sections without their document. */
const OF_REST = /^(rest|auth)\//;

/** Why the service differs from the recording at one step. */
export interface RecordedReason {
  /** The recording and step, for messages. */
  place: string;
  /** Sources such as `02 D1`, `02 2.8` and `07 A9`; otherwise the text of the reason, or the recording if it has none. */
  ids: readonly string[];
}

/** Returns the reasons of all recordings that are replayed. */
export function recordedReasons(): RecordedReason[] {
  const files = readdirSync(GOLDEN, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
  const earlier = EARLIER_EXCEPTIONS.filter(({ why }) => !FOLLOWS.test(why)).map(({ file, steps, why }) => ({
    place: `earlier/${file} ${steps.join()}`,
    ids: [why],
  }));
  return [
    ...files.toSorted().flatMap(reasonsIn),
    ...AGENT_EXCEPTIONS.map(agentReason),
    ...[...GOLDEN_EXCEPTIONS, ...BACKEND_EXCEPTIONS].map(exceptionReason),
    ...earlier,
  ];
}

const exceptionReason = ({ recording, step, why }: (typeof GOLDEN_EXCEPTIONS)[number]): RecordedReason => ({
  place: `${recording} ${step}`,
  ids: [why],
});

const agentReason = ({ file, scenario, step, why }: AgentException): RecordedReason => ({
  place: `agent/${file} ${scenario} ${step}`,
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
