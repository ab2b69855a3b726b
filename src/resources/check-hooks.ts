import { type Static, Type } from 'typebox';
import type { Check } from './check.ts';
import { InvalidResource, NotFound } from './errors.ts';
import { assertName } from './names.ts';
import { listOrNull, optionalTexts, textsOf, validator } from './schema.ts';

/** The hooks that run after one type of result: an object with the type as its only key. */
export const HookListSchema = Type.Unsafe<Record<string, Static<ReturnType<typeof optionalTexts>>>>({
  $id: 'core/v2.HookList',
  type: 'object',
  additionalProperties: optionalTexts(),
});

/** The hooks of a check for one type of result. */
export interface HookList {
  type: string;
  /** The names of the hooks. */
  names: string[];
}

const NAMED_TYPES = new Set(['ok', 'warning', 'critical', 'unknown', 'non-zero']);
const STATUS = /^(?:0|[1-9]\d{0,2})$/;
const MAX_STATUS = 255;

const validateShape = validator('check-hooks', HookListSchema);

/** `type` is the type in the path. @throws InvalidResource */
export function parseHookList(value: unknown, type: string): HookList {
  const [only, ...others] = Object.entries(validateShape(value));
  if (only === undefined || others.length > 0) throw new InvalidResource('body must have exactly one hook type');
  const [sent, list] = only;
  if (sent !== type) {
    throw new InvalidResource(`the hook type of the body (${sent}) does not match the hook type of the URI (${type})`);
  }
  assertHookType(type);
  const names = textsOf(list ?? []);
  for (const name of names) assertName(name, 'hook name');
  return { type, names };
}

function assertHookType(type: string): void {
  if (NAMED_TYPES.has(type) || (STATUS.test(type) && Number(type) <= MAX_STATUS)) return;
  throw new InvalidResource(
    'valid check hook types are "0"-"255", "ok", "warning", "critical", "unknown", and "non-zero"',
  );
}

/** Appends to the hooks of the type those that it lacks. A type without hooks gets them as they were sent, with duplicates. */
export function withHooks(check: Check, { type, names }: HookList): Check {
  const lists = check.check_hooks ?? [];
  const index = lists.findIndex((list) => Object.hasOwn(list, type));
  if (index < 0) return { ...check, check_hooks: [...lists, { [type]: listOrNull(names) }] };
  const present = lists[index]?.[type] ?? [];
  const missing = new Set(names);
  for (const name of present) missing.delete(name);
  return { ...check, check_hooks: lists.with(index, { [type]: listOrNull([...present, ...missing]) }) };
}

/** Removes the list as well when it becomes empty. @throws NotFound when the type does not have the hook */
export function withoutHook(check: Check, type: string, name: string): Check {
  const lists = check.check_hooks ?? [];
  const isListed = (list: Record<string, string[] | null>): boolean =>
    Object.hasOwn(list, type) && list[type]?.includes(name) === true;
  if (!lists.some(isListed)) throw new NotFound();
  const left = lists.flatMap((list) => {
    if (!isListed(list)) return [list];
    const others = list[type]?.filter((other) => other !== name) ?? [];
    return others.length === 0 ? [] : [{ [type]: others }];
  });
  return { ...check, check_hooks: listOrNull(left) };
}
