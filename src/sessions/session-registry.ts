import type { SystemListener } from '../actors/system.ts';
import type { Announcement, CheckRequested } from '../store/decision.ts';
import type { Codec } from '../wire/codec.ts';
import { encodeFrame } from '../wire/frame.ts';
import type { Session } from './session.ts';

export interface RegistryListener {
  /** The entity or the namespace of the session is gone. */
  deleted(session: Session): void;
  /** So many sessions got the request. Must not throw. */
  requested(announcement: CheckRequested, sessions: number): void;
}

/** Who is connected, by agent and by subscription. Announcements find their sessions here. */
export class SessionRegistry implements SystemListener {
  readonly #byAgent = new Map<string, Set<Session>>();
  readonly #byTopic = new Map<string, Set<Session>>();
  readonly #topicsOf = new Map<Session, Set<string>>();
  readonly #listener: RegistryListener;

  constructor(listener: RegistryListener) {
    this.#listener = listener;
  }

  has(namespace: string, agentName: string): boolean {
    return this.#byAgent.has(`${namespace}/${agentName}`);
  }

  add(session: Session): void {
    include(this.#byAgent, `${session.namespace}/${session.agentName}`, session);
    this.#topicsOf.set(session, new Set());
  }

  remove(session: Session): void {
    exclude(this.#byAgent, `${session.namespace}/${session.agentName}`, session);
    for (const topic of this.#topicsOf.get(session) ?? []) exclude(this.#byTopic, topic, session);
    this.#topicsOf.delete(session);
  }

  /** Replaces what the session is subscribed to. */
  subscribe(session: Session, subscriptions: readonly string[]): void {
    const before = this.#topicsOf.get(session);
    if (before === undefined) return;
    const topics = new Set(subscriptions.filter((name) => name !== '').map((name) => `${session.namespace}/${name}`));
    for (const topic of before) if (!topics.has(topic)) exclude(this.#byTopic, topic, session);
    for (const topic of topics) include(this.#byTopic, topic, session);
    this.#topicsOf.set(session, topics);
  }

  announced(announcement: Announcement): void {
    if (announcement.type === 'check.requested') {
      this.#request(announcement);
    } else if (announcement.type === 'entity-config.changed') {
      for (const session of this.#of(announcement)) session.configure(announcement.config);
    } else if (announcement.type === 'entity.deleted') {
      for (const session of this.#of(announcement)) this.#listener.deleted(session);
    } else if (announcement.type === 'namespace.deleted') {
      for (const session of this.#topicsOf.keys()) {
        if (session.namespace === announcement.namespace) this.#listener.deleted(session);
      }
    }
  }

  paused(): void {
    for (const session of this.#topicsOf.keys()) session.pause();
  }

  resumed(): void {
    for (const session of this.#topicsOf.keys()) session.resume();
  }

  #of({ namespace, name }: { namespace: string; name: string }): Session[] {
    return [...(this.#byAgent.get(`${namespace}/${name}`) ?? [])];
  }

  /** One copy for each session, however many of its subscriptions match. */
  #request(announcement: CheckRequested): void {
    const { namespace, subscriptions, request } = announcement;
    const sessions = new Set(subscriptions.flatMap((name) => [...(this.#byTopic.get(`${namespace}/${name}`) ?? [])]));
    // Encoded once for all sessions of an encoding.
    const frames = new Map<Codec, Buffer>();
    for (const session of sessions) {
      const { codec } = session;
      const frame = frames.get(codec) ?? encodeFrame('check_request', codec.encodeCheckRequest(request));
      frames.set(codec, frame);
      session.requestCheck(frame);
    }
    this.#listener.requested(announcement, sessions.size);
  }
}

function include(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const sessions = index.get(key);
  if (sessions === undefined) index.set(key, new Set([session]));
  else sessions.add(session);
}

function exclude(index: Map<string, Set<Session>>, key: string, session: Session): void {
  const sessions = index.get(key);
  sessions?.delete(session);
  if (sessions?.size === 0) index.delete(key);
}
