import { type Static, Type } from 'typebox';
import { referenceWithDefaults, ResourceReferenceSchema } from './check.ts';
import { InvalidResource } from './errors.ts';
import { assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { listOrAbsent, listOrNull, optional, text, validator } from './schema.ts';

const WorkflowSchema = Type.Object({
  name: optional(text()),
  filters: optional(Type.Array(ResourceReferenceSchema)),
  mutator: optional(ResourceReferenceSchema),
  handler: optional(ResourceReferenceSchema),
});

export const PipelineSchema = Type.Object(
  { metadata: optional(ObjectMetaSchema), workflows: optional(Type.Array(WorkflowSchema)) },
  { $id: 'core/v2.Pipeline' },
);

type Reference = ReturnType<typeof referenceWithDefaults>;
type Workflow = ReturnType<typeof workflowWithDefaults>;
/** The workflows that process an event. Each has filters, a mutator and a handler. */
export type Pipeline = ReturnType<typeof pipelineWithDefaults>;

function workflowWithDefaults(input: Static<typeof WorkflowSchema>) {
  return {
    name: input.name ?? '',
    filters: listOrAbsent(input.filters?.map(referenceWithDefaults)),
    mutator: input.mutator ? referenceWithDefaults(input.mutator) : undefined,
    handler: input.handler ? referenceWithDefaults(input.handler) : null,
  };
}

export function pipelineWithDefaults(input: Static<typeof PipelineSchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    workflows: listOrNull(input.workflows?.map(workflowWithDefaults)),
  };
}

const validateShape = validator('pipeline', PipelineSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parsePipelineShape(value: unknown): Pipeline {
  return pipelineWithDefaults(validateShape(value));
}

/** Does not check that the references exist. @throws InvalidResource with the rule it breaks */
export function assertPipeline({ metadata, workflows }: Pipeline): void {
  assertName(metadata.name ?? '', 'name');
  if (metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
  for (const workflow of workflows ?? []) assertWorkflow(workflow);
}

function assertWorkflow({ name, filters, mutator, handler }: Workflow): void {
  assertName(name, 'workflow name');
  for (const filter of filters ?? []) assertReference(filter, 'filter', 'EventFilter', 'filtering');
  if (mutator !== undefined) assertReference(mutator, 'mutator', 'Mutator', 'mutating');
  if (handler === null) throw new InvalidResource('workflow handler must be set');
  assertReference(handler, 'handler', 'Handler', 'handling');
}

function assertReference({ name, type, api_version }: Reference, part: string, wanted: string, purpose: string): void {
  assertName(name, `workflow ${part} name`);
  if (type === '') throw new InvalidResource(`workflow ${part} type must be set`);
  if (api_version === '') throw new InvalidResource(`workflow ${part} api_version must be set`);
  if (type !== wanted || api_version !== 'core/v2') {
    throw new InvalidResource(
      `workflow ${part} resource type not capable of ${purpose} events: ${api_version}.${type}`,
    );
  }
}
