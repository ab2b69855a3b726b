import type { Commands } from '../../actors/administration/commands.ts';
import { InvalidResource, NotFound, TooLarge } from '../../resources/errors.ts';
import type { Stash, StashStore } from '../../store/stash-store.ts';
import type { Answer } from '../request/route.ts';
import { type Body, object, optional, seconds, text } from './body-members.ts';
import { assertMay, type Datacenter, type Datacenters } from './datacenters.ts';
import { empty, jsonOf, multipleChoices } from './earlier-answers.ts';
import { listed, type ListPart } from './earlier-lists.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import { changed, type Flavour } from './flavour.ts';

export interface StashRoutePorts {
  datacenters: Datacenters;
  stashes: StashStore;
  commands: Pick<Commands, 'putStash' | 'deleteStash'>;
  flavour: Pick<Flavour, 'stashed' | 'deleted' | 'requiresDatacenter' | 'describesChanges'>;
  /** Unix seconds. */
  nowS(): number;
}

const RESOURCE = 'stashes';
/** Bytes of a document as JSON. */
const MAX_STASH_BYTES = 64 * 1024;
/** A path is part of a key, in which most characters but letters and digits take three. */
const MAX_PATH_CHARACTERS = 600;
const NEVER_S = -1;

export function earlierStashRoutes({ datacenters, stashes, commands, flavour, nowS }: StashRoutePorts): EarlierRoute[] {
  const list = (request: EarlierRequest): Promise<Answer> => {
    const parts = datacenters.allowed(request, RESOURCE, 'list').map(({ dc, namespace }): ListPart => {
      const all = (): Iterable<Stash> => stashes.list(namespace, nowS());
      return {
        count: () => [...all()].length,
        *items({ offset, limit }) {
          let index = 0;
          for (const stash of all()) {
            if (index >= offset + limit) return;
            if (index >= offset) yield shown(dc, stash, nowS());
            index += 1;
          }
        },
      };
    });
    return listed(request, parts);
  };

  const ofOne = async (
    request: EarlierRequest,
    answer: (datacenter: Datacenter, stash: Stash) => Answer | Promise<Answer>,
  ): Promise<Answer> => {
    const found = datacenters.allowed(request, RESOURCE, 'get').flatMap((datacenter) => {
      const stash = stashes.get(datacenter.namespace, request.params['path'] ?? '', nowS());
      return stash === undefined ? [] : [{ datacenter, stash }];
    });
    const [only, ...others] = found;
    if (only === undefined) throw new NotFound();
    if (others.length > 0) {
      return multipleChoices(
        request,
        found.map(({ datacenter, stash }) => shown(datacenter.dc, stash, nowS())),
      );
    }
    return answer(only.datacenter, only.stash);
  };

  const put = async (request: EarlierRequest, path: string, content: Body, expireS?: number): Promise<Answer> => {
    assertBounds(path, content);
    const change = { resource: RESOURCE, verbs: ['create', 'update'] as const, name: path };
    const { namespace } = datacenters.forChange(request, change, flavour.requiresDatacenter);
    const expireAtS = expireS === undefined || expireS < 0 ? null : nowS() + expireS;
    await commands.putStash(namespace, { path, content, expireAtS }, request.caller.username);
    return changed(flavour, flavour.stashed, { path });
  };

  const create = (request: EarlierRequest): Promise<Answer> => {
    const { body } = request;
    const path = text('path', body['path']);
    const content = object('content')(body['content']);
    return put(request, path, content, optional(body, 'expire', seconds('expire')));
  };

  const remove = (request: EarlierRequest): Promise<Answer> =>
    ofOne(request, async ({ namespace }, { path }) => {
      assertMay(request, { resource: RESOURCE, verb: 'delete', namespace, name: path });
      await commands.deleteStash(namespace, path, request.caller.username);
      return empty(flavour.deleted);
    });

  return [
    { method: 'GET', path: '/stashes', handle: list },
    { method: 'POST', path: '/stashes', integers: ['expire'], handle: create },
    ...['/stashes', '/stash'].flatMap((root): EarlierRoute[] => [
      {
        method: 'GET',
        path: `${root}/:path*`,
        handle: (request) => ofOne(request, (_, { content }) => jsonOf(200, content)),
      },
      {
        method: 'POST',
        path: `${root}/:path*`,
        handle(request) {
          // The whole body is the document; with several datacenters the query names the one.
          const { params, body } = request;
          return put({ ...request, body: {} }, params['path'] ?? '', body);
        },
      },
      { method: 'DELETE', path: `${root}/:path*`, handle: remove },
    ]),
  ];
}

const shown = (dc: string, { path, content, expireAtS }: Stash, nowS: number): object => ({
  _id: `${dc}/${path}`,
  dc,
  path,
  content,
  expire: expireAtS === null ? NEVER_S : expireAtS - nowS,
});

/** @throws InvalidResource, TooLarge */
function assertBounds(path: string, content: object): void {
  const { length } = encodeURIComponent(path);
  if (path === '' || path.includes('\0') || length > MAX_PATH_CHARACTERS) {
    throw new InvalidResource(`path must be a string of at most ${MAX_PATH_CHARACTERS} characters when it is escaped`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(content));
  if (bytes > MAX_STASH_BYTES) throw new TooLarge(`a stash must be at most ${MAX_STASH_BYTES} bytes`);
}
