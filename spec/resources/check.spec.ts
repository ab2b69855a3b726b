import { expect } from 'chai';
import { assertCheck, parseCheckShape } from '../../src/resources/check.ts';
import { readGolden } from '../support/golden-file.ts';
import { validationErrorOf } from '../support/validation-error.ts';

interface Recorded {
  case: string;
  fields: Record<string, unknown>;
  status: number;
  message?: string;
  stored?: Record<string, unknown>;
  ours?: { status: number; message?: string };
}

const recording = JSON.parse(readGolden('schedule/validation.json').replaceAll('{ns}', 'default')) as {
  base: Record<string, unknown>;
  rows: Recorded[];
};

/** Messages that end with the text of the reference's time parser. That text is not part of the contract and not compared. */
const TIME_REASON = /^(subdue \d+ invalid: invalid (?:begin|end) time format).*$/;
const withoutDetail = (reason: string | undefined): string | undefined => reason?.replace(TIME_REASON, '$1');

/** Cases whose message is the text of a parser of the reference. */
const WITHOUT_OUR_TEXT = new Set(['expr', 'sdold']);

const checkWith = (fields: object) => {
  const check = parseCheckShape({ ...recording.base, ...fields });
  assertCheck(check);
  return check;
};

describe('a check definition', () => {
  for (const recorded of recording.rows.filter(({ case: name }) => !WITHOUT_OUR_TEXT.has(name))) {
    const { status, message } = recorded.ours ?? recorded;
    const what = JSON.stringify(recorded.fields);
    if (status === 201) {
      it(`is accepted with ${what} and rendered as recorded`, () => {
        const rendered = JSON.parse(JSON.stringify(checkWith(recorded.fields))) as Record<string, unknown>;
        for (const [name, value] of Object.entries(recorded.stored ?? {})) {
          expect(rendered[name], name).to.deep.equal(value === '<absent>' ? undefined : value);
        }
      });
    } else if (message === '<string>') {
      it(`is rejected with ${what}`, () => {
        expect(validationErrorOf(() => checkWith(recorded.fields))).to.be.a('string');
      });
    } else {
      const expected = withoutDetail(message?.replace('resource is invalid: ', ''));
      it(`is rejected with ${what}: ${expected}`, () => {
        expect(withoutDetail(validationErrorOf(() => checkWith(recorded.fields)))).to.equal(expected);
      });
    }
  }

  it('is rejected with a 24-hour time in the older subdue form', () => {
    const subdue = { days: { all: [{ begin: '15:00', end: '16:00' }] } };
    expect(validationErrorOf(() => checkWith({ subdue }))).to.be.a('string');
  });

  const bounds: [string, (length: number) => object, number, string][] = [
    [
      'characters in its cron expression',
      (length) => ({ interval: 0, cron: '* * * * *'.padEnd(length) }),
      1_000,
      'cron must NOT have more than 1000 characters',
    ],
    [
      'entity attributes',
      (length) => ({ proxy_requests: { entity_attributes: Array.from({ length }, () => 'true') } }),
      100,
      'proxy_requests.entity_attributes must NOT have more than 100 items',
    ],
    [
      'characters in an entity attribute',
      (length) => ({ proxy_requests: { entity_attributes: ['true'.padEnd(length)] } }),
      10_000,
      'proxy_requests.entity_attributes.0 must NOT have more than 10000 characters',
    ],
  ];
  for (const [what, fields, bound, message] of bounds) {
    it(`has at most ${bound} ${what}`, () => {
      expect(validationErrorOf(() => checkWith(fields(bound)))).to.equal(undefined);
      expect(validationErrorOf(() => checkWith(fields(bound + 1)))).to.equal(message);
    });
  }

  it('is rejected without a namespace', () => {
    expect(validationErrorOf(() => checkWith({ metadata: { name: 'v' } }))).to.equal('namespace must be set');
  });

  it('is validated in a fixed order: name, schedule, namespace, ttl, assets, subscriptions', () => {
    const broken = { metadata: {}, interval: 0, ttl: 5, runtime_assets: [' '], subscriptions: [''] };
    const repairs: [object, string][] = [
      [{ metadata: { name: 'v' } }, 'check name must not be empty'],
      [{ interval: 60 }, 'check interval must be greater than 0 or a valid cron schedule must be provided'],
      [{ metadata: { name: 'v', namespace: 'default' } }, 'namespace must be set'],
      [{ ttl: 61 }, 'ttl must be greater than check interval'],
      [
        { runtime_assets: ['a/b'] },
        "asset's name may only contain letters, forward slashes, underscores, dashes and numbers",
      ],
      [{ subscriptions: [] }, 'subscriptions cannot be empty strings'],
    ];
    let fields: object = broken;
    for (const [repair, message] of repairs) {
      expect(validationErrorOf(() => checkWith(fields))).to.equal(message);
      fields = { ...fields, ...repair };
    }
    expect(validationErrorOf(() => checkWith(fields))).to.equal(undefined);
  });

  it('renders empty members as clients expect', () => {
    const minimal = { metadata: { name: 'v', namespace: 'default' }, interval: 60 };
    expect(JSON.parse(JSON.stringify(parseCheckShape(minimal)))).to.deep.equal({
      handlers: [],
      high_flap_threshold: 0,
      interval: 60,
      low_flap_threshold: 0,
      publish: false,
      runtime_assets: null,
      subscriptions: [],
      proxy_entity_name: '',
      check_hooks: null,
      stdin: false,
      subdue: null,
      ttl: 0,
      timeout: 0,
      round_robin: false,
      output_metric_format: '',
      output_metric_handlers: null,
      env_vars: null,
      metadata: { name: 'v', namespace: 'default' },
      secrets: null,
      pipelines: [],
    });
  });

  it('accepts null for "not set" in every member', () => {
    const nothing = Object.fromEntries(Object.keys(parseCheckShape({})).map((name) => [name, null]));
    expect(parseCheckShape(nothing)).to.deep.equal(parseCheckShape({}));
  });
});
