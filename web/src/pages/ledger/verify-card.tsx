import { useEffect, useRef, useState } from 'preact/hooks';
import { get, MON } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import type { BackendHealth } from '../home/backend-card.tsx';
import { type Verification, verifyLedger } from './verify.ts';

/** Verifies the ledger in the browser, with progress. */
export function VerifyCard() {
  const [state, setState] = useState<Verification | undefined>(undefined);
  const aborting = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => aborting.current?.abort(), []);
  const start = async (): Promise<void> => {
    aborting.current?.abort();
    const own = (aborting.current = new AbortController());
    try {
      const { ledger_seq: head } = await get<BackendHealth>(`${MON}/backend`);
      setState({ seq: 0, head, state: 'running' });
      await verifyLedger(head, setState, own.signal);
    } catch (error) {
      if (!own.signal.aborted) setState({ seq: 0, head: 0, state: 'failed', error: messageOf(error) });
    }
  };
  const isRunning = state?.state === 'running';
  return (
    <section class="card verify" aria-labelledby="verify" data-result={state?.state}>
      <header>
        <h2 id="verify">Verify the ledger</h2>
        <button
          type="button"
          onClick={() => {
            if (!isRunning) void start();
            else {
              aborting.current?.abort();
              setState({ ...state, state: 'stopped' });
            }
          }}
        >
          {isRunning ? 'Stop' : 'Verify'}
        </button>
      </header>
      {state === undefined ? (
        <p class="muted">This browser recomputes the hash of every entry, and checks that none is missing.</p>
      ) : (
        <>
          <progress max={Math.max(1, state.head)} value={state.seq} aria-label="Verified entries" />
          <p role="status" class={toneOf(state.state)}>
            {state.state === 'intact'
              ? `All entries up to ${state.seq.toLocaleString()} are unchanged and none is missing.`
              : isRunning || state.state === 'stopped'
                ? `${state.seq.toLocaleString()} of ${state.head.toLocaleString()}${isRunning ? '' : ', stopped'}`
                : state.error}
          </p>
        </>
      )}
    </section>
  );
}

function toneOf(state: Verification['state']): string {
  if (state === 'intact') return 'tone-ok';
  return state === 'failed' ? 'tone-critical' : 'muted';
}
