import { Script } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { assertExpressions } from '../../src/resources/expressions.ts';
import { loadQuickJs } from '../../src/sandbox/limited-module.ts';
import { Engine } from '../../src/sandbox/engine.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const errorOf = (...expressions: string[]): string | undefined =>
  validationErrorOf(() => {
    assertExpressions(expressions);
  });

const PROGRAMS = [
  '',
  ' // nothing\n/* at all */ ',
  'event.check.status == 1',
  "event.check.labels['a\\'b'] !== \"x\\u0041\" && !event.is_silenced || -1.5e3 < .5",
  'var a = 1, b; a + b',
  'a = b = c\nd++\n--e',
  'if (a) { b } else if (c) d(); else e',
  'for (var i = 0, n = 5; i < n; i++) continue; for (;;) break; for (k in o) { o[k] }',
  'for (var k in { a: 1 }) if ("a" in o) break',
  '(function () { return 1 })()',
  '(function f(a, b) { "use strict"; return\n1 }(1, 2)).x',
  'out: while (true) { do { continue out } while (0) }',
  'switch (x) { case 1: case 2: y; break; default: z }',
  'try { throw e } catch (e) { } finally { }',
  'with (o) x; debugger;',
  'new Date; new a.b(1).c[0]; new (f())(); new new X()()',
  '[1, , 2,].length + { a: 1, "b": 2, 3: 4, if: 5, get c() { return 1 }, set c(v) { } , get: 6, }.a',
  'a.if.class.new(1)(2)[3]',
  'a ? b : c ? d : e, f',
  'typeof void delete a.b',
  'a / b / c; /[/\\]]+\\//gi.test(x); y = a++ / 2',
  '(a) = 1; (a.b)++',
  'var let = 1; async = yield',
  '\u00e4\u{10400} = \\u0061b',
  '010 === 8',
  'undeclared = 1',
];

const CURRENT_PROGRAMS = [
  'const a = 1; let b = a',
  '[1].map(x => x)',
  '`${event.check.name}`',
  '({ a, ...rest }, [b = 1, ...c]) => [...c, a]',
  'event?.check?.labels?.["team"] ?? "none"',
  '2 ** 2 + 1_000 + 0b11 + 0o7; 10n',
  'a ||= b; a &&= b; a ??= b',
  'class A extends Object { static #n = 1; #m() { return #m in this } static { this.#n } get x() { return 1 } }',
  'async function f() { for await (const x of y) await x } function* g() { yield* g() }',
  'try { } catch { }',
  'for (const [key, value] of Object.entries(event)) key',
  'var { a, b: { c } } = event; function f(a = 1) { }',
];

/** Syntax of RE2, the regular expression engine of the reference. */
const DIALECT_OF_RE2 = ['/(?i)http/.test(x)', '/(?s)a.b/', '/[[:alpha:]]+/', '/(?P<n>a)/'];

const ERRORS: [string, string][] = [
  ['a b', 'Line 1:3 Unexpected token'],
  ['x ===', 'Line 1:6 Unexpected end of input'],
  ['a;\n b c', 'Line 2:4 Unexpected token'],
  ['return 1', "Line 1:1 'return' outside of function"],
  ['function(){}', 'Line 1:9 Unexpected token'],
  ['`a', 'Line 1:2 Unterminated template'],
  ['({ a = 1 })', 'Line 1:6 Shorthand property assignments are valid only in destructuring patterns'],
  ['"a', 'Line 1:1 Unterminated string constant'],
  ['"\\x1"', 'Line 1:4 Bad character escape sequence'],
  ['3in x', 'Line 1:2 Identifier directly after number'],
  ['/a', 'Line 1:2 Unterminated regular expression'],
  ['/a/zz', 'Line 1:2 Invalid regular expression flag'],
  ['/* a', 'Line 1:1 Unterminated comment'],
  ['1 = 2', 'Line 1:1 Assigning to rvalue'],
  ['f() = 2', 'Line 1:1 Assigning to rvalue'],
  ['1++', 'Line 1:1 Assigning to rvalue'],
  ['try { }', 'Line 1:1 Missing catch or finally clause'],
  ['throw\na', 'Line 1:6 Illegal newline after throw'],
  ['switch (a) { default: default: }', 'Line 1:23 Multiple default clauses'],
  ['{ a', 'Line 1:4 Unexpected end of input'],
  ['a }', 'Line 1:3 Unexpected token'],
  ['break', 'Line 1:1 Unsyntactic break'],
  ['let a; let a', "Line 1:12 Identifier 'a' has already been declared"],
  ['super.x', "Line 1:1 'super' keyword outside a method"],
  ['await a', 'Line 1:7 Unexpected token'],
  ['{ using a = b }', 'Line 1:9 Unexpected token'],
];

