const DEFAULT_BACKEND_PORT = '8081';
/** A URL without a scheme and a port, which is a path. */
const BARE_NAME = /^[^:/?#\s]+$/;

/** Adds the port only if the text has none: an explicit default port of the scheme must be kept. */
export function withPort(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!/^[^:]+:\/\/[^/?#]*:\d+(?=[/?#]|$)/.test(text)) url.port = DEFAULT_BACKEND_PORT;
  return url;
}

/** Why the URLs cannot be used; undefined when they can. */
export function urlError(urls: readonly string[]): string | undefined {
  if (urls.length === 0) return 'no backend URLs defined';
  const errors = urls.map((text) => {
    const url = withPort(text);
    if (BARE_NAME.test(text))
      return `backend URL (//:${DEFAULT_BACKEND_PORT}/${text}) must have ws:// or wss:// scheme`;
    if (url === undefined) return `backend URL (${text}) is not a valid URL`;
    const isWebSocket = url.protocol === 'ws:' || url.protocol === 'wss:';
    if (isWebSocket && url.hash === '') return undefined;
    if (isWebSocket) return `backend URL (${text}) must not have a fragment`;
    [url.username, url.password] = ['', ''];
    return `backend URL (${url.href.replace(/\/$/, '')}) must have ws:// or wss:// scheme`;
  });
  return errors.find((error) => error !== undefined);
}
