import { type ActorAddress, parseActorAddresses } from '../../resources/actor-address.ts';
import { InvalidResource } from '../../resources/errors.ts';
import { type Flag, InvalidValue, kinds } from '../parsing/flags.ts';

/** A developer's relay of the state machine inspector, and the actors that it receives. */
export interface InspectRelayConfig {
  readonly url: string;
  readonly addresses: readonly ActorAddress[];
}

export interface InspectConfig {
  /** Whether administrators may watch state machines at `/debug/inspect`. Off by default. */
  readonly inspect?: boolean;
  readonly inspectRelay?: InspectRelayConfig | undefined;
}

const relayUrl: Flag<string>['kind'] = {
  placeholder: 'url',
  fromTexts(texts) {
    const url = texts.at(-1) ?? '';
    if (url !== '' && !(URL.canParse(url) && ['ws:', 'wss:'].includes(new URL(url).protocol))) {
      throw new InvalidValue('must be a URL that begins with ws:// or wss://');
    }
    return url;
  },
};

export const inspectFlags = {
  inspect: {
    kind: kinds.boolean,
    fallback: false,
    about: 'let administrators watch state machines at /debug/inspect of the API',
  },
  'inspect-url': {
    kind: relayUrl,
    fallback: '',
    about: 'URL of a relay of the state machine inspector, ws:// or wss://',
  },
  'inspect-actors': {
    kind: kinds.list,
    fallback: [] as string[],
    about: 'actors that the relay receives, for example entity:default/web-1; at most 50',
  },
};

interface InspectValues {
  inspect: boolean;
  'inspect-url': string;
  'inspect-actors': readonly string[];
}

export const inspectConfig = (values: InspectValues): Required<InspectConfig> => ({
  inspect: values.inspect,
  inspectRelay: relayOf(values['inspect-url'], values['inspect-actors']),
});

/** A relay needs a valid list of actors. */
export const inspectRelayRule = {
  flags: ['inspect-actors', 'inspect-url'] as const,
  broken: (values: InspectValues): string | undefined => {
    try {
      relayOf(values['inspect-url'], values['inspect-actors']);
      return undefined;
    } catch (error) {
      if (error instanceof InvalidResource) return `inspect-actors: ${error.message}`;
      throw error;
    }
  },
};

/** @throws InvalidResource */
function relayOf(url: string, actors: readonly string[]): InspectRelayConfig | undefined {
  return url === '' ? undefined : Object.freeze({ url, addresses: Object.freeze(parseActorAddresses(actors)) });
}
