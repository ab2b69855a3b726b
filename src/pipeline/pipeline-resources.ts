import type { EventFilter } from '../resources/event-filter.ts';
import type { Handler } from '../resources/handler.ts';
import type { Pipeline } from '../resources/pipeline.ts';
import type { PipelineResources } from '../rules/run-plan.ts';
import { readResource } from '../store/resource-store.ts';
import type { TableReader } from '../store/records/table-reader.ts';

/** Reads the configuration of a namespace that decides what is run with its events. */
export class StoredPipelineResources implements PipelineResources {
  readonly #reader: TableReader;
  readonly #namespace: string;

  constructor(reader: TableReader, namespace: string) {
    this.#reader = reader;
    this.#namespace = namespace;
  }

  pipeline(name: string): Pipeline | undefined {
    return readResource(this.#reader, 'pipelines', this.#namespace, name);
  }

  handler(name: string): Handler | undefined {
    return readResource(this.#reader, 'handlers', this.#namespace, name);
  }

  filter(name: string): EventFilter | undefined {
    return readResource(this.#reader, 'filters', this.#namespace, name);
  }

  hasMutator(name: string): boolean {
    return readResource(this.#reader, 'mutators', this.#namespace, name) !== undefined;
  }
}
