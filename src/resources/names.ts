import { InvalidResource } from './errors.ts';

const NAME = /^[\w.:-]+$/;
const SUBNAME = /^[\w.-]+(?::[\w.-]+)?$/;
const USERNAME = /^[a-z0-9_.-]+$/;
const ASSET = /^[\w/.:-]+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

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

export const isUuid = (value: string): boolean => UUID.test(value);
