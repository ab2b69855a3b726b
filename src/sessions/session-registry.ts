import type { RequestReceipt } from '../actors/core/expected-results.ts';
import type { SystemListener } from '../actors/core/system-listeners.ts';
import type { Clock } from '../ports/clock.ts';
import type { Announcement, CheckRequested } from '../store/commit/decision.ts';
import type { ResolvedSecrets } from '../pipeline/secrets.ts';
import { hasRing } from '../rules/ring-lease.ts';
import type { Page, PageRequest } from '../store/page.ts';
import type { CheckRequest } from '../wire/check-request.ts';
import type { Codec } from '../wire/codec.ts';
import { encodeFrame } from '../wire/frame.ts';
import type { Session } from './connection/session.ts';

export interface RegistryListener {
  /** The entity or the namespace of the session was deleted. */
  deleted(session: Session): void;
  /** A check request was sent to the sessions that gave these receipts. Must not throw. */
  requested(announcement: CheckRequested, receipts: readonly RequestReceipt[]): void;
  /**
   * A check request was not sent, because a secret of the check cannot be found: to nobody, or, when a user requested it, not to
   * agents with mutual TLS. Must not throw.
   */
  withheld(announcement: CheckRequested, reason: string): void;
  /** Looks up the values of the secrets of a check. */
  resolveSecrets(announcement: CheckRequested): ResolvedSecrets;
  /** A check request with secrets was sent without them to this number of sessions. */
  sentWithoutSecrets(announcement: CheckRequested, sessions: number): void;
  /** Round-robin rings gained their first member. Must not throw. */
  ringsJoined(session: Session, subscriptions: readonly string[]): void;
}

/** The time for held messages in one tick of the event loop, ms. */
const RESUME_MS = 35;

/** Open sessions by agent and by subscription. It routes announcements to the sessions they concern. */
export class SessionRegistry implements SystemListener {
  readonly #byAgent = new Map<string, Set<Session>>();
  readonly #byTopic = new Map<string, Set<Session>>();
  readonly #topicsOf = new Map<Session, Set<string>>();
  readonly #waiting = new Set<Session>();
  #isResumeDue = false;
  /**
   * Expiry of each agent's ring membership, monotonic ms. A keepalive of any session of the agent extends it. Source:
   * spec/01 6.6.
   */
  readonly #leases = new Map<string, number>();
  readonly #listener: RegistryListener;
  readonly #clock: Pick<Clock, 'monotonicMs'>;

  constructor(listener: RegistryListener, clock: Pick<Clock, 'monotonicMs'>) {
    this.#listener = listener;
    this.#clock = clock;
  }

  /** All open sessions. */
  get open(): Iterable<Session> {
    return this.#topicsOf.keys();
  }

  get size(): number {
    return this.#topicsOf.size;
  }

  /** The open sessions of an agent, from oldest to newest. */
  sessionsOf(namespace: string, agentName: string): ReadonlySet<Session> {
    return this.#byAgent.get(`${namespace}/${agentName}`) ?? new Set();
  }

  /** A page of sessions, sorted by namespace, agent and id. Iterates over all sessions. */
  page(namespace: string | undefined, { limit, from = '' }: PageRequest): Page<Session> {
    const prefix = namespace === undefined ? '' : `${namespace}/`;
    const found = [...this.#topicsOf.keys()]
      .map((session) => ({ key: `${session.namespace}/${session.agentName}/${session.id}`, session }))
      .filter(({ key }) => key.startsWith(prefix) && key.slice(prefix.length) >= from)
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const shown = found.slice(0, limit);
    return {
      items: shown.map(({ session }) => session),
      lastKey: found.length > shown.length ? shown.at(-1)?.key.slice(prefix.length) : undefined,
    };
  }

  /** Agents with a lease in the round-robin ring of each subscription, sorted by name. */
  rings(namespace: string): Map<string, string[]> {
    const prefix = `${namespace}/`;
    const rings = new Map<string, string[]>();
    for (const [topic, sessions] of this.#byTopic) {
      const subscription = topic.slice(prefix.length);
      if (!topic.startsWith(prefix) || !hasRing(subscription)) continue;
      const members = this.#membersOf(sessions);
      if (members.length > 0) rings.set(subscription, members);
    }
    return rings;
  }

  /** Members of one ring, sorted by name. */
  members(namespace: string, subscription: string): string[] {
    return hasRing(subscription) ? this.#membersOf(this.#byTopic.get(`${namespace}/${subscription}`) ?? []) : [];
  }

  /** Extends the ring membership of the session's agent after a keepalive. Connecting alone grants no membership. */
  renewLease(session: Session, leaseMs: number): void {
    const topics = this.#topicsOf.get(session);
    if (topics === undefined) return;
    const rings = this.#isMember(session) ? [] : this.#emptyRings(session, topics);
    this.#leases.set(agentKey(session), this.#clock.monotonicMs() + leaseMs);
    if (rings.length > 0) this.#listener.ringsJoined(session, rings);
  }

  /** Subscriptions of the topics that have a ring without another member. */
  #emptyRings(session: Session, topics: Iterable<string>): string[] {
    const subscriptions = [...topics].map((topic) => topic.slice(session.namespace.length + 1));
    return subscriptions.filter((name) => hasRing(name) && this.#isAlone(session, name));
  }

  #isAlone(session: Session, subscription: string): boolean {
    for (const other of this.#byTopic.get(`${session.namespace}/${subscription}`) ?? []) {
      if (other !== session && this.#isMember(other)) return false;
    }
    return true;
  }

  #membersOf(sessions: Iterable<Session>): string[] {
    const members = [...sessions].filter((session) => this.#isMember(session));
    return [...new Set(members.map(({ agentName }) => agentName))].toSorted();
  }

  #isMember(session: Session): boolean {
    return this.#clock.monotonicMs() < (this.#leases.get(agentKey(session)) ?? -Infinity);
  }

