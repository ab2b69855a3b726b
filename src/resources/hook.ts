import { type Static, Type } from 'typebox';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { flag, listOrNull, optional, orAbsent, text, textList, uint32 } from './schema.ts';

/** A command that an agent runs after a check; a result of one has these too. */
export const hookFields = {
  metadata: optional(ObjectMetaSchema),
  command: optional(text()),
  timeout: optional(uint32('seconds')),
  stdin: optional(flag()),
  runtime_assets: optional(textList()),
};

export const HookSchema = Type.Object(hookFields);

export type Hook = ReturnType<typeof hookWithDefaults>;

export function hookWithDefaults(input: Static<typeof HookSchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    command: orAbsent(input.command),
    timeout: input.timeout ?? 0,
    stdin: input.stdin ?? false,
    runtime_assets: listOrNull(input.runtime_assets),
  };
}
