import { Type } from 'typebox';
import type { Explainer } from '../../explain/explainer.ts';
import { NotFound } from '../../resources/errors.ts';
import { json } from '../answer/answers.ts';
import { assertKnownParameters, textParameter, TIME, timeParameter } from '../request/query-parameters.ts';
import { param, type Route } from '../request/route.ts';
import { ExplanationSchema, shownExplanation } from './explanation-schema.ts';

export interface ExplainRoutePorts {
  explainer: Pick<Explainer, 'explain'>;
}

/** Explains the state of an event from the records. */
export function explainRoutes({ explainer }: ExplainRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/events/:entity/:check/explain',
      access: { resource: 'events', verb: 'get', nameFrom: ['entity', 'check'] },
      reads: 'nothing',
      description: {
        summary: 'Explain the state of an event at a moment, from what was recorded',
        query: {
          at: Type.String({ description: `The moment: ${TIME}; now by default` }),
          handler: Type.String({ description: 'Only the outcomes of this handler' }),
        },
        answers: { 200: { schema: ExplanationSchema } },
      },
      handle: async (request) => {
        const { query } = request;
        assertKnownParameters(query, ['at', 'handler']);
        const [namespace, entity, check] = [
          param(request, 'namespace'),
          param(request, 'entity'),
          param(request, 'check'),
        ];
        const explanation = await explainer.explain(
          { namespace, entity, check },
          timeParameter(query, 'at'),
          textParameter(query, 'handler'),
        );
        if (explanation === undefined)
          throw new NotFound(`event ${namespace}/${entity}/${check} not found, and the ledger has no entry for it`);
        return json(shownExplanation(explanation));
      },
    },
  ];
}
