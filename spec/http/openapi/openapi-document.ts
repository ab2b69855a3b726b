import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

interface DescribedResponse {
  $ref?: string;
  content?: Record<string, { schema: Schema }>;
  headers?: Record<string, unknown>;
}

interface DescribedOperation {
  operationId: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, DescribedResponse>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
  tags: { name: string }[];
  components: { schemas: Record<string, Schema>; responses: Record<string, DescribedResponse> };
}

/** One method of one path, with its parameters, its body and its responses. */
export interface Operation extends DescribedOperation {
  method: string;
  path: string;
  /** The media type and the schema of the body; undefined when the operation has none. */
  body: { type: string; schema: Schema } | undefined;
}

/** The document as a client reads it. */
export class ReadDocument {
  readonly operations: Operation[];
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  /** The compiled schemas, by their JSON. */
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv.addSchema({ $id: 'api:document', components: document.components });
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const [content] = Object.entries(operation.requestBody?.content ?? {});
        const body = content === undefined ? undefined : { type: content[0], schema: content[1].schema };
        return { ...operation, method: method.toUpperCase(), path, body };
      }),
    );
  }

  /** Returns a copy whose schemas reject members that are not described. */
  exact(): ReadDocument {
    return new ReadDocument(closed(this.#document) as OpenApiDocument);
  }

  resolve(schema: Schema): Schema {
    const { $ref } = schema;
    return $ref === undefined ? schema : (this.#document.components.schemas[nameIn($ref)] ?? {});
  }

  /** Returns undefined when the document does not describe this status. */
  response({ responses }: Operation, status: number): DescribedResponse | undefined {
    const response = responses[String(status)];
    return response?.$ref === undefined ? response : this.#document.components.responses[nameIn(response.$ref)];
  }

  /** Returns the validation error of a value, or undefined when it is valid. */
  errorOf(schema: Schema, value: unknown): string | undefined {
    const source = JSON.stringify(schema).replaceAll('"#/', '"api:document#/');
    let validate = this.#validators.get(source);
    if (validate === undefined) {
      validate = this.#ajv.compile(JSON.parse(source));
      this.#validators.set(source, validate);
    }
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors);
  }
}

const nameIn = (reference: string): string => reference.split('/').at(-1) ?? '';

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (value === null || typeof value !== 'object') return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  const { properties, additionalProperties } = copy;
  const isOpen = additionalProperties !== undefined || Object.keys(properties ?? {}).length === 0;
  return 'type' in copy && properties !== undefined && !isOpen ? { ...copy, additionalProperties: false } : copy;
}
