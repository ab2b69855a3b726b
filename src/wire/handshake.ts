import { isName, isUuid } from '../resources/names.ts';

export const MEDIA_TYPE_JSON = 'application/json';

/** The identity that an agent sends when it connects. */
export interface AgentHello {
  agentName: string;
  namespace: string;
  /** Used until the entity is stored; then its subscriptions apply. */
  subscriptions: string[];
  /** For information only. */
  user: string;
  /** Id of the agent's queue, if the agent requests acknowledgements. */
  queueId: string | undefined;
}

export interface Credentials {
  username: string;
  password: string;
}

export class HandshakeError extends Error {}

type Headers = Record<string, string | string[] | undefined>;

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** Reads a header under either prefix. @throws HandshakeError when both are present and differ */
function eitherSpelling(headers: Headers, name: string): string | undefined {
  const interop = single(headers[`sensu-${name}`]);
  const own = single(headers[`mon-${name}`]);
  if (interop !== undefined && own !== undefined && interop !== own) {
    throw new HandshakeError(`headers Sensu-${name} and Mon-${name} differ`);
  }
  return interop ?? own;
}

/** @throws HandshakeError naming the missing or invalid header */
export function parseHello(headers: Headers): AgentHello {
  const agentName = eitherSpelling(headers, 'agentname') ?? '';
  if (!isName(agentName)) throw new HandshakeError('header Sensu-AgentName must be a valid entity name');
  const queueId = single(headers['mon-ack']) === '1' ? single(headers['mon-queue']) : undefined;
  if (queueId !== undefined && !isUuid(queueId)) throw new HandshakeError('header Mon-Queue must be a UUID');
  return {
    agentName,
    namespace: eitherSpelling(headers, 'namespace') ?? '',
    subscriptions: (eitherSpelling(headers, 'subscriptions') ?? '').split(',').filter((item) => item !== ''),
    user: eitherSpelling(headers, 'user') ?? '',
    queueId: queueId?.toLowerCase(),
  };
}

/** Reads the namespace alone, which is checked before the other headers. */
export function namespaceOf(headers: Headers): string {
  return single(headers['sensu-namespace']) ?? single(headers['mon-namespace']) ?? '';
}

/** Parses `Basic` credentials. Undefined when the header is absent or malformed. */
export function parseBasic(header: string | undefined): Credentials | undefined {
  const match = /^basic ([A-Za-z0-9+/]*={0,2})$/i.exec(header ?? '');
  if (match?.[1] === undefined) return undefined;
  const decoded = Buffer.from(match[1], 'base64').toString();
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

export const basicHeader = ({ username, password }: Credentials): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

interface Formats {
  /** The format that the agent requests. */
  accept: string;
  /** The format of the previous connection. */
  contentType?: string | undefined;
}

/**
 * The headers that an agent sends, under both prefixes for compatibility with any backend. A `queueId` requests
 * acknowledgements. Without credentials the agent authenticates by certificate and sends no user.
 */
export function helloHeaders(
  hello: AgentHello,
  credentials: Credentials | undefined,
  formats: Formats = { accept: MEDIA_TYPE_JSON },
): Record<string, string> {
  const own = {
    AgentName: hello.agentName,
    Namespace: hello.namespace,
    Subscriptions: hello.subscriptions.join(','),
    ...(credentials === undefined ? {} : { User: hello.user }),
  };
  return {
    ...Object.fromEntries(
      Object.entries(own).flatMap(([name, value]) => [
        [`Sensu-${name}`, value],
        [`Mon-${name}`, value],
      ]),
    ),
    ...(credentials === undefined ? {} : { Authorization: basicHeader(credentials) }),
    Accept: formats.accept,
    ...(formats.contentType === undefined ? {} : { 'Content-Type': formats.contentType }),
    ...(hello.queueId === undefined ? {} : { 'Mon-Ack': '1', 'Mon-Queue': hello.queueId }),
  };
}

/** Whether the response announces acknowledgements. */
export const acknowledgesEvents = (headers: Headers): boolean => single(headers['mon-ack']) === '1';

/**
 * Whether one of the `Accept` lines is exactly this type. `rawHeaders` alternates names and values. Combined lines do
 * not match.
 */
export const acceptsLine = (rawHeaders: readonly string[], mediaType: string): boolean =>
  rawHeaders.some(
    (value, index) => index % 2 === 1 && value === mediaType && rawHeaders[index - 1]?.toLowerCase() === 'accept',
  );
