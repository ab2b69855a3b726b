/** The expression breaks a rule of the language; the message contains the place. */
export class MalformedExpression extends Error {}

export interface Selector {
  metric: string;
  matchers: readonly { label: string; operator: string; value: string }[];
}

export interface Expression {
  selectors: readonly Selector[];
  /** The labels after `by` or `without`. */
  groupings: readonly string[];
}

const FUNCTIONS = new Set('absent increase label_values rate vector'.split(' '));
const AGGREGATIONS = new Set('avg count max min sum topk'.split(' '));
const GROUPING = new Set(['by', 'without']);
const SET_OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'on', 'ignoring']);
const CLOSES: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' };

/** Numbers, durations (also of a board), strings, names, matchers and operators, and brackets. */
const TOKEN =
  /\s*(?:(?<string>"(?:[^"\\]|\\.)*")|(?<duration>\d+[smhdw]\b|\$__\w+)|(?<number>\d+(?:\.\d+)?)|(?<name>[a-zA-Z_:][\w:]*)|(?<operator>=~|!~|!=|==|>=|<=|[-+*/%^<>=,])|(?<bracket>[(){}[\]]))/y;

type Kind = 'string' | 'duration' | 'number' | 'name' | 'operator' | 'bracket';

interface Token {
  kind: Kind;
  text: string;
}

/** Reads an expression of Prometheus: every token is known, brackets are balanced, and functions are known. @throws MalformedExpression */
export function parseExpression(text: string): Expression {
  const tokens = tokensOf(text);
  assertBalanced(tokens, text);
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    const next = tokens[index + 1]?.text;
    if (token?.kind === 'bracket' && token.text === '[') assertRange(tokens, index, text);
    if (token?.kind !== 'name' || SET_OPERATORS.has(token.text)) continue;
    if (GROUPING.has(token.text)) {
      const labels = listed(tokens, index + 1, ')');
      groupings.push(...labels.filter(({ kind }) => kind === 'name').map(({ text: label }) => label));
      index += labels.length + 2;
    } else if (next === '(' || (AGGREGATIONS.has(token.text) && GROUPING.has(next ?? ''))) {
      const isKnown = FUNCTIONS.has(token.text) || AGGREGATIONS.has(token.text);
      if (!isKnown) throw new MalformedExpression(`unknown function ${token.text} in ${text}`);
    } else if (tokens[index - 1]?.text !== ',' || !isLabelOfLabelValues(tokens, index)) {
      const matchers = next === '{' ? matchersOf(listed(tokens, index + 1, '}'), text) : [];
      selectors.push({ metric: token.text, matchers });
      if (next === '{') index += matchers.length === 0 ? 2 : matchers.length * 4 + 1;
    }
  }
  if (selectors.length === 0) throw new MalformedExpression(`no metric in ${text}`);
  return { selectors, groupings };
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ''; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const { groups } = TOKEN.exec(text) ?? {};
    const [found] = Object.entries(groups ?? {}).filter(([, value]) => value !== undefined);
    if (found === undefined) throw new MalformedExpression(`unknown token at ${text.slice(at)}`);
    tokens.push({ kind: found[0] as Kind, text: found[1] });
  }
  return tokens;
}

function assertBalanced(tokens: readonly Token[], text: string): void {
  const open: string[] = [];
  for (const { kind, text: bracket } of tokens) {
    if (kind !== 'bracket') continue;
    const opening = CLOSES[bracket];
    if (opening === undefined) open.push(bracket);
    else if (open.pop() !== opening) throw new MalformedExpression(`unbalanced ${bracket} in ${text}`);
  }
  if (open.length > 0) throw new MalformedExpression(`unclosed ${open.join('')} in ${text}`);
}

function assertRange(tokens: readonly Token[], index: number, text: string): void {
  if (tokens[index + 1]?.kind === 'duration' && tokens[index + 2]?.text === ']') return;
  throw new MalformedExpression(`a range must be one duration in ${text}`);
}

/** The tokens between the bracket at `index` and the next `end`. */
function listed(tokens: readonly Token[], index: number, end: string): Token[] {
  const rest = tokens.slice(index + 1);
  return rest.slice(
    0,
    rest.findIndex(({ text }) => text === end),
  );
}

const isLabelOfLabelValues = (tokens: readonly Token[], index: number): boolean =>
  tokens[0]?.text === 'label_values' && index === tokens.length - 2;

/** Groups of four: label, operator, value, comma. */
function matchersOf(tokens: readonly Token[], text: string): Selector['matchers'] {
  const matchers: { label: string; operator: string; value: string }[] = [];
  for (let index = 0; index < tokens.length; index += 4) {
    const [label, operator, value, comma] = tokens.slice(index, index + 4);
    const isMatcher = label?.kind === 'name' && operator?.kind === 'operator' && value?.kind === 'string';
    if (!isMatcher || !['=', '!=', '=~', '!~'].includes(operator.text) || (comma !== undefined && comma.text !== ',')) {
      throw new MalformedExpression(`a matcher must be label, operator and value in ${text}`);
    }
    matchers.push({ label: label.text, operator: operator.text, value: JSON.parse(value.text) as string });
  }
  return matchers;
}
