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
/** No role names this resource, so access requires a role for all resources (`*`). */
const RESOURCE = '';
const TAG = 'tessen';

/** Stores the telemetry setting for clients that write and read it. The backend never sends telemetry. */
export function tessenRoutes({ resources, commands }: TessenRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: PATH,
      access: { resource: RESOURCE, verb: 'list' },
      reads: 'nothing',
      description: {
        summary: 'Show the telemetry setting; the backend never sends telemetry',
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
        summary: 'Change the telemetry setting',
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
        summary: 'Return the metric points in the request; they are not stored',
        tag: TAG,
        body: TelemetrySchema,
        answers: { 200: { schema: TelemetrySchema } },
      },
      handle: ({ body }) => json(parseTelemetry(body)),
    },
  ];
}
