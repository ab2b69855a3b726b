interface Accepted {
  type: string;
  weight: number;
}

/** Whether a header `Accept` names HTML, with a higher weight than JSON, as browsers do when they open a page. Source: RFC 9110, 12.5.1. */
export function prefersPage(accept = ''): boolean {
  const accepted = accept.split(',').map(acceptedOf);
  const html = weightOf(accepted, ['text/html', 'application/xhtml+xml']);
  return html > 0 && html > weightOf(accepted, ['application/json']);
}

/** Whether a header `Accept` names JSON, or no type in particular. */
export function allowsJson(accept = ''): boolean {
  const types = accept.split(',').map((range) => acceptedOf(range).type);
  return types.includes('application/json') || types.every((type) => ['', '*/*', 'application/*'].includes(type));
}

function acceptedOf(range: string): Accepted {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const [, weight = '1'] = parameters.map((parameter) => /^q=(.*)$/.exec(parameter)).find(Boolean) ?? [];
  return { type, weight: Number(weight) || 0 };
}

const weightOf = (accepted: readonly Accepted[], types: readonly string[]): number =>
  Math.max(0, ...accepted.filter(({ type }) => types.includes(type)).map(({ weight }) => weight));
