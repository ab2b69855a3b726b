import type { Commands } from '../../actors/administration/commands.ts';
import { NotFound } from '../../resources/errors.ts';
import { silencedName, type SilenceRecord } from '../../resources/silenced.ts';
import { earlierSilence, fromEarlierId, toEarlierId } from '../../rules/earlier-silence.ts';
import { isOver } from '../../rules/silencing.ts';
import { mapPage } from '../../store/page.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { Answer } from '../request/route.ts';
import { isSilenceId } from './body-members.ts';
import { assertMay, type Datacenter, type Datacenters } from './datacenters.ts';
import { empty, jsonOf, multipleChoices } from './earlier-answers.ts';
import { listed, type ListPart } from './earlier-lists.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import type { Flavour } from './flavour.ts';
import { clearedName, silenceOf } from './silence-body.ts';

export interface SilenceRoutePorts {
  datacenters: Datacenters;
  resources: Pick<ResourceStore, 'get' | 'lazyList'>;
  commands: Pick<Commands, 'putSilence' | 'deleteSilence'>;
  flavour: Flavour;
  /** Unix seconds. */
  nowS(): number;
}

const RESOURCE = 'silenced';

type IsRequested = (silence: SilenceRecord) => boolean;

/** Entries that are over are hidden. */
export function earlierSilenceRoutes(ports: SilenceRoutePorts): EarlierRoute[] {
  const { datacenters, resources, commands, flavour, nowS } = ports;

  // In its last second a silence still applies, but has no whole second left to show.
  const isShown = (silence: SilenceRecord): boolean => !isOver(silence, nowS() + 1);
  const shown = ({ dc }: Datacenter, silence: SilenceRecord): object => {
    const id = toEarlierId(silencedName(silence));
    return { _id: `${dc}:${id}`, dc, ...earlierSilence(silence, nowS()) };
  };

  const list =
    (isRequested: (request: EarlierRequest) => IsRequested) =>
    (request: EarlierRequest): Promise<Answer> => {
      const fits = isRequested(request);
      const parts = datacenters.allowed(request, RESOURCE, 'list').map((datacenter): ListPart => {
        const all = (): Iterable<SilenceRecord> => {
          const { items } = mapPage(resources.lazyList(RESOURCE, datacenter.namespace), (silence) => silence);
          return filtered(items, (silence) => isShown(silence) && fits(silence));
        };
        return {
          count: () => [...all()].length,
          items: (page) => paged(all(), page, (silence) => shown(datacenter, silence)),
        };
      });
      return listed(request, parts);
    };

  const show = (request: EarlierRequest): Answer => {
    const name = fromEarlierId(request.params['silence'] ?? '');
    const found = datacenters.allowed(request, RESOURCE, 'get').flatMap((datacenter) => {
      const silence = resources.get(RESOURCE, datacenter.namespace, name);
      return silence === undefined || !isShown(silence) ? [] : [shown(datacenter, silence)];
    });
    const [only, ...others] = found;
    if (only === undefined) throw new NotFound();
    return others.length === 0 ? jsonOf(200, only) : multipleChoices(request, found);
  };

  /** An entry that would end at once is not stored, but replaces an earlier one. */
  const create = async (request: EarlierRequest): Promise<Answer> => {
    const { body, caller } = request;
    const verbs = ['create', 'update'] as const;
    const datacenter = datacenters.forChange(request, { resource: RESOURCE, verbs }, flavour.requiresDatacenter);
    const { namespace } = datacenter;
    const { silence, endsAtOnce } = silenceOf(body, { namespace, username: caller.username, nowS: nowS() });
    if (!endsAtOnce) await commands.putSilence(silence, caller.username);
    else if (resources.get(RESOURCE, namespace, silencedName(silence)) !== undefined) {
      await commands.deleteSilence(namespace, silencedName(silence), caller.username);
    }
    return empty(flavour.silenced);
  };

  const clear = async (request: EarlierRequest): Promise<Answer> => {
    const { body, caller } = request;
    const name = clearedName(body);
    if (!isSilenceId(name)) throw new NotFound();
    const change = { resource: RESOURCE, verbs: ['delete'] as const, name };
    const { namespace } = datacenters.forChange(request, change, flavour.requiresDatacenter);
    const silence = resources.get(RESOURCE, namespace, name);
    if (silence === undefined || !isShown(silence)) throw new NotFound();
    assertMay(request, { resource: RESOURCE, verb: 'delete', namespace, name });
    await commands.deleteSilence(namespace, name, caller.username);
    return empty(flavour.cleared);
  };

  return [
    { method: 'GET', path: '/silenced', handle: list(() => () => true) },
    { method: 'POST', path: '/silenced', integers: ['begin', 'expire'], handle: create },
    { method: 'POST', path: '/silenced/clear', handle: clear },
    { method: 'GET', path: '/silenced/ids/:silence', handle: show },
    {
      method: 'GET',
      path: '/silenced/subscriptions/:subscription',
      handle: list(({ params }) => {
        const subscription = toEarlierId(params['subscription'] ?? '');
        // `client` finds the silences of all clients.
        return (silence) => `${toEarlierId(silence.subscription ?? '')}:`.startsWith(`${subscription}:`);
      }),
    },
    {
      method: 'GET',
      path: '/silenced/checks/:check',
      handle: list(
        ({ params }) =>
          (silence) =>
            silence.check === params['check'],
      ),
    },
  ];
}

function* filtered<T>(items: Iterable<T>, fits: (item: T) => boolean): Iterable<T> {
  for (const item of items) if (fits(item)) yield item;
}

function* paged<T>(
  items: Iterable<T>,
  { offset, limit }: { offset: number; limit: number },
  show: (item: T) => object,
): Iterable<object> {
  let index = 0;
  for (const item of items) {
    if (index >= offset + limit) return;
    if (index >= offset) yield show(item);
    index += 1;
  }
}
