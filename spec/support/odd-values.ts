const LONG = 'x'.repeat(700);

const TEXTS = [
  '',
  ' ',
  'a b',
  '..',
  '__proto__',
  'ü',
  '\u0000',
  '\ud800',
  '\u{1f600}',
  'a/b',
  '*',
  '%2F',
  '0',
  '-1',
  LONG,
];
const SMALL_NUMBERS = [0, -0, 1, -1, 1.5, 255, 256, 5e-324];
const LARGE_NUMBERS = [2 ** 31, 4_294_967_295, 4_294_967_296, 2 ** 53, -(2 ** 53), 2 ** 63, 1e300];
const OTHERS = [null, true, false, [], {}, [null], [[]], [{}], { '': null }];

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** JSON values that a member seldom has. */
export const ODD_VALUES: readonly unknown[] = [...OTHERS, ...TEXTS, ...SMALL_NUMBERS, ...LARGE_NUMBERS];

/** JSON that `JSON.stringify` writes in another way, or not at all. */
export const ODD_LITERALS = words(`
  1e999 -9223372036854775808 18446744073709551616 1E1 -0 01 NaN "\\ud800" {"__proto__":{"a":1}} {"a":1,"a":2} "\u0000"
`);

/** Parts of a path, which are sent unchanged. */
export const ODD_NAMES = [...words('a%2Fb %00 %20 a%20b %C3%BC %ED%A0%80 .. . %2E %252F % %zz x:y *:* NaN'), LONG];

export const ODD_CONTENT_TYPES = [
  'application/merge-patch+json; charset=utf-8',
  'multipart/form-data; boundary=x',
  '',
  ...words('application/json application/merge-patch+json application/json-patch+json'),
  ...words('application/x-www-form-urlencoded text/plain ;'),
];

/** Values of `If-Match` and `If-None-Match`. */
export const ODD_TAGS = ['*', '""', '"0"', 'W/"0"', '"0", *', ',', '"', 'x', ''];

export const ODD_QUERY_NAMES = words(
  'limit continue fieldSelector labelSelector timeout types x since until key actor machine state',
);

export const ODD_QUERY_VALUES = [
  '',
  ...words('1 2 0 -1 %2B1 01 1.0 1e2 9223372036854775807 9223372036854775808 x true a;b'),
  ...words('YQA YQ%3D%3D AA _w %2F %00 % %zz e30 eyJhIjoxfQ %ED%A0%80'),
  ...words('check.name%20%3D%3D%20c a%20in%20%5B %22 a%20matches ! %26%26 a==b x%20notin%20y'),
];
