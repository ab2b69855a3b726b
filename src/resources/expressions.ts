import { InvalidResource } from './errors.ts';
import { assertEs5 } from './es5-syntax.ts';
import { Es5SyntaxError } from './es5-tokens.ts';

/** Programs, of which an empty one is one, too. @throws InvalidResource that names the expression by its index */
export function assertExpressions(expressions: readonly string[]): void {
  for (const [index, expression] of expressions.entries()) {
    try {
      assertEs5(expression);
    } catch (error) {
      if (!(error instanceof Es5SyntaxError)) throw error;
      throw new InvalidResource(`syntax error in expression ${index}: ${error.message}`, { cause: error });
    }
  }
}
