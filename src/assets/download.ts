import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { AllowedNetwork } from '../resources/ip-network.ts';
import { causeText, FetchFailed } from './asset-failed.ts';
import { get, type HttpResponse } from './http-get.ts';
import type { Target } from './target-policy.ts';

/** A larger archive is refused. */
const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024;
const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** These headers belong to the connection, so an asset cannot set them. */
const OF_CONNECTION = /^(host|connection|content-length|transfer-encoding|upgrade|keep-alive|te|trailer|expect)$/i;

export interface DownloadRequest {
  url: string;
  headers: Readonly<Record<string, string>> | null;
  /** The new file that gets the archive. */
  file: string;
}

export interface DownloadOptions {
  /** The networks that requests may reach; see `mayReach`. */
  allowed: readonly AllowedNetwork[];
  trustedCa?: string | undefined;
}

export interface Downloaded {
  bytes: number;
  sha512: string;
}

/** Downloads an archive and computes its checksum while it arrives. @throws FetchFailed with the words of the reference */
export async function download(
  { url, headers, file }: DownloadRequest,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<Downloaded> {
  const { body, close } = await follow(urlOf(url), linesOf(headers), options, signal);
  try {
    return await store(body, file);
  } catch (error) {
    if (error instanceof FetchFailed) throw error;
    throw new FetchFailed(`error downloading asset: ${causeText(signal.reason ?? error)}`, { cause: error });
  } finally {
    await close();
  }
}

/** Sends the request, and follows redirects until there is an answer. */
async function follow(
  first: URL,
  lines: Record<string, string[]>,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { allowed, trustedCa } = options;
  let url = first;
  let headers = lines;
  let reached: Target | undefined;
  for (let redirects = 0; ; redirects += 1) {
    const isRedirect = redirects > 0;
    const failed = (cause: unknown): FetchFailed =>
      new FetchFailed(`error fetching asset: Get "${shownUrl(url)}": ${causeText(cause)}`, { cause });
    if (!/^https?:$/.test(url.protocol)) throw failed(new Error(`protocol ${url.protocol} is not http or https`));
    if (redirects > MAX_REDIRECTS) throw failed(new Error(`stopped after ${MAX_REDIRECTS} redirects`));
    const got = await get(url, {
      headers: { ...credentialsOf(url), ...headers },
      allowed,
      isRedirect,
      reached,
      trustedCa,
      signal,
    }).catch((error: unknown) => {
      throw failed(signal.reason ?? error);
    });
    const { location } = got.headers;
    if (!REDIRECTS.has(got.status) || location === undefined) return accepted(got);
    await got.close();
    if (!isRedirect) reached = got.reached;
    const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
    if (next === undefined) throw failed(new Error('redirects to an invalid URL'));
    if (!isSameSite(url, next)) headers = {};
    url = next;
  }
}

/** @throws FetchFailed unless the answer has an archive that is not too large */
async function accepted(got: HttpResponse): Promise<HttpResponse> {
  const bytes = Number(got.headers['content-length'] ?? 0);
  if (got.status === 200 && bytes <= MAX_ARCHIVE_BYTES) return got;
  await got.close();
  throw got.status === 200 ? tooLarge() : new FetchFailed(`error fetching asset: Response Code ${got.status}`);
}

const tooLarge = (): FetchFailed =>
  new FetchFailed(`error downloading asset: the archive is larger than ${MAX_ARCHIVE_BYTES} bytes`);

async function store(body: Readable, file: string): Promise<Downloaded> {
  const hash = createHash('sha512');
  const handle = await open(file, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_ARCHIVE_BYTES) throw tooLarge();
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
  return { bytes, sha512: hash.digest('hex') };
}

function urlOf(text: string): URL {
  if (text === '') throw new FetchFailed('error fetching asset: Get "": unsupported protocol scheme ""');
  if (!URL.canParse(text)) throw new FetchFailed(`error fetching asset: "${withoutPassword(text)}" is not a valid URL`);
  return new URL(text);
}

const withoutPassword = (text: string): string => text.replace(/\/\/[^/@]*@/, '//').replace(/[?#].*$/s, '');

/** The URL for messages, without a password and without a query, which may contain secrets. */
function shownUrl({ protocol, host, pathname, search }: URL): string {
  const path = protocol === 'http:' || protocol === 'https:' ? pathname : pathname.slice(0, MAX_SHOWN_CHARACTERS);
  return `${protocol}//${host}${path}${search === '' ? '' : '?...'}`;
}

const MAX_SHOWN_CHARACTERS = 200;

/** Each value is a list of values, separated by commas. */
function linesOf(headers: DownloadRequest['headers']): Record<string, string[]> {
  const entries = Object.entries(headers ?? {}).filter(([name]) => !OF_CONNECTION.test(name));
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), value.split(',').map((item) => item.trim())]),
  );
}

/** The user and the password of a URL, as a header. */
function credentialsOf({ username, password }: URL): Record<string, string[]> {
  if (username === '' && password === '') return {};
  const pair = [username, password].map(unescaped).join(':');
  return { authorization: [`Basic ${Buffer.from(pair).toString('base64')}`] };
}

/** The text of a part of a URL; a `%` that escapes nothing stands for itself. */
const unescaped = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());

/** Whether the headers of an asset, which may contain secrets, are sent to the other URL as well. */
const isSameSite = (from: URL, to: URL): boolean =>
  from.origin === to.origin || (from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname);