  add(session: Session): void {
    addTo(this.#byAgent, agentKey(session), session);
    this.#topicsOf.set(session, new Set());
  }

  remove(session: Session): void {
    this.#waiting.delete(session);
    const agent = agentKey(session);
    removeFrom(this.#byAgent, agent, session);
    if (!this.#byAgent.has(agent)) this.#leases.delete(agent);
    for (const topic of this.#topicsOf.get(session) ?? []) removeFrom(this.#byTopic, topic, session);
    this.#topicsOf.delete(session);
  }

  /** Replaces the subscriptions of the session. */
  subscribe(session: Session, subscriptions: readonly string[]): void {
    const before = this.#topicsOf.get(session);
    if (before === undefined) return;
    const topics = new Set(subscriptions.filter((name) => name !== '').map((name) => `${session.namespace}/${name}`));
    for (const topic of before) if (!topics.has(topic)) removeFrom(this.#byTopic, topic, session);
    for (const topic of topics) addTo(this.#byTopic, topic, session);
    this.#topicsOf.set(session, topics);
    if (!this.#isMember(session)) return;
    const added = [...topics].filter((topic) => !before.has(topic));
    const rings = this.#emptyRings(session, added);
    if (rings.length > 0) this.#listener.ringsJoined(session, rings);
  }

  announced(announcement: Announcement): void {
    if (announcement.type === 'check.requested') {
      this.#request(announcement);
    } else if (announcement.type === 'entity-config.changed') {
      const { namespace, name, config } = announcement;
      for (const session of this.sessionsOf(namespace, name)) session.configure(config);
    } else if (announcement.type === 'entity.deleted') {
      const { namespace, name } = announcement;
      for (const session of this.sessionsOf(namespace, name)) this.#listener.deleted(session);
    } else if (announcement.type === 'namespace.deleted') {
      for (const session of this.#topicsOf.keys()) {
        if (session.namespace === announcement.namespace) this.#listener.deleted(session);
      }
    }
  }

  paused(): void {
    for (const session of this.#topicsOf.keys()) session.pause();
  }

  /** Resumes sessions in the order in which they paused, over several ticks. A session that must pause again moves to the end. */
  resumed(): void {
    const beganAtMs = this.#clock.monotonicMs();
    const hasTime = (): boolean => this.#clock.monotonicMs() - beganAtMs < RESUME_MS;
    for (const session of this.#waiting) {
      this.#waiting.delete(session);
      if (session.resume(hasTime)) continue;
      this.#waiting.add(session);
      if (!hasTime()) this.#resumeInNextTick();
      return;
    }
  }

  #resumeInNextTick(): void {
    if (this.#isResumeDue) return;
    this.#isResumeDue = true;
    setImmediate(() => {
      this.#isResumeDue = false;
      this.resumed();
    });
  }

  /** Schedules a session that holds messages or is not read to resume. */
  awaitResume(session: Session): void {
    this.#waiting.add(session);
  }

  readsStalled(ms: number): void {
    for (const session of this.#topicsOf.keys()) session.excuseSilence(ms);
  }

  /** Sends one copy to each session, even if several of its subscriptions match. */
  #request(announcement: CheckRequested): void {
    const { namespace, subscriptions, request, adhoc } = announcement;
    const sessions = new Set(subscriptions.flatMap((name) => [...(this.#byTopic.get(`${namespace}/${name}`) ?? [])]));
    const named = request.config.secrets !== null;
    const resolved: ResolvedSecrets = named ? this.#listener.resolveSecrets(announcement) : { environment: [] };
    if ('missing' in resolved) {
      if (!adhoc || [...sessions].some((session) => session.isMutualTls)) {
        this.#listener.withheld(announcement, resolved.missing);
      }
      if (!adhoc) return;
    }
    const plain = new RequestFrames(request);
    const secrets = 'missing' in resolved ? [] : resolved.environment;
    const secret = secrets.length === 0 ? plain : new RequestFrames({ ...request, secrets });
    const receipts: RequestReceipt[] = [];
    let withoutSecrets = 0;
    for (const session of sessions) {
      // A user's request goes to the agents that never receive secrets.
      if ('missing' in resolved && session.isMutualTls) continue;
      if (named && !session.isMutualTls) withoutSecrets += 1;
      const receipt = { sessionId: session.id, agentName: session.agentName, isDropped: false };
      session.requestCheck((session.isMutualTls ? secret : plain).in(session.codec), receipt);
      receipts.push(receipt);
    }
    if (withoutSecrets > 0) this.#listener.sentWithoutSecrets(announcement, withoutSecrets);
    this.#listener.requested(announcement, receipts);
  }
}

/** A check request, encoded once for all sessions with the same encoding. */
class RequestFrames {
  readonly #request: CheckRequest;
  readonly #frames = new Map<Codec, Buffer>();

  constructor(request: CheckRequest) {
    this.#request = request;
  }

  in(codec: Codec): Buffer {
    const frame = this.#frames.get(codec) ?? encodeFrame('check_request', codec.encodeCheckRequest(this.#request));
    this.#frames.set(codec, frame);
    return frame;
  }
}

const agentKey = ({ namespace, agentName }: Session): string => `${namespace}/${agentName}`;

function addTo(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const sessions = index.get(key);
  if (sessions === undefined) index.set(key, new Set([session]));
  else sessions.add(session);
}

function removeFrom(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const sessions = index.get(key);
  sessions?.delete(session);
  if (sessions?.size === 0) index.delete(key);
}
