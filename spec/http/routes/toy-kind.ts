import { type Static, Type } from 'typebox';
import { type ConfigurationKind, CONFIGURATION_KINDS } from '../../../src/resources/configuration-kinds.ts';
import { InvalidResource } from '../../../src/resources/errors.ts';
import { assertName } from '../../../src/resources/names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from '../../../src/resources/object-meta.ts';
import { listOrNull, optional, orAbsent, text, textList, uint32, validator } from '../../../src/resources/schema.ts';

/** A kind that only tests use, added as docs/change.md describes under "Add a resource". */

const ToySchema = Type.Object(
  {
    metadata: optional(ObjectMetaSchema),
    color: optional(text('any colour')),
    wheels: optional(uint32('how many')),
    parts: optional(textList()),
  },
  { $id: 'core/v2.Toy' },
);

type Toy = ReturnType<typeof toyWithDefaults>;

const toyWithDefaults = (input: Static<typeof ToySchema>) => ({
  metadata: objectMetaWithDefaults(input.metadata),
  color: orAbsent(input.color),
  wheels: input.wheels ?? 0,
  parts: listOrNull(input.parts),
});

const validateShape = validator('toy', ToySchema);

function assertToy({ metadata, color }: Toy): void {
  assertName(metadata.name ?? '', 'toy name');
  if (color === undefined) throw new InvalidResource('color must be set');
}

const toys: ConfigurationKind<Toy> = {
  scope: 'namespace',
  schema: ToySchema,
  parse: (body) => toyWithDefaults(validateShape(body)),
  assert: assertToy,
  selectable: { prefix: 'toy', names: ['name', 'namespace', 'color', 'parts'] },
};

const crates: ConfigurationKind<Toy> = { ...toys, scope: 'cluster', selectable: { prefix: 'crate', names: ['name'] } };

export const KINDS_WITH_TOYS = { ...CONFIGURATION_KINDS, toys, crates };
