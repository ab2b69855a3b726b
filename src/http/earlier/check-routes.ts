import type { Commands } from '../../actors/administration/commands.ts';
import { parseAdhocRequest } from '../../resources/adhoc-request.ts';
import { NotFound } from '../../resources/errors.ts';
import { earlierDefinition } from '../../rules/earlier-check.ts';
import { fromEarlierId } from '../../rules/earlier-silence.ts';
import { countKeys, pageOfKeys } from '../../store/key-pages.ts';
import { resourceKey } from '../../store/encoding/keyspace.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { RangeReader } from '../../store/commit/transactional-store.ts';
import type { Answer } from '../request/route.ts';
import { matching, NAME, optional, text, texts } from './body-members.ts';
import { assertMay, type Datacenter, type Datacenters } from './datacenters.ts';
import { acceptedAt, jsonOf, multipleChoices } from './earlier-answers.ts';
import { listed, type ListPart } from './earlier-lists.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import { changed, type Flavour } from './flavour.ts';

export interface CheckRoutePorts {
  datacenters: Datacenters;
  /** The durable, visible records. */
  store: RangeReader;
  eventKeysOfCheck(namespace: string, check: string): Iterable<string>;
  resources: Pick<ResourceStore, 'get'>;
  commands: Pick<Commands, 'executeCheck' | 'deleteResultsOfCheck'>;
  flavour: Pick<Flavour, 'requested' | 'requiresDatacenter' | 'describesChanges'>;
  /** Unix seconds. */
  nowS(): number;
}

const RESOURCE = 'checks';
const EVENTS = 'events';

export function earlierCheckRoutes(ports: CheckRoutePorts): EarlierRoute[] {
  const { datacenters, store, eventKeysOfCheck, resources, commands, nowS } = ports;

  const shown = ({ dc, namespace }: Datacenter, name: string): object | undefined => {
    const check = resources.get(RESOURCE, namespace, name);
    return check && { _id: `${dc}/${name}`, dc, ...earlierDefinition(check) };
  };

  const list = (request: EarlierRequest): Promise<Answer> => {
    const parts = datacenters.allowed(request, RESOURCE, 'list').map((datacenter): ListPart => {
      const prefix = resourceKey(RESOURCE, datacenter.namespace, '');
      return {
        count: (isDisconnected) => countKeys(store, { table: 'resources', prefix, isDisconnected }),
        *items(page) {
          for (const key of pageOfKeys(store, 'resources', prefix, page)) {
            const definition = shown(datacenter, key.slice(prefix.length));
            if (definition !== undefined) yield definition;
          }
        },
      };
    });
    return listed(request, parts);
  };

  const show = (request: EarlierRequest): Answer => {
    const found = datacenters
      .allowed(request, RESOURCE, 'get')
      .flatMap((datacenter) => shown(datacenter, request.params['check'] ?? '') ?? []);
    const [only, ...others] = found;
    if (only === undefined) throw new NotFound();
    return others.length === 0 ? jsonOf(200, only) : multipleChoices(request, found);
  };

  /** Deletes the results of a check, whose definition and open events stay. An unknown check is not an error. */
  const removeResults = async (request: EarlierRequest): Promise<Answer> => {
    const { check = '' } = request.params;
    const having = datacenters.allowed(request, EVENTS, 'list').filter(({ namespace }) => {
      const isDefined = resources.get(RESOURCE, namespace, check) !== undefined;
      return isDefined || hasAny(eventKeysOfCheck(namespace, check));
    });
    if (having.length > 1)
      return multipleChoices(
        request,
        having.map(({ dc }) => ({ _id: `${dc}/${check}`, dc, name: check })),
      );
    for (const { namespace } of having) {
      assertMay(request, { resource: EVENTS, verb: 'delete', namespace, name: '' });
      await commands.deleteResultsOfCheck(namespace, check, request.caller.username);
    }
    return acceptedAt(nowS());
  };

  return [
    { method: 'GET', path: '/checks', handle: list },
    { method: 'GET', path: '/checks/:check', handle: show },
    { method: 'DELETE', path: '/checks/:check', handle: removeResults },
    { method: 'POST', path: '/request', handle: (request) => execute(ports, request) },
  ];
}

function hasAny(items: Iterable<unknown>): boolean {
  for (const _ of items) return true;
  return false;
}

/** Requests a check from its agents once. Source: spec/05 7.3. */
async function execute(
  { datacenters, resources, commands, flavour, nowS }: CheckRoutePorts,
  request: EarlierRequest,
): Promise<Answer> {
  const { body, caller } = request;
  const check = matching('check', body['check'] ?? undefined, NAME);
  const subscribers = optional(body, 'subscribers', texts('subscribers'));
  const asked = parseAdhocRequest({
    subscriptions: subscribers?.map(fromEarlierId),
    reason: optional(body, 'reason', (value) => text('reason', value)),
    creator: optional(body, 'creator', (value) => text('creator', value)),
  });
  const change = { resource: RESOURCE, verbs: ['create'] as const, name: check };
  const { namespace } = datacenters.forChange(request, change, flavour.requiresDatacenter);
  if (resources.get(RESOURCE, namespace, check) === undefined) throw new NotFound();
  // An empty list replaces that of the check, so that no agent is asked.
  const isAsked = subscribers === undefined || subscribers.length > 0;
  const issued = isAsked ? await commands.executeCheck(namespace, check, asked, caller.username) : nowS();
  return changed(flavour, flavour.requested, { issued });
}
