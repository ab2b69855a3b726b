import { Script } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { assertEs5 } from '../../src/resources/es5-syntax.ts';
import { Es5SyntaxError } from '../../src/resources/es5-tokens.ts';

/** Undefined for a program. */
function faultOf(source: string): string | undefined {
  try {
    assertEs5(source);
    return undefined;
  } catch (error) {
    if (error instanceof Es5SyntaxError) return error.message;
    throw error;
  }
}

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
  'a / b / c; /[/\\]]+\\//gi.test(x); x = /(?i)[[:alpha:]]/; y = a++ / 2',
  '(a) = 1; (a.b)++',
  'let = 1; async = yield',
  '\u00e4\u{10400} = \\u0061b',
];

const FAULTS: [string, string][] = [
  ['a b', 'Line 1:3 Unexpected token b'],
  ['x ===', 'Line 1:6 Unexpected end of input'],
  ['const a = 1', 'Line 1:1 Unexpected token const'],
  ['a;\n b c', 'Line 2:4 Unexpected token c'],
  ['return 1', 'Line 1:8 Illegal return statement'],
  ['function(){}', 'Line 1:9 Unexpected token ('],
  ['x => x', 'Line 1:4 Unexpected token >'],
  ['`a`', 'Line 1:1 Unexpected token ILLEGAL'],
  ['({ a })', 'Line 1:6 Unexpected token }'],
  ['[...a]', 'Line 1:2 Unexpected token .'],
  ['a?.b', 'Line 1:3 Unexpected token .'],
  ['a ** b', 'Line 1:4 Unexpected token *'],
  ['"a', 'Line 1:1 Unexpected token ILLEGAL'],
  ['"\\x1"', 'Line 1:1 Unexpected token ILLEGAL'],
  ['3in x', 'Line 1:1 Unexpected token ILLEGAL'],
  ['/a', 'Line 1:1 Unexpected token /'],
  ['/* a', 'Line 1:1 Unexpected token /'],
  ['1 = 2', 'Line 1:3 Invalid left-hand side in assignment'],
  ['f() = 2', 'Line 1:5 Invalid left-hand side in assignment'],
  ['a + b = 2', 'Line 1:7 Invalid left-hand side in assignment'],
  ['1++', 'Line 1:2 Invalid left-hand side in postfix operation'],
  ['++f()', 'Line 1:6 Invalid left-hand side in prefix operation'],
  ['try { }', 'Line 1:8 Unexpected end of input'],
  ['throw\na', 'Line 2:1 Illegal newline after throw'],
  ['switch (a) { default: default: }', 'Line 1:23 Unexpected token default'],
  ['{ a', 'Line 1:4 Unexpected end of input'],
  ['a }', 'Line 1:3 Unexpected token }'],
  ['a.b: c', 'Line 1:4 Unexpected token :'],
  ['if (a) b else c', 'Line 1:10 Unexpected token else'],
];

describe('a program', () => {
  for (const source of PROGRAMS) {
    it(`is ${JSON.stringify(source)}`, () => {
      expect(faultOf(source)).to.equal(undefined);
    });
  }

  for (const [source, fault] of FAULTS) {
    it(`is not ${JSON.stringify(source)}: ${fault}`, () => {
      expect(faultOf(source)).to.equal(fault);
    });
  }

  it('is what an engine takes, too, where it is one', () => {
    for (const source of PROGRAMS.filter((program) => !/alpha|yield/.test(program))) {
      // Compiled and never run.
      expect(() => new Script(source), source).not.to.throw();
    }
  });

  it('may be nested, but not without bound', () => {
    const nested = (times: number): string => '('.repeat(times) + 'a' + ')'.repeat(times);
    expect(faultOf(nested(200))).to.equal(undefined);
    for (const source of [
      nested(100_000),
      '['.repeat(100_000),
      '!'.repeat(100_000),
      'new '.repeat(100_000),
      '{'.repeat(100_000),
    ]) {
      expect(faultOf(source)).to.match(/nested more than 250 deep$/);
    }
  });

  it('that is as long as a body may be is read, also where it ends too early', () => {
    const long = 'a'.repeat(500_000);
    expect(faultOf('a;'.repeat(250_000))).to.equal(undefined);
    expect(faultOf(' '.repeat(500_000))).to.equal(undefined);
    expect(faultOf(`"${long}`)).to.equal('Line 1:1 Unexpected token ILLEGAL');
    expect(faultOf(`/${long}`)).to.equal('Line 1:1 Unexpected token /');
  });

  it('or none: nothing else comes of any text', () => {
    const word = fc.constantFrom(
      ...'var if else for while do function return ( ) { } [ ] ; , . : ? a b 1 "s" /r/ / = == + ++ in new get'.split(
        ' ',
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(word).map((words) => words.join(' ')),
        ),
        (source) => {
          expect(faultOf(source) ?? 'Line 1:1 ').to.match(/^Line \d+:\d+ /);
        },
      ),
    );
  });
});
