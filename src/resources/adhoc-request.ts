import { Type } from 'typebox';
import { listOrAbsent, optional, text, validator } from './schema.ts';

/** Of what is written about a run so many characters are kept: it goes into the ledger and the log. */
const MAX_REMARK_LENGTH = 500;
/** Of one run; they go into the ledger. */
const MAX_SUBSCRIPTIONS = 1_000;
const MAX_SUBSCRIPTION_LENGTH = 500;

/** What a person says who wants a check to run now; the path says which one. */
export const AdhocRequestSchema = Type.Object(
  {
    check: optional(text('ignored')),
    subscriptions: optional(
      Type.Array(Type.String({ maxLength: MAX_SUBSCRIPTION_LENGTH }), { maxItems: MAX_SUBSCRIPTIONS }),
    ),
    creator: optional(text()),
    reason: optional(text()),
  },
  { $id: 'core/v2.AdhocRequest' },
);

export interface AdhocRequest {
  /** In place of those of the check. */
  subscriptions: string[] | undefined;
  creator: string;
  reason: string;
}

const validateShape = validator(AdhocRequestSchema);

/** @throws InvalidResource */
export function parseAdhocRequest(value: unknown): AdhocRequest {
  const { subscriptions, creator, reason } = validateShape(value);
  return { subscriptions: listOrAbsent(subscriptions), creator: remark(creator), reason: remark(reason) };
}

const remark = (sent: string | null | undefined): string => (sent ?? '').slice(0, MAX_REMARK_LENGTH);
