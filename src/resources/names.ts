import { InvalidResource } from './errors.ts';

const NAME = /^[\w.:-]+$/;
const SUBNAME = /^[\w.-]+(?::[\w.-]+)?$/;
const USERNAME = /^[a-z0-9_.-]+$/;
const ASSET = /^[\w/.:-]+$/;
const WRAPPED_UUID = /^(?:\{(.{36})\}|urn:uuid:(.{36}))$/i;
const HEX_UUID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const UUID_LENGTH = 36;
const HYPHEN = 0x2d;

/** A key of the store consists of at most three names and is limited to 1,978 bytes. */
const MAX_NAME_BYTES = 600;

/** Validates a name. The error message begins with `subject`, for example `check name`. @throws InvalidResource */
export function assertName(name: string, subject: string): void {
  if (name === '') throw new InvalidResource(`${subject} must not be empty`);
  if (!NAME.test(name)) throw new InvalidResource(`${subject} cannot contain spaces or special characters`);
  assertUsable(name, subject);
}

/** Validates the name of a role or binding, which has at most one colon. @throws InvalidResource */
export function assertSubname(name: string, subject: string): void {
  if (name === '') throw new InvalidResource(`${subject} must not be empty`);
  if (!SUBNAME.test(name)) throw new InvalidResource(`${subject} cannot contain spaces or special characters`);
  assertUsable(name, subject);
}

/** @throws InvalidResource */
export function assertUsername(name: string): void {
  if (name === '') throw new InvalidResource('username must not be empty');
  if (!USERNAME.test(name) || name === '.' || name === '..') {
    throw new InvalidResource('username cannot contain spaces or special characters');
  }
  assertUsable(name, 'username');
}

/** Accepts segments separated by slashes, none of them empty, `.` or `..`. @throws InvalidResource */
export function assertAssetName(name: string, subject = "asset's name"): void {
  if (name === '') throw new InvalidResource(`${subject} cannot be empty`);
  if (!ASSET.test(name)) {
    throw new InvalidResource(`${subject} may only contain letters, forward slashes, underscores, dashes and numbers`);
  }
  if (!hasSegments(name)) throw new InvalidResource(`${subject} must not have a segment that is empty, "." or ".."`);
  assertUsable(name, subject);
}

const hasSegments = (name: string): boolean =>
  name.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');

function assertUsable(name: string, subject: string): void {
  if (name === '.' || name === '..') throw new InvalidResource(`${subject} must not be "." or ".."`);
  if (name.length > MAX_NAME_BYTES)
    throw new InvalidResource(`${subject} must be at most ${MAX_NAME_BYTES} characters`);
}

export const isName = (value: string): boolean =>
  NAME.test(value) && value !== '.' && value !== '..' && value.length <= MAX_NAME_BYTES;

export const isAssetName = (value: string): boolean =>
  ASSET.test(value) && hasSegments(value) && value.length <= MAX_NAME_BYTES;

/**
 * Returns a UUID in lower case with hyphens. Like the reference, it also accepts one in braces, after `urn:uuid:`, and
 * without hyphens. Returns undefined for another text.
 */
export function canonicalUuid(text: string): string | undefined {
  const plain = text.replace(WRAPPED_UUID, '$1$2').toLowerCase();
  const uuid = HEX_UUID.test(plain) ? plain.replace(HEX_UUID, '$1-$2-$3-$4-$5') : plain;
  return isUuid(uuid) ? uuid : undefined;
}

/** Every event has a UUID: a loop takes a tenth of the time of a regular expression. */
export function isUuid(value: string): boolean {
  if (value.length !== UUID_LENGTH) return false;
  for (let index = 0; index < UUID_LENGTH; index += 1) {
    const unit = value.charCodeAt(index);
    const isHyphenPlace = index === 8 || index === 13 || index === 18 || index === 23;
    if (isHyphenPlace ? unit !== HYPHEN : !isHexDigit(unit)) return false;
  }
  return true;
}

/** Sets the bit 0x20 of letters, which makes them lower case. */
const isHexDigit = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x66);
