import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { flag, optional, orAbsent, text, textList, textsOrNull, uint32, validator } from './schema.ts';

/** A command that an agent runs after a check. The result of a hook has these fields as well. */
export const hookFields = {
  metadata: optional(ObjectMetaSchema),
  command: optional(text()),
  timeout: optional(uint32('seconds')),
  stdin: optional(flag()),
  runtime_assets: optional(textList()),
};

export const HookSchema = Type.Object(hookFields, { $id: 'core/v2.HookConfig' });

export type Hook = ReturnType<typeof hookWithDefaults>;

export function hookWithDefaults(input: Static<typeof HookSchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    command: orAbsent(input.command),
    timeout: input.timeout ?? 0,
    stdin: input.stdin ?? false,
    runtime_assets: textsOrNull(input.runtime_assets),
  };
}

const validateShape = validator('hook', HookSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseHookShape(value: unknown): Hook {
  return hookWithDefaults(validateShape(value));
}

/** Does not check the names of assets. @throws InvalidResource with the rule it breaks */
export function assertHook({ metadata, command, timeout }: Hook): void {
  assertName(metadata.name ?? '', 'hook name');
  if (command === undefined) throw new InvalidResource('command cannot be empty');
  if (timeout === 0) throw new InvalidResource('hook timeout must be greater than 0');
  if (metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
}
