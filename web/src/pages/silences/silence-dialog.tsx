import { useState } from 'preact/hooks';
import { request } from '../../api/client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { notify } from '../../state/notices.ts';
import { forEach } from '../../state/undo.ts';
import { createSilence, nameOf, silencePath, type Target } from './silence.ts';
import { SilencePreview } from './silence-preview.tsx';

/** The maximum number of silences that are created together. */
const MAX_AT_ONCE = 200;
const HOUR_S = 3_600;
const DURATIONS: readonly (readonly [seconds: number, text: string])[] = [
  [HOUR_S / 4, '15 minutes'],
  [HOUR_S, '1 hour'],
  [4 * HOUR_S, '4 hours'],
  [24 * HOUR_S, '1 day'],
  [7 * 24 * HOUR_S, '1 week'],
  [0, 'No end'],
];

interface SilenceDialogProps {
  namespace: string;
  /** The targets that the user wants to silence; none when the user types the target. */
  events: readonly { entity: string; check: string }[];
  /** What is chosen first. */
  extent?: Extent;
  onClose: () => void;
  onDone?: () => void;
}

type Extent = 'event' | 'entity' | 'check' | 'typed';

const unique = (targets: readonly Target[]): Target[] => [
  ...new Map(targets.map((one) => [nameOf(one), one])).values(),
];

const targetOf = (extent: Extent, entity: string, check: string): Target => ({
  subscription: extent === 'check' ? undefined : `entity:${entity}`,
  check: extent === 'entity' ? undefined : check,
});

/** Creates silences, after showing what they match. */
export function SilenceDialog({ namespace, events, extent: first = 'event', onClose, onDone }: SilenceDialogProps) {
  const [extent, setExtent] = useState<Extent>(events.length === 0 ? 'typed' : first);
  const [typed, setTyped] = useState({ subscription: '', check: '' });
  const [expire, setExpire] = useState(HOUR_S);
  const [expireOnResolve, setExpireOnResolve] = useState(false);
  const [reason, setReason] = useState('');
  const [begin, setBegin] = useState('');
  const [isBusy, setBusy] = useState(false);
  const targets =
    extent === 'typed'
      ? [{ subscription: typed.subscription.trim() || undefined, check: typed.check.trim() || undefined }]
      : unique(events.map(({ entity, check }) => targetOf(extent, entity, check)));
  const isEmpty = extent === 'typed' && typed.subscription.trim() === '' && typed.check.trim() === '';
  const tooMany = targets.length > MAX_AT_ONCE;
  const submit = async (): Promise<void> => {
    setBusy(true);
    const terms = {
      expire,
      expireOnResolve,
      reason,
      begin: begin === '' ? 0 : Math.floor(new Date(begin).getTime() / 1_000),
    };
    const made = await forEach(targets, (target) => createSilence(namespace, target, terms));
    setBusy(false);
    if (made === 0) return;
    onClose();
    onDone?.();
    notify(`Created ${made} ${made === 1 ? 'silence' : 'silences'}`, {
      action: {
        label: 'Undo',
        run: () => {
          const remove = async (target: Target): Promise<void> => {
            await request('DELETE', silencePath(namespace, nameOf(target)));
          };
          void forEach(targets, remove).then(() => onDone?.());
        },
      },
    });
  };
  const [one] = events;
  return (
    <Dialog title={events.length > 1 ? `Silence ${events.length} events` : 'Silence'} isOpen onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <fieldset>
          <legend>What</legend>
          {one !== undefined && (
            <>
              <Choice value="event" current={extent} onChoose={setExtent}>
                {events.length === 1 ? `${one.check} on ${one.entity}` : 'Each of these checks on its entity'}
              </Choice>
              <Choice value="entity" current={extent} onChoose={setExtent}>
                {events.length === 1 ? `Every check on ${one.entity}` : 'Every check on their entities'}
              </Choice>
              <Choice value="check" current={extent} onChoose={setExtent}>
                {events.length === 1 ? `${one.check} on every entity` : 'These checks on every entity'}
              </Choice>
            </>
          )}
          <Choice value="typed" current={extent} onChoose={setExtent}>
            A subscription or a check
          </Choice>
          {extent === 'typed' && (
            <div class="form-pair">
              <label>
                Subscription
                <input
                  value={typed.subscription}
                  placeholder="all"
                  onInput={({ currentTarget }) => setTyped({ ...typed, subscription: currentTarget.value })}
                />
              </label>
              <label>
                Check
                <input
                  value={typed.check}
                  placeholder="all"
                  onInput={({ currentTarget }) => setTyped({ ...typed, check: currentTarget.value })}
                />
              </label>
            </div>
          )}
        </fieldset>
        <div class="form-pair">
          <label>
            For
            <select value={expire} onChange={({ currentTarget }) => setExpire(Number(currentTarget.value))}>
              {DURATIONS.map(([seconds, text]) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label>
            Start, if not now
            <input type="datetime-local" value={begin} onInput={({ currentTarget }) => setBegin(currentTarget.value)} />
          </label>
        </div>
        <label>
          Reason
          <input
            value={reason}
            placeholder="what others should know"
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
        <label class="check-line">
          <input
            type="checkbox"
            checked={expireOnResolve}
            onChange={({ currentTarget }) => setExpireOnResolve(currentTarget.checked)}
          />
          End when the check passes again
        </label>
        {!isEmpty && !tooMany && <SilencePreview namespace={namespace} targets={targets} />}
        {tooMany && (
          <p class="error-text">
            At most {MAX_AT_ONCE} silences are made at once. A check or a subscription covers more.
          </p>
        )}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button-primary" disabled={isBusy || isEmpty || tooMany}>
            {targets.length > 1 ? `Create ${targets.length} silences` : 'Silence'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  value: Extent;
  current: Extent;
  onChoose: (value: Extent) => void;
  children: string | readonly string[];
}

function Choice({ value, current, onChoose, children }: ChoiceProps) {
  return (
    <label class="check-line">
      <input type="radio" name="extent" value={value} checked={current === value} onChange={() => onChoose(value)} />
      {children}
    </label>
  );
}
