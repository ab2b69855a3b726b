import type { CheckEvent } from '../../resources/event.ts';
import { redactEntity } from '../../resources/redaction.ts';
import { encodeJson } from '../../wire/json-codec.ts';

/**
 * The standard input of a command that requests it: the event so far, without its id and with a redacted entity.
 * Source: spec/03 4.3.
 */
export const inputOf = (event: CheckEvent): string =>
  encodeJson({ ...event, id: null, entity: redactEntity(event.entity) });
