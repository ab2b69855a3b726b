import type { TSchema } from 'typebox';

type Schema = Readonly<Record<string, unknown>>;

/** Schemas of a document. A schema with an `$id` becomes a component, which other schemas reference. */
export class ComponentSchemas {
  readonly #named = new Map<string, object>();

  /** Sorted by name. */
  get all(): Record<string, object> {
    return Object.fromEntries([...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema as it appears in the document. */
  of(schema: TSchema): object {
    return this.#shown(schema as Schema);
  }

  #shown({ $id: id, ...schema }: Schema): object {
    if (typeof id !== 'string') return this.#inline(schema);
    const name = id.replaceAll('/', '.');
    const { type } = schema;
    const types = Array.isArray(type) ? (type as string[]) : [type];
    if (!this.#named.has(name)) {
      this.#named.set(name, {});
      const [notNull = type] = types.filter((one) => one !== 'null');
      this.#named.set(name, this.#inline({ title: id, ...schema, type: notNull }));
    }
    const reference = { $ref: `#/components/schemas/${name}` };
    return types.includes('null') ? { anyOf: [reference, { type: 'null' }] } : reference;
  }

  #inline(schema: Schema): object {
    return Object.fromEntries(Object.entries(schema).flatMap(([keyword, value]) => this.#keyword(keyword, value)));
  }

  #keyword(keyword: string, value: unknown): [string, unknown][] {
    switch (keyword) {
      case 'exactInt64':
        // Not a JSON Schema keyword.
        return Object.entries({ type: ['integer', 'null'], format: 'int64' });
      case 'properties':
        return [[keyword, mapValues(value as Record<string, Schema>, (member) => this.#shown(member))]];
      case 'anyOf':
        return [[keyword, (value as Schema[]).map((member) => this.#shown(member))]];
      case 'items':
      case 'additionalProperties':
        return [[keyword, typeof value === 'object' ? this.#shown(value as Schema) : value]];
      default:
        return [[keyword, value]];
    }
  }
}

const mapValues = <T, U>(object: Record<string, T>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
