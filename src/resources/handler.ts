import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertHandlerDelivery } from './handler-delivery.ts';
import { assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { listOrNull, optional, orAbsent, text, textList, textsOrNull, uint32, validator } from './schema.ts';
import { SecretReferenceSchema, secretReferenceWithDefaults } from './secret-reference.ts';

/** The maximum number of members of a set. */
const MAX_MEMBERS = 1_000;

const SocketSchema = Type.Object({ host: optional(text()), port: optional(uint32()) });

export const HandlerSchema = Type.Object(
  {
    metadata: optional(ObjectMetaSchema),
    type: optional(text('pipe, tcp, udp or set')),
    mutator: optional(text()),
    command: optional(text('command of a pipe handler, which gets the event on its standard input')),
    timeout: optional(uint32('seconds; 0 = no limit for a pipe, 60 for tcp and udp')),
    socket: optional(SocketSchema),
    handlers: optional(textList()),
    filters: optional(textList()),
    env_vars: optional(textList()),
    runtime_assets: optional(textList()),
    secrets: optional(Type.Array(SecretReferenceSchema)),
  },
  { $id: 'core/v2.Handler' },
);

export type Handler = ReturnType<typeof handlerWithDefaults>;

export function handlerWithDefaults(input: Static<typeof HandlerSchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    type: orAbsent(input.type),
    mutator: orAbsent(input.mutator),
    command: orAbsent(input.command),
    timeout: input.timeout ?? 0,
    socket: input.socket ? { host: orAbsent(input.socket.host), port: input.socket.port ?? 0 } : undefined,
    handlers: textsOrNull(input.handlers),
    filters: textsOrNull(input.filters),
    env_vars: textsOrNull(input.env_vars),
    runtime_assets: textsOrNull(input.runtime_assets),
    secrets: listOrNull(input.secrets?.map(secretReferenceWithDefaults)),
  };
}

const validateShape = validator('handler', HandlerSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseHandlerShape(value: unknown): Handler {
  return handlerWithDefaults(validateShape(value));
}

/** Does not check the names of other resources. @throws InvalidResource with the rule it breaks */
export function assertHandler(handler: Handler): void {
  assertName(handler.metadata.name ?? '', 'handler name');
  assertType(handler);
  assertHandlerDelivery(handler.metadata, handler.type);
  if (handler.metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
}

function assertType({ type, command, socket, handlers }: Handler): void {
  switch (type) {
    case undefined:
      throw new InvalidResource('empty handler type');
    case 'pipe':
      if ((command ?? '').trim() === '') throw new InvalidResource('missing command');
      return;
    case 'tcp':
    case 'udp':
      assertSocket(socket);
      return;
    case 'set':
      if ((handlers?.length ?? 0) > MAX_MEMBERS) {
        throw new InvalidResource(`handlers of a set must be at most ${MAX_MEMBERS}`);
      }
      return;
    default:
      throw new InvalidResource(`unknown handler type: ${type}`);
  }
}

function assertSocket(socket: Handler['socket']): void {
  if (socket === undefined) throw new InvalidResource('tcp and udp handlers need a valid socket');
  if (socket.host === undefined) throw new InvalidResource('socket host undefined');
  if (socket.port === 0) throw new InvalidResource('socket port undefined');
}
