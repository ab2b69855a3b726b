import { InvalidResource } from '../../resources/errors.ts';
import { hasMalformedEscape } from './request-path.ts';

const NO_QUERY = new URLSearchParams();

/**
 * Parses the query string. For a repeated parameter `get` returns the first value.
 * @throws InvalidResource for a malformed escape or an unescaped `;`
 */
export function parseQuery(url: string): URLSearchParams {
  const questionMark = url.indexOf('?');
  if (questionMark < 0) return NO_QUERY;
  const query = url.slice(questionMark + 1);
  if (hasMalformedEscape(query)) throw new InvalidResource('the query has a malformed percent escape');
  if (query.includes(';')) throw new InvalidResource('the query has a semicolon that is not escaped');
  return new URLSearchParams(query);
}
