import type { PipelineResources } from '../rules/run-plan.ts';
import { readResource } from '../store/resource-store.ts';
import type { TableReader } from '../store/records/table-reader.ts';

/** Reads the configuration of a namespace that decides what is run with its events. */
export const pipelineResources = (reader: TableReader, namespace: string): PipelineResources => ({
  pipeline: (name) => readResource(reader, 'pipelines', namespace, name),
  handler: (name) => readResource(reader, 'handlers', namespace, name),
  filter: (name) => readResource(reader, 'filters', namespace, name),
  hasMutator: (name) => readResource(reader, 'mutators', namespace, name) !== undefined,
});
