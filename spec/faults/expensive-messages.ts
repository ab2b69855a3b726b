const MAX_BYTES = 10 * 1024 * 1024 - 1_000;
const ENTITY = '"entity":{"entity_class":"agent","metadata":{"name":"attacker","namespace":"default"}}';
const CHECK = '"check":{"metadata":{"name":"work","namespace":"default"}}';

/** Repeats an item, separated by commas, up to the length of the longest message. */
function filled(item: (n: number) => string, head: string, tail: string, most = Infinity): Buffer {
  const items: string[] = [];
  let bytes = head.length + tail.length;
  for (let n = 0; n < most; n += 1) {
    const next = item(n);
    bytes += next.length + 1;
    if (bytes > MAX_BYTES) break;
    items.push(next);
  }
  return Buffer.from(head + items.join(',') + tail);
}

const inCheck = (member: string): string => `{${ENTITY},${CHECK.slice(0, -1)},"${member}":[`;
const text = (output: string): Buffer => Buffer.from(`{${ENTITY},${CHECK.slice(0, -1)},"output":"${output}"}}`);
const labels = (count: number): Buffer =>
  filled((n) => `"k${n}":"v"`, `{${ENTITY.slice(0, -2)},"labels":{`, `}}},${CHECK}}`, count);

/** A varint: values from 128 on take several bytes. */
function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]), content]);
const word = (number: number, value: string): Buffer => field(number, Buffer.from(value));
const many = (item: Buffer): Buffer => Buffer.alloc(Math.floor(MAX_BYTES / item.length) * item.length, item);
const distinct = (item: (n: number) => Buffer, count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, n) => item(n)));
const meta = (name: string): Buffer => Buffer.concat([word(1, name), word(2, 'default')]);
const EMPTY: Buffer = Buffer.alloc(0);
const entity = (more = EMPTY): Buffer => field(2, Buffer.concat([word(1, 'agent'), field(14, meta('attacker')), more]));
const check = (more = EMPTY): Buffer => field(3, Buffer.concat([field(38, meta('work')), more]));

export interface ExpensiveMessage {
  encoding: 'json' | 'protobuf';
  payload(): Buffer;
}

const json = (payload: () => Buffer): ExpensiveMessage => ({ encoding: 'json', payload });
const protobuf = (...parts: (() => Buffer)[]): ExpensiveMessage => ({
  encoding: 'protobuf',
  payload: () => Buffer.concat(parts.map((part) => part())),
});

/** Messages of at most 10 MiB that cost most of what a peer can make the backend do with one message. */
export const EXPENSIVE_MESSAGES: Readonly<Record<string, ExpensiveMessage>> = {
  '300,000 labels': json(() => labels(300_000)),
  '600,000 labels': json(() => labels(600_000)),
  numbers: json(() => filled(() => '1', `{${ENTITY},"x":[`, ']}')),
  'numbers that are hard to round': json(() =>
    filled(() => '9007199254740993.0000000000000000000000000000000000000001', `{${ENTITY},"x":[`, ']}'),
  ),
  'empty objects': json(() => filled(() => '{}', `{${ENTITY},"x":[`, ']}')),
  'objects with a name of their own': json(() => filled((n) => `{"k${n}":1}`, `{${ENTITY},"x":[`, ']}')),
  'nested lists': json(() => Buffer.from('['.repeat(MAX_BYTES))),
  hooks: json(() => filled(() => '{}', inCheck('hooks'), ']}}')),
  handlers: json(() => filled((n) => `"h${n}"`, inCheck('handlers'), ']}}', 90_000)),
  subscriptions: json(() => filled((n) => `"s${n}"`, `{${ENTITY},${CHECK.slice(0, -1)},"subscriptions":[`, ']}}')),
  'metric points in nanoseconds': json(() =>
    filled(() => '{"timestamp":1767268800123456789}', `{${ENTITY},"metrics":{"points":[`, ']}}'),
  ),
  'an output': json(() => text('x'.repeat(MAX_BYTES - 200))),
  'an output of a hook': json(() =>
    Buffer.from(`{${ENTITY},${CHECK.slice(0, -1)},"hooks":[{"output":"${'x'.repeat(MAX_BYTES - 300)}"}]}}`),
  ),
  'an output of escapes': json(() => text('\\u0041'.repeat((MAX_BYTES - 200) / 6))),
  'an output of control characters': json(() => text('\\u0001'.repeat((MAX_BYTES - 200) / 6))),
  'an output of Chinese text': json(() => text('漢'.repeat((MAX_BYTES - 300) / 3))),
  'hooks in protobuf': protobuf(entity, () => check(many(field(34, EMPTY)))),
  'subscriptions in protobuf': protobuf(
    () => entity(distinct((n) => word(4, `s${n}`), 400_000)),
    () => check(distinct((n) => word(11, `s${n}`), 400_000)),
  ),
  'labels in protobuf': protobuf(
    () =>
      field(
        2,
        Buffer.concat([
          word(1, 'agent'),
          field(14, Buffer.concat([meta('attacker'), distinct((n) => field(3, word(1, `k${n}`)), 600_000)])),
        ]),
      ),
    check,
  ),
  'metric points in protobuf': protobuf(entity, () => field(4, many(field(2, EMPTY)))),
  'unknown fields in protobuf': protobuf(entity, check, () => many(Buffer.from([15 * 8, 1]))),
  'an output in protobuf': protobuf(entity, () => check(field(26, Buffer.alloc(MAX_BYTES - 200, 'x')))),
  'an output of control characters in protobuf': protobuf(entity, () =>
    check(field(26, Buffer.alloc(MAX_BYTES - 200, 1))),
  ),
  'an output of invalid UTF-8 in protobuf, truncated': protobuf(entity, () =>
    check(Buffer.concat([Buffer.from([...varint(39 * 8), 100]), field(26, Buffer.alloc(MAX_BYTES - 200, 0xff))])),
  ),
};