describe('assertExpressions', () => {
  for (const source of [...PROGRAMS, ...CURRENT_PROGRAMS, ...DIALECT_OF_RE2]) {
    it(`accepts ${JSON.stringify(source)}`, () => {
      expect(errorOf(source)).to.equal(undefined);
    });
  }

  for (const [source, error] of ERRORS) {
    it(`rejects ${JSON.stringify(source)}: ${error}`, () => {
      expect(errorOf('true', source)).to.equal(`syntax error in expression 1: ${error}`);
    });
  }

  it('rejects a module', () => {
    const error = "Line 1:1 'import' and 'export' may appear only with 'sourceType: module'";
    expect(errorOf('import a from "b"')).to.equal(`syntax error in expression 0: ${error}`);
  });

  it('accepts every program that V8 compiles', () => {
    for (const source of [...PROGRAMS, ...CURRENT_PROGRAMS]) {
      // The script is compiled and never run.
      expect(() => new Script(source), source).not.to.throw();
    }
  });

  it('agrees with the engine of the sandbox on what is a syntax error', async () => {
    const engine = new Engine(await loadQuickJs(), () => performance.now());
    const isSyntaxError = (program: string): boolean => {
      const result = engine.evaluate({ programs: [program], variable: 'event', nowMs: 0, limitMs: 5_000 }, '{}');
      return 'error' in result && result.error.startsWith('SyntaxError');
    };
    for (const source of [...PROGRAMS, ...CURRENT_PROGRAMS]) expect(isSyntaxError(source), source).to.equal(false);
    for (const [source] of ERRORS) expect(isSyntaxError(source), source).to.equal(true);
  });

  it('rejects deep nesting instead of overflowing the stack', () => {
    const parentheses = (depth: number): string => '('.repeat(depth) + 'a' + ')'.repeat(depth);
    expect(errorOf(parentheses(200))).to.equal(undefined);
    for (const open of ['(', '[', '(a,', '({a:', 'a=>{']) {
      const source = open.repeat(Math.floor(10_000 / open.length));
      expect(errorOf(source), open).to.match(
        /^syntax error in expression 0: Line 1:\d+ (Nested more than 250 deep|Blocks and functions nested more than 50 deep)$/,
      );
    }
    expect(errorOf('{'.repeat(49) + '}'.repeat(49))).to.equal(undefined);
    expect(errorOf('{'.repeat(50))).to.match(/Line 1:51 Blocks and functions nested more than 50 deep$/);
    for (const source of [parentheses(250), '!'.repeat(250) + 'a', 'if (a) '.repeat(250) + 'a']) {
      expect(errorOf(source), source).to.match(/Nested more than 250 deep$/);
    }
  });

  it('accepts 1,000 expressions of at most 10,000 characters, 50,000 together, and rejects more', () => {
    const full = Array.from({ length: 5 }, () => 'a'.repeat(10_000));
    expect(errorOf(...full)).to.equal(undefined);
    expect(errorOf(...full, 'a')).to.equal('expressions must be at most 50000 characters together');
    expect(errorOf('a', ' '.repeat(10_001))).to.equal('expression 1 must be at most 10000 characters');
    const many = Array.from({ length: 1_000 }, () => 'a');
    expect(errorOf(...many)).to.equal(undefined);
    expect(errorOf(...many, 'a')).to.equal('there must be at most 1000 expressions');
  });

  const numbered = (part: (n: number) => string): string => {
    let text = '';
    for (let n = 0; text.length + part(n).length <= 10_000; n += 1) text += part(n);
    return text;
  };
  const inScopes = (open: string, inside: string): string[] =>
    Array.from({ length: 5 }, () => `${open.repeat(48)}${inside}${'}'.repeat(48)}`);
  const costly: [string, string[]][] = [
    ['declarations', Array.from({ length: 5 }, () => numbered((n) => `let a${n};`))],
    ['names in nested scopes', inScopes('{', `var a${',a'.repeat(4_940)}`)],
    ['names in nested scopes with names', inScopes('{let b,c;', `var a${',a'.repeat(4_700)}`)],
    ['distinct names in nested scopes', inScopes('{', `var a${numbered((n) => `,b${n}`).slice(0, 9_880)}`)],
    ['member accesses', Array.from({ length: 5 }, () => `a${'.a'.repeat(4_999)}`)],
    ['sums', Array.from({ length: 12 }, () => `a${'+a'.repeat(2_000)}`)],
    ['members of an object', Array.from({ length: 5 }, () => `({${'a:1,'.repeat(2_499)}})`)],
    ['short expressions', Array.from({ length: 1_000 }, () => '`a`')],
  ];
  for (const [what, expressions] of costly) {
    it(`takes less than 100 ms of processor time for as many ${what} as it accepts`, () => {
      const cpuMs = (): number => {
        const before = process.cpuUsage();
        expect(errorOf(...expressions)).to.equal(undefined);
        return process.cpuUsage(before).user / 1_000;
      };
      // The least of some attempts: a busy machine lengthens single ones.
      let least = cpuMs();
      for (let n = 0; n < 10 && least >= 100; n += 1) least = Math.min(least, cpuMs());
      expect(least).to.be.below(100);
    });
  }

  it('throws nothing but InvalidResource, whatever the text', () => {
    const token = fc.constantFrom(
      ...'var let class if else for while do function async => return ( ) { } [ ] ; , . ... ?. : ? a b 1 "s" ` ${ /r/ / = == + ++ in new get #a'.split(
        ' ',
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(token).map((tokens) => tokens.join(' ')),
        ),
        (source) => {
          const error = errorOf(source);
          if (error !== undefined) expect(error).to.match(/^syntax error in expression 0: Line \d+:\d+ \S/);
        },
      ),
      { numRuns: 400 },
    );
  });
});
