import type { Budget } from './budget.ts';
import { equals, equalsOne, isLess } from './comparison.ts';
import { itemAt, lengthOf, slice } from './elements.ts';
import { escapeHtml, escapeQuery, escapeScript } from './escapes.ts';
import { formatted, printed } from './format-value.ts';
import { formatVerbs } from './printf.ts';
import { FunctionError } from './template-error.ts';
import { isTrue, typeOf, type Value } from './values.ts';

/** A function of templates. */
export interface TemplateFunction {
  /** The minimum and maximum number of arguments. Without a maximum there is no limit. */
  arity: { min: number; max?: number };
  /** The positions of arguments that must be strings. */
  texts?: readonly number[];
  /** @throws FunctionError */
  run(args: readonly Value[], budget: Budget): unknown;
}

export type TemplateFunctions = ReadonlyMap<string, TemplateFunction>;

const ANY = { min: 0 };

/** Joins values with blanks between two that are not texts. */
function printedTogether(args: readonly Value[], budget: Budget): string {
  let text = '';
  for (const [index, arg] of args.entries()) {
    const isSpaced = index > 0 && typeof arg !== 'string' && typeof args[index - 1] !== 'string';
    text += `${isSpaced ? ' ' : ''}${formatted(arg, budget)}`;
    budget.fits(text.length);
  }
  return text;
}

function escaping(escape: (text: string) => string): TemplateFunction {
  return {
    arity: ANY,
    run: (args, budget) => {
      const shown = args.map((arg) => (arg === undefined || arg === null ? printed(arg, budget) : arg));
      const text = escape(printedTogether(shown, budget));
      budget.text(text.length);
      return text;
    },
  };
}

const comparing = (run: (one: Value, other: Value, budget: Budget) => boolean): TemplateFunction => ({
  arity: { min: 2, max: 2 },
  run: ([one, other], budget) => run(one, other, budget),
});

/** The functions of Go's text/template. `and` and `or` evaluate their arguments one by one, so the evaluator runs them. */
export const BUILT_IN: TemplateFunctions = new Map<string, TemplateFunction>([
  ['and', { arity: { min: 1 }, run: (args) => args.find((arg) => !isTrue(arg)) ?? args.at(-1) }],
  ['or', { arity: { min: 1 }, run: (args) => args.find(isTrue) ?? args.at(-1) }],
  ['not', { arity: { min: 1, max: 1 }, run: ([arg]) => !isTrue(arg) }],
  ['len', { arity: { min: 1, max: 1 }, run: ([arg], budget) => lengthOf(arg, budget) }],
  ['index', { arity: { min: 1 }, run: ([from, ...indexes], budget) => itemAt(from, indexes, budget) }],
  ['slice', { arity: { min: 1 }, run: ([from, ...indexes], budget) => slice(from, indexes, budget) }],
  ['print', { arity: ANY, run: printedTogether }],
  [
    'println',
    {
      arity: ANY,
      run: (args, budget) => {
        const text = `${args.map((arg) => formatted(arg, budget)).join(' ')}\n`;
        budget.text(text.length);
        return text;
      },
    },
  ],
  [
    'printf',
    {
      arity: { min: 1 },
      texts: [0],
      run: ([format, ...args], budget) => formatVerbs(typeof format === 'string' ? format : '', args, budget),
    },
  ],
  ['html', escaping(escapeHtml)],
  ['js', escaping(escapeScript)],
  ['urlquery', escaping(escapeQuery)],
  ['eq', { arity: { min: 1 }, run: ([one, ...others], budget) => equalsOne(one, others, budget) }],
  ['ne', comparing((one, other, budget) => !equals(one, other, budget))],
  ['lt', comparing(isLess)],
  ['le', comparing((one, other, budget) => isLess(one, other, budget) || equals(one, other, budget))],
  ['gt', comparing((one, other, budget) => !isLess(one, other, budget) && !equals(one, other, budget))],
  ['ge', comparing((one, other, budget) => !isLess(one, other, budget))],
  [
    'call',
    {
      arity: { min: 1 },
      run: ([arg]) => {
        throw new FunctionError(
          arg === undefined || arg === null ? 'call of nil' : `non-function of type ${typeOf(arg)}`,
        );
      },
    },
  ],
]);
