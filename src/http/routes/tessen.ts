import type { Commands } from '../../actors/administration/commands.ts';
import { parseTelemetry, parseTessen, TelemetrySchema, TessenSchema } from '../../resources/tessen.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import { json } from '../answer/answers.ts';
import { taggedJson } from '../answer/entity-tag.ts';
import { CORE, type Route } from '../request/route.ts';

export interface TessenRoutePorts {
  resources: Pick<ResourceStore, 'tessen'>;
  commands: Pick<Commands, 'putTessen'>;
}

const PATH = `${CORE}/tessen`;
/** No resource has this word: whoever may do everything may do this. */
const RESOURCE = '';
const TAG = 'tessen';

/** The switch of a telemetry that there is not: clients set it and read it back. */
export function tessenRoutes({ resources, commands }: TessenRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: {
        summary: 'Show whether telemetry is refused; nothing is ever reported',
        tag: TAG,
        answers: { 200: { schema: TessenSchema, headers: ['ETag'] } },
      },
      handle: () => taggedJson(resources.tessen()),
    },
    {
      method: 'PUT',
      path: PATH,
      access: { resource: RESOURCE, verb: 'update' },
      reads: 'json',
      description: {
        summary: 'Allow or refuse telemetry',
        tag: TAG,
        body: TessenSchema,
        answers: { 200: { schema: TessenSchema, headers: ['ETag'] } },
      },
      handle: async ({ body, caller }) => {
        const tessen = parseTessen(body);
        await commands.putTessen(tessen, caller.username);
        return taggedJson(tessen);
      },
    },
    {
      method: 'POST',
      path: `${PATH}/metrics`,
      access: 'open',
      reads: 'json-array',
      availableAtStartup: true,
      description: {
        summary: 'Read back the metric points that are sent; they go nowhere',
        tag: TAG,
        body: TelemetrySchema,
        answers: { 200: { schema: TelemetrySchema } },
      },
      handle: ({ body }) => json(parseTelemetry(body)),
    },
  ];
}
