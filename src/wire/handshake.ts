import { isName, isUuid } from '../resources/names.ts';

export const MEDIA_TYPE_JSON = 'application/json';

/** What an agent says of itself when it connects. */
export interface AgentHello {
  agentName: string;
  namespace: string;
  /** As sent; the stored entity's subscriptions count as soon as there is one. */
  subscriptions: string[];
  /** Informational; never used for a decision. */
  user: string;
  /** The agent's queue, when it asks for acknowledgements. */
  queueId: string | undefined;
}

export interface Credentials {
  username: string;
  password: string;
}

export class HandshakeError extends Error {}

type Headers = Record<string, string | string[] | undefined>;

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** Reads a header in either spelling. @throws HandshakeError when both are present and differ */
function eitherSpelling(headers: Headers, name: string): string | undefined {
  const interop = single(headers[`sensu-${name}`]);
  const own = single(headers[`mon-${name}`]);
  if (interop !== undefined && own !== undefined && interop !== own) {
    throw new HandshakeError(`headers Sensu-${name} and Mon-${name} differ`);
  }
  return interop ?? own;
}

/** @throws HandshakeError naming the header that is missing or wrong */
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

/** The namespace alone: it is refused before the rest of the hello is judged. */
export function namespaceOf(headers: Headers): string {
  return single(headers['sensu-namespace']) ?? single(headers['mon-namespace']) ?? '';
}

/** `Basic` credentials, undefined when the header is absent or malformed. */
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
  /** The one the agent asks for. */
  accept: string;
  /** The one of the last connection. */
  contentType?: string | undefined;
}

/**
 * The headers an agent sends, in both spellings so that it can talk to any backend. `queueId` asks for acknowledgements.
 * Without credentials it shows a certificate, and names no user.
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

/** Whether the backend answered that it acknowledges events. */
export const acknowledges = (headers: Headers): boolean => single(headers['mon-ack']) === '1';

/** Whether one of the `Accept` lines is exactly this type; `rawHeaders` are names and values in turn. A list in one line does not count. */
export const acceptsLine = (rawHeaders: readonly string[], mediaType: string): boolean =>
  rawHeaders.some(
    (value, index) => index % 2 === 1 && value === mediaType && rawHeaders[index - 1]?.toLowerCase() === 'accept',
  );
