import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { listOrNull, optional, orAbsent, text, textList, textsOrNull, uint32, validator } from './schema.ts';
import { SecretReferenceSchema, secretReferenceWithDefaults } from './secret-reference.ts';

export const MutatorSchema = Type.Object(
  {
    metadata: optional(ObjectMetaSchema),
    command: optional(text('command of a pipe mutator, which gets the event on its standard input')),
    timeout: optional(uint32('seconds; 0 = 1 s for JavaScript, which has at most 60 s')),
    env_vars: optional(textList()),
    runtime_assets: optional(textList()),
    secrets: optional(Type.Array(SecretReferenceSchema)),
    type: optional(text('pipe or javascript; pipe when empty')),
    eval: optional(text('function body of a javascript mutator')),
  },
  { $id: 'core/v2.Mutator' },
);

/** Transforms an event to the bytes that a handler receives. */
export type Mutator = ReturnType<typeof mutatorWithDefaults>;

export function mutatorWithDefaults(input: Static<typeof MutatorSchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    command: orAbsent(input.command),
    timeout: input.timeout ?? 0,
    env_vars: textsOrNull(input.env_vars),
    runtime_assets: textsOrNull(input.runtime_assets),
    secrets: listOrNull(input.secrets?.map(secretReferenceWithDefaults)),
    type: orAbsent(input.type),
    eval: orAbsent(input.eval),
  };
}

const validateShape = validator('mutator', MutatorSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseMutatorShape(value: unknown): Mutator {
  return mutatorWithDefaults(validateShape(value));
}

/** Does not check the syntax of `eval` and the names of assets. @throws InvalidResource with the rule it breaks */
export function assertMutator({ metadata, command, type, eval: body }: Mutator): void {
  assertName(metadata.name ?? '', 'mutator name');
  if (command === undefined && body === undefined) throw new InvalidResource('mutator command or eval must be set');
  if (type === 'javascript' && command !== undefined) {
    throw new InvalidResource('"command" used with javascript mutator, should be "eval"');
  }
  if (metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
  if (type !== undefined && type !== 'pipe' && type !== 'javascript') {
    throw new InvalidResource(`invalid mutator type "${type}", valid types are "javascript, pipe"`);
  }
}
