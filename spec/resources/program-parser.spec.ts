import * as acorn from 'acorn';
import { expect } from 'chai';
import fc from 'fast-check';
import { parseOrThrow } from '../../src/resources/program-parser.ts';

type ParseFunction = (program: string) => unknown;

const parseWithAcorn: ParseFunction = (program) => acorn.parse(program, { ecmaVersion: 2025, sourceType: 'script' });

/** The message of the syntax error, with its place, or undefined for a valid program. */
function errorOf(parse: ParseFunction, program: string): string | undefined {
  try {
    parse(program);
    return undefined;
  } catch (error) {
    expect(error).to.be.instanceOf(SyntaxError);
    return (error as SyntaxError).message;
  }
}

/** Programs that declare a few names again and again, in many kinds of scopes. */
const { program: anyProgram } = fc.letrec<{ program: string; statement: string; block: string }>((tie) => {
  const name = fc.constantFrom('a', 'b', 'c');
  const text = (...parts: (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
    fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((all) => all.join(''));
  const block = text('{', tie('program'), '}');
  return {
    program: fc.array(tie('statement'), { maxLength: 5 }).map((statements) => statements.join(';')),
    block,
    statement: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      text('var ', name),
      text('let ', name),
      text('function ', name, '(){}'),
      text('var {', name, ',x:', name, '}=a'),
      text('class ', name, '{}'),
      tie('block'),
      text('function ', name, '(', name, ',', name, ')', tie('block')),
      text('function ', name, '({', name, '}, ...', name, ')', tie('block')),
      text('async function ', name, '()', tie('block')),
      text('try{}catch(', name, ')', tie('block')),
      text('try{}catch({', name, '})', tie('block')),
      text('for(var ', name, ' of a)', tie('block')),
      text('for(let ', name, ';;)', tie('block')),
      text('switch(a){case 1:', tie('statement'), ';default:', tie('statement'), '}'),
      text('(', name, '=>', tie('block'), ')'),
      text('(function ', name, '(){"use strict";', tie('program'), '})'),
      text('(class{static{', tie('program'), '}', name, '(', name, ')', tie('block'), '})'),
      text('(class{ a = () => ', tie('block'), '})'),
    ),
  };
});

describe('the program parser', () => {
  it('rejects the redeclarations that acorn rejects, with the same message and place', () => {
    const counts = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(anyProgram, (program) => {
        const error = errorOf(parseWithAcorn, program);
        counts[error === undefined ? 'valid' : 'invalid'] += 1;
        expect(errorOf(parseOrThrow, program)).to.equal(error);
      }),
      { numRuns: 4_000 },
    );
    expect(counts.valid).to.be.above(400);
    expect(counts.invalid).to.be.above(400);
  });

  it('builds the syntax tree that acorn builds', () => {
    const program =
      'var a; { let a; function b() { var c } } try { } catch (d) { var d } (({ e }, ...f) => { var e, g })';
    expect(parseOrThrow(program)).to.deep.equal(parseWithAcorn(program));
  });
});
