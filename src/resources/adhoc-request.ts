import { Type } from 'typebox';
import { optional, text, textList, textsOrAbsent, validator } from './schema.ts';

/** The maximum length, in characters, of the reason and the creator of a run, which go into the ledger and the log. */
const MAX_REMARK_LENGTH = 500;
/** The maximum number of subscriptions of a run, which go into the ledger. */
const MAX_SUBSCRIPTIONS = 1_000;
const MAX_SUBSCRIPTION_LENGTH = 500;

/** A request to run a check now. The path names the check. */
export const AdhocRequestSchema = Type.Object(
  {
    check: optional(text('ignored')),
    subscriptions: optional(textList({ maxLength: MAX_SUBSCRIPTION_LENGTH }, { maxItems: MAX_SUBSCRIPTIONS })),
    creator: optional(text()),
    reason: optional(text()),
  },
  { $id: 'core/v2.AdhocRequest' },
);

export interface AdhocRequest {
  /** Replace the subscriptions of the check. */
  subscriptions: string[] | undefined;
  creator: string;
  reason: string;
}

const validateShape = validator('adhoc-request', AdhocRequestSchema);

/** @throws InvalidResource */
export function parseAdhocRequest(value: unknown): AdhocRequest {
  const { subscriptions, creator, reason } = validateShape(value);
  return { subscriptions: textsOrAbsent(subscriptions), creator: remark(creator), reason: remark(reason) };
}

const remark = (sent: string | null | undefined): string => (sent ?? '').slice(0, MAX_REMARK_LENGTH);
