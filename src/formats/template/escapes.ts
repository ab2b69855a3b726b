const HTML: Readonly<Record<string, string>> = {
  '\0': '\uFFFD',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};
const SCRIPT: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};
const NOT_SCRIPT = /[\\'"<>&=]|\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/gu;

export const escapeHtml = (text: string): string => text.replaceAll(/[\0"'&<>]/g, (found) => HTML[found] ?? found);

/** Escapes a text for a string of JavaScript. */
export const escapeScript = (text: string): string =>
  text.replaceAll(
    NOT_SCRIPT,
    (found) => SCRIPT[found] ?? `\\u${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );

/** Escapes a text for the query of a URL. */
export const escapeQuery = (text: string): string =>
  encodeURIComponent(text.replaceAll(/\p{Cs}/gu, '\uFFFD'))
    .replaceAll(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
