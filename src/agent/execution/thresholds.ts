import { parseGoFloat } from '../../resources/go-float.ts';
import type { MetricPoint } from '../../resources/metric-point.ts';
import type { MetricThreshold } from '../../resources/metric-threshold.ts';

const PREFIX = 'sensu.io';
const CAPTIONS = ['ok', 'warning', 'critical'];

type Rule = NonNullable<MetricThreshold['thresholds']>[number];

/** The violated condition: a limit, or that there is a metric. */
type Subject = 'min' | 'max' | 'null-status';

interface Violation {
  readonly status: number;
  readonly subject: Subject;
  readonly threshold: MetricThreshold;
  /** Built only when it is shown, because there may be one violation for each metric and rule. */
  readonly text: () => string;
}

export interface ThresholdResult {
  /** The highest status of a violated threshold. */
  readonly status: number;
  /** Annotations of the event that describe what was violated. */
  readonly annotations: Record<string, string>;
}

/**
 * Compares the metrics of a check with its thresholds. Yields after each metric and rule that it compares, so that the caller may
 * pause. Source: spec/03 8.2.
 */
export function* evaluateThresholds(
  thresholds: readonly MetricThreshold[],
  points: readonly MetricPoint[],
): Generator<undefined, ThresholdResult> {
  const byName = new Map<string | undefined, MetricPoint[]>();
  for (const point of points) {
    yield;
    const group = byName.get(point.name);
    if (group === undefined) byName.set(point.name, [point]);
    else group.push(point);
  }
  const last = new Map<string, Violation>();
  const first = new Map<number, Violation>();
  for (const threshold of thresholds) {
    for (const violation of violationsOf(threshold, byName.get(threshold.name) ?? [])) {
      yield;
      if (violation === undefined) continue;
      last.set(annotationOf(violation), violation);
      if (!first.has(violation.status)) first.set(violation.status, violation);
    }
  }
  const status = [...first.keys()].reduce((highest, each) => Math.max(highest, each), 0);
  const annotations = Object.fromEntries([...last].map(([key, violation]) => [key, violation.text()]));
  const decisive = first.get(status);
  if (decisive !== undefined && status > 0) {
    annotations[`${PREFIX}/notifications/${captionOf(status)}`] = decisive.text();
  }
  return { status, annotations };
}

/** Yields undefined for a comparison without a violation. `points` have the name of the threshold. */
function* violationsOf(threshold: MetricThreshold, points: readonly MetricPoint[]): Generator<Violation | undefined> {
  const rules = (threshold.thresholds ?? []).map(limitsOf);
  let isMatched = false;
  for (const point of points) {
    yield;
    if (!hasTags(threshold, point)) continue;
    isMatched = true;
    for (const rule of rules) yield violationOf(threshold, rule, point.value);
  }
  const { null_status: status } = threshold;
  if (!isMatched && status > 0) yield { status, subject: 'null-status', threshold, text: () => nullText(threshold) };
}

const hasTags = ({ tags }: MetricThreshold, point: MetricPoint): boolean =>
  (tags ?? []).every((tag) => point.tags?.some((own) => own.name === tag.name && own.value === tag.value));

interface Limits {
  readonly rule: Rule;
  readonly min: number | 'none' | undefined;
  readonly max: number | 'none' | undefined;
}

const limitsOf = (rule: Rule): Limits => ({ rule, min: limitOf(rule.min), max: limitOf(rule.max) });

/** A rule with a limit that is not a number is skipped. */
function violationOf(threshold: MetricThreshold, { rule, min, max }: Limits, value: number): Violation | undefined {
  const violated = (subject: 'min' | 'max'): Violation => ({
    status: rule.status,
    subject,
    threshold,
    text: () => limitText(threshold, rule, subject, value),
  });
  if (min === undefined || max === undefined) return undefined;
  if (min !== 'none' && value < min) return violated('min');
  return max !== 'none' && value > max ? violated('max') : undefined;
}

function limitText({ name, tags }: MetricThreshold, rule: Rule, subject: 'min' | 'max', value: number): string {
  const list = (tags ?? []).map((tag) => `${tag.name}=${tag.value}`).join(',');
  const metric = list === '' ? name : `${name} (${list})`;
  return `The value of ${metric} exceeded the configured threshold (${subject}: ${rule[subject]}, actual: ${decimal(value)}).`;
}

const limitOf = (limit: string): number | 'none' | undefined => (limit === '' ? 'none' : parseGoFloat(limit));

function nullText({ name, tags, thresholds, null_status: status }: MetricThreshold): string {
  const quoted = (tags ?? []).map((tag) => `${tag.name}="${tag.value}"`).join(', ');
  const metric = quoted === '' ? `"${name}"` : `"${name}" (${quoted})`;
  const expected = (thresholds ?? []).map((rule) => {
    const limits = [rule.min && `min: ${rule.min}`, rule.max && `max: ${rule.max}`].filter((limit) => limit !== '');
    return `expected ${limits.join(' - ')} (status: ${captionOf(rule.status)})`;
  });
  return `${captionOf(status).toUpperCase()} : no metric matching ${metric} was found; ${expected.join('; ')}`;
}

function annotationOf({ threshold: { name, tags }, subject, status }: Violation): string {
  const metric = [name, ...(tags ?? []).map(({ value }) => value)].join('.');
  return `${PREFIX}/output_metric_thresholds/${metric}/${subject}/${captionOf(status)}`;
}

const captionOf = (status: number): string => CAPTIONS[status] ?? 'unknown';

/** The shortest digits that identify a number, without an exponent. */
function decimal(value: number): string {
  const text = String(value);
  const [, sign = '', whole = '', fraction = '', exponentText] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? [];
  if (exponentText === undefined) return text;
  const exponent = Number(exponentText);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(exponent, '0')}`;
}
