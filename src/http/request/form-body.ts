const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Returns the first value of each field. A body with another content type has no fields. */
export function parseForm(bytes: Buffer, contentType = ''): Record<string, string> {
  if (!FORM_TYPE.test(contentType)) return {};
  return Object.fromEntries([...new URLSearchParams(bytes.toString())].toReversed());
}
