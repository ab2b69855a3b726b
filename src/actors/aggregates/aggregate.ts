/** The severities of results. Every status outside 0 to 2 is unknown. */
export const SEVERITIES = ['ok', 'warning', 'critical', 'unknown'] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface AggregateSummary {
  /** Distinct entities and checks of all members, stale ones included. */
  clients: number;
  checks: number;
  /** Results that are not stale, by severity, and the number of stale ones. */
  results: Record<Severity | 'total' | 'stale', number>;
}

/** The age at which a result is stale: executed before `nowS - maxAgeS`. Seconds. */
export interface MaxAge {
  maxAgeS: number;
  nowS: number;
}

/** The latest results by severity at one time, Unix seconds. */
export type AggregateSample = Readonly<Record<Severity | 'at', number>>;

/** An hour, with a sample every minute. */
const SAMPLES = 60;

/** The entity and the check of a result, and the result itself. */
export interface Member {
  readonly entity: string;
  readonly check: string;
  status: number;
  /** Unix seconds. */
  executedS: number;
}

const UNKNOWN = 3;

export const severityOf = (status: number): Severity => SEVERITIES[status] ?? 'unknown';

/** The index of the counter of a status. */
const counterOf = (status: number): number => (status < UNKNOWN ? status : UNKNOWN);

/** The latest results of the members of one aggregate. A change takes constant time, as does a summary without a maximum age. */
export class Aggregate {
  readonly #members = new Map<string, Member>();
  readonly #clients = new Map<string, number>();
  readonly #checks = new Map<string, number>();
  readonly #counts: [number, number, number, number] = [0, 0, 0, 0];
  readonly #samples: AggregateSample[] = [];

  get size(): number {
    return this.#members.size;
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  /** Adds a member, or replaces its result. `key` identifies it within the namespace. */
  set(key: string, { entity, check, status, executedS }: Member): void {
    const member = this.#members.get(key);
    if (member === undefined) {
      this.#members.set(key, { entity, check, status, executedS });
      count(this.#clients, entity, 1);
      count(this.#checks, check, 1);
    } else {
      this.#count(member.status, -1);
      member.status = status;
      member.executedS = executedS;
    }
    this.#count(status, 1);
  }

  /** Returns whether it was a member. */
  remove(key: string): boolean {
    const member = this.#members.get(key);
    if (member === undefined) return false;
    this.#members.delete(key);
    this.#count(member.status, -1);
    count(this.#clients, member.entity, -1);
    count(this.#checks, member.check, -1);
    return true;
  }

  /** The keys of its members. */
  keys(): IterableIterator<string> {
    return this.#members.keys();
  }

  /** The keys of the members whose results are stale. */
  staleKeys(age: MaxAge): string[] {
    const stale: string[] = [];
    for (const [key, member] of this.#members) if (isStale(member, age)) stale.push(key);
    return stale;
  }

  summary(age?: MaxAge): AggregateSummary {
    const counts = age === undefined ? this.#counts : this.#countsWithin(age);
    const [ok, warning, critical, unknown] = counts;
    const total = ok + warning + critical + unknown;
    const stale = this.#members.size - total;
    return {
      clients: this.#clients.size,
      checks: this.#checks.size,
      results: { ok, warning, critical, unknown, total, stale },
    };
  }

  /** Records the results of this time. The oldest sample is dropped when there is no room. */
  sample(at: number): void {
    const [ok, warning, critical, unknown] = this.#counts;
    if (this.#samples.length >= SAMPLES) this.#samples.shift();
    this.#samples.push({ at, ok, warning, critical, unknown });
  }

  /** Samples of the last hour, the oldest first. */
  get history(): readonly AggregateSample[] {
    return this.#samples;
  }

  /** Returns the members whose result has a severity and is not stale, by check, then by entity. */
  membersWith(severity: Severity, age?: MaxAge): Member[] {
    const wanted: Member[] = [];
    for (const member of this.#members.values()) {
      if (severityOf(member.status) === severity && !isStale(member, age)) wanted.push(member);
    }
    return wanted.sort((one, other) => compare(one.check, other.check) || compare(one.entity, other.entity));
  }

  /** Returns the entities with their checks, both in byte order. */
  clients(): { name: string; checks: string[] }[] {
    const grouped = this.#grouped(({ entity, check }) => [entity, check]);
    return grouped.map(([name, checks]) => ({ name, checks }));
  }

  /** Returns the checks with their entities, both in byte order. */
  checks(): { name: string; clients: string[] }[] {
    const grouped = this.#grouped(({ entity, check }) => [check, entity]);
    return grouped.map(([name, clients]) => ({ name, clients }));
  }

  #grouped(namesOf: (member: Member) => [group: string, item: string]): [string, string[]][] {
    const groups = new Map<string, string[]>();
    for (const member of this.#members.values()) {
      const [group, item] = namesOf(member);
      const items = groups.get(group);
      if (items === undefined) groups.set(group, [item]);
      else items.push(item);
    }
    for (const items of groups.values()) items.sort(compare);
    return [...groups].sort(([one], [other]) => compare(one, other));
  }

  #countsWithin(age: MaxAge): [number, number, number, number] {
    const counts: [number, number, number, number] = [0, 0, 0, 0];
    for (const member of this.#members.values()) {
      if (!isStale(member, age)) counts[counterOf(member.status) as 0] += 1;
    }
    return counts;
  }

  #count(status: number, by: 1 | -1): void {
    this.#counts[counterOf(status) as 0] += by;
  }
}

const isStale = ({ executedS }: Member, age: MaxAge | undefined): boolean =>
  age !== undefined && executedS < age.nowS - age.maxAgeS;

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

function count(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const after = (counts.get(name) ?? 0) + by;
  if (after === 0) counts.delete(name);
  else counts.set(name, after);
}
