import type { EntityConfig } from '../resources/entity.ts';
import { InvalidResource } from '../resources/errors.ts';
import type { Event } from '../resources/event.ts';
import type { CheckRequest } from './check-request.ts';
import { MEDIA_TYPE_JSON } from './handshake.ts';
import * as json from './json-codec.ts';
import type { LastEntity } from './last-entity.ts';
import * as protobuf from './protobuf-codec.ts';
import { MalformedProtobuf } from './protobuf-reader.ts';

export const MEDIA_TYPE_PROTOBUF = 'application/octet-stream';

const OPENING_BRACE = 0x7b;

/**
 * The encoding of a connection, in both directions. Decoding also accepts the other encoding, because an agent relays
 * events that it queued before it was connected. Decoding throws InvalidResource only.
 */
export interface Codec {
  readonly mediaType: string;
  /** `last` remembers the entity of the sender. */
  decodeEvent(payload: Buffer, last?: LastEntity): Event;
  /** The payload of an event if it is protobuf, the format in which events are stored. */
  protobufOf(payload: Buffer): Buffer | undefined;
  decodeEntityConfig(payload: Buffer): EntityConfig;
  decodeCheckRequest(payload: Buffer): CheckRequest;
  encodeEvent(event: Event): string | Buffer;
  encodeEntityConfig(config: EntityConfig): string | Buffer;
  encodeCheckRequest(request: CheckRequest): string | Buffer;
}

type Decode<T> = (payload: Buffer, last?: LastEntity) => T;

export const jsonCodec: Codec = {
  mediaType: MEDIA_TYPE_JSON,
  decodeEvent: jsonOr(json.decodeEvent, protobuf.decodeEvent),
  protobufOf: () => undefined,
  decodeEntityConfig: jsonOr(json.decodeEntityConfig, protobuf.decodeEntityConfig),
  decodeCheckRequest: jsonOr(json.decodeCheckRequest, protobuf.decodeCheckRequest),
  encodeEvent: json.encodeJson,
  encodeEntityConfig: json.encodeJson,
  encodeCheckRequest: json.encodeJson,
};

export const protobufCodec: Codec = {
  mediaType: MEDIA_TYPE_PROTOBUF,
  decodeEvent: protobufOr(protobuf.decodeEvent, json.decodeEvent),
  protobufOf: protobufOr(
    (payload) => payload,
    () => undefined,
  ),
  decodeEntityConfig: protobufOr(protobuf.decodeEntityConfig, json.decodeEntityConfig),
  decodeCheckRequest: protobufOr(protobuf.decodeCheckRequest, json.decodeCheckRequest),
  encodeEvent: protobuf.encodeEvent,
  encodeEntityConfig: protobuf.encodeEntityConfig,
  encodeCheckRequest: protobuf.encodeCheckRequest,
};

/** The first byte decides: no protobuf message starts with `{`, which would open a group, and the schema has none. */
function protobufOr<T, J = T>(decode: Decode<T>, decodeJson: Decode<J>): Decode<T | J> {
  return (payload, last) => (payload[0] === OPENING_BRACE ? decodeJson(payload) : decode(payload, last));
}

/** Valid JSON is not tried as protobuf. A payload in neither encoding is reported as invalid JSON. */
function jsonOr<T>(decode: Decode<T>, decodeProtobuf: Decode<T>): Decode<T> {
  return (payload, last) => {
    try {
      return decode(payload, last);
    } catch (error) {
      if (!(error instanceof InvalidResource && error.cause instanceof SyntaxError)) throw error;
      return unlessMalformed(() => decodeProtobuf(payload), error);
    }
  };
}

function unlessMalformed<T>(attempt: () => T, otherwise: InvalidResource): T {
  try {
    return attempt();
  } catch (error) {
    throw error instanceof MalformedProtobuf ? otherwise : error;
  }
}
