import type { ActorAddress } from '../../resources/actor-address.ts';
import type { MessageRing } from './message-ring.ts';
import type { Position } from './position.ts';

/** A receiver of messages. */
export interface InspectReader {
  /** Sends one message, as text. Must not throw. */
  send(text: string): void;
  /** Resolves when all sent messages have left the process, or the reader has disconnected. */
  drained(): Promise<void>;
  /** Ends the messages after an error, which has been logged. */
  fail(): void;
}

/** An actor whose messages are kept for its readers. */
export interface WatchedActor {
  address: ActorAddress;
  ring: MessageRing;
  /** Readers that receive its messages as they occur. */
  readers: Set<InspectReader>;
  /** The number of attached readers, including those that do not receive its messages yet. */
  attached: number;
  /** Cancels the timer that ends the watching; undefined while readers are attached. */
  endLingering: (() => void) | undefined;
}

/** The actors that one reader receives messages of. */
export interface Attachment {
  reader: InspectReader;
  actors: WatchedActor[];
  isOpen: boolean;
}

/** Sends the messages that the reader missed, of all its actors in the order of their numbers, and subscribes it. */
export function resume({ reader, actors }: Attachment, position: Position): void {
  const missed = actors.flatMap(({ ring }) => ring.after(position)).toSorted((one, other) => one.at.n - other.at.n);
  for (const { text } of missed) reader.send(text);
  for (const watched of actors) watched.readers.add(reader);
}
