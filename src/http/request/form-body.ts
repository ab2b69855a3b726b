const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** The first value of each name; none of what is no form by its content type. */
export function parseForm(bytes: Buffer, contentType = ''): Record<string, string> {
  if (!FORM_TYPE.test(contentType)) return {};
  return Object.fromEntries([...new URLSearchParams(bytes.toString())].toReversed());
}
