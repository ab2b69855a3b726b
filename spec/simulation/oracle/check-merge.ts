/** What a check's state is, by the merge rules of the agent wire document, sections 8.4 to 8.6. */
export interface MergedCheck {
  status: number;
  history: readonly { status: number; executed: number }[];
  occurrences: number;
  watermark: number;
  state: 'passing' | 'failing' | 'flapping';
  totalStateChange: number;
  lastOk: number;
}

interface Result {
  status: number;
  executed: number;
  lowFlap: number;
  highFlap: number;
}

const KEPT_RESULTS = 21;

export function merged(before: MergedCheck | undefined, result: Result): MergedCheck {
  const { status, executed } = result;
  const history = [...(before?.history ?? []), { status, executed }].slice(-KEPT_RESULTS);
  const previous = history.at(-2)?.status;
  const occurrences = previous === status ? (before?.occurrences ?? 0) + 1 : 1;
  const totalStateChange = changeOf(history.map((entry) => entry.status));
  const state = stateOf(before?.state === 'flapping', totalStateChange, result);
  const lastOk = state === 'passing' ? executed : (before?.lastOk ?? 0);
  const watermark = watermarkOf(before?.watermark ?? 0, occurrences, status !== 0 && previous === 0);
  return { status, history, occurrences, watermark, state, totalStateChange, lastOk };
}

function watermarkOf(before: number, occurrences: number, isNewIncident: boolean): number {
  if (isNewIncident) return 1;
  return occurrences > before ? before + 1 : before;
}

/** Section 8.5: single precision, newer changes weigh more. */
function changeOf(statuses: readonly number[]): number {
  if (statuses.length < KEPT_RESULTS) return 0;
  let sum = 0;
  let weight = 0.8;
  for (const [index, status] of statuses.entries()) {
    if (index === 0) continue;
    if (status !== statuses[index - 1]) sum += weight;
    weight += 0.02;
  }
  return Math.trunc(Math.fround(Math.fround(Math.fround(sum) / 20) * 100));
}

function stateOf(wasFlapping: boolean, change: number, { lowFlap, highFlap, status }: Result): MergedCheck['state'] {
  const detects = lowFlap !== 0 && highFlap !== 0;
  if (detects && (wasFlapping ? change > lowFlap : change >= highFlap)) return 'flapping';
  return status === 0 ? 'passing' : 'failing';
}
